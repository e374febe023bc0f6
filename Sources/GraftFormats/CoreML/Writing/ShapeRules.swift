import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  static let shapeRules: [String: Rule] = {
    var rules: [String: Rule] = [
      "Transpose": { try $0.transposition($1) }, "Concat": { try $0.joining($1) },
      "Split": { try $0.splitting($1) }, "Expand": { try $0.expansion($1) },
      "Tile": { try $0.tiling($1) }, "Pad": { try $0.padding($1) },
    ]
    for op in ["Reshape", "Flatten", "Squeeze", "Unsqueeze"] {
      rules[op] = { try $0.reshaping($1) }
    }
    return rules
  }()

  static let indexRules: [String: Rule] = [
    "Slice": { try $0.slicing($1) }, "Gather": { try $0.gathering($1) },
  ]

  private mutating func reshaping(_ node: Node) throws {
    let shape = try shape(node.outputs[0])
    let value = try operand(node.inputs[0])
    if draft.types[value]?.shape == shape { return bind(node.outputs[0], to: value) }
    try emit(
      "reshape", [("x", .value(value)), ("shape", .ints(shape.dimensions))], for: node.outputs[0])
  }

  private mutating func transposition(_ node: Node) throws {
    let rank = try shape(node.inputs[0]).rank
    let order = try node.ints("perm", default: Array((0..<rank).reversed()))
    let value = transposed(try operand(node.inputs[0]), order, named: node.outputs[0] + "/moved")
    bind(node.outputs[0], to: value)
  }

  private func axis(_ node: Node, default standard: Int? = nil) throws -> Int {
    let rank = try shape(node.inputs[0]).rank
    let axis = try node.int("axis", default: standard)
    return axis < 0 ? axis + rank : axis
  }

  private mutating func joining(_ node: Node) throws {
    let values = try node.inputs.map { try operand($0) }
    if values.count == 1 { return bind(node.outputs[0], to: values[0]) }
    try emit(
      "concat",
      [
        ("values", .values(values)), ("axis", .int(try axis(node))), ("interleave", .bool(false)),
      ], for: node.outputs[0])
  }

  private mutating func splitting(_ node: Node) throws {
    let axis = try axis(node, default: 0)
    let sizes = try node.outputs.map { try shape($0)[axis] }
    try emit(
      "split",
      [
        ("x", .value(try operand(node.inputs[0]))), ("split_sizes", .ints(sizes)),
        ("axis", .int(axis)),
      ], for: node.outputs)
  }

  private mutating func expansion(_ node: Node) throws {
    let (input, output) = (try shape(node.inputs[0]), try shape(node.outputs[0]))
    let wide = Shape([Int](repeating: 1, count: output.rank - input.rank) + input.dimensions)
    let value = reshaped(try operand(node.inputs[0]), wide)
    let counts = zip(output, wide).map { $1 == $0 ? 1 : $0 }
    if counts.allSatisfy({ $0 == 1 }) { return bind(node.outputs[0], to: value) }
    try emit("tile", [("x", .value(value)), ("reps", .ints(counts))], for: node.outputs[0])
  }

  private mutating func tiling(_ node: Node) throws {
    let counts = try constantInts(1, of: node) ?? []
    try emit(
      "tile", [("x", .value(try operand(node.inputs[0]))), ("reps", .ints(counts))],
      for: node.outputs[0])
  }

  private mutating func padding(_ node: Node) throws {
    let rank = try shape(node.inputs[0]).rank
    let given = try constantInts(1, of: node) ?? []
    var axes = Array(0..<rank)
    if let chosen = try constantInts(3, of: node) { axes = chosen.map { $0 < 0 ? $0 + rank : $0 } }
    guard given.count == 2 * axes.count, given.allSatisfy({ $0 >= 0 }) else {
      throw GraftError(.unsupported, "pads \(given)")
    }
    var pads = [Int](repeating: 0, count: 2 * rank)
    for (index, axis) in axes.enumerated() {
      pads[2 * axis] = given[index]
      pads[2 * axis + 1] = given[index + axes.count]
    }
    let kinds = ["constant": "constant", "reflect": "reflect", "edge": "replicate"]
    let mode = try node.string("mode", default: "constant")
    let kind = try kinds[mode].orThrow { GraftError(.unsupported, "the mode '\(mode)'") }
    guard kind == "constant" || pads.dropLast(4).allSatisfy({ $0 == 0 }) else {
      throw GraftError(.unsupported, "the mode '\(mode)' along more than the last two axes")
    }
    var filling: Float = 0
    if input(2, of: node) != nil {
      filling = try constantInput(2, of: node).values(as: Float.self).first ?? 0
    }
    try emit(
      "pad",
      [
        ("x", .value(try operand(node.inputs[0]))), ("pad", .ints(pads)), ("mode", .text(kind)),
        ("constant_val", .number(filling)),
      ], for: node.outputs[0])
  }

  private mutating func slicing(_ node: Node) throws {
    let shape = try shape(node.inputs[0])
    let starts = try constantInts(1, of: node) ?? []
    let ends = try constantInts(2, of: node) ?? []
    let axes = try constantInts(3, of: node) ?? Array(starts.indices)
    let steps = try constantInts(4, of: node) ?? starts.map { _ in 1 }
    guard starts.count == ends.count, axes.count == starts.count, steps.count == starts.count else {
      throw GraftError(.damaged, "its starts, ends, axes and steps have different lengths")
    }
    var begin = shape.map { _ in 0 }
    var end = shape.dimensions
    var stride = shape.map { _ in 1 }
    for (index, given) in axes.enumerated() {
      let axis = given < 0 ? given + shape.rank : given
      guard shape.indices.contains(axis), steps[index] > 0 else {
        throw GraftError(.unsupported, "steps backwards")
      }
      func place(_ number: Int) -> Int {
        min(max(number < 0 ? number + shape[axis] : number, 0), shape[axis])
      }
      begin[axis] = place(starts[index])
      end[axis] = place(ends[index])
      stride[axis] = steps[index]
    }
    try emit(
      "slice_by_index",
      slice(try operand(node.inputs[0]), begin, end, stride), for: node.outputs[0])
  }

  private func slice(_ value: String, _ begin: [Int], _ end: [Int], _ stride: [Int]) -> [(
    name: String, value: CoreMLDraft.Argument
  )] {
    let none = begin.map { _ in false }
    return [
      ("x", .value(value)), ("begin", .ints(begin)), ("end", .ints(end)),
      ("stride", .ints(stride)), ("begin_mask", .bools(none)), ("end_mask", .bools(none)),
      ("squeeze_mask", .bools(none)),
    ]
  }

  private mutating func gathering(_ node: Node) throws {
    let axis = try axis(node, default: 0)
    let shape = try shape(node.inputs[0])
    let value = try operand(node.inputs[0])
    guard let indices = constant(node.inputs[1]) else {
      return try emit(
        "gather",
        [
          ("x", .value(value)), ("indices", .value(try operand(node.inputs[1]))),
          ("axis", .int(axis)),
        ], for: node.outputs[0])
    }
    let places = (indices.ints ?? []).map { $0 < 0 ? $0 + shape[axis] : $0 }
    if indices.shape.rank == 0, let place = places.first {
      var (begin, end) = (shape.map { _ in 0 }, shape.dimensions)
      (begin[axis], end[axis]) = (place, place + 1)
      let kept = Shape(shape.indices.map { $0 == axis ? 1 : shape[$0] })
      let row = emit(
        "slice_by_index", slice(value, begin, end, shape.map { _ in 1 }),
        as: TensorType(try type(node.inputs[0]).elementType, kept))
      return try emit(
        "reshape",
        [("x", .value(row)), ("shape", .ints(try self.shape(node.outputs[0]).dimensions))],
        for: node.outputs[0])
    }
    let stored = try constant(
      Tensor(places.map { Int32(clamping: $0) }, shape: indices.shape), named: node.inputs[1])
    try emit(
      "gather", [("x", .value(value)), ("indices", .value(stored)), ("axis", .int(axis))],
      for: node.outputs[0])
  }
}
