import GraftDiagnostics
import GraftTensor

/// The structure of a TensorFlow Lite file. Every index in it is checked; the bytes of buffers stay
/// where they lie.
package struct TFLiteFile {
  /// Keeps the bytes alive that buffers and options lie in.
  let owner: AnyObject
  /// All of the file, with what may stand behind the FlatBuffer.
  let bytes: UnsafeRawBufferPointer
  package let description: String
  package let subgraphs: [TFLiteSubgraph]
  package let signatures: [TFLiteSignature]
  /// Bytes that the file keeps under a name, such as `TFLITE_METADATA`.
  let metadata: [(name: String, bytes: UnsafeRawBufferPointer)]
}

/// One of a file's graphs; the first is the one that runs.
package struct TFLiteSubgraph {
  package let name: String
  package let tensors: [TFLiteTensor]
  /// Numbers of tensors.
  package let inputs: [Int]
  package let outputs: [Int]
  package let operators: [TFLiteOperator]
}

/// A value of a subgraph.
package struct TFLiteTensor {
  /// Its number in the subgraph.
  package let index: Int
  package let name: String
  /// Nil for a type that Graft does not have.
  package let elementType: ElementType?
  /// The sizes in the file, nil for open ones; nil when not even the rank is known.
  package let shape: [Int?]?
  /// The bytes of a constant where they lie; nil for a value that is computed or fed.
  package let data: UnsafeRawBufferPointer?
  package let quantization: TFLiteQuantization?
  package let sparsity: TFLiteSparsity?
  package let isVariable: Bool

  /// The shape when every size is known.
  package var fixedShape: Shape? {
    guard let shape else { return nil }
    let sizes = shape.compactMap { $0 }
    return sizes.count == shape.count ? Shape(sizes) : nil
  }

  /// How messages name the tensor.
  package var place: String { name.isEmpty ? "tensor \(index)" : "tensor '\(name)'" }
}

/// What integers of a tensor mean: `scale * (value - zeroPoint)`.
package struct TFLiteQuantization: Sendable, Hashable {
  /// One for the whole tensor, or one for each index along `axis`.
  package let scales: [Float]
  /// As many as scales.
  package let zeroPoints: [Int]
  package let axis: Int

  package var isPerChannel: Bool { scales.count > 1 }

  package init(scales: [Float], zeroPoints: [Int], axis: Int = 0) {
    self.scales = scales
    self.zeroPoints = zeroPoints
    self.axis = axis
  }
}

/// One operator applied to tensors.
package struct TFLiteOperator {
  /// Its number in the subgraph.
  package let index: Int
  /// The builtin operator's name, such as `CONV_2D`, or the custom one's.
  package let name: String
  package let isCustom: Bool
  package let version: Int
  /// Numbers of tensors; nil where an optional input is left out.
  package let inputs: [Int?]
  package let outputs: [Int]
  /// Tensors that only hold the quantization of inner values.
  package let intermediates: [Int]
  /// Nil when the operator has none.
  let options: FlatBufferTable?
  package let customOptions: UnsafeRawBufferPointer?

  /// How messages name the operator.
  package var place: String { "\(name) operator \(index)" }
}

/// A named way into one of a file's subgraphs.
package struct TFLiteSignature {
  package let key: String
  package let subgraph: Int
  /// Names for tensors of the subgraph.
  package let inputs: [(name: String, tensor: Int)]
  package let outputs: [(name: String, tensor: Int)]
}
