import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

/// The state of a training session, and of its run, at one moment: with it, the same model, examples
/// and options, a run goes on and ends with the same bytes as if it had never been interrupted.
///
/// A checkpoint holds what training changes: trainable parameters, running statistics, the
/// optimizer's state, gradients added up since the last update, and the best weights when they will
/// be restored. Frozen parameters are not in it.
public struct TrainingCheckpoint: Sendable {
  package var session: SessionState
  package var run: RunState?
  /// Trainable parameters and running statistics.
  package var values: [String: Tensor]
  package var optimizer: [String: Tensor]
  package var gradients: [String: Tensor]
  package var best: [String: Tensor]
  /// What the reader noticed, such as damaged checkpoints that were passed over.
  public internal(set) var warnings: [String] = []

  /// The updates so far.
  public var step: Int { session.updateCount }
  /// The epochs of the run that are over; 0 without a run.
  public var epoch: Int { run?.epoch ?? 0 }
  /// The learning rate before the schedule.
  public var learningRate: Float { session.learningRate }
  /// The epochs of the run that are over.
  public var history: [EpochRecord] { run?.history ?? [] }
  public var properties: [String: TrainingProperty] { session.properties }

  package init(
    session: SessionState, run: RunState?, values: [String: Tensor], optimizer: [String: Tensor],
    gradients: [String: Tensor], best: [String: Tensor]
  ) {
    self.session = session
    self.run = run
    self.values = values
    self.optimizer = optimizer
    self.gradients = gradients
    self.best = best
  }
}

extension TrainingCheckpoint {
  private static let version = "1"

  private enum Key {
    static let version = "graft.checkpoint"
    static let state = "graft.state"
    static let digest = "sha256"
  }

  private struct Header: Codable {
    var session: SessionState
    var run: RunState?
  }

  /// Writes one file: safetensors, with the rest as JSON and a SHA-256 of everything in its
  /// metadata. A file that is there is replaced when all has been written.
  ///
  /// - Throws: `inputOutput` when the file cannot be written.
  public func write(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let json = String(
      decoding: try encoder.encode(Header(session: session, run: run)), as: UTF8.self)
    let tensors = tensors
    try SafetensorsFile.write(
      tensors,
      metadata: [
        Key.version: Self.version, Key.state: json,
        Key.digest: Self.digest(Self.version, json, tensors),
      ], to: url.path)
  }

  /// Reads a checkpoint.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when its checksum does not fit or it is cut off;
  ///   `unsupported` for one of a later version.
  public init(contentsOf url: URL) throws {
    let file = try SafetensorsFile(path: url.path)
    self = try locating(url.path) { try Self(file) }
  }

  private init(_ file: SafetensorsFile) throws {
    guard let version = file.metadata[Key.version], let json = file.metadata[Key.state],
      let digest = file.metadata[Key.digest]
    else {
      throw GraftError(
        .damaged, "this is no checkpoint of a training",
        fix: "Choose a file that 'checkpoints' of a run has written")
    }
    guard version == Self.version else {
      throw GraftError(
        .unsupported,
        "the checkpoint has version \(version), and this program reads version "
          + Self.version, fix: "Read it with the program that wrote it")
    }
    let found = Self.digest(version, json, file.tensors)
    guard found == digest else {
      throw GraftError(
        .damaged,
        "the checksum is \(digest.prefix(16))..., and the contents give "
          + "\(found.prefix(16))...", fix: "Go on from another checkpoint")
    }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let header: Header
    do {
      header = try decoder.decode(Header.self, from: Data(json.utf8))
    } catch {
      throw GraftError(
        .damaged, "the state of the training cannot be read", fix: "Go on from another checkpoint",
        cause: error)
    }
    try header.session.check()
    try header.run?.check()
    func table(_ group: Group) -> [String: Tensor] {
      var table: [String: Tensor] = [:]
      for (name, tensor) in file.tensors where name.hasPrefix(group.prefix) {
        table[String(name.dropFirst(group.prefix.count))] = tensor
      }
      return table
    }
    self.init(
      session: header.session, run: header.run, values: table(.values),
      optimizer: table(.optimizer), gradients: table(.gradients), best: table(.best))
  }

  private enum Group: String {
    case values, optimizer, gradients, best
    var prefix: String { rawValue + "/" }
  }

  private var tensors: OrderedTable<Tensor> {
    let groups: [(Group, [String: Tensor])] = [
      (.values, values), (.optimizer, optimizer), (.gradients, gradients), (.best, best),
    ]
    return OrderedTable(
      groups.flatMap { group, table in
        table.sorted { $0.key < $1.key }.map { (group.prefix + $0.key, $0.value) }
      })
  }

  /// Of everything that the file says, whatever the order of its tensors.
  private static func digest(
    _ version: String, _ json: String, _ tensors: OrderedTable<Tensor>
  ) -> String {
    var digest = SHA256()
    digest.add("\(version)\n\(json.utf8.count)\n\(json)")
    for name in tensors.keys.sorted() {
      guard let tensor = tensors[name] else { continue }
      digest.add("\n\(name.utf8.count) \(name) \(tensor.elementType) \(tensor.shape)\n")
      tensor.withUnalignedBytes { digest.add($0) }
    }
    return digest.text
  }
}
