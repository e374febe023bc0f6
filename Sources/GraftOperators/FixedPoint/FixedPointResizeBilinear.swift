import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Pictures of integers at another size, by linear interpolation between neighbours.
///
/// Positions are whole numbers of 1/1024, for uint8 float32 numbers; results are rounded to
/// nearest. Shapes: X [N, H, W, C] -> Y [N, `output_shape`, C]. Types: uint8, int8, int16.
/// Attributes: `output_shape` (height and width), `align_corners` (0), `half_pixel_centers` (0). No
/// gradient. Source: TensorFlow Lite's RESIZE_BILINEAR, reference kernel.
struct FixedPointResizeBilinear: FixedPointOperator {
  let name = "FixedPointResizeBilinear"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.fixedPoint)
    let input = try context.input(0)
    let size = try outputSize(context.node, input.shape)
    return [
      TensorType(input.elementType, [input.shape[0], size[0], size[1], input.shape[3]])
    ]
  }

  private func outputSize(_ node: Node, _ input: Shape) throws -> [Int] {
    guard input.rank == 4, input[1] > 0, input[2] > 0, max(input[1], input[2]) < 1 << 20 else {
      throw GraftError(
        .shapeMismatch,
        "input 0 has shape \(input); it must be [batch, height, width, channels] and not empty")
    }
    let size = try WindowAttributes.list(node, "output_shape", 2, default: 1, minimum: 1)
    guard max(size[0], size[1]) < 1 << 20 else {
      throw GraftError(.unsupported, "attribute 'output_shape' is \(size), which is too large")
    }
    return size
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let size = try context.kept { try outputSize(context.node, shape) }
    let axes = try context.kept {
      let mode = InterpolatedAxis.Mode(
        alignsCorners: try context.node.int("align_corners", default: 0) != 0,
        hasHalfPixelCenters: try context.node.int("half_pixel_centers", default: 0) != 0,
        isFloat: T.elementType == .uint8)
      return (0..<2).map { InterpolatedAxis(input: shape[$0 + 1], output: size[$0], mode) }
    }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let (height, width, channels) = (shape[1], shape[2], shape[3])
    context.parallel(shape[0] * size[0], cost: 8 * size[1] * channels) { rows in
      for row in rows {
        let (image, oy) = row.quotientAndRemainder(dividingBy: size[0])
        let v = axes[0].points[oy]
        let upper = x + (image * height + v.lower) * width * channels
        let lower = x + (image * height + v.upper) * width * channels
        for ox in 0..<size[1] {
          let h = axes[1].points[ox]
          let (left, right) = (h.lower * channels, h.upper * channels)
          let target = y + (row * size[1] + ox) * channels
          for c in 0..<channels {
            let corners = Corners(
              upper[left + c], lower[left + c], upper[right + c], lower[right + c])
            target[c] =
              T.elementType == .uint8 ? corners.mixedAsFloats(v, h) : corners.mixed(v, h)
          }
        }
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.resizing }
}

/// Four neighbours: left above and below, right above and below.
private struct Corners<T: FixedPointElement> {
  let values: (T, T, T, T)

  @inline(__always)
  init(_ a: T, _ b: T, _ c: T, _ d: T) { values = (a, b, c, d) }

  @inline(__always)
  func mixed(_ v: InterpolatedAxis.Point, _ h: InterpolatedAxis.Point) -> T {
    func term(_ value: T, _ first: Int64, _ second: Int64) -> Int64 {
      Int64(truncatingIfNeeded: value) &* first &* second
    }
    let sum =
      term(values.0, 1024 &- v.parts, 1024 &- h.parts) &+ term(values.1, v.parts, 1024 &- h.parts)
      &+ term(values.2, 1024 &- v.parts, h.parts) &+ term(values.3, v.parts, h.parts)
    return T(truncatingIfNeeded: (sum &+ (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20))
  }

  @inline(__always)
  func mixedAsFloats(_ v: InterpolatedAxis.Point, _ h: InterpolatedAxis.Point) -> T {
    let (y, x) = (v.fraction, h.fraction)
    let first = Float(values.0) * (1 - y) * (1 - x)
    let second = Float(values.1) * y * (1 - x)
    let third = Float(values.2) * (1 - y) * x
    let fourth = Float(values.3) * y * x
    let sum = (first + second + third + fourth).rounded(.toNearestOrAwayFromZero)
    return T(truncatingIfNeeded: Int32(sum))
  }
}

/// Between which input positions the output positions along one axis lie.
struct InterpolatedAxis {
  struct Mode {
    let alignsCorners: Bool
    let hasHalfPixelCenters: Bool
    let isFloat: Bool
  }

  struct Point {
    let lower: Int
    let upper: Int
    /// How far behind the lower position, in 1/1024.
    var parts: Int64 = 0
    /// The same as a number.
    var fraction: Float = 0
  }

  let points: [Point]

  init(input: Int, output: Int, _ mode: Mode) {
    points = (0..<output).map {
      mode.isFloat
        ? Self.floatPoint($0, input, output, mode) : Self.point($0, input, output, mode)
    }
  }

  private static func point(_ position: Int, _ input: Int, _ output: Int, _ mode: Mode) -> Point {
    let scale =
      mode.alignsCorners && output > 1
      ? (1024 * (input - 1) + (output - 1) / 2) / (output - 1)
      : (1024 * input + output / 2) / output
    let place = position * scale + (mode.hasHalfPixelCenters ? scale / 2 - 512 : 0)
    let lower = max(place / 1024, 0)
    return Point(
      lower: min(lower, input - 1), upper: max(0, min((place + 1023) / 1024, input - 1)),
      parts: Int64(place - 1024 * lower))
  }

  private static func floatPoint(_ position: Int, _ input: Int, _ output: Int, _ mode: Mode)
    -> Point
  {
    let scale =
      mode.alignsCorners && output > 1
      ? Float(input - 1) / Float(output - 1) : Float(input) / Float(output)
    let place =
      mode.hasHalfPixelCenters
      ? (Float(position) + 0.5) * scale - 0.5 : Float(position) * scale
    let lower = max(Int(place.rounded(.down)), 0)
    return Point(
      lower: min(lower, input - 1), upper: max(0, min(Int(place.rounded(.up)), input - 1)),
      fraction: place - Float(lower))
  }
}
