import GraftGraph
import GraftTensor

extension ONNXEncoder {
  /// - Parameter offset: where the elements start in the external file; nil to store them here.
  func tensor(_ tensor: Tensor, name: String, offset: Int?) -> ProtobufWriter {
    var message = header(tensor.shape, tensor.elementType, name)
    guard let layout, let offset else {
      message.elements(ONNXField.Tensor.raw, of: tensor)
      return message
    }
    let entries = [
      ("location", layout.location), ("offset", "\(offset)"), ("length", "\(tensor.byteCount)"),
    ]
    for (key, value) in entries {
      message.message(ONNXField.Tensor.externalData, entry(key, value))
    }
    message.int(ONNXField.Tensor.location, 1)
    return message
  }

  func text(_ tensor: StringTensor, name: String) -> ProtobufWriter {
    var message = header(tensor.shape, .string, name)
    for value in tensor.values { message.string(ONNXField.Tensor.strings, value) }
    return message
  }

  private func header(_ shape: Shape, _ type: ElementType, _ name: String) -> ProtobufWriter {
    var message = ProtobufWriter()
    // Not packed, as onnx.proto (proto2) has it.
    for dimension in shape { message.int(ONNXField.Tensor.dimensions, dimension) }
    message.int(ONNXField.Tensor.elementType, type.rawValue)
    message.stringIfAny(ONNXField.Tensor.name, name)
    return message
  }

  func feature(_ feature: Feature) -> ProtobufWriter {
    var message = ProtobufWriter()
    message.string(ONNXField.ValueInfo.name, feature.name)
    if let type = type(feature.type) { message.message(ONNXField.ValueInfo.type, type) }
    message.stringIfAny(ONNXField.ValueInfo.documentation, feature.documentation)
    return message
  }

  /// nil for a type that nothing is known of.
  private func type(_ type: FeatureType) -> ProtobufWriter? {
    typealias Field = ONNXField.TypeDeclaration
    var message = ProtobufWriter()
    var content = ProtobufWriter()
    switch type {
    case .unknown: return nil
    case .tensor(let element, let shape):
      content.int(Field.element, element.rawValue)
      if let shape { content.message(Field.shape, self.shape(shape)) }
      message.message(Field.tensor, content)
    case .sequence(let element):
      if let element = self.type(element) { content.message(Field.element, element) }
      message.message(Field.sequence, content)
    case .optional(let element):
      if let element = self.type(element) { content.message(Field.element, element) }
      message.message(Field.optional, content)
    case .map(let key, let value):
      content.int(Field.mapKey, key.rawValue)
      if let value = self.type(value) { content.message(Field.mapValue, value) }
      message.message(Field.map, content)
    }
    return message
  }

  private func shape(_ dimensions: [FeatureDimension]) -> ProtobufWriter {
    var message = ProtobufWriter()
    for dimension in dimensions {
      var content = ProtobufWriter()
      switch dimension {
      case .fixed(let size): content.int(ONNXField.ShapeDeclaration.dimensionSize, size)
      case .named(let name): content.string(ONNXField.ShapeDeclaration.dimensionName, name)
      case .unknown: break
      }
      message.message(ONNXField.ShapeDeclaration.dimension, content)
    }
    return message
  }
}
