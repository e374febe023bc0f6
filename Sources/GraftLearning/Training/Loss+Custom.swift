import GraftGraph
import GraftTensor

extension Loss {
  /// A loss of one's own, written as a formula of the model's output and the targets.
  ///
  ///     let loss = Loss.custom(name: "relative error") { graph, output, target in
  ///       let target = target.like(output)
  ///       return (output - target).absolute / (target.absolute + 1e-3)
  ///     }
  ///
  /// The loss is the mean of all elements of the value that `formula` returns. The formula is turned
  /// into a graph once, before training, and differentiated like the model.
  ///
  /// - Parameters:
  ///   - isClassification: whether the targets are class numbers and the outputs one score for each
  ///     class on axis 1, so that accuracy is defined.
  ///   - formula: gets the graph, the output [batch, ...] and the targets [batch, ...], which have
  ///     the type and shape in which the examples store them.
  public static func custom(
    name: String, isClassification: Bool = false,
    formula:
      @escaping @Sendable (_ graph: LossGraph, _ output: LossValue, _ target: LossValue)
      throws -> LossValue
  ) -> Loss {
    Loss(
      name: name, isClassification: isClassification,
      // What shapes the formula takes is its own matter.
      misfit: { _, _ in nil },
      build: { builder, output, target in
        let graph = LossGraph(builder)
        let value = try formula(graph, graph.named(output), graph.named(target)).mean
        builder = graph.builder
        return value.name
      })
  }
}

/// The graph of a model to which a loss is added.
///
/// Values are made with operators and functions on `LossValue`, or with `apply` for every other
/// operator of ONNX. Numbers stand for constants of the type of the value beside them. A graph is
/// used only while its formula runs.
public final class LossGraph {
  package var builder: GraphBuilder

  init(_ builder: GraphBuilder) { self.builder = builder }

  func named(_ name: String) -> LossValue { LossValue(name: name, graph: self) }

  /// A value of the model: an output, an inner value or a parameter.
  ///
  /// - Throws: `invalidArgument` when there is none of that name.
  public func value(_ name: String) throws -> LossValue { named(try builder.existingValue(name)) }

  /// A further tensor of the examples, such as a weight for each or a second target: one of the
  /// inputs of the example set, which need not be an input of the model.
  public func example(_ name: String) -> LossValue { named(builder.exampleTensor(name)) }

  /// A constant.
  public func constant(_ tensor: Tensor) -> LossValue {
    named(builder.initializer(tensor, named: "constant"))
  }

  /// The first output of an operator of ONNX, at opset 21.
  ///
  ///     graph.apply("ReduceMax", [scores, axes], ["keepdims": 0])
  ///
  /// What is wrong with a node is found when training begins.
  ///
  /// - Parameter inputs: nil where an optional input is left out.
  public func apply(
    _ op: String, _ inputs: [LossValue?], _ attributes: [String: LossAttribute] = [:]
  ) -> LossValue {
    named(builder.add(op, inputs.map { $0?.name ?? "" }, attributes.mapValues(\.attribute)))
  }

  /// A number in the type of another value.
  func number(_ value: Float, like other: LossValue) -> LossValue {
    apply("CastLike", [apply("Constant", [], ["value_float": LossAttribute(value)]), other])
  }

  /// A vector of integers.
  func integers(_ values: [Int]) -> LossValue {
    apply("Constant", [], ["value_ints": LossAttribute(values)])
  }
}

/// The value of an operator's attribute: write an integer, a number with a point, a text or a list of
/// integers.
public struct LossAttribute: Sendable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
  let attribute: Attribute

  public init(_ value: Int) { attribute = .int(value) }
  public init(_ value: Float) { attribute = .float(value) }
  public init(_ value: String) { attribute = .string(value) }
  public init(_ values: [Int]) { attribute = .ints(values) }
  public init(integerLiteral value: Int) { self.init(value) }
  public init(floatLiteral value: Float) { self.init(value) }
  public init(stringLiteral value: String) { self.init(value) }
  public init(arrayLiteral elements: Int...) { self.init(elements) }
}
