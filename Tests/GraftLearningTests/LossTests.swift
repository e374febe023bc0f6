import Foundation
import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// Made with PyTorch by make.py in that folder.
nonisolated(unsafe) private let golden = Result {
  try GoldenFile(stem: SharedData.project.appending(path: "Tests/OptimizerGoldens/losses").path)
}

private let caseNames: [String] = {
  guard let list = try? golden.get().manifest["cases"] as? [[String: Any]] else { return [] }
  return list.compactMap { $0["name"] as? String }
}()

/// Double precision against double precision; settings are single-precision numbers on both sides.
private let tolerance = Tolerance(absolute: 1e-12, relative: 1e-10)

/// A loss and its gradient for the output.
private func evaluate(_ loss: Loss, output: Tensor, target: Tensor, extra: [String: Tensor] = [:])
  throws -> (loss: Tensor?, gradient: Tensor?)
{
  var builder = GraphBuilder()
  let outputName = builder.input(Feature(name: "output", type: .unknown))
  let targetName = builder.input(Feature(name: "target", type: .unknown))
  let value = try loss.build(&builder, outputName, targetName)
  let (graph, gradients) = try builder.graph.differentiated(
    value, withRespectTo: [outputName], registry: .standard)
  let gradient = try #require(gradients[outputName])
  let plan = try Plan(graph, outputs: [value, gradient], registry: .standard)
  let feeds = extra.merging(["output": output, "target": target]) { $1 }
  let results = try plan.run(feeds, threads: 1)
  return (results[value], results[gradient])
}

struct LossTests {
  @Test(arguments: caseNames)
  func `cross entropy with smoothing, weights and ignored labels is PyTorch's`(name: String)
    throws
  {
    let file = try golden.get()
    let list = try #require(file.manifest["cases"] as? [[String: Any]])
    let table = try #require(list.first { $0["name"] as? String == name })
    let loss = Loss.crossEntropy(
      classWeights: (table["classWeights"] as? [Double])?.map(Float.init),
      ignoreIndex: table["ignoreIndex"] as? Int,
      labelSmoothing: Float(try #require(table["labelSmoothing"] as? Double)))
    let logits = try #require(file.tensors["\(table["logits"] as? String ?? "")/logits"])
    let target = try #require(file.tensors["\(name)/target"])
    let results = try evaluate(loss, output: logits, target: target)
    expectClose(results.loss, file.tensors["\(name)/loss"], tolerance, "\(name), loss")
    expectClose(
      results.gradient, file.tensors["\(name)/gradient"], tolerance, "\(name), gradient")
  }

  @Test func `the golden cases are there`() {
    #expect(caseNames.count == 14)
  }

  @Test func `a batch whose labels are all ignored counts nothing`() throws {
    let loss = Loss.crossEntropy(ignoreIndex: 1, labelSmoothing: 0.5)
    let results = try evaluate(
      loss, output: try Tensor([1, 2, 3, 4] as [Float], shape: [2, 2]),
      target: try Tensor([1, 1] as [Int64]))
    #expect(results.loss?.doubles == [0])
    #expect(results.gradient?.doubles == [0, 0, 0, 0])
  }

  @Test func `settings out of their range are refused`() {
    for smoothing in [-0.1, 1.1, .nan] as [Float] {
      var builder = GraphBuilder()
      #expect(throws: GraftError.self) {
        _ = try Loss.crossEntropy(labelSmoothing: smoothing).build(&builder, "y", "t")
      }
    }
  }
}

/// Losses of PyTorch as formulas.
private let customLosses: KeyValuePairs<String, Loss> = [
  "huber": .custom(name: "Huber") { _, output, target in
    let distance = (output - target.like(output)).absolute
    let small = LossValue.minimum(distance, 0.75)
    return small * (distance - 0.5 * small)
  },
  "smooth": .custom(name: "smooth L1") { _, output, target in
    let distance = (output - target).absolute
    let isSmall = distance.isBelow(0.5)
    return isSmall * distance.squared + (1 - isSmall) * (distance - 0.25)
  },
  "divergence": .custom(name: "divergence") { graph, output, _ in
    let wanted = graph.example("distribution")
    let terms = wanted * (wanted.logarithm - output.logSoftmax(along: 1))
    return terms.sum(along: 1)
  },
  "cosine": .custom(name: "cosine distance") { _, output, target in
    let product = (output * target).sum(along: -1)
    let sizes = output.squared.sum(along: -1) * target.squared.sum(along: -1)
    return 1 - product / sizes.squareRoot
  },
  "poisson": .custom(name: "Poisson") { graph, output, _ in
    output.exponential - graph.example("distribution") * output
  },
  "margin": .custom(name: "soft margin") { graph, output, target in
    (-(graph.apply("Sign", [target]) * output)).softplus
  },
]

struct CustomLossTests {
  @Test(arguments: customLosses.map(\.key))
  func `a formula gives PyTorch's loss and gradient`(name: String) throws {
    let file = try golden.get()
    let tensors = file.tensors(after: "custom/")
    let loss = try #require(customLosses.first { $0.key == name }).value
    let results = try evaluate(
      loss, output: try #require(tensors["output"]), target: try #require(tensors["target"]),
      extra: ["distribution": try #require(tensors["distribution"])])
    expectClose(results.loss, tensors["\(name)/loss"], tolerance, "\(name), loss")
    expectClose(results.gradient, tensors["\(name)/gradient"], tolerance, "\(name), gradient")
  }

  @Test func `every function of a value is the operator's it names`() throws {
    let x = [-1.5, -0.5, 0.25, 2] as [Double]
    let two = try Tensor(scalar: 2.0)
    let functions: [(String, @Sendable (LossValue) -> LossValue, (Double) -> Double)] = [
      ("absolute", { $0.absolute }, { abs($0) }),
      ("squared", { $0.squared }, { $0 * $0 }),
      ("relu", { $0.relu }, { max($0, 0) }),
      ("sigmoid", { $0.sigmoid }, { 1 / (1 + exp(-$0)) }),
      ("softplus", { $0.softplus }, { log(1 + exp($0)) }),
      ("tanh", { $0.tanh }, { tanh($0) }),
      ("exponential", { $0.exponential }, { exp($0) }),
      ("power", { $0.power(3) }, { $0 * $0 * $0 }),
      ("clipped", { $0.clipped(to: -1...1) }, { min(max($0, -1), 1) }),
      ("maximum", { LossValue.maximum($0, -$0) }, { abs($0) }),
      ("arithmetic", { 2 - (3 * $0 + 1) / 4 - 0.5 }, { 2 - (3 * $0 + 1) / 4 - 0.5 }),
      ("quotient", { 1 / ($0 - 5) }, { 1 / ($0 - 5) }),
      ("constant", { $0.graph.constant(two) + $0 }, { 2 + $0 }),
      ("means", { $0.reshaped(to: 2, -1).mean(along: 0, 1) }, { $0 }),
      ("softmax", { $0.softmax() * 4 }, { _ in 1 }),
    ]
    for (name, formula, expected) in functions {
      let loss = Loss.custom(name: name) { _, output, _ in formula(output) }
      let results = try evaluate(loss, output: try Tensor(x), target: try Tensor([0.0]))
      let mean = x.map(expected).reduce(0, +) / 4
      expectClose(results.loss, try Tensor(scalar: mean), tolerance, name)
    }
  }

  @Test func `a value that the model has not is named, with the nearest that it has`() throws {
    let loss = Loss.custom(name: "wrong") { graph, output, _ in
      try graph.value("hiden") * output
    }
    var builder = GraphBuilder(twoOutputs)
    #expect {
      _ = try loss.build(&builder, "y", "t")
    } throws: {
      "\($0)".contains("the model has no value 'hiden'. Did you mean 'hidden'?")
    }
  }
}

/// x [N, 2] -> hidden [N, 5] -> y [N, 3] and age [N, 1].
private let twoOutputs = Graph(
  inputs: [Feature(name: "x", type: .tensor(.float64, shape: [.named("N"), .fixed(2)]))],
  outputs: [Feature(name: "y", type: .unknown), Feature(name: "age", type: .unknown)],
  nodes: [
    Node("MatMul", inputs: ["x", "w1"], outputs: ["sums"]),
    Node("Tanh", inputs: ["sums"], outputs: ["hidden"]),
    Node("MatMul", inputs: ["hidden", "w2"], outputs: ["y"]),
    Node("MatMul", inputs: ["hidden", "w3"], outputs: ["age"]),
  ])

struct MixedLossTests {
  private let loss = Loss.sum([
    LossTerm(.crossEntropy),
    LossTerm(.meanSquaredError, weight: 0.5, output: "age", target: "ages"),
    LossTerm(
      .custom(name: "size") { graph, _, _ in
        graph.example("shares").reshaped(to: -1, 1) * (try graph.value("hidden")).squared
      }, weight: 0.25),
  ])

  private func session(trainable: ParameterSelection = .all, loss: Loss? = nil) throws
    -> TrainingSession
  {
    let tensors = try golden.get().tensors(after: "mixed/")
    var graph = twoOutputs
    for name in ["w1", "w2", "w3"] { graph.initializers[name] = tensors[name] }
    return try TrainingSession(
      Model(graph: graph), trainable: trainable, loss: loss ?? self.loss, optimizer: .sgd())
  }

  private func examples(without name: String = "") throws -> ExampleSet {
    let tensors = try golden.get().tensors(after: "mixed/")
    return try ExampleSet(
      name: "set",
      inputs: tensors.filter { ["x", "ages", "shares"].contains($0.key) && $0.key != name },
      targets: try #require(tensors["classes"]))
  }

  @Test(arguments: [["w1", "w2", "w3"], ["w2", "w3"], ["w3"]])
  func `losses of two outputs with two targets give PyTorch's gradients`(trainable: [String])
    throws
  {
    let tensors = try golden.get().tensors(after: "mixed/")
    let session = try session(trainable: .matching(trainable))
    let loss = try session.addGradients(
      Batch(set: 0, rows: [0, 1, 2, 3]), of: [examples()], features: session.makeCache())
    expectClose(try Tensor(scalar: loss), tensors["loss"], tolerance, "loss")
    for name in trainable {
      expectClose(
        session.accumulatedGradients[name], tensors["gradient/\(name)"], tolerance, name)
    }
    let evaluation = try session.evaluate([examples()])
    #expect(abs(evaluation.loss - loss) < 1e-12)
    #expect(evaluation.accuracy != nil)
  }

  private func message(_ set: ExampleSet, _ loss: Loss? = nil) throws -> String {
    do {
      let run = try session(loss: loss).fit([set], epochs: 1, batchSize: 4)
      _ = try run.makeAsyncIterator().nextEvent()
      return "nothing"
    } catch { return "\(error)" }
  }

  @Test func `a missing tensor of targets is named`() throws {
    let text = try message(examples(without: "ages"))
    #expect(text.contains("there is no tensor 'ages', which the loss reads"), "\(text)")
  }

  @Test func `a target outside of what its term takes is named, loaded or in memory`() throws {
    let tensors = try golden.get().tensors(after: "mixed/")
    let x = try #require(tensors["x"])
    let count = x.shape[0]
    func set(_ name: String, _ tensor: Tensor, isLoaded: Bool) throws -> ExampleSet {
      let inputs = ["x": x, name: tensor]
      let targets = try #require(tensors["classes"])
      guard isLoaded else { return try ExampleSet(name: "set", inputs: inputs, targets: targets) }
      return try ExampleSet(name: "set", targets: targets) { row in
        try inputs.mapValues { try $0.rows(row..<row + 1) }
      }
    }
    func message(_ set: ExampleSet, _ term: LossTerm) throws -> String {
      let loss = Loss.sum([LossTerm(.crossEntropy), term])
      do {
        _ = try session(loss: loss).fit([set], epochs: 1, batchSize: 4).allEvents()
        return "nothing"
      } catch { return "\(error)" }
    }
    let classes = try Tensor((0..<count).map { Int64($0 == 2 ? 5 : 0) })
    let term = LossTerm(.crossEntropy, target: "others")
    #expect(
      try message(set("others", classes, isLoaded: false), term).contains(
        "set: 'others' of row 2, counted from 0, is 5; the 3 classes are 0 to 2"))
    #expect(
      try message(set("others", classes, isLoaded: true), term).contains(
        "is 5; the 3 classes are 0 to 2"))
    let ignored = LossTerm(.crossEntropy(ignoreIndex: 5), target: "others")
    #expect(try message(set("others", classes, isLoaded: false), ignored) == "nothing")
    let shares = try Tensor((0..<count).map { $0 == 1 ? 1.5 : 0.5 }, shape: [count, 1])
    let binary = LossTerm(.binaryCrossEntropy, output: "age", target: "shares")
    for isLoaded in [false, true] {
      let text = try message(set("shares", shares, isLoaded: isLoaded), binary)
      #expect(
        text.contains(
          "set: 'shares' of row 1, counted from 0, is 1.5; binary cross entropy takes 0.0 to 1.0"),
        "\(text)")
    }
  }

  @Test func `terms that cannot be are refused`() throws {
    let set = try examples()
    let wrongTarget = Loss.sum([LossTerm(.crossEntropy, output: "age", target: "ages")])
    let cases: [(Loss, String)] = [
      (.sum([]), "a sum of no losses"),
      (
        .sum([LossTerm(.crossEntropy, weight: .nan)]), "the weight of the loss cross entropy is nan"
      ),
      (.sum([LossTerm(.meanSquaredError, output: "agee")]), "Did you mean 'age'?"),
      (wrongTarget, "'ages' is float64; cross entropy takes class numbers"),
      (.crossEntropy(labelSmoothing: 2), "the label smoothing is 2.0"),
    ]
    for (loss, part) in cases {
      let text = try message(set, loss)
      #expect(text.contains(part), "\(text)")
    }
  }
}
