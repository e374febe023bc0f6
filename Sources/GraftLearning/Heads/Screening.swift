import GraftDiagnostics

/// Cross-validates many candidates in little time: all of them once, and the best again and again.
struct Screening {
  private let matrices: [HeadChoice.Features]
  private let rows: [FeatureRows]
  private let labels: [ClassLabel]
  private let validation: CrossValidation
  private let settings: [HeadSettings]

  /// Fewer candidates are all tried as often as asked for.
  private static let least = 100

  /// - Parameter rows: of each matrix.
  init(
    _ matrices: [HeadChoice.Features], _ rows: [FeatureRows], _ labels: [ClassLabel],
    _ validation: CrossValidation, _ settings: [HeadSettings]
  ) {
    self.matrices = matrices
    self.rows = rows
    self.labels = labels
    self.validation = validation
    self.settings = settings
  }

  /// A head on a matrix, and how often it classified each example right so far.
  private struct Entry {
    let matrix: Int
    let settings: HeadSettings
    var right: [Double]
    var rounds: Int
  }

  /// All candidates, the best first.
  func ranked(_ progress: (Double) -> Void) throws -> [HeadChoice.Candidate] {
    let count = matrices.count * settings.count
    let isScreened = validation.repeats > 1 && count > Self.least
    var entries: [Entry] = []
    let firstRounds = isScreened ? 1 : validation.repeats
    for matrix in matrices.indices {
      entries += try evaluate(settings, on: matrix, rounds: 0..<firstRounds)
      progress(Double(matrix + 1) / Double(matrices.count) * (isScreened ? 0.5 : 1))
    }
    guard isScreened else { return sorted(entries).map(\.candidate) }
    var ranked = sorted(entries)
    let finalists = Dictionary(
      grouping: ranked.prefix(max(Self.least / 2, count / 10)), by: \.entry.matrix)
    ranked.removeFirst(max(Self.least / 2, count / 10))
    var best: [Entry] = []
    for (done, matrix) in finalists.keys.sorted().enumerated() {
      let old = (finalists[matrix] ?? []).map(\.entry)
      let new = try evaluate(
        old.map(\.settings), on: matrix, rounds: firstRounds..<validation.repeats)
      best += zip(old, new).map { old, new in
        var entry = old
        for index in entry.right.indices { entry.right[index] += new.right[index] }
        entry.rounds += new.rounds
        return entry
      }
      progress(0.5 + 0.5 * Double(done + 1) / Double(finalists.count))
    }
    return (sorted(best) + ranked).map(\.candidate)
  }

  private func evaluate(_ settings: [HeadSettings], on matrix: Int, rounds: Range<Int>) throws
    -> [Entry]
  {
    guard !Task.isCancelled else {
      throw GraftError(.cancelled, "the choice of a head was cancelled")
    }
    let right = try validation.evaluate(settings, rows[matrix], labels: labels, rounds: rounds)
    return zip(settings, right).map {
      Entry(matrix: matrix, settings: $0, right: $1, rounds: rounds.count)
    }
  }

  private func sorted(_ entries: [Entry]) -> [(entry: Entry, candidate: HeadChoice.Candidate)] {
    entries.map { entry in
      let result = validation.result(entry.right, rounds: entry.rounds)
      return (
        entry,
        HeadChoice.Candidate(
          features: matrices[entry.matrix].name, settings: entry.settings, accuracy: result.mean,
          standardError: result.standardError, repeats: entry.rounds, featureIndex: entry.matrix,
          dimension: rows[entry.matrix].dimension)
      )
    }.sorted { $0.candidate.isBetter(than: $1.candidate) }
  }
}
