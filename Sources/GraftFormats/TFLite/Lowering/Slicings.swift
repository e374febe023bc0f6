import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let slicings: [String: Rule] = [
    "SLICE": slice,
    "STRIDED_SLICE": stridedSlice,
    "REVERSE_V2": { context, operation in
      let input = try context.input(0, of: operation)
      let axes = try context.requiredInts(1, of: operation).map { try context.axis($0, of: input) }
      try context.move(operation) { context, value in
        let ends = axes.map { _ in -Int(Int32.max) }
        let steps = axes.map { _ in -1 }
        return context.add(
          "Slice",
          [
            value, try context.ints(steps), try context.ints(ends), try context.ints(axes),
            try context.ints(steps),
          ])
      }
    },
    "REVERSE_SEQUENCE": { context, operation in
      let lengths = try context.int64(try context.input(1, of: operation))
      let attributes: [String: Attribute] = [
        "time_axis": .int(try operation.int(0)),
        "batch_axis": .int(try operation.int(1)),
      ]
      try context.move(operation) { context, value in
        context.add("ReverseSequence", [value, lengths], attributes)
      }
    },
  ]

  /// Further than any axis reaches.
  static let end = Int(Int32.max)

  private static let slice: Rule = { context, operation in
    let starts = try context.input(1, of: operation)
    let sizes = try context.input(2, of: operation)
    let begin = try context.int64(starts)
    let ends: String
    if let first = try context.constantInts(starts), let counts = try context.constantInts(sizes),
      first.count == counts.count
    {
      ends = try context.ints(zip(first, counts).map { $1 < 0 ? end : $0 &+ $1 })
    } else {
      let counts = try context.int64(sizes)
      let isOpen = context.add("Less", [counts, try context.ints([0])])
      ends = context.add(
        "Where", [isOpen, try context.ints([end]), context.add("Add", [begin, counts])])
    }
    try context.move(operation) { context, value in context.add("Slice", [value, begin, ends]) }
  }

  private static let stridedSlice: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let plan = try StridedSlice(operation, &context)
    try context.move(operation) { context, value in try plan.apply(to: value, &context) }
  }
}

/// What STRIDED_SLICE does along each axis of its input.
private struct StridedSlice {
  /// Of the axes that are sliced.
  private var axes: [Int] = []
  private var starts: [Int] = []
  private var ends: [Int] = []
  private var steps: [Int] = []
  /// Positions in the lists of begins and ends, for those that are computed.
  private var entries: [Int] = []
  /// Whether a start or end is left open, for those that are computed.
  private var openStarts: [Bool] = []
  private var openEnds: [Bool] = []
  /// Axes that one index is taken of.
  private var indexed: [Int] = []
  /// Axes of size 1 that the result has in addition.
  private var added: [Int] = []
  /// The values of begins and ends, where they are computed.
  private var computed: (begins: String, ends: String)?

  init(_ operation: TFLiteOperator, _ context: inout LoweringContext) throws {
    let input = try context.input(0, of: operation)
    let (begins, limits) = (
      try context.input(1, of: operation), try context.input(2, of: operation)
    )
    let strides = try context.requiredInts(3, of: operation)
    let masks = try (0..<5).map { try operation.int($0) }
    let isOffset = try operation.flag(5)
    let constantBegins = try context.constantInts(begins)
    let constantEnds = try context.constantInts(limits)
    let count = strides.count
    guard strides.allSatisfy({ $0 != 0 }), constantBegins.map({ $0.count == count }) ?? true,
      constantEnds.map({ $0.count == count }) ?? true
    else { throw GraftError(.damaged, "its begins, ends and strides do not fit each other") }
    if constantBegins == nil || constantEnds == nil {
      computed = (try context.int64(begins), try context.int64(limits))
    }
    func has(_ mask: Int, _ entry: Int) -> Bool { entry < 32 && masks[mask] >> entry & 1 == 1 }
    let newAxes = (0..<count).filter { has(3, $0) && !has(2, $0) }.count
    var axis = 0
    var resultAxis = 0
    for entry in 0..<count {
      if has(2, entry) {
        guard let rank = input.shape?.count else {
          throw GraftError(.unsupported, "an ellipsis over \(input.place), whose rank is unknown")
        }
        let skipped = max(0, rank - (count - 1 - newAxes))
        axis += skipped
        resultAxis += skipped
        continue
      }
      if has(3, entry) {
        added.append(resultAxis)
        resultAxis += 1
        continue
      }
      let begin = constantBegins?[entry] ?? 0
      let limit = (constantEnds?[entry] ?? 0) &+ (isOffset ? begin : 0)
      let isBackwards = strides[entry] < 0
      let isIndex = has(4, entry)
      axes.append(axis)
      entries.append(entry)
      let isStartOpen = has(0, entry) && !isIndex
      openStarts.append(isStartOpen)
      openEnds.append(has(1, entry) && !isIndex)
      starts.append(isStartOpen ? (isBackwards ? TFLiteLowering.end : 0) : begin)
      if isIndex {
        ends.append(begin == -1 ? TFLiteLowering.end : begin &+ 1)
        steps.append(1)
        indexed.append(axis)
      } else {
        ends.append(
          has(1, entry) ? (isBackwards ? -TFLiteLowering.end : TFLiteLowering.end) : limit)
        steps.append(strides[entry])
        resultAxis += 1
      }
      axis += 1
    }
    if computed != nil, isOffset {
      throw GraftError(.unsupported, "ends relative to computed begins")
    }
  }

  func apply(to value: String, _ context: inout LoweringContext) throws -> String {
    var value = value
    if let computed {
      value = try slice(value, computed, &context)
    } else if !axes.isEmpty {
      value = context.add(
        "Slice",
        [
          value, try context.ints(starts), try context.ints(ends), try context.ints(axes),
          try context.ints(steps),
        ])
    }
    if !indexed.isEmpty { value = context.add("Squeeze", [value, try context.ints(indexed)]) }
    if !added.isEmpty { value = context.add("Unsqueeze", [value, try context.ints(added)]) }
    return value
  }

  /// With begins and ends that other operators compute.
  private func slice(
    _ value: String, _ computed: (begins: String, ends: String), _ context: inout LoweringContext
  ) throws -> String {
    let places = try context.ints(entries)
    func chosen(_ list: String) -> String { context.add("Gather", [list, places]) }
    func replaced(_ list: String, _ isOpen: [Bool], _ substitutes: [Int]) throws -> String {
      guard isOpen.contains(true) else { return list }
      let mask = context.initializer(try Tensor(isOpen), named: "mask")
      return context.add("Where", [mask, try context.ints(substitutes), list])
    }
    let begins = chosen(computed.begins)
    let isIndex = axes.map(indexed.contains)
    var limits = chosen(computed.ends)
    if isIndex.contains(true) {
      // One element behind the begin; the last one ends with the axis.
      let next = context.add("Add", [begins, try context.ints([1])])
      let isLast = context.add("Equal", [begins, try context.ints([-1])])
      let behind = context.add("Where", [isLast, try context.ints([TFLiteLowering.end]), next])
      let mask = context.initializer(try Tensor(isIndex), named: "mask")
      limits = context.add("Where", [mask, behind, limits])
    }
    return context.add(
      "Slice",
      [
        value, try replaced(begins, openStarts, starts), try replaced(limits, openEnds, ends),
        try context.ints(axes), try context.ints(steps),
      ])
  }
}
