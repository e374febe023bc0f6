import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

extension Model {
  /// Writes a neural network, and nearest neighbours behind it where the model has them.
  func writeCoreMLNetwork(to path: String, weights: TFLiteWeights, sizes: [String: Int]) throws {
    try locating(path) {
      try weights.requireFloats()
      let neighbors = try CoreMLNeighbors(self)
      let source = neighbors == nil ? self : neighbors?.extractor
      let prepared = try source.map { try $0.preparedForCoreML(sizes) }
      try CoreMLWriter.writeNetwork(
        prepared.map { ($0.model, $0.shapes) }, neighbors: neighbors, weights: weights, to: path)
    }
  }

  func writeCoreMLProgram(to path: String, weights: TFLiteWeights, sizes: [String: Int]) throws {
    try locating(path) {
      try weights.requireFloats()
      guard coreML?.neighbors == nil else {
        throw GraftError(
          .unsupported, "ML programs have no nearest-neighbour classifiers",
          fix: "Write the model as .mlmodel")
      }
      let prepared = try preparedForCoreML(sizes)
      try CoreMLWriter.writeProgram(prepared.model, prepared.shapes, weights: weights, to: path)
    }
  }

  /// The model with all sizes known; layers that are to be updated stay as they are.
  private func preparedForCoreML(_ sizes: [String: Int]) throws -> TFLitePreparation {
    for input in inputs {
      guard case .tensor(_, let shape?) = input.type else { continue }
      for (axis, dimension) in shape.enumerated().dropFirst() {
        guard case .named(let name) = dimension, sizes[name] == nil else {
          if case .unknown = dimension { throw Self.open("axis \(axis)", of: input) }
          continue
        }
        throw Self.open(name, of: input)
      }
    }
    let isUpdated = coreML?.update != nil
    return try TFLitePreparation(
      self, sizes: sizes, without: isUpdated ? ["normalization folding"] : [])
  }

  private static func open(_ name: String, of input: Feature) -> GraftError {
    GraftError(
      .unsupported, "the size '\(name)' is open", at: ["input '\(input.name)'"],
      fix: "Say which size the file is to have, as in '--size \(name)=128'")
  }
}

extension TFLiteWeights {
  fileprivate func requireFloats() throws {
    guard self == .int8 else { return }
    throw GraftError(
      .invalidArgument, "Core ML files are written with weights of float32 or float16",
      fix: "Choose one of these")
  }
}
