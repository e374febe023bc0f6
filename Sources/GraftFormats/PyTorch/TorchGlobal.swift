import GraftDiagnostics
import GraftTensor

/// The names that a checkpoint may mention. Each stands for something that the reader does itself;
/// nothing is ever looked up or called.
enum TorchGlobal {
  /// `collections.OrderedDict`.
  case orderedDictionary
  /// `torch._utils._rebuild_tensor` and its versions 2 and 3.
  case rebuildTensor(version: Int)
  /// `torch._utils._rebuild_parameter`: its first argument is the tensor.
  case rebuildParameter
  /// `torch.FloatStorage` and so on; no type for untyped storage.
  case storage(ElementType?)
  /// `torch.Size`: a tuple.
  case size
  /// `torch.float32` and so on.
  case elementType(ElementType)
  /// Makes a value that no tensor needs, such as numpy's numbers.
  case inert

  /// - Throws: `unsupported` for every name that is not on the list.
  init(module: String, name: String) throws {
    guard let known = Self.known(module, name) else {
      throw GraftError(
        .unsupported, "the checkpoint wants to call '\(module).\(name)', which Graft never does",
        fix: "Save only the tensors: torch.save(model.state_dict(), FILE)")
    }
    self = known
  }

  private static func known(_ module: String, _ name: String) -> TorchGlobal? {
    switch module {
    case "torch", "torch.storage", "torch.cuda":
      if name.hasSuffix("Storage") {
        return storage(name.dropLast("Storage".count))
      }
      guard module == "torch" else { return nil }
      if name == "Size" { return .size }
      return elementTypes[name].map { .elementType($0) } ?? (name == "device" ? .inert : nil)
    case "torch._utils":
      return utilities[name]
    case "collections":
      return name == "OrderedDict" ? .orderedDictionary : nil
    default:
      return inertNames[module]?.contains(name) == true ? .inert : nil
    }
  }

  private static func storage(_ prefix: Substring) -> TorchGlobal? {
    switch prefix {
    case "Untyped": .storage(nil)
    case "Double": .storage(.float64)
    case "Float": .storage(.float32)
    case "Half": .storage(.float16)
    case "BFloat16": .storage(.bfloat16)
    case "Long": .storage(.int64)
    case "Int": .storage(.int32)
    case "Short": .storage(.int16)
    case "Char": .storage(.int8)
    case "Byte": .storage(.uint8)
    case "Bool": .storage(.bool)
    case "ComplexFloat": .storage(.complex64)
    case "ComplexDouble": .storage(.complex128)
    default: nil
    }
  }

  private static let utilities: [String: TorchGlobal] = [
    "_rebuild_tensor": .rebuildTensor(version: 1),
    "_rebuild_tensor_v2": .rebuildTensor(version: 2),
    "_rebuild_tensor_v3": .rebuildTensor(version: 3),
    "_rebuild_parameter": .rebuildParameter,
    "_rebuild_parameter_with_state": .rebuildParameter,
  ]

  private static let elementTypes: [String: ElementType] = [
    "float64": .float64, "double": .float64, "float32": .float32, "float": .float32,
    "float16": .float16, "half": .float16, "bfloat16": .bfloat16,
    "int64": .int64, "long": .int64, "int32": .int32, "int": .int32, "int16": .int16,
    "short": .int16, "int8": .int8, "uint64": .uint64, "uint32": .uint32, "uint16": .uint16,
    "uint8": .uint8, "bool": .bool, "complex64": .complex64, "complex128": .complex128,
    "float8_e4m3fn": .float8e4m3fn, "float8_e4m3fnuz": .float8e4m3fnuz,
    "float8_e5m2": .float8e5m2, "float8_e5m2fnuz": .float8e5m2fnuz,
  ]

  private static let inertNames: [String: Set<String>] = [
    "_codecs": ["encode"],
    "builtins": ["set", "frozenset", "bytearray", "complex", "slice"],
    "__builtin__": ["set", "frozenset", "bytearray", "complex", "slice"],
    "numpy": ["dtype", "ndarray"],
    "numpy.core.multiarray": ["scalar", "_reconstruct"],
    "numpy._core.multiarray": ["scalar", "_reconstruct"],
  ]
}
