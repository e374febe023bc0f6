import GraftDiagnostics
import GraftTensor

extension NetworkEncoder {
  /// Layers of the older form, where a vector is a picture of height and width 1.
  static let pictureOnlyRules: [String: Rule] = [
    "reduce_mean": { try $0.globalPooling($1, type: 1) },
    "reduce_max": { try $0.globalPooling($1, type: 0) },
    "softmax": { encoder, operation in
      guard operation.int("axis") == 1 else {
        throw GraftError(.unsupported, "shares along another axis than the channels'")
      }
      try encoder.add(175, operation)
    },
    "concat": { encoder, operation in
      guard case .values(let values)? = operation["values"], operation.int("axis") == 1 else {
        throw GraftError(.unsupported, "values side by side along another axis than the channels'")
      }
      try encoder.add(320, operation, values)
    },
    "add": { try $0.combination($1, kind: 230, withConstant: addition) },
    "mul": { try $0.combination($1, kind: 231, withConstant: multiplication) },
    "maximum": { try $0.combination($1, kind: 260, withConstant: nil) },
    "minimum": { try $0.combination($1, kind: 261, withConstant: nil) },
    "reshape": reshape,
  ]

  private typealias ConstantRule =
    @Sendable (
      inout NetworkEncoder, CoreMLDraft.Operation, _ value: String, _ constant: Tensor
    ) throws -> Void

  private mutating func globalPooling(_ operation: CoreMLDraft.Operation, type: Int) throws {
    let shape = shape(operation.value("x") ?? "")
    guard shape.rank == 4, operation.ints("axes") == [2, 3] else {
      throw GraftError(.unsupported, "a reduction along other axes than height and width")
    }
    try add(120, operation) { message in
      if type > 0 { message.int(1, type) }
      message.ints(10, [shape[2], shape[3]])
      message.ints(20, [1, 1])
      message.message(30) { $0.message(1, ProtobufWriter.borders([0, 0, 0, 0])) }
      message.bool(60, true)
    }
  }

  private mutating func combination(
    _ operation: CoreMLDraft.Operation, kind: Int, withConstant: ConstantRule?
  ) throws {
    let (x, y) = (operation.value("x") ?? "", operation.value("y") ?? "")
    if let constant = constant(y) ?? constant(x) {
      guard let withConstant, constant.elementType == .float32 else {
        throw GraftError(.unsupported, "a constant as a value")
      }
      return try withConstant(&self, operation, self.constant(y) == nil ? y : x, constant)
    }
    let (left, right) = (shape(x), shape(y))
    guard left.rank == right.rank, left[0] == right[0], left[1] == right[1],
      left == right || [left, right].contains(where: { $0.dropFirst(2).allSatisfy { $0 == 1 } })
    else { throw GraftError(.unsupported, "values of the shapes \(left) and \(right)") }
    try add(kind, operation, [x, y])
  }

  /// The channels of a constant that has a number for each of them; nil for other constants.
  private func channels(_ constant: Tensor, of value: String) -> Int? {
    let shape = shape(value)
    let whole =
      [Int](repeating: 1, count: max(0, shape.rank - constant.shape.rank))
      + constant.shape.dimensions
    let isEach = whole.indices.allSatisfy { whole[$0] == ($0 == 1 ? shape[1] : 1) }
    return whole.count == shape.rank && isEach ? shape[1] : nil
  }

  private static let addition: ConstantRule = { encoder, operation, value, constant in
    if constant.elementCount == 1, let number = try constant.values(as: Float.self).first {
      return try encoder.add(230, operation, [value]) { $0.float(1, number) }
    }
    guard let channels = encoder.channels(constant, of: value) else {
      throw GraftError(.unsupported, "a constant of the shape \(constant.shape)")
    }
    let data = try encoder.weight(constant)
    try encoder.add(250, operation, [value]) {
      $0.ints(1, [channels, 1, 1])
      $0.message(2, data)
    }
  }

  private static let multiplication: ConstantRule = { encoder, operation, value, constant in
    if constant.elementCount == 1, let number = try constant.values(as: Float.self).first {
      return try encoder.add(231, operation, [value]) { $0.float(1, number) }
    }
    guard let channels = encoder.channels(constant, of: value) else {
      throw GraftError(.unsupported, "a constant of the shape \(constant.shape)")
    }
    let data = try encoder.weight(constant)
    try encoder.add(245, operation, [value]) {
      $0.ints(1, [channels, 1, 1])
      $0.message(2, data)
    }
  }

  private static let reshape: Rule = { encoder, operation in
    let value = operation.value("x") ?? ""
    let (from, to) = (encoder.shape(value), encoder.shape(operation.outputs[0]))
    guard from[0] == to[0] else { throw GraftError(.unsupported, "a new shape of the batch") }
    let isPoint = { (shape: Shape) in shape.dropFirst(2).allSatisfy { $0 == 1 } }
    if isPoint(from), isPoint(to), from[1] == to[1] {
      return encoder.alias(operation.outputs[0], to: value)
    }
    guard from.rank == 4, isPoint(to) else {
      throw GraftError(.unsupported, "the new shape \(to) of \(from)")
    }
    try encoder.add(301, operation)
  }
}
