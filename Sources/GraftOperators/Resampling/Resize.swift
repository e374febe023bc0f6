import GraftDiagnostics
import GraftGraph
import GraftTensor

/// X resampled along some or all axes, one axis after the other.
///
/// Inputs: X; optionally roi; either scales (output size = input size * scale, rounded down) or
/// sizes. Attributes: `mode` nearest, linear or cubic; `coordinate_transformation_mode` half_pixel,
/// half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or tf_crop_and_resize (which
/// reads roi and `extrapolation_value`); `nearest_mode`; `cubic_coeff_a` -0.75; `exclude_outside`;
/// `antialias`, which widens the filters of linear and cubic when an axis shrinks; `axes`;
/// `keep_aspect_ratio_policy` stretch, not_larger or not_smaller.
///
/// Types float32, float64, int64, int32, int8, uint8; integers are interpolated as floating-point
/// numbers and rounded towards zero. `nearest` also takes bool. Coordinates are float32, as in ONNX
/// Runtime. Gradient: the transposed map, `graft.ResizeGradient`. Source: ONNX Resize-19.
struct Resize: Operator {
  let name = "Resize"
  let inputCount = 1...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let geometry = try context.resizeGeometry(0)
    try context.require(
      0,
      geometry.settings.mode == .nearest ? ElementType.numeric.union([.bool]) : ElementType.numeric)
    return [TensorType(try context.input(0).elementType, geometry.outputShape)]
  }

  func run(_ context: KernelContext) throws {
    let geometry = try context.resizeGeometry(0)
    switch try context.input(0).elementType {
    case .float32: try resampleFloating(Float.self, geometry, context)
    case .float64: try resampleFloating(Double.self, geometry, context)
    case .int64: try resampleIntegers(Int64.self, geometry, context)
    case .int32: try resampleIntegers(Int32.self, geometry, context)
    case .int8: try resampleIntegers(Int8.self, geometry, context)
    // Booleans are moved as the bytes 0 and 1.
    case .uint8, .bool: try resampleIntegers(UInt8.self, geometry, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func resampleFloating<T: FloatingElement>(
    _ type: T.Type, _ geometry: ResizeGeometry, _ context: KernelContext
  ) throws {
    if geometry.settings.mode == .nearest { return try gather(type, geometry, context) }
    try geometry.forEachPass(
      from: try context.input(0, as: type), to: try context.output(0, as: type)
    ) { $0.run(context, from: $1, to: $2) }
  }

  private func resampleIntegers<T: NumericElement>(
    _ type: T.Type, _ geometry: ResizeGeometry, _ context: KernelContext
  ) throws {
    if geometry.settings.mode == .nearest { return try gather(type, geometry, context) }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let inputCount = try context.input(0).elementCount
    let outputCount = try context.output(0).elementCount
    try context.withScratch(inputCount + outputCount, of: Double.self) { source in
      let target = source + inputCount
      context.parallel(inputCount) { range in for i in range { source[i] = x[i].double } }
      try geometry.forEachPass(from: source, to: target) { $0.run(context, from: $1, to: $2) }
      context.parallel(outputCount) { range in for i in range { y[i] = T(saturating: target[i]) } }
    }
  }

  private func gather<T: NumericElement>(
    _ type: T.Type, _ geometry: ResizeGeometry, _ context: KernelContext
  ) throws {
    try geometry.forEachPass(
      from: try context.inputUnits(0, as: type), to: try context.outputUnits(0, as: type)
    ) { $0.gather(context, from: $1, to: $2) }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [] }
    return [
      builder.add(
        "ResizeGradient", domain: graftDomain, [builder.outputGradient] + builder.node.inputs,
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] { ResizeSamples.all }
}
