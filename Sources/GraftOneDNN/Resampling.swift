import COneDNN
import GraftGraph
import GraftTensor

/// Resize and its gradient, in the layout that the input has, where oneDNN's coordinates are
/// ONNX's: linear with half_pixel, and nearest at whole multiples of the input's size.
struct Resampling: OneDNNKernel {
  let operators = ["Resize", "graft.ResizeGradient"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let isGradient = request.node.op == "ResizeGradient"
    let x = try request.required(isGradient ? 1 : 0)
    let y = isGradient ? try request.required(0).type.shape : try request.requiredOutput(0).shape
    let scaling = Scaling(
      node: request.node, input: x.type.shape, output: y,
      scales: request.input(isGradient ? 3 : 2))
    let kind = try scaling.kind()
    let source = try x.currentLayout()
    let destination = try OneDNNLayout.any(y.dimensions)
    let forward = try primitive(graft_resampling_create, kind, source, destination)
    guard isGradient else {
      return try forward.planned([forward.operand(0, .source)], outputs: [.destination])
    }
    let backward = try primitive(
      graft_resampling_backward_create, kind, source, forward.layout(.destination))
    return try backward.planned(
      [backward.operand(0, .destinationGradient)], outputs: [.sourceGradient])
  }

  private func primitive(
    _ create: (UnsafePointer<graft_resampling>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
    _ kind: graft_resampling_kind, _ source: OneDNNLayout, _ destination: OneDNNLayout
  ) throws -> Primitive {
    try Primitive { result in
      var description = graft_resampling()
      description.kind = kind
      description.source = source.handle
      description.destination = destination.handle
      return create(&description, result)
    }
  }

  /// What a Resize node asks for.
  private struct Scaling {
    let node: Node
    let input: Shape
    let output: Shape
    let scales: PlannedValue?

    func kind() throws -> graft_resampling_kind {
      guard (3...5).contains(input.rank), input.rank == output.rank, input[0] == output[0],
        input[1] == output[1]
      else { throw KernelDeclined("not one to three axes behind batch and channels") }
      guard try node.int("antialias", default: 0) == 0,
        try node.int("exclude_outside", default: 0) == 0,
        try node.string("keep_aspect_ratio_policy", default: "stretch") == "stretch"
      else { throw KernelDeclined("antialias, exclude_outside or keep_aspect_ratio_policy") }
      try requireScalesOfSizes()
      let coordinates = try node.string(
        "coordinate_transformation_mode", default: "half_pixel")
      let isHalfPixel =
        coordinates == "half_pixel"
        || (coordinates == "pytorch_half_pixel" && output[2...].allSatisfy { $0 > 1 })
      switch try node.string("mode", default: "nearest") {
      case "linear" where isHalfPixel: return GRAFT_RESAMPLING_LINEAR
      case "nearest" where try isWholeMultiple(coordinates, isHalfPixel):
        return GRAFT_RESAMPLING_NEAREST
      default: throw KernelDeclined("other coordinates than oneDNN's")
      }
    }

    /// Whether each element is repeated as often, which is what oneDNN's rounding then does too.
    private func isWholeMultiple(_ coordinates: String, _ isHalfPixel: Bool) throws -> Bool {
      let rounding = try node.string("nearest_mode", default: "round_prefer_floor")
      guard zip(input, output).allSatisfy({ $1 % $0 == 0 }) else { return false }
      return isHalfPixel && rounding.hasPrefix("round_prefer")
        || coordinates == "asymmetric" && rounding == "floor"
    }

    /// Checks that the scales, if they are given, are the quotients of the sizes.
    private func requireScalesOfSizes() throws {
      guard let scales, scales.type.shape.elementCount > 0 else { return }
      guard let values = try? scales.constant?.values(as: Float.self) else {
        throw KernelDeclined("the scales are computed")
      }
      let axes = try node.ints("axes", default: Array(input.indices)).map { try input.axis($0) }
      let isSound = zip(axes, values).allSatisfy { axis, scale in
        let quotient = Float(output[axis]) / Float(input[axis])
        return abs(scale - quotient) <= 1e-6 * quotient
      }
      guard isSound, axes.count == values.count else {
        throw KernelDeclined("a size was rounded, which oneDNN's coordinates would show")
      }
    }
  }
}
