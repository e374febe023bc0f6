import GraftDiagnostics
import GraftGraph
import GraftTensor

extension LoweringContext {
  /// Inputs of an element-wise operator, all with their axes in one order.
  struct Operands {
    let values: [String]
    let isChannelsFirst: Bool
  }

  /// Inputs that broadcast: with the channels in front where one is there in that order only.
  mutating func operands(_ tensors: [TFLiteTensor], asFloat: Bool) throws -> Operands {
    let isChannelsFirst =
      tensors.contains(where: prefersChannelsFirst)
      && tensors.allSatisfy { tensor in
        guard let origin = constantOrigin(of: tensor.index) else { return tensor.shape?.count == 4 }
        return origin.fixedShape.map { $0.rank <= 4 } ?? false
      }
    let values = try tensors.map { tensor in
      if isChannelsFirst, let shape = constantOrigin(of: tensor.index)?.fixedShape {
        return try broadcastConstant(tensor, shape, asFloat: asFloat)
      }
      return asFloat
        ? try float(tensor, channelsFirst: isChannelsFirst)
        : try stored(tensor, channelsFirst: isChannelsFirst)
    }
    return Operands(values: values, isChannelsFirst: isChannelsFirst)
  }

  /// A constant that broadcasts to pictures with the channels in front.
  private mutating func broadcastConstant(
    _ tensor: TFLiteTensor, _ shape: Shape, asFloat: Bool
  ) throws -> String {
    if shape.elementCount == 1 { return asFloat ? try float(tensor) : try stored(tensor) }
    let seen = Shape([Int](repeating: 1, count: 4 - shape.rank) + shape.dimensions)
    if asFloat, tensor.quantization?.isPerChannel != true {
      return try reordered(tensor, [0, 3, 1, 2], seenAs: seen)
    }
    let value = add(
      "Reshape",
      [asFloat ? try float(tensor) : try stored(tensor), try ints(seen.dimensions)])
    return add("Transpose", [value], ["perm": .ints([0, 3, 1, 2])])
  }

  /// Applies an operator to elements: to floats where tensors stand for real numbers, to the stored
  /// values where they are integers or truth values that mean themselves.
  mutating func elementwise(
    _ operation: TFLiteOperator, activation: FusedActivation = .none,
    _ make: (inout Self, [String]) throws -> String
  ) throws {
    let inputs = try operation.inputs.indices.map { try input($0, of: operation) }
    let output = try self.output(0, of: operation)
    guard !inputs.isEmpty else { throw GraftError(.damaged, "it has no input") }
    let onReals = (inputs + [output]).contains(where: isReal)
    let operands = try self.operands(inputs, asFloat: onReals)
    let value = try make(&self, operands.values)
    if onReals, isReal(output) {
      return try store(
        value, as: output, activation: activation, channelsFirst: operands.isChannelsFirst)
    }
    guard activation == .none else {
      throw GraftError(.unsupported, "a fused activation on \(output.place), which is no float")
    }
    bind(value, to: output, channelsFirst: operands.isChannelsFirst)
  }

  /// Whether a tensor holds real numbers, as floats or quantized.
  func isReal(_ tensor: TFLiteTensor) -> Bool {
    isQuantized(tensor) || tensor.elementType?.isFloatingPoint == true
  }

  /// A scalar of an input's own type: a float where the operator works on real numbers.
  mutating func scalar(_ value: Int, like tensor: TFLiteTensor) throws -> String {
    guard !isReal(tensor), let type = tensor.elementType else { return try number(Float(value)) }
    let key = "scalar \(type) \(value)"
    if let known = sharedConstants[key] { return known }
    let name = initializer(try Tensor(integers: [value], type, shape: []), named: "number")
    sharedConstants[key] = name
    return name
  }
}
