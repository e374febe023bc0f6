import GraftDiagnostics
import GraftGraph
import GraftTensor

extension LoweringContext {
  // MARK: Reading

  /// The value of a tensor as the file has it: integers stay integers.
  mutating func stored(_ tensor: TFLiteTensor, channelsFirst: Bool = false) throws -> String {
    try value(ValueForm(tensor: tensor.index, isFloat: false, isChannelsFirst: channelsFirst))
  }

  /// The value of a tensor as floats: dequantized, or converted from another type.
  mutating func float(_ tensor: TFLiteTensor, channelsFirst: Bool = false) throws -> String {
    try value(ValueForm(tensor: tensor.index, isFloat: true, isChannelsFirst: channelsFirst))
  }

  /// Whether a tensor's value is there with the channels in front only, so that reading it otherwise
  /// costs a Transpose.
  func prefersChannelsFirst(_ tensor: TFLiteTensor) -> Bool {
    func has(_ isChannelsFirst: Bool) -> Bool {
      [true, false].contains {
        values[ValueForm(tensor: tensor.index, isFloat: $0, isChannelsFirst: isChannelsFirst)]
          != nil
      }
    }
    return has(true) && !has(false)
  }

  private mutating func value(_ form: ValueForm) throws -> String {
    if let known = values[form] { return known }
    let made = try make(form)
    values[form] = made
    return made
  }

  private mutating func make(_ form: ValueForm) throws -> String {
    let tensor = tensor(form.tensor)
    if form.isFloat, isFloat32(tensor) {
      return try stored(tensor, channelsFirst: form.isChannelsFirst)
    }
    var other = form
    other.isChannelsFirst.toggle()
    if let source = values[other] { return transposed(source, form) }
    if form.isFloat {
      // From whichever order of axes the integers are there in.
      let plain = ValueForm(tensor: tensor.index, isFloat: false, isChannelsFirst: false)
      let isChannelsFirst =
        form.isChannelsFirst || values[plain] == nil && prefersChannelsFirst(tensor)
      guard isChannelsFirst == form.isChannelsFirst else {
        return transposed(try float(tensor, channelsFirst: isChannelsFirst), form)
      }
      return try converted(tensor, channelsFirst: form.isChannelsFirst)
    }
    if form.isChannelsFirst { return transposed(try stored(tensor), form) }
    return try initial(tensor)
  }

  private func isFloat32(_ tensor: TFLiteTensor) -> Bool {
    tensor.elementType == .float32 && origins[tensor.index] == nil
  }

  /// A tensor that no operator has made: a constant, or the zeros of a variable.
  private mutating func initial(_ tensor: TFLiteTensor) throws -> String {
    if origins[tensor.index] != nil, let origin = constantOrigin(of: tensor.index) {
      // A constant in another form: dequantized when it is read as the floats that it stands for.
      return origin.elementType == tensor.elementType
        ? try stored(origin) : try converted(origin, channelsFirst: false)
    }
    if let constant = try constant(tensor) {
      return initializer(constant, named: tensorNames[tensor.index])
    }
    guard tensor.isVariable else { throw GraftError(.damaged, "nothing makes \(tensor.place)") }
    return initializer(try zeros(like: tensor), named: tensorNames[tensor.index])
  }

  private static var largestVariable: Int { 1 << 26 }

  /// What stands for zero in a tensor's type and shape: what variables begin with.
  func zeros(like tensor: TFLiteTensor) throws -> Tensor {
    guard let shape = tensor.fixedShape, let type = tensor.elementType, type != .string,
      try Tensor.byteCount(shape, type) <= Self.largestVariable
    else {
      throw GraftError(.unsupported, "\(tensor.place) is a variable of an open or large shape")
    }
    let zero = tensor.quantization?.zeroPoints.first ?? 0
    switch type {
    case .int8:
      return try Tensor(
        [Int8](repeating: Int8(clamping: zero), count: shape.elementCount), shape: shape)
    case .uint8:
      return try Tensor(
        [UInt8](repeating: UInt8(clamping: zero), count: shape.elementCount), shape: shape)
    default: return try Tensor(zeros: shape, type)
    }
  }

  /// Floats from the stored elements.
  private mutating func converted(_ tensor: TFLiteTensor, channelsFirst: Bool) throws -> String {
    let source = constantOrigin(of: tensor.index) ?? tensor
    let value = try stored(source, channelsFirst: channelsFirst)
    if source.elementType == .float32 { return value }
    let name = tensorNames[source.index] + "/float" + (channelsFirst ? "/channels_first" : "")
    if let quantization = source.quantization, isQuantized(source) {
      return try dequantized(
        value, quantization, of: source, axisMap: channelsFirst ? [0, 2, 3, 1] : nil, named: name)
    }
    return add("Cast", [value], ["to": .int(ElementType.float32.rawValue)], named: name)
  }

  private mutating func transposed(_ source: String, _ form: ValueForm) -> String {
    let name = tensorNames[form.tensor] + (form.isFloat ? "/float" : "")
    return add(
      "Transpose", [source], ["perm": .ints(form.isChannelsFirst ? [0, 3, 1, 2] : [0, 2, 3, 1])],
      named: form.isChannelsFirst ? name + "/channels_first" : form.isFloat ? name : nil,
      tensor: form.isFloat || form.isChannelsFirst ? nil : form.tensor)
  }

  // MARK: Making

  /// Says that a value is a tensor's, with the element type that the file gives it.
  mutating func bind(_ value: String, to tensor: TFLiteTensor, channelsFirst: Bool = false) {
    let name = tensorNames[tensor.index] + (channelsFirst ? "/channels_first" : "")
    values[ValueForm(tensor: tensor.index, isFloat: false, isChannelsFirst: channelsFirst)] =
      renamed(value, to: name)
  }

  /// Makes a tensor of a float value: the activation that is fused into its operator first, then
  /// quantized or converted to the tensor's type.
  mutating func store(
    _ value: String, as tensor: TFLiteTensor, activation: FusedActivation = .none,
    channelsFirst: Bool = false
  ) throws {
    let float = try activated(value, activation)
    guard tensor.elementType != .float32 else {
      return bind(float, to: tensor, channelsFirst: channelsFirst)
    }
    if let quantization = tensor.quantization, isQuantized(tensor) {
      let integers = try quantized(
        float, quantization, of: tensor, axisMap: channelsFirst ? [0, 2, 3, 1] : nil)
      return bind(integers, to: tensor, channelsFirst: channelsFirst)
    }
    guard let type = tensor.elementType, type != .string else {
      throw GraftError(.unsupported, "\(tensor.place) is of a type that Graft does not have")
    }
    bind(
      add("Cast", [float], ["to": .int(type.rawValue)]), to: tensor, channelsFirst: channelsFirst)
  }

  /// Whether an operator on floats would read and make the very integers that are stored, so that it
  /// can work on them directly.
  func sharesQuantization(_ tensors: [TFLiteTensor]) -> Bool {
    guard let first = tensors.first else { return true }
    return tensors.allSatisfy {
      $0.elementType == first.elementType && $0.quantization?.scales == first.quantization?.scales
        && $0.quantization?.zeroPoints == first.quantization?.zeroPoints
    }
  }
}
