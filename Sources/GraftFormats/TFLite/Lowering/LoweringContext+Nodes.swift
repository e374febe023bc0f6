import GraftDiagnostics
import GraftGraph
import GraftTensor

extension LoweringContext {
  // MARK: Nodes

  /// Adds a node with one output and gives the output's name.
  ///
  /// - Parameters:
  ///   - name: what the output is called; the operator's name when nil.
  ///   - tensor: the tensor whose own name the output takes.
  mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    domain: String = "", named name: String? = nil, tensor: Int? = nil
  ) -> String {
    let output = tensor.map { tensorNames[$0] } ?? names.fresh(name ?? op)
    if tensor != nil || name != nil { boundNames.insert(output) }
    graph.nodes.append(
      Node(
        op, domain: domain, name: output, inputs: inputs, outputs: [output],
        attributes: attributes))
    return output
  }

  /// Adds a node with several outputs and gives their names.
  mutating func add(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute] = [:],
    domain: String = "", outputCount: Int
  ) -> [String] {
    let outputs = (0..<outputCount).map { _ in names.fresh(op) }
    graph.nodes.append(
      Node(
        op, domain: domain, name: outputs.first ?? "", inputs: inputs, outputs: outputs,
        attributes: attributes))
    return outputs
  }

  /// Gives a value of the last node a new name, which it keeps.
  mutating func kept(_ value: String, named name: String) -> String {
    renamed(value, to: names.fresh(name + "/part"))
  }

  /// Gives a value of the last node another name; one that another node made keeps its own.
  mutating func renamed(_ value: String, to name: String) -> String {
    guard value != name, let last = graph.nodes.indices.last,
      let output = graph.nodes[last].outputs.firstIndex(of: value), !isNamed(value)
    else { return value }
    // A tensor's own name is taken for it; other names are new.
    let isOwn = tensorNameSet.contains(name)
    let chosen = isOwn ? name : names.fresh(name)
    if isOwn, boundNames.contains(name) { return value }
    boundNames.insert(chosen)
    if graph.nodes[last].name == value { graph.nodes[last].name = chosen }
    graph.nodes[last].outputs[output] = chosen
    return chosen
  }

  private func isNamed(_ value: String) -> Bool {
    boundNames.contains(value) || tensorNameSet.contains(value)
  }

  // MARK: Constants

  /// Adds an initializer and gives its name.
  mutating func initializer(_ tensor: Tensor, named base: String) -> String {
    let isOwn = tensorNameSet.contains(base) && !boundNames.contains(base)
    let name = isOwn ? base : names.fresh(base)
    boundNames.insert(name)
    graph.initializers[name] = tensor
    return name
  }

  /// A vector of whole numbers.
  mutating func ints(_ values: [Int]) throws -> String {
    let key = "ints \(values)"
    if let known = sharedConstants[key] { return known }
    let name = initializer(try Tensor(values.map(Int64.init)), named: "integers")
    sharedConstants[key] = name
    return name
  }

  /// A scalar.
  mutating func number(_ value: Float) throws -> String {
    let key = "number \(value.bitPattern)"
    if let known = sharedConstants[key] { return known }
    let name = initializer(try Tensor(scalar: value), named: "number")
    sharedConstants[key] = name
    return name
  }

  // MARK: Quantization

  /// Adds the conversion of stored integers to floats.
  ///
  /// - Parameter axisMap: where each axis of the tensor is in the value; as in the tensor when nil.
  mutating func dequantized(
    _ value: String, _ quantization: TFLiteQuantization, of tensor: TFLiteTensor,
    axisMap: [Int]? = nil, named name: String? = nil
  ) throws -> String {
    let (scale, zeroPoint, attributes) = try parameters(quantization, of: tensor, axisMap)
    return add("DequantizeLinear", [value, scale] + zeroPoint, attributes, named: name)
  }

  /// Adds the conversion of floats to the integers that a tensor stores.
  mutating func quantized(
    _ value: String, _ quantization: TFLiteQuantization, of tensor: TFLiteTensor,
    axisMap: [Int]? = nil
  ) throws -> String {
    guard tensor.elementType != .int32 else {
      throw GraftError(.unsupported, "\(tensor.place) is made of floats and stored as int32")
    }
    let (scale, zeroPoint, attributes) = try parameters(quantization, of: tensor, axisMap)
    return add("QuantizeLinear", [value, scale] + zeroPoint, attributes)
  }

  private mutating func parameters(
    _ quantization: TFLiteQuantization, of tensor: TFLiteTensor, _ axisMap: [Int]?
  ) throws -> (scale: String, zeroPoint: [String], attributes: [String: Attribute]) {
    let axis = quantization.axis
    let isScalar = !quantization.isPerChannel
    let shape: Shape = isScalar ? [] : [quantization.scales.count]
    let key = "\(quantization.scales.map(\.bitPattern)) \(quantization.zeroPoints)"
    let scale = try shared("scale \(key)", named: "scale") {
      try Tensor(quantization.scales, shape: shape)
    }
    // Without zero points the result of QuantizeLinear would be uint8.
    let type = tensor.elementType ?? .uint8
    let zeroPoint =
      type == .int32
      ? []
      : [
        try shared("zero point \(type) \(key)", named: "zero_point") {
          try Tensor(integers: quantization.zeroPoints, type, shape: shape)
        }
      ]
    let mapped = axisMap.flatMap { $0.indices.contains(axis) ? $0[axis] : nil } ?? axis
    return (scale, zeroPoint, isScalar ? [:] : ["axis": .int(mapped)])
  }

  /// A constant that many nodes read.
  private mutating func shared(_ key: String, named name: String, _ make: () throws -> Tensor)
    throws
    -> String
  {
    if let known = sharedConstants[key] { return known }
    let name = initializer(try make(), named: name)
    sharedConstants[key] = name
    return name
  }
}

extension Tensor {
  /// Whole numbers in one of the types that quantized tensors have.
  ///
  /// - Throws: `damaged` when one does not fit.
  init(integers values: [Int], _ type: ElementType, shape: Shape) throws {
    func exactly<T: FixedWidthInteger & TensorElement>(_: T.Type) throws -> Tensor {
      try Tensor(
        try values.map { value in
          try T(exactly: value).orThrow {
            GraftError(.damaged, "the zero point \(value) does not fit into \(type)")
          }
        }, shape: shape)
    }
    switch type {
    case .int8, .int4: self = try exactly(Int8.self)
    case .uint8: self = try exactly(UInt8.self)
    case .int16: self = try exactly(Int16.self)
    case .uint16: self = try exactly(UInt16.self)
    case .int32: self = try exactly(Int32.self)
    case .int64: self = try exactly(Int64.self)
    default: throw GraftError(.unsupported, "quantized values of type \(type)")
    }
  }
}
