import GraftEngine
import GraftGraph

extension Model {
  /// Whether integers stand for real numbers in the model.
  public var isQuantized: Bool { graph.isQuantized }

  /// The model with floating-point numbers in place of quantised ones, as it trains; itself when
  /// nothing is quantised.
  ///
  /// Weights in integers become float32 parameters of the same names. Activations that were rounded to
  /// integers are only limited to the range that those had, so gradients pass. Inputs and outputs in
  /// quantised integers are real numbers instead.
  public func dequantized() throws -> Model {
    guard isQuantized else { return self }
    var model = self
    model.graph = try graph.dequantized()
    return model
  }
}
