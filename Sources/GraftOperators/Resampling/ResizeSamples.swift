import GraftGraph
import GraftTensor

/// Samples of Resize.
enum ResizeSamples {
  static var all: [OperatorSample] {
    modes + transformations + sizes + types + errors
  }

  private static let picture: Shape = [1, 2, 5, 6]

  /// A sample whose last two axes are scaled.
  private static func scaled(
    _ name: String, _ height: Float, _ width: Float, _ attributes: [String: String] = [:],
    _ others: [String: Attribute] = [:], skipsOracle: Bool = false
  ) -> OperatorSample {
    OperatorSample(
      name, attributes: attributes.mapValues { .string($0) }.merging(others) { $1 },
      inputs: [.random(picture), nil, .sample([1, 1, height, width])], differentiableInputs: [0],
      skipsOracle: skipsOracle)
  }

  /// A sample whose last two axes get sizes.
  private static func sized(
    _ name: String, _ height: Int64, _ width: Int64, _ attributes: [String: String] = [:],
    _ others: [String: Attribute] = [:], skipsOracle: Bool = false
  ) -> OperatorSample {
    OperatorSample(
      name, attributes: attributes.mapValues { .string($0) }.merging(others) { $1 },
      inputs: [.random(picture), nil, nil, .sample([1, 2, height, width])],
      differentiableInputs: [0], skipsOracle: skipsOracle)
  }

  private static var modes: [OperatorSample] {
    [
      scaled("nearest, doubled", 2, 2, ["coordinate_transformation_mode": "asymmetric"]),
      scaled("nearest, halved", 0.5, 0.5),
      scaled("nearest, round_prefer_ceil", 0.5, 1.5, ["nearest_mode": "round_prefer_ceil"]),
      scaled("nearest, floor", 1.4, 0.7, ["nearest_mode": "floor"]),
      scaled("nearest, ceil", 0.7, 2.4, ["nearest_mode": "ceil"]),
      scaled("linear, up", 2, 1.7, ["mode": "linear"]),
      scaled("linear, down", 0.6, 0.5, ["mode": "linear"]),
      scaled("cubic, up", 2, 1.7, ["mode": "cubic"]),
      scaled("cubic, down", 0.6, 0.5, ["mode": "cubic"], ["cubic_coeff_a": .float(-0.5)]),
      scaled(
        "cubic, inside only", 1.6, 0.7, ["mode": "cubic"], ["exclude_outside": .int(1)]),
      scaled("linear, antialias", 0.6, 0.4, ["mode": "linear"], ["antialias": .int(1)]),
      scaled("cubic, antialias", 0.6, 0.4, ["mode": "cubic"], ["antialias": .int(1)]),
      scaled(
        "cubic, antialias, inside only", 0.6, 0.4, ["mode": "cubic"],
        ["antialias": .int(1), "exclude_outside": .int(1)]),
      scaled("unchanged", 1, 1, ["mode": "cubic"]),
    ]
  }

  private static var transformations: [OperatorSample] {
    let names = ["half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
    let plain = names.flatMap { name in
      [
        scaled("nearest, \(name)", 1.7, 0.6, ["coordinate_transformation_mode": name]),
        scaled(
          "linear, \(name)", 1.7, 0.6, ["mode": "linear", "coordinate_transformation_mode": name]),
        sized(
          "cubic, \(name)", 8, 3, ["mode": "cubic", "coordinate_transformation_mode": name]),
      ]
    }
    let crops = ["nearest", "linear", "cubic"].map { mode in
      OperatorSample(
        "\(mode), crop",
        attributes: [
          "mode": .string(mode), "coordinate_transformation_mode": .string("tf_crop_and_resize"),
          "extrapolation_value": .float(0.5),
        ],
        inputs: [
          .random(picture), .sample([0, 0, 0.2, -0.1, 1, 1, 0.8, 1.2] as [Float]), nil,
          .sample([1, 2, 4, 9] as [Int64]),
        ], differentiableInputs: [0])
    }
    return plain + crops
  }

  private static var sizes: [OperatorSample] {
    [
      sized("sizes", 7, 4, ["mode": "linear"]),
      sized("one pixel", 1, 1, ["coordinate_transformation_mode": "pytorch_half_pixel"]),
      sized(
        "one pixel, corners", 1, 1,
        ["mode": "linear", "coordinate_transformation_mode": "align_corners"]),
      sized("empty", 0, 4, skipsOracle: true),
      axes("not larger", "not_larger"),
      axes("not smaller", "not_smaller"),
      OperatorSample(
        "any axes", attributes: ["mode": .string("linear"), "axes": .ints([-1, 0])],
        inputs: [.random([3, 2, 4]), nil, .sample([1.5, 2] as [Float])],
        differentiableInputs: [0], skipsOracle: true),
      OperatorSample(
        "sequence", attributes: ["mode": .string("linear")],
        inputs: [.random([1, 3, 7]), nil, .sample([1, 1, 2] as [Float])],
        differentiableInputs: [0]),
      OperatorSample(
        "empty scales",
        inputs: [
          .random([1, 1, 2, 2]), nil, .sample([] as [Float]), .sample([1, 1, 4, 4] as [Int64]),
        ], differentiableInputs: [0], skipsOracle: true),
    ]
  }

  private static func axes(_ name: String, _ policy: String) -> OperatorSample {
    OperatorSample(
      name,
      attributes: [
        "mode": .string("linear"), "axes": .ints([2, 3]),
        "keep_aspect_ratio_policy": .string(policy),
      ], inputs: [.random(picture), nil, nil, .sample([8, 9] as [Int64])],
      differentiableInputs: [0])
  }

  private static var types: [OperatorSample] {
    func typed<T: TensorElement>(_ mode: String, _ values: [T], skipsOracle: Bool = false)
      -> OperatorSample
    {
      OperatorSample(
        "\(mode), \(T.elementType)", attributes: ["mode": .string(mode)],
        inputs: [.sample(values, [1, 1, 1, 4]), nil, nil, .sample([1, 1, 2, 7] as [Int64])],
        skipsOracle: skipsOracle)
    }
    return [
      typed("nearest", [0, 10, 255, 3] as [UInt8]), typed("linear", [0, 10, 255, 3] as [UInt8]),
      typed("nearest", [0, 10, -100, 3] as [Int8]), typed("linear", [0, 10, -100, 3] as [Int8]),
      typed("nearest", [0, 10, -1000, 3] as [Int32]), typed("linear", [0, 10, 1000, 3] as [Int32]),
      typed("nearest", [0, 10, -1000, 3] as [Int64], skipsOracle: true),
      typed("cubic", [0, 10, 255, 3] as [UInt8], skipsOracle: true),
      typed("nearest", [true, false, true, true], skipsOracle: true),
    ]
  }

  private static var errors: [OperatorSample] {
    func failing(
      _ name: String, _ error: String, _ attributes: [String: Attribute] = [:],
      _ inputs: Tensor?...
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: attributes, inputs: [.random([1, 1, 2, 2])] + inputs, error: error)
    }
    let crop: [String: Attribute] = [
      "coordinate_transformation_mode": .string("tf_crop_and_resize")
    ]
    return [
      failing("no sizes", "neither scales nor sizes"),
      failing(
        "both", "both scales and sizes", [:], nil, .sample([1, 1, 2, 2] as [Float]),
        .sample([1, 1, 4, 4] as [Int64])),
      failing("too few", "there are 2 scales for 4 axes", [:], nil, .sample([2, 2] as [Float])),
      failing("no roi", "roi has 0 values", crop, nil, .sample([1, 1, 2, 2] as [Float])),
      failing(
        "negative scale", "a scale of -1.0", [:], nil, .sample([1, 1, 2, -1] as [Float])),
      failing("negative size", "a size is -4", [:], nil, nil, .sample([1, 1, 4, -4] as [Int64])),
      failing(
        "no mode", "mode is 'area'", ["mode": .string("area")], nil,
        .sample([1, 1, 2, 2] as [Float])),
      failing(
        "axis twice", "name an axis twice", ["axes": .ints([3, -1])], nil,
        .sample([2, 2] as [Float])),
    ]
  }
}
