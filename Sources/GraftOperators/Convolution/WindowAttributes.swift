import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The attributes that convolutions and poolings share: `strides` (1), `dilations` (1), `pads` (0;
/// all beginnings, then all ends), `auto_pad` (NOTSET) and, for poolings, `ceil_mode` (0).
///
/// Source: ONNX Conv-11, MaxPool-12, AveragePool-19.
package struct WindowAttributes {
  package enum Padding: Equatable {
    case explicit
    /// As many outputs as inputs divided by the stride, an odd padding larger at the end.
    case sameUpper
    /// The same, an odd padding larger at the beginning.
    case sameLower
    case valid
  }

  package let kernel: [Int]
  package let strides: [Int]
  package let dilations: [Int]
  package let padding: Padding
  package let padsBegin: [Int]
  package let padsEnd: [Int]
  package let roundsUp: Bool

  /// - Parameter kernel: the taps along each spatial axis.
  package init(_ node: Node, kernel: [Int]) throws {
    let rank = kernel.count
    self.kernel = try Self.checked(kernel, "kernel_shape", rank, minimum: 1)
    strides = try Self.list(node, "strides", rank, default: 1, minimum: 1)
    dilations = try Self.list(node, "dilations", rank, default: 1, minimum: 1)
    switch try node.string("auto_pad", default: "NOTSET") {
    case "NOTSET", "": padding = .explicit
    case "SAME_UPPER": padding = .sameUpper
    case "SAME_LOWER": padding = .sameLower
    case "VALID": padding = .valid
    case let other:
      throw GraftError(
        .damaged,
        "attribute 'auto_pad' is '\(other)', not NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    }
    // With any other padding than the explicit one, `pads` has no meaning.
    let pads =
      padding == .explicit
      ? try Self.list(node, "pads", 2 * rank, default: 0, minimum: 0)
      : [Int](repeating: 0, count: 2 * rank)
    padsBegin = Array(pads.prefix(rank))
    padsEnd = Array(pads.suffix(rank))
    roundsUp = try node.int("ceil_mode", default: 0) != 0
  }

  /// An attribute with `count` whole numbers; when it is absent, all are `defaultValue`.
  package static func list(
    _ node: Node, _ name: String, _ count: Int, default defaultValue: Int, minimum: Int
  ) throws -> [Int] {
    guard node.has(name) else { return [Int](repeating: defaultValue, count: count) }
    return try checked(try node.ints(name), name, count, minimum: minimum)
  }

  /// Bounds far above any use keep products of the numbers within an Int.
  private static func checked(_ values: [Int], _ name: String, _ count: Int, minimum: Int) throws
    -> [Int]
  {
    guard values.count == count else {
      throw GraftError(
        .damaged, "attribute '\(name)' has \(values.count) numbers; it must have \(count)")
    }
    guard values.allSatisfy({ $0 >= minimum && $0 <= Int(Int32.max) }) else {
      throw GraftError(
        .damaged,
        "attribute '\(name)' is \(values); its numbers must be from \(minimum) to \(Int32.max)")
    }
    return values
  }

  /// The window over an input with the given spatial dimensions.
  ///
  /// - Throws: `shapeMismatch` when the window is larger than the padded input.
  package func window(over input: [Int]) throws -> SlidingWindow {
    SlidingWindow(try input.indices.map { try axis($0, input[$0]) })
  }

  private func axis(_ index: Int, _ input: Int) throws -> WindowAxis {
    var axis = WindowAxis(
      input: input, kernel: kernel[index], stride: strides[index], dilation: dilations[index],
      padBegin: padsBegin[index], padEnd: padsEnd[index])
    switch padding {
    case .sameUpper, .sameLower:
      axis.output = ceilingQuotient(input, axis.stride)
      let total = max(0, (axis.output - 1) * axis.stride + axis.extent - input)
      axis.padBegin = padding == .sameUpper ? total / 2 : total - total / 2
      axis.padEnd = total - axis.padBegin
    case .explicit, .valid:
      let room = input + axis.padBegin + axis.padEnd - axis.extent
      guard room >= 0 else {
        throw GraftError(
          .shapeMismatch,
          "a window of \(axis.extent) positions does not fit into spatial axis \(index), which has "
            + "\(input) and \(axis.padBegin + axis.padEnd) of padding",
          fix: "Give a larger input")
      }
      axis.output = room / axis.stride + 1
      // A window more, unless it would start in the padding behind the input.
      if roundsUp, padding == .explicit, room % axis.stride != 0,
        axis.output * axis.stride < input + axis.padBegin
      {
        axis.output += 1
      }
    }
    return axis
  }
}
