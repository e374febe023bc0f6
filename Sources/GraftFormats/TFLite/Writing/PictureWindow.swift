import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

/// How a window of height and width moves over a picture, and what stands around it.
struct PictureWindow {
  enum Padding { case same, valid, explicit }

  /// Of height and width; an axis that the graph does not have has one position.
  let axes: [WindowAxis]
  var padding: Padding
  /// Before and after, of height and width.
  let pads: [[Int]]

  /// - Parameters:
  ///   - input: the value that the window moves over, [batch, channels, one or two spatial axes].
  ///   - kernel: the taps along the spatial axes.
  init(_ node: Node, over input: String, kernel: [Int], in context: WritingContext) throws {
    let shape = try context.shape(input)
    guard (3...4).contains(shape.rank), kernel.count == shape.rank - 2 else {
      throw GraftError(
        .unsupported, "an input of shape \(shape); pictures and sequences can be written")
    }
    let attributes = try WindowAttributes(node, kernel: kernel)
    let isOpen = context.open(input).contains { $0 >= 2 }
    // Any size will do where the real one is open, as long as the window fits.
    let spatial = shape.dimensions.dropFirst(2).enumerated().map { axis, size in
      isOpen ? max(size, (kernel[axis] - 1) * attributes.dilations[axis] + 1) : size
    }
    let window = try attributes.window(over: Array(spatial))
    let all = [window.height, window.width]
    axes = all
    if isOpen {
      let halves = all.map { ($0.extent - 1) / 2 }
      let isCentered = all.enumerated().allSatisfy { axis, each in
        each.stride == 1 && each.extent % 2 == 1 && each.padBegin == halves[axis]
          && each.padEnd == halves[axis]
      }
      let isEmpty = all.allSatisfy { $0.padBegin == 0 && $0.padEnd == 0 }
      padding =
        attributes.padding == .sameUpper || isCentered
        ? .same : attributes.padding == .valid || isEmpty ? .valid : .explicit
      guard padding != .explicit || attributes.padding == .explicit, !attributes.roundsUp else {
        throw GraftError(.unsupported, "padding that follows from an open size")
      }
      pads = all.map { [$0.padBegin, $0.padEnd] }
      return
    }
    pads = all.map {
      [$0.padBegin, max(0, ($0.output - 1) * $0.stride + $0.extent - $0.input - $0.padBegin)]
    }
    let isValid = all.allSatisfy {
      $0.padBegin == 0 && $0.output == ($0.input - $0.extent) / $0.stride + 1
        && $0.input >= $0.extent
    }
    let isSame = all.allSatisfy { axis in
      let output = (axis.input + axis.stride - 1) / axis.stride
      let total = max(0, (output - 1) * axis.stride + axis.extent - axis.input)
      return output == axis.output && axis.padBegin == total / 2
    }
    padding = isValid ? .valid : isSame ? .same : .explicit
  }

  /// The number of the padding in options.
  var number: Int8 { padding == .same ? 0 : 1 }

  /// Options of a pooling.
  func poolingOptions(_ activation: FusedActivation) -> FlatBufferWriter {
    TFLiteOptions.make {
      $0.integer(0, number)
      $0.integer(1, Int32(axes[1].stride))
      $0.integer(2, Int32(axes[0].stride))
      $0.integer(3, Int32(axes[1].kernel))
      $0.integer(4, Int32(axes[0].kernel))
      $0.integer(5, activation.number)
    }
  }
}

extension WritingContext {
  /// A value as pictures [batch, height, width, channels]; sequences are pictures of height 1.
  mutating func picture(_ value: String) throws -> Int {
    let shape = try shape(value)
    if shape.rank == 4 { return try tensor(value, order: [0, 2, 3, 1]) }
    guard shape.rank == 3 else {
      throw GraftError(.unsupported, "an input of shape \(shape), which is no picture")
    }
    let sequence = try tensor(value, order: [0, 2, 1])
    var picture = draft.values[sequence]
    picture.name += "/picture"
    picture.shape.insert(1, at: 1)
    picture.open = Set(picture.open.map { $0 >= 1 ? $0 + 1 : $0 })
    return emit("EXPAND_DIMS", [sequence, int(1)], as: picture)
  }

  /// Adds an operator on pictures that makes a value, which may be sequences.
  mutating func emitPicture(
    _ op: String, _ inputs: [Int?], for value: String, options: FlatBufferWriter?
  ) throws {
    guard try shape(value).rank == 3 else {
      return try emit(op, inputs, for: value, order: [0, 2, 3, 1], options: options)
    }
    let sequence = try description(of: value, order: [0, 2, 1])
    var picture = sequence
    picture.name += "/picture"
    picture.shape.insert(1, at: 1)
    picture.open = Set(picture.open.map { $0 >= 1 ? $0 + 1 : $0 })
    let tensor = emit(op, inputs, as: picture, options: options)
    let squeeze = TFLiteOptions.make { $0.integers(0, [Int32(1)]) }
    try emit("SQUEEZE", [tensor], for: value, order: [0, 2, 1], options: squeeze)
  }

  /// Pictures with values around them.
  ///
  /// - Parameter filler: what stands there; zeros when nil.
  mutating func padded(_ picture: Int, _ pads: [[Int]], with filler: Int? = nil) -> Int {
    if pads.allSatisfy({ $0 == [0, 0] }) { return picture }
    var target = draft.values[picture]
    target.name += "/padded"
    for axis in 0..<2 { target.shape[1 + axis] += pads[axis][0] + pads[axis][1] }
    let amounts = matrix([[0, 0]] + pads + [[0, 0]])
    return filler.map { emit("PADV2", [picture, amounts, $0], as: target) }
      ?? emit("PAD", [picture, amounts], as: target)
  }
}
