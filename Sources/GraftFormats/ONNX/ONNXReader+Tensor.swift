import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A tensor as it is stored in a file.
struct NamedTensor {
  enum Content {
    case numbers(Tensor)
    case text(StringTensor)
  }

  var name: String
  var content: Content
}

extension ONNXReader {
  /// Reads a tensor; its elements are borrowed from the file where they lie in one piece.
  func tensor(_ message: ProtobufReader) throws -> NamedTensor {
    let stored = try ONNXTensorMessage(message, reader: self)
    return try locating("tensor '\(stored.name)'") {
      NamedTensor(name: stored.name, content: try content(stored))
    }
  }

  private func content(_ stored: ONNXTensorMessage) throws -> NamedTensor.Content {
    guard let type = ElementType(rawValue: stored.elementType) else {
      throw GraftError(
        .unsupported, "ONNX's element type number \(stored.elementType) is unknown to Graft")
    }
    guard !stored.isSegment else {
      throw GraftError(.unsupported, "the tensor is stored in segments", fix: onnxFix)
    }
    let shape = Shape(stored.dimensions)
    let count = try shape.checkedElementCount()
    if type == .string { return .text(try text(stored, shape, count)) }
    return .numbers(try numbers(stored, type, shape))
  }

  private func text(_ stored: ONNXTensorMessage, _ shape: Shape, _ count: Int) throws
    -> StringTensor
  {
    guard stored.strings.count == count else {
      throw GraftError(
        .damaged, "\(stored.strings.count) strings are stored for shape \(shape)")
    }
    return StringTensor(try stored.strings.map { try $0.string() }, shape: shape)
  }

  private func numbers(_ stored: ONNXTensorMessage, _ type: ElementType, _ shape: Shape) throws
    -> Tensor
  {
    if stored.isExternal { return try externalData.tensor(stored.externalData, type, shape) }
    if let raw = stored.raw {
      reading.skipped(raw.count)
      return try Tensor(borrowing: raw, type, shape: shape, owner: owner)
    }
    return try stored.decodeNumbers(type, shape, owner: owner)
  }
}
