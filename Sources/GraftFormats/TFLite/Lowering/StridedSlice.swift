import GraftDiagnostics
import GraftGraph
import GraftTensor

/// What STRIDED_SLICE does along each axis of its input.
struct StridedSlice {
  /// The part of one axis.
  private struct Part {
    let axis: Int
    /// The place in the lists of begins, ends and strides.
    let entry: Int
    let start: Int
    let end: Int
    let step: Int
    let isStartOpen: Bool
    let isEndOpen: Bool
    /// Whether it is one element, whose axis goes.
    let isIndex: Bool
  }

  private enum Mask: Int { case begin, end, ellipsis, newAxis, shrink }

  private var parts: [Part] = []
  /// Axes of size 1 that the result has in addition.
  private var added: [Int] = []
  /// The values of begins and ends, where they are computed.
  private var computed: (begins: String, ends: String)?
  private let begins: [Int]?
  private let ends: [Int]?
  private let strides: [Int]
  private let masks: [Int]
  /// Whether ends count from the begins.
  private let isOffset: Bool

  init(_ operation: TFLiteOperator, _ context: inout LoweringContext) throws {
    let first = try context.input(1, of: operation)
    let last = try context.input(2, of: operation)
    begins = try context.constantInts(first)
    ends = try context.constantInts(last)
    strides = try context.requiredInts(3, of: operation)
    masks = try (0..<5).map { try operation.int($0) }
    isOffset = try operation.flag(5)
    guard !strides.contains(0), begins?.count ?? strides.count == strides.count,
      ends?.count ?? strides.count == strides.count
    else { throw GraftError(.damaged, "its begins, ends and strides do not fit each other") }
    if begins == nil || ends == nil {
      guard !isOffset else {
        throw GraftError(.unsupported, "ends relative to computed begins")
      }
      computed = (try context.int64(first), try context.int64(last))
    }
    try divide(try context.input(0, of: operation))
  }

  private func has(_ mask: Mask, _ entry: Int) -> Bool {
    entry < 32 && masks[mask.rawValue] >> entry & 1 == 1
  }

  /// Finds the axis that each entry is for.
  private mutating func divide(_ input: TFLiteTensor) throws {
    let newAxes = strides.indices.filter { has(.newAxis, $0) && !has(.ellipsis, $0) }.count
    var axis = 0
    var resultAxis = 0
    for entry in strides.indices {
      if has(.ellipsis, entry) {
        guard let rank = input.shape?.count else {
          throw GraftError(.unsupported, "an ellipsis over \(input.place), whose rank is unknown")
        }
        let skipped = max(0, rank - (strides.count - 1 - newAxes))
        axis += skipped
        resultAxis += skipped
      } else if has(.newAxis, entry) {
        added.append(resultAxis)
        resultAxis += 1
      } else {
        parts.append(part(axis, entry))
        axis += 1
        resultAxis += has(.shrink, entry) ? 0 : 1
      }
    }
  }

  private func part(_ axis: Int, _ entry: Int) -> Part {
    let far = TFLiteLowering.end
    let begin = begins?[entry] ?? 0
    let limit = (ends?[entry] ?? 0) &+ (isOffset ? begin : 0)
    guard !has(.shrink, entry) else {
      return Part(
        axis: axis, entry: entry, start: begin, end: begin == -1 ? far : begin &+ 1, step: 1,
        isStartOpen: false, isEndOpen: false, isIndex: true)
    }
    let isBackwards = strides[entry] < 0
    let (isStartOpen, isEndOpen) = (has(.begin, entry), has(.end, entry))
    return Part(
      axis: axis, entry: entry, start: isStartOpen ? (isBackwards ? far : 0) : begin,
      end: isEndOpen ? (isBackwards ? -far : far) : limit, step: strides[entry],
      isStartOpen: isStartOpen, isEndOpen: isEndOpen, isIndex: false)
  }

  // MARK: Nodes

  func apply(to value: String, _ context: inout LoweringContext) throws -> String {
    var value = value
    if !parts.isEmpty {
      let (starts, limits) = try bounds(&context)
      value = context.add(
        "Slice",
        [
          value, starts, limits, try context.ints(parts.map(\.axis)),
          try context.ints(parts.map(\.step)),
        ])
    }
    let taken = parts.filter(\.isIndex).map(\.axis)
    if !taken.isEmpty { value = context.add("Squeeze", [value, try context.ints(taken)]) }
    if !added.isEmpty { value = context.add("Unsqueeze", [value, try context.ints(added)]) }
    return value
  }

  private func bounds(_ context: inout LoweringContext) throws -> (starts: String, ends: String) {
    let starts = parts.map(\.start)
    let limits = parts.map(\.end)
    guard let computed else { return (try context.ints(starts), try context.ints(limits)) }
    let places = try context.ints(parts.map(\.entry))
    let begins = context.add("Gather", [computed.begins, places])
    var ends = context.add("Gather", [computed.ends, places])
    if parts.contains(where: \.isIndex) {
      // One element behind the begin; the last one ends with the axis.
      let next = context.add("Add", [begins, try context.ints([1])])
      let isLast = context.add("Equal", [begins, try context.ints([-1])])
      let behind = context.add(
        "Where", [isLast, try context.ints([TFLiteLowering.end]), next])
      ends = try chosen(parts.map(\.isIndex), behind, ends, &context)
    }
    return (
      try chosen(parts.map(\.isStartOpen), try context.ints(starts), begins, &context),
      try chosen(parts.map(\.isEndOpen), try context.ints(limits), ends, &context)
    )
  }

  /// One list where a flag is set, the other elsewhere.
  private func chosen(
    _ flags: [Bool], _ list: String, _ other: String, _ context: inout LoweringContext
  ) throws -> String {
    guard flags.contains(true) else { return other }
    let mask = context.initializer(try Tensor(flags), named: "mask")
    return context.add("Where", [mask, list, other])
  }
}
