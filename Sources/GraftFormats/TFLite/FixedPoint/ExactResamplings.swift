import GraftDiagnostics
import GraftGraph
import GraftTensor

extension FixedPointLowering {
  static let resamplings: [String: Rule] = [
    "RESIZE_BILINEAR": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      let size = try outputSize(context: &context, operation, input, output)
      let attributes: [String: Attribute] = [
        "output_shape": .ints(size),
        "align_corners": .int(try operation.options?.bool(2) ?? false ? 1 : 0),
        "half_pixel_centers": .int(try operation.options?.bool(3) ?? false ? 1 : 0),
      ]
      context.addExact(
        "FixedPointResizeBilinear", [try context.stored(input)], attributes, as: output)
    },
    "RESIZE_NEAREST_NEIGHBOR": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      let size = try outputSize(context: &context, operation, input, output)
      let sizes = try context.pictureShape(input)
      let alignsCorners = try operation.options?.bool(0) ?? false
      let hasHalfPixels = try operation.options?.bool(1) ?? false
      var value = try context.stored(input)
      for axis in 0..<2 {
        guard let from = sizes[axis + 1] else {
          throw GraftError(.unsupported, "exact resizing of an open shape")
        }
        let places = (0..<size[axis]).map {
          nearest($0, from, size[axis], alignsCorners, hasHalfPixels)
        }
        value = context.add(
          "Gather", [value, try context.ints(places)], ["axis": .int(axis + 1)])
      }
      context.bind(value, to: output)
    },
  ]

  /// Height and width of the result.
  private static func outputSize(
    context: inout LoweringContext, _ operation: TFLiteOperator, _ input: TFLiteTensor,
    _ output: TFLiteTensor
  ) throws -> [Int] {
    let size = try context.requiredInts(1, of: operation)
    guard context.sharesQuantization([input, output]), size.count == 2,
      size.allSatisfy({ 1...1 << 16 ~= $0 }), [.uint8, .int8, .int16].contains(input.elementType)
    else { throw GraftError(.unsupported, "exact resizing of \(input.place) to \(size)") }
    return size
  }

  /// The input position that an output position takes its value from.
  private static func nearest(
    _ position: Int, _ input: Int, _ output: Int, _ alignsCorners: Bool, _ hasHalfPixels: Bool
  ) -> Int {
    let scale =
      alignsCorners && output > 1
      ? Float(input - 1) / Float(output - 1) : Float(input) / Float(output)
    let place = (Float(position) + (hasHalfPixels ? 0.5 : 0)) * scale
    let whole = Int(place.rounded(alignsCorners ? .toNearestOrAwayFromZero : .down))
    return max(0, min(whole, input - 1))
  }
}
