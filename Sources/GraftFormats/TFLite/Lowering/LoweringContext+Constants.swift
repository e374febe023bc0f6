import GraftDiagnostics
import GraftGraph
import GraftTensor

extension LoweringContext {
  /// The float value of a tensor with its axes in another order: of a constant the numbers
  /// themselves, of another value a Transpose of it.
  ///
  /// - Parameter shape: what the constant's shape is seen as; its own when nil.
  mutating func reordered(
    _ tensor: TFLiteTensor, _ order: [Int], seenAs shape: Shape? = nil
  ) throws -> String {
    guard let origin = constantOrigin(of: tensor.index), let constant = try constant(tensor) else {
      return add("Transpose", [try float(tensor)], ["perm": .ints(order)])
    }
    let key = "constant \(origin.index) \(order) \(shape?.description ?? "")"
    if let known = sharedConstants[key] { return known }
    let seen = try shape.map { try constant.reshaped(to: $0) } ?? constant
    guard seen.shape.rank == order.count else {
      throw GraftError(
        .damaged, "\(tensor.place) has shape \(seen.shape), and rank \(order.count) is expected")
    }
    let stored = initializer(try seen.permuted(order), named: tensorNames[origin.index])
    let value = try asFloat(stored, of: origin, order)
    sharedConstants[key] = value
    return value
  }

  /// Floats from a constant whose axes were put in another order.
  private mutating func asFloat(_ value: String, of origin: TFLiteTensor, _ order: [Int]) throws
    -> String
  {
    if origin.elementType == .float32 { return value }
    let name = value + "/float"
    if let quantization = origin.quantization, isQuantized(origin) {
      let places = order.indices.map { axis in order.firstIndex(of: axis) ?? axis }
      return try dequantized(value, quantization, of: origin, axisMap: places, named: name)
    }
    return add("Cast", [value], ["to": .int(ElementType.float32.rawValue)], named: name)
  }

  /// The bias of a layer; that of a quantized one has the scale of its products where it names none.
  mutating func bias(
    _ index: Int, of operation: TFLiteOperator, input: TFLiteTensor, filter: TFLiteTensor
  ) throws -> [String] {
    guard hasInput(index, of: operation) else { return [] }
    let tensor = try self.input(index, of: operation)
    guard tensor.elementType == .int32 || tensor.elementType == .int64, isQuantized(input),
      let scale = input.quantization?.scales.first, let filterScales = filter.quantization?.scales
    else { return [try float(tensor)] }
    let quantization =
      tensor.quantization
      ?? TFLiteQuantization(
        scales: filterScales.map { $0 * scale }, zeroPoints: filterScales.map { _ in 0 })
    guard tensor.elementType == .int64 else {
      return [try dequantized(try stored(tensor), quantization, of: tensor)]
    }
    // DequantizeLinear has no int64, which biases beside activations of 16 bits are.
    let numbers = add(
      "Cast", [try stored(tensor)], ["to": .int(ElementType.float32.rawValue)])
    let shape: Shape = quantization.isPerChannel ? [quantization.scales.count] : []
    let factor = initializer(try Tensor(quantization.scales, shape: shape), named: "scale")
    return [add("Mul", [numbers, factor])]
  }

  /// The sizes of a tensor of four axes; nil for open ones.
  func pictureShape(_ tensor: TFLiteTensor) throws -> [Int?] {
    let shape = tensor.shape ?? [nil, nil, nil, nil]
    guard shape.count == 4 else {
      throw GraftError(
        .shapeMismatch, "\(tensor.place) has \(shape.count) axes, and four are expected")
    }
    return shape
  }

  /// The sizes of a constant filter, whose rank must be `rank`.
  func filterShape(_ tensor: TFLiteTensor, rank: Int = 4) throws -> Shape {
    guard let shape = tensor.fixedShape, shape.rank == rank, !shape.contains(0) else {
      throw GraftError(.unsupported, "\(tensor.place) is no filter of \(rank) axes")
    }
    return shape
  }
}
