import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Writes models as TensorFlow Lite files (`.tflite`).
///
/// Inputs and outputs keep their names, in the file's signature, and their shapes. Open sizes stand
/// as 1 and are marked as open, so that LiteRT can resize them. Inside, pictures lie with their
/// channels last; values are brought into another order only where an operator needs it.
package enum TFLiteWriter {
  /// Writes a model file, replacing one that is there when all has been written.
  ///
  /// - Throws: `unsupported` naming all operators that have no form in TensorFlow Lite;
  ///   `inputOutput`.
  package static func write(
    _ model: Model, _ shapes: TFLiteShapes, weights: TFLiteWeights = .float32, to path: String
  ) throws {
    try locating(path) {
      var context = WritingContext(model.graph, shapes, weights: weights)
      try context.write()
      let attached = TFLiteAttachments(model)
      let root = try context.draft.encoded(
        description: model.documentation, graphName: model.graph.name,
        metadata: [(TFLiteMetadata.bufferName, try attached.metadata.encoded())])
      try replaceFile(at: path) { write in
        var position = 0
        try root.write(identifier: TFLiteSchema.identifier) { piece in
          position += piece.count
          try write(piece)
        }
        guard !attached.files.isEmpty else { return }
        try ZipArchive.bytes(of: attached.files, at: position).withUnsafeBytes { try write($0) }
      }
    }
  }
}

/// How each operator becomes operators of TensorFlow Lite.
enum TFLiteWriting {
  /// Adds the operators for one node and binds its outputs. What cannot be expressed throws
  /// `unsupported`.
  typealias Rule = @Sendable (inout WritingContext, Node) throws -> Void

  /// The rules by the operator's qualified name.
  static let table: [String: Rule] = [
    convolutions, poolings, matrixProducts, unaryFunctions, binaryFunctions, normalizations,
    reductions, reshapings, shapeComputations, joinings, slicings, paddings, indexings,
    resamplings, conversions, recurrentLayers, detections,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }
}
