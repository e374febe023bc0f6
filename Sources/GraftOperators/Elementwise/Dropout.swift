import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Inference form of dropout: output = data, mask = true everywhere.
///
/// Inputs: data, and optionally the scalars `ratio` and `training_mode`. With `training_mode` true
/// and a ratio other than 0 it would be random, which there is no kernel for. Gradient: ddata =
/// doutput. Source: ONNX Dropout-13.
struct Dropout: Operator {
  let name = "Dropout"
  let inputCount = 1...3
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let data = try context.input(0)
    try context.require(0, ElementType.floating)
    try checkMode(context)
    return [data, TensorType(.bool, data.shape)]
  }

  /// Throws when elements would be dropped.
  private func checkMode(_ context: TypeContext) throws {
    guard context.has(2) else { return }
    try context.require(2, [.bool])
    let mode = try context.value(2)
    guard mode.elementCount > 0, mode.withUnsafeBytes({ $0.first != 0 }) else { return }
    if context.has(1), try context.value(1).isZero { return }
    throw GraftError(
      .unsupported, "training_mode is true, and random dropout has no kernel",
      fix: "Leave training_mode out or set it to false")
  }

  func run(_ context: KernelContext) throws {
    try context.copyElements()
    guard context.wantsOutput(1) else { return }
    let mask = try context.output(1)
    mask.mutableBytes.assumingMemoryBound(to: UInt8.self)
      .update(repeating: 1, count: mask.elementCount)
  }

  let differentiation = Differentiation.rule { builder in [builder.outputGradients.first ?? nil] }

  var samples: [OperatorSample] {
    [
      OperatorSample("data only", inputs: [.random([3, 5])]),
      OperatorSample(
        "with mask", inputs: [.random([3, 5]), .sample([0.3] as [Float], [])], outputCount: 2,
        differentiableInputs: [0]),
      OperatorSample(
        "inference", inputs: [.random([7]), .sample([0.3] as [Float], []), .sample([false], [])],
        differentiableInputs: [0]),
      OperatorSample(
        "ratio 0", inputs: [.random([7]), .sample([0] as [Float], []), .sample([true], [])],
        differentiableInputs: [0]),
      OperatorSample("float64", inputs: [.sample([0.5, 2] as [Double])]),
      OperatorSample(
        "training", inputs: [.random([7]), .sample([0.3] as [Float], []), .sample([true], [])],
        error: "training_mode is true"),
    ]
  }
}

extension Tensor {
  /// Whether it is one floating-point number, 0.
  fileprivate var isZero: Bool {
    switch elementType {
    case .float32: (try? values(as: Float.self)) == [0]
    case .float64: (try? values(as: Double.self)) == [0]
    default: false
    }
  }
}
