import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ONNXReader {
  /// A declared input, output or inner value.
  func feature(_ message: ProtobufReader) throws -> Feature {
    var message = message
    var feature = Feature(name: "", type: .unknown)
    while let field = try message.next() {
      switch field.number {
      case ONNXField.ValueInfo.name: feature.name = try field.string()
      case ONNXField.ValueInfo.type: feature.type = try type(try field.message())
      case ONNXField.ValueInfo.documentation: feature.documentation = try field.string()
      default: break
      }
    }
    return feature
  }

  /// A declared type; `unknown` for sparse tensors and opaque types, which Graft does not have.
  private func type(_ message: ProtobufReader) throws -> FeatureType {
    var message = message
    var type = FeatureType.unknown
    while let field = try message.next() {
      switch field.number {
      case ONNXField.TypeDeclaration.tensor: type = try tensorType(try field.message())
      case ONNXField.TypeDeclaration.sequence:
        type = .sequence(try elementType(try field.message()))
      case ONNXField.TypeDeclaration.optional:
        type = .optional(try elementType(try field.message()))
      case ONNXField.TypeDeclaration.map: type = try mapType(try field.message())
      default: break
      }
    }
    return type
  }

  private func elementType(_ message: ProtobufReader) throws -> FeatureType {
    var message = message
    var element = FeatureType.unknown
    while let field = try message.next() {
      guard field.number == ONNXField.TypeDeclaration.element else { continue }
      element = try type(try field.message())
    }
    return element
  }

  private func mapType(_ message: ProtobufReader) throws -> FeatureType {
    var message = message
    var key: ElementType?
    var value = FeatureType.unknown
    while let field = try message.next() {
      switch field.number {
      case ONNXField.TypeDeclaration.mapKey: key = ElementType(rawValue: try field.int())
      case ONNXField.TypeDeclaration.mapValue: value = try type(try field.message())
      default: break
      }
    }
    return key.map { .map(key: $0, value: value) } ?? .unknown
  }

  private func tensorType(_ message: ProtobufReader) throws -> FeatureType {
    var message = message
    var element: ElementType?
    var shape: [FeatureDimension]?
    while let field = try message.next() {
      switch field.number {
      case ONNXField.TypeDeclaration.element: element = ElementType(rawValue: try field.int())
      case ONNXField.TypeDeclaration.shape: shape = try self.shape(try field.message())
      default: break
      }
    }
    return element.map { .tensor($0, shape: shape) } ?? .unknown
  }

  private func shape(_ message: ProtobufReader) throws -> [FeatureDimension] {
    var message = message
    var shape: [FeatureDimension] = []
    while let field = try message.next() {
      guard field.number == ONNXField.ShapeDeclaration.dimension else { continue }
      shape.append(try dimension(try field.message()))
    }
    return shape
  }

  private func dimension(_ message: ProtobufReader) throws -> FeatureDimension {
    var message = message
    var dimension = FeatureDimension.unknown
    while let field = try message.next() {
      switch field.number {
      case ONNXField.ShapeDeclaration.dimensionSize:
        // Some exporters write -1 for an open dimension.
        let size = try field.int()
        dimension = size < 0 ? .unknown : .fixed(size)
      case ONNXField.ShapeDeclaration.dimensionName:
        let name = try field.string()
        dimension = name.isEmpty ? .unknown : .named(name)
      default: break
      }
    }
    return dimension
  }
}
