import GraftDiagnostics
import GraftGraph
import GraftTensor

/// One direction of a recurrent layer with a memory cell, as operations for every step.
struct RecurrentSteps {
  private static let largestCount = 512

  private let arguments: [String: CoreMLDraft.Argument]
  private let bias: String
  private let stepCount: Int
  private let batch: Int
  private let hidden: Int
  private let isBackwards: Bool

  /// - Parameters:
  ///   - arguments: those of the operation `lstm`.
  ///   - shape: [steps, batch, inputs]
  init(
    _ arguments: [(name: String, value: CoreMLDraft.Argument)], bias: String, _ shape: Shape,
    _ hidden: Int, _ isBackwards: Bool
  ) throws {
    self.arguments = Dictionary(arguments.map { ($0.name, $0.value) }) { first, _ in first }
    self.bias = bias
    stepCount = shape[0]
    batch = shape[1]
    self.hidden = hidden
    self.isBackwards = isBackwards
    guard (1...Self.largestCount).contains(stepCount) else {
      throw GraftError(.unsupported, "\(stepCount) steps; \(Self.largestCount) at most")
    }
  }

  private func argument(_ name: String) -> CoreMLDraft.Argument { arguments[name] ?? .values([]) }

  /// The outputs of all steps, [steps, batch, hidden], and the last states, [batch, hidden].
  func run(_ lowering: inout CoreMLLowering) throws -> [String] {
    let width = 4 * hidden
    let all = lowering.emit(
      "linear", [("x", argument("x")), ("weight", argument("weight_ih")), ("bias", .value(bias))],
      as: TensorType(.float32, [stepCount, batch, width]))
    var rows = [all]
    if stepCount > 1 {
      rows = lowering.emit(
        "split",
        [
          ("x", .value(all)), ("split_sizes", .ints([Int](repeating: 1, count: stepCount))),
          ("axis", .int(0)),
        ],
        as: [TensorType](
          repeating: TensorType(.float32, [1, batch, width]), count: stepCount))
    }
    let zeros = CoreMLDraft.Argument.value(
      try lowering.constant(Tensor(zeros: [width]), named: bias + "/none"))
    var outputs = rows
    var state = start("initial_h", lowering)
    var cell = start("initial_c", lowering)
    for step in isBackwards ? Array(rows.indices.reversed()) : Array(rows.indices) {
      let row = lowering.reshaped(rows[step], [batch, width])
      let next = self.step(row, state, cell, zeros, &lowering)
      (state, cell) = (next.0, next.1)
      guard case .value(let name) = state else { continue }
      outputs[step] = lowering.reshaped(name, [1, batch, hidden])
    }
    guard case .value(let last) = state, case .value(let memory) = cell else {
      throw GraftError(.internalFault, "a recurrent layer without steps")
    }
    if outputs.count == 1 { return [outputs[0], last, memory] }
    let joined = lowering.emit(
      "concat",
      [("values", .values(outputs)), ("axis", .int(0)), ("interleave", .bool(false))],
      as: TensorType(.float32, [stepCount, batch, hidden]))
    return [joined, last, memory]
  }

  /// The state at the start; nil for zeros.
  private func start(_ name: String, _ lowering: CoreMLLowering) -> CoreMLDraft.Argument? {
    guard case .value(let value)? = arguments[name] else { return nil }
    let numbers = try? lowering.draft.constants[value]?.values(as: Float.self)
    return numbers?.allSatisfy { $0 == 0 } == true ? nil : .value(value)
  }

  private func step(
    _ row: String, _ state: CoreMLDraft.Argument?, _ cell: CoreMLDraft.Argument?,
    _ zeros: CoreMLDraft.Argument, _ lowering: inout CoreMLLowering
  ) -> (CoreMLDraft.Argument, CoreMLDraft.Argument) {
    let wide = TensorType(.float32, [batch, 4 * hidden])
    let type = TensorType(.float32, [batch, hidden])
    var sum = row
    if let state {
      let recurrence = lowering.emit(
        "linear", [("x", state), ("weight", argument("weight_hh")), ("bias", zeros)], as: wide)
      sum = lowering.emit("add", [("x", .value(row)), ("y", .value(recurrence))], as: wide)
    }
    let gates = lowering.emit(
      "split",
      [
        ("x", .value(sum)), ("split_sizes", .ints([Int](repeating: hidden, count: 4))),
        ("axis", .int(1)),
      ], as: [type, type, type, type])
    func apply(_ op: String, _ x: CoreMLDraft.Argument, _ y: CoreMLDraft.Argument? = nil)
      -> CoreMLDraft.Argument
    {
      .value(lowering.emit(op, [("x", x)] + (y.map { [("y", $0)] } ?? []), as: type))
    }
    let input = apply("sigmoid", .value(gates[0]))
    let forget = apply("sigmoid", .value(gates[1]))
    let output = apply("sigmoid", .value(gates[2]))
    let candidate = apply("tanh", .value(gates[3]))
    var memory = apply("mul", input, candidate)
    if let cell { memory = apply("add", apply("mul", forget, cell), memory) }
    return (apply("mul", output, apply("tanh", memory)), memory)
  }
}
