import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let slicings: [String: Rule] = ["Slice": slice]

  static let paddings: [String: Rule] = ["Pad": pad]

  private static let slice: Rule = { context, node in
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    let order = try context.order(of: input)
    let starts = try Bounds(1, of: node, &context)
    let ends = try Bounds(2, of: node, &context)
    let axes = try context.constantInts(3, of: node) ?? Array(starts.indices)
    let steps = try context.constantInts(4, of: node) ?? axes.map { _ in 1 }
    let rank = order.count
    var begin = [WritingContext.Size](repeating: .fixed(0), count: rank)
    var end = begin
    var strides = [Int](repeating: 1, count: rank)
    var (openBegins, openEnds) = ((1 << rank) - 1, (1 << rank) - 1)
    for (index, axis) in axes.enumerated() {
      let place = order.firstIndex(of: try shape.axis(axis)) ?? 0
      strides[place] = steps[index]
      begin[place] = starts[index]
      end[place] = ends[index]
      openBegins &= ~(1 << place)
      openEnds &= ~(1 << place)
      // An end before the first element, or beyond the last, is an open one.
      if case .fixed(let limit) = ends[index] {
        let size =
          context.open(input).contains(try shape.axis(axis))
          ? Int(Int32.max) : shape[axis < 0 ? axis + rank : axis]
        if steps[index] > 0 ? limit >= size : limit < -size { openEnds |= 1 << place }
      }
      if case .fixed(let limit) = starts[index], steps[index] < 0,
        limit >= shape[axis < 0 ? axis + rank : axis]
      {
        openBegins |= 1 << place
      }
    }
    let options = TFLiteOptions.make {
      $0.integer(0, Int32(openBegins))
      $0.integer(1, Int32(openEnds))
      for field in 2..<5 { $0.integer(field, Int32(0)) }
    }
    let operands = [
      try context.tensor(input, order: order), context.sizes(begin), context.sizes(end),
      context.ints(strides),
    ]
    try context.emit(
      "STRIDED_SLICE", operands, for: node.outputs[0], order: order, options: options)
  }

  /// Where slices begin or end.
  private struct Bounds {
    private let fixed: [Int]?
    private let tensor: Int
    private let count: Int

    init(_ index: Int, of node: Node, _ context: inout WritingContext) throws {
      let name = try context.required(index, of: node)
      count = try context.shape(name).elementCount
      fixed = context.constant(name) == nil ? nil : try context.constantInts(index, of: node)
      tensor = fixed == nil ? try context.tensor(name) : 0
    }

    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> WritingContext.Size {
      fixed.map { .fixed($0[index]) } ?? .element(of: tensor, index: index)
    }
  }

  private static let pad: Rule = { context, node in
    let input = try context.required(0, of: node)
    let shape = try context.shape(input)
    let order = try context.order(of: input)
    let pads = try context.constantInts(1, of: node) ?? []
    let axes = try context.constantInts(3, of: node)?.map(shape.axis) ?? Array(shape.indices)
    guard pads.count == 2 * axes.count else { throw GraftError(.damaged, "its pads are \(pads)") }
    guard pads.allSatisfy({ $0 >= 0 }) else { throw GraftError(.unsupported, "negative pads") }
    var amounts = [[Int]](repeating: [0, 0], count: shape.rank)
    for (index, axis) in axes.enumerated() {
      amounts[order.firstIndex(of: axis) ?? 0] = [pads[index], pads[index + axes.count]]
    }
    let operands = [try context.tensor(input, order: order), context.matrix(amounts)]
    switch try node.string("mode", default: "constant") {
    case "constant":
      guard let filler = context.input(2, of: node), context.constant(filler)?.number != 0 else {
        return try context.emit("PAD", operands, for: node.outputs[0], order: order)
      }
      let value = try context.constantInput(2, of: node).reshaped(to: [])
      let scalar = context.constantTensor(value, named: filler, key: "scalar \(filler)")
      try context.emit("PADV2", operands + [scalar], for: node.outputs[0], order: order)
    case "reflect":
      try context.emit(
        "MIRROR_PAD", operands, for: node.outputs[0], order: order,
        options: TFLiteOptions.make { $0.integer(0, Int8(0)) })
    case let mode: throw GraftError(.unsupported, "mode '\(mode)'")
    }
  }
}
