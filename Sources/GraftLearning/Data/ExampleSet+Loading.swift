import GraftDiagnostics
import GraftGraph
import GraftTensor
import Synchronization

extension ExampleSet {
  /// The inputs of one example, each [1, ...].
  ///
  /// - Parameter variant: which of its variants; nil and 0 for the example unchanged.
  /// - Throws: `badData` when it does not have the set's inputs, types and shapes; what a loader
  ///   throws. Each names set and row.
  package func load(row: Int, variant: Int? = nil) throws -> [String: Tensor] {
    try locating(name) {
      guard row >= 0, row < count else {
        throw GraftError(.invalidArgument, "there is no row \(row) among \(count) examples")
      }
      let origin = origin(of: row)
      let generator = variants.flatMap { $0.generator(row: origin, variant: variant ?? 0) }
      let inputs = try source.load(origin, generator: generator)
      if case .loader = source { try locating("row \(origin)") { try check(inputs) } }
      return inputs
    }
  }

  /// The inputs of several examples, each [rows, ...]. Loaders run on several threads.
  ///
  /// - Parameter variants: one for each row, or none for the examples unchanged.
  /// - Throws: as `load(row:variant:)`.
  package func load(rows: [Int], variants: [Int?] = []) throws -> [String: Tensor] {
    if case .tensors(let tensors) = source, self.variants == nil {
      return try locating(name) {
        try tensors.mapValues { try $0.gathering(rows: rows.map(origin)) }
      }
    }
    let results = Mutex([Result<[String: Tensor], any Error>?](repeating: nil, count: rows.count))
    parallelLoop(rows.count, threads: availableThreads) { range in
      for index in range {
        let variant = variants.indices.contains(index) ? variants[index] : nil
        let result = Result { try load(row: rows[index], variant: variant) }
        results.withLock { $0[index] = result }
      }
    }
    let examples = try results.withLock { try $0.compactMap { try $0?.get() } }
    var inputs: [String: Tensor] = [:]
    for input in inputTypes.keys {
      inputs[input] = try Tensor.stacking(examples.compactMap { $0[input] })
    }
    return inputs
  }

  /// The row of the source that an example is.
  func origin(of row: Int) -> Int { origins.map { $0[row] } ?? row }

  private func check(_ inputs: [String: Tensor]) throws {
    for (input, type) in inputTypes where inputs[input].map(TensorType.init(of:)) != type {
      let given = inputs[input].map { "is \(TensorType(of: $0))" } ?? "is missing"
      throw GraftError(
        .badData, "the input '\(input)' \(given); the first example's is \(type)",
        fix: "Give every example the same inputs, types and shapes")
    }
  }
}
