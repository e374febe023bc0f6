import GraftDiagnostics
import GraftGraph
import GraftTensor

extension LoweringContext {
  /// Applies operators that only move values: to what is stored where all tensors give it the same
  /// meaning, else to floats.
  ///
  /// - Parameters:
  ///   - channelsFirst: whether `make` wants its inputs and makes its outputs so.
  ///   - make: one value for each output.
  mutating func move(
    _ inputs: [TFLiteTensor], to outputs: [TFLiteTensor], channelsFirst: Bool = false,
    outputsChannelsFirst: Bool? = nil,
    _ make: (inout Self, [String]) throws -> [String]
  ) throws {
    let isDirect =
      sharesQuantization(inputs + outputs) || !(inputs + outputs).contains(where: isReal)
    let values = try inputs.map { tensor in
      isDirect
        ? try stored(tensor, channelsFirst: channelsFirst)
        : try float(tensor, channelsFirst: channelsFirst)
    }
    let results = try make(&self, values)
    guard results.count == outputs.count else {
      throw GraftError(.damaged, "it has \(outputs.count) outputs, not \(results.count)")
    }
    for (value, output) in zip(results, outputs) {
      let order = outputsChannelsFirst ?? channelsFirst
      if isDirect {
        bind(value, to: output, channelsFirst: order)
      } else {
        try store(value, as: output, channelsFirst: order)
      }
    }
  }

  /// The same for one input and one output.
  mutating func move(
    _ operation: TFLiteOperator, input: Int = 0, channelsFirst: Bool = false,
    outputsChannelsFirst: Bool? = nil, _ make: (inout Self, String) throws -> String
  ) throws {
    try move(
      [try self.input(input, of: operation)], to: [try output(0, of: operation)],
      channelsFirst: channelsFirst, outputsChannelsFirst: outputsChannelsFirst
    ) { context, values in [try make(&context, values[0])] }
  }

  /// An axis counted from the front, of a tensor whose rank must be known where it is negative.
  func axis(_ axis: Int, of tensor: TFLiteTensor) throws -> Int {
    guard let rank = tensor.shape?.count else {
      guard axis >= 0 else {
        throw GraftError(.unsupported, "axis \(axis) of \(tensor.place), whose rank is unknown")
      }
      return axis
    }
    guard axis >= -rank, axis < rank else {
      throw GraftError(.damaged, "axis \(axis) is outside the \(rank) axes of \(tensor.place)")
    }
    return axis < 0 ? axis + rank : axis
  }

  /// Where an axis of a picture is when its channels are in front.
  static func channelsFirstAxis(_ axis: Int) throws -> Int {
    guard (0..<4).contains(axis) else {
      throw GraftError(.damaged, "a picture has no axis \(axis)")
    }
    return [0, 2, 3, 1][axis]
  }
}
