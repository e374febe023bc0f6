/// Field numbers of ONNX's protobuf messages, one enumeration for each message.
///
/// Source: onnx.proto, https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
enum ONNXField {
  enum Model {
    static let irVersion = 1
    static let producerName = 2
    static let producerVersion = 3
    static let domain = 4
    static let modelVersion = 5
    static let documentation = 6
    static let graph = 7
    static let opsetImport = 8
    static let metadata = 14
    static let functions = 25
  }

  enum OperatorSet {
    static let domain = 1
    static let version = 2
  }

  enum Entry {
    static let key = 1
    static let value = 2
  }

  enum Function {
    static let name = 1
    static let domain = 10
    static let overload = 13
  }

  enum Graph {
    static let node = 1
    static let name = 2
    static let initializer = 5
    static let documentation = 10
    static let input = 11
    static let output = 12
    static let valueInfo = 13
    static let sparseInitializer = 15
  }

  enum Node {
    static let input = 1
    static let output = 2
    static let name = 3
    static let op = 4
    static let attribute = 5
    static let documentation = 6
    static let domain = 7
    static let overload = 8
  }

  enum Attribute {
    static let name = 1
    static let float = 2
    static let int = 3
    static let string = 4
    static let tensor = 5
    static let graph = 6
    static let floats = 7
    static let ints = 8
    static let strings = 9
    static let tensors = 10
    static let graphs = 11
    static let kind = 20
    static let reference = 21
  }

  enum ValueInfo {
    static let name = 1
    static let type = 2
    static let documentation = 3
  }

  enum TypeDeclaration {
    static let tensor = 1
    static let sequence = 4
    static let map = 5
    static let optional = 9
    /// In the tensor, sequence and optional messages alike.
    static let element = 1
    static let shape = 2
    static let mapKey = 1
    static let mapValue = 2
  }

  enum ShapeDeclaration {
    static let dimension = 1
    static let dimensionSize = 1
    static let dimensionName = 2
  }

  enum Tensor {
    static let dimensions = 1
    static let elementType = 2
    static let segment = 3
    static let floats = 4
    static let int32s = 5
    static let strings = 6
    static let int64s = 7
    static let name = 8
    static let raw = 9
    static let doubles = 10
    static let uint64s = 11
    static let externalData = 13
    static let location = 14
  }
}

/// The kinds of attributes, by ONNX's number (`AttributeProto.AttributeType`).
enum ONNXAttributeKind: Int {
  case float = 1
  case int = 2
  case string = 3
  case tensor = 4
  case graph = 5
  case floats = 6
  case ints = 7
  case strings = 8
  case tensors = 9
  case graphs = 10
}
