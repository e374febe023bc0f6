import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The attributes of Resize.
struct ResizeSettings {
  enum Mode: String { case nearest, linear, cubic }

  enum Transformation: String {
    case halfPixel = "half_pixel"
    case halfPixelSymmetric = "half_pixel_symmetric"
    case pytorchHalfPixel = "pytorch_half_pixel"
    case alignCorners = "align_corners"
    case asymmetric
    case cropAndResize = "tf_crop_and_resize"
  }

  enum NearestMode: String {
    case roundPreferFloor = "round_prefer_floor"
    case roundPreferCeil = "round_prefer_ceil"
    case floor, ceil
  }

  enum AspectPolicy: String {
    case stretch
    case notLarger = "not_larger"
    case notSmaller = "not_smaller"
  }

  let mode: Mode
  let transformation: Transformation
  let nearestMode: NearestMode
  let aspectPolicy: AspectPolicy
  let antialias: Bool
  let excludesOutside: Bool
  let cubicCoefficient: Float
  let extrapolationValue: Float

  init(_ node: Node) throws {
    mode = try Self.choice(node, "mode", .nearest)
    transformation = try Self.choice(node, "coordinate_transformation_mode", .halfPixel)
    nearestMode = try Self.choice(node, "nearest_mode", .roundPreferFloor)
    aspectPolicy = try Self.choice(node, "keep_aspect_ratio_policy", .stretch)
    antialias = try node.int("antialias", default: 0) != 0 && mode != .nearest
    excludesOutside = try node.int("exclude_outside", default: 0) != 0 && mode != .nearest
    cubicCoefficient = try node.float("cubic_coeff_a", default: -0.75)
    extrapolationValue = try node.float("extrapolation_value", default: 0)
  }

  private static func choice<Choice: RawRepresentable>(
    _ node: Node, _ attribute: String, _ standard: Choice
  ) throws -> Choice where Choice.RawValue == String {
    let name = try node.string(attribute, default: standard.rawValue)
    guard let choice = Choice(rawValue: name) else {
      throw GraftError(.unsupported, "\(attribute) is '\(name)', which Resize does not have")
    }
    return choice
  }

  /// The source coordinate of a position of a resampled axis.
  func coordinate(of position: Int, _ axis: ResizeGeometry.Axis) -> Float {
    let x = Float(position)
    let (input, output) = (Float(axis.input), Float(axis.output))
    switch transformation {
    case .halfPixel: return (x + 0.5) / axis.scale - 0.5
    case .halfPixelSymmetric:
      let adjustment = output / (axis.scale * input)
      return input / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5
    case .pytorchHalfPixel: return output > 1 ? (x + 0.5) / axis.scale - 0.5 : 0
    case .alignCorners: return output > 1 ? x * (input - 1) / (output - 1) : 0
    case .asymmetric: return x / axis.scale
    case .cropAndResize:
      let (start, end) = axis.region
      return output > 1
        ? start * (input - 1) + x * (end - start) * (input - 1) / (output - 1)
        : 0.5 * (start + end) * (input - 1)
    }
  }
}
