import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

struct InterpreterTests {
  /// y = a + b, z = -a, for rows of two.
  private func model() -> Model {
    var builder = GraphBuilder()
    _ = builder.input(TaskModels.input([nil, 2], named: "a"))
    var second = TaskModels.input([nil, 2], named: "b")
    second.quantization = FeatureQuantization(scale: 0.5, zeroPoint: 3)
    _ = builder.input(second)
    let shape: FeatureType = .tensor(.float32, shape: [.unknown, .fixed(2)])
    builder.output(builder.add("Add", ["a", "b"], named: "y"), shape)
    builder.output(builder.add("Neg", ["a"], named: "z"), shape)
    return Model(graph: builder.graph)
  }

  @Test func `tensors are allocated, filled, run and read`() throws {
    let interpreter = Interpreter(model(), threads: 1)
    #expect(interpreter.inputCount == 2 && interpreter.outputCount == 2)
    try interpreter.allocateTensors()
    #expect(try interpreter.input(at: 0).shape == [1, 2])
    #expect(try interpreter.input(at: 0).declaredShape == [nil, 2])
    #expect(try interpreter.input(at: 1).quantization?.zeroPoint == 3)
    #expect(try interpreter.output(at: 0).shape == nil)
    try interpreter.copy([1, 2] as [Float], toInputAt: 0)
    let bytes = [Float(10), 20].withUnsafeBytes { Data($0) }
    try interpreter.copy(bytes, toInputAt: 1)
    try interpreter.invoke()
    #expect(try interpreter.outputTensor(at: 0).values(as: Float.self) == [11, 22])
    #expect(try interpreter.outputTensor(at: 1).values(as: Float.self) == [-1, -2])
    #expect(try interpreter.output(at: 0).shape == [1, 2])
    try interpreter.copy(try Tensor([5, 6] as [Float], shape: [1, 2]), toInputAt: 0)
    interpreter.threads = 2
    try interpreter.invoke()
    #expect(try interpreter.outputTensor(at: 0).values(as: Float.self) == [15, 26])
  }

  @Test func `inputs are zero until something is copied`() throws {
    let interpreter = Interpreter(model())
    try interpreter.allocateTensors()
    try interpreter.invoke()
    #expect(try interpreter.outputTensor(at: 0).values(as: Float.self) == [0, 0])
  }

  @Test func `inputs can be resized`() throws {
    let interpreter = Interpreter(model())
    try interpreter.allocateTensors()
    for index in 0..<2 { try interpreter.resizeInput(at: index, to: [3, 2]) }
    expectError(.invalidArgument, "not allocated. Call allocateTensors first") {
      try interpreter.invoke()
    }
    try interpreter.allocateTensors()
    #expect(try interpreter.input(at: 0).shape == [3, 2])
    try interpreter.copy([1, 2, 3, 4, 5, 6] as [Float], toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.outputTensor(at: 1).values(as: Float.self) == [-1, -2, -3, -4, -5, -6])
    expectError(.damaged, "cannot have the shape") {
      try interpreter.resizeInput(at: 0, to: [-3, 2])
    }
  }

  @Test func `wrong order, sizes and types are errors`() throws {
    let interpreter = Interpreter(model())
    for step in [
      { try interpreter.invoke() }, { try interpreter.copy([1, 2] as [Float], toInputAt: 0) },
    ] {
      expectError(.invalidArgument, "the tensors are not allocated", step)
    }
    expectError(.invalidArgument, "Call allocateTensors and invoke first") {
      _ = try interpreter.outputTensor(at: 0)
    }
    try interpreter.allocateTensors()
    expectError(.invalidArgument, "output 'y': the output is not computed. Call invoke first") {
      _ = try interpreter.outputTensor(at: 0)
    }
    expectError(.shapeMismatch, "holds 2 values and 3 are given") {
      try interpreter.copy([1, 2, 3] as [Float], toInputAt: 0)
    }
    expectError(.shapeMismatch, "holds 8 bytes and 5 are given") {
      try interpreter.copy(Data(count: 5), toInputAt: 0)
    }
    expectError(.typeMismatch, "the input is float32 and int32 is given") {
      try interpreter.copy([1, 2] as [Int32], toInputAt: 0)
    }
    expectError(.shapeMismatch, "has shape [1, 2] and [2, 1] is given") {
      try interpreter.copy(try Tensor([1, 2] as [Float], shape: [2, 1]), toInputAt: 0)
    }
    expectError(.invalidArgument, "there is no input 2. Choose 0 to 1") {
      _ = try interpreter.input(at: 2)
    }
    expectError(.invalidArgument, "there is no output -1") {
      _ = try interpreter.output(at: -1)
    }
    try interpreter.invoke()
    try interpreter.copy([1, 2] as [Float], toInputAt: 0)
    expectError(.invalidArgument, "not computed") { _ = try interpreter.outputTensor(at: 0) }
  }

  @Test func `an operator that Graft does not have is named when tensors are allocated`() throws {
    var builder = GraphBuilder()
    _ = builder.input(TaskModels.input([2], named: "a"))
    builder.output(builder.add("Strange", ["a"], named: "y"))
    let interpreter = Interpreter(Model(graph: builder.graph))
    expectError(.unsupported, "Strange") { try interpreter.allocateTensors() }
    expectError(.invalidArgument, "not allocated") { try interpreter.invoke() }
  }
}
