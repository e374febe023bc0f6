import Foundation
import Graft
import GraftEngine
import GraftFormats
import GraftTestSupport
import Testing

/// How a head's layer is written in a graph.
private enum Form: CaseIterable {
  case gemm, gemmUntransposed, gemmWithoutBias, product, productWithBias
}

/// Features of 8 numbers, then a layer of three classes and a softmax.
private func classifier(_ form: Form = .gemm, softmax: Bool = true) throws -> Model {
  var generator = SeededGenerator(seed: 3)
  func random(_ shape: Shape) throws -> Tensor {
    try Tensor((0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
  }
  var builder = GraphBuilder()
  let x = builder.input(
    Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(8)])))
  let isTransposed = form == .gemm || form == .gemmWithoutBias
  let weight = builder.initializer(
    try random(isTransposed ? [3, 8] : [8, 3]), named: "classifier.weight")
  var value: String
  switch form {
  case .product, .productWithBias: value = builder.add("MatMul", [x, weight], named: "product")
  default:
    var inputs = [x, weight]
    if form != .gemmWithoutBias {
      inputs.append(builder.initializer(try random([3]), named: "classifier.bias"))
    }
    value = builder.add("Gemm", inputs, ["transB": .int(isTransposed ? 1 : 0)], named: "product")
  }
  if form == .productWithBias {
    let bias = builder.initializer(try random([3]), named: "classifier.bias")
    value = builder.add("Add", [bias, value], named: "sum")
  }
  if softmax { value = builder.add("Softmax", [value], ["axis": .int(1)], named: "probabilities") }
  builder.output(value, .tensor(.float32, shape: [.named("N"), .fixed(3)]))
  var model = Model(graph: builder.graph)
  model.labels = ["a", "b", "c"]
  return model
}

/// Rows of four classes, 8 features; row r is of class r % classes.
private func features(_ count: Int, classes: Int = 4, seed: UInt64) throws -> Tensor {
  var generator = SeededGenerator(seed: seed)
  let values = (0..<count).flatMap { row in
    (0..<8).map { Float(generator.normal() * 0.8 + ($0 % 4 == row % classes ? 2 : 0)) }
  }
  return try Tensor(values, shape: [count, 8])
}

private func run(_ model: Model, _ x: Tensor) throws -> [[Float]] {
  let output = try #require(model.outputs.first).name
  let tensor = try #require(InferenceSession(model).run(["x": x])[output])
  let values = try tensor.values(as: Float.self)
  let size = tensor.shape[1]
  return (0..<tensor.shape[0]).map { Array(values[$0 * size..<($0 + 1) * size]) }
}

private func predictions(_ model: Model, _ x: Tensor) throws -> [Int] {
  try run(model, x).map { line in line.indices.max { line[$0] < line[$1] } ?? -1 }
}

struct WidenHeadTests {
  @Test func `old weights keep their bytes and old predictions stay, however the layer is written`()
    throws
  {
    let x = try features(200, seed: 1)
    for form in Form.allCases {
      for softmax in [true, false] {
        let old = try classifier(form, softmax: softmax)
        var new = old
        let names = try new.widenHead(classes: ["d", "e"], seed: 5)
        #expect(new.labels == ["a", "b", "c", "d", "e"])
        #expect(names.allSatisfy { new.parameters[$0] != nil })
        #expect(try predictions(new, x) == predictions(old, x), "\(form)")
        guard case .tensor(_, let shape?)? = new.outputs.first?.type else { continue }
        #expect(shape == [.named("N"), .fixed(5)])
        let before = try #require(old.parameters["classifier.weight"]).values(as: Float.self)
        let after = try #require(new.parameters["classifier.weight"]).values(as: Float.self)
        if form == .gemm || form == .gemmWithoutBias {
          #expect(Array(after[..<24]) == before)
        } else {
          for row in 0..<8 {
            #expect(Array(after[row * 5..<row * 5 + 3]) == Array(before[row * 3..<row * 3 + 3]))
          }
        }
        #expect(after.count == 40)
      }
    }
  }

  @Test func `features of a new class let it be recognised at once`() throws {
    let x = try features(80, seed: 1)
    var model = try classifier(softmax: false)
    let names = ["classifier.weight", "classifier.bias"]
    var logistic = LogisticRegression()
    let old = (0..<80).filter { $0 % 4 != 3 }
    try logistic.fit(try x.gathering(rows: old), labels: old.map { ["a", "b", "c"][$0 % 4] })
    try model.setParameters([
      names[0]: try #require(logistic.weight), names[1]: try #require(logistic.bias),
    ])
    let means = Dictionary(
      uniqueKeysWithValues: try ["a", "b", "c", "d"].enumerated().map { index, label in
        (label, try x.gathering(rows: (0..<10).map { 4 * $0 + index }))
      })
    try model.widenHead(classes: ["d"], features: means, seed: 1)
    let test = try features(80, seed: 2)
    let found = try predictions(model, test)
    // Guessing gives 20.
    #expect((0..<80).count { found[$0] == $0 % 4 } >= 64)
  }

  @Test func `a class added at run time is learned and the others are kept within one example`()
    async throws
  {
    let (known, test) = (try features(40, seed: 1), try features(60, seed: 2))
    func train(_ model: Model, _ rows: [Int], epochs: Int) async throws -> Model {
      let session = try TrainingSession(
        model, trainable: .matching("classifier.*"), loss: .crossEntropy,
        optimizer: .adamW(learningRate: 0.02))
      let set = try ExampleSet(
        inputs: ["x": try known.gathering(rows: rows)],
        targets: try Tensor(rows.map { Int64($0 % 4) }))
      for try await _ in try session.fit([set], epochs: epochs, batchSize: 8, shuffleSeed: 1) {}
      return session.model
    }
    func right(_ model: Model, among classes: Range<Int>) throws -> Int {
      let found = try predictions(model, test)
      return (0..<60).count { classes.contains($0 % 4) && found[$0] == $0 % 4 }
    }
    var model = try await train(
      try classifier(softmax: false), (0..<40).filter { $0 % 4 != 3 }, epochs: 60)
    let before = try right(model, among: 0..<3)
    #expect(before >= 42)
    try model.widenHead(classes: ["d"], seed: 2)
    #expect(try right(model, among: 0..<3) == before)
    model = try await train(model, Array(0..<40), epochs: 60)
    #expect(try right(model, among: 0..<3) >= before - 1)
    #expect(try right(model, among: 3..<4) >= 13)
  }

  @Test func `a widened model writes, opens in ONNX Runtime and can be widened again`() throws {
    let folder = try TemporaryFolder()
    for (index, form) in Form.allCases.enumerated() {
      var model = try classifier(form)
      try model.widenHead(classes: ["d"], seed: 1)
      let place = try folder.folder("\(index)")
      try model.write(to: place.appending(path: "model.onnx"))
      try SafetensorsFile.write(
        OrderedTable([("x", try features(5, seed: 3))]),
        to: place.appending(path: "inputs.safetensors").path)
      var reopened = try Model(contentsOf: place.appending(path: "model.onnx"))
      try reopened.widenHead(classes: ["e"], seed: 1)
      #expect(try run(reopened, features(2, seed: 3))[0].count == 5)
    }
    guard Oracle.current.isPresent else { return }
    try Oracle.current.run(folder.url)
    for (index, form) in Form.allCases.enumerated() {
      let place = folder.url.appending(path: "\(index)")
      let expected = try #require(Oracle.outputs(in: place).first { _, _ in true })
      let model = try Model(contentsOf: place.appending(path: "model.onnx"))
      let output = try InferenceSession(model).run(["x": features(5, seed: 3)])[expected.key]
      expectClose(
        output, expected.value, Tolerance(absolute: 1e-6, relative: 1e-5), "\(form)")
    }
  }

  @Test func `what cannot be widened is an error and changes nothing`() throws {
    var model = try classifier()
    expectError(.invalidArgument, "the class 'b' is there already") {
      try model.widenHead(classes: ["d", "b"], seed: 1)
    }
    expectError(.invalidArgument, "no class to add") { try model.widenHead(classes: [], seed: 1) }
    expectError(.shapeMismatch, "[2, 7]") {
      try model.widenHead(classes: ["d"], features: ["d": try Tensor(zeros: [2, 7])], seed: 1)
    }
    #expect(try run(model, features(1, seed: 1))[0].count == 3)
    model.labels = ["a"]
    expectError(.invalidArgument, "1 labels and its layer 3 outputs") {
      try model.widenHead(classes: ["d"], seed: 1)
    }
    var builder = GraphBuilder(try classifier().graph)
    let scale = builder.initializer(try Tensor([1, 2, 3] as [Float]), named: "scale")
    let scaled = builder.add("Mul", ["probabilities", scale])
    var bound = Model(graph: builder.graph)
    bound.graph.outputs = [Feature(name: scaled, type: .unknown)]
    expectError(.unsupported, "bound to the number of classes") {
      try bound.widenHead(classes: ["d"], seed: 1)
    }
  }
}

struct ResetTests {
  private func convolutional() throws -> Model {
    var builder = GraphBuilder()
    let x = builder.input(Feature(name: "x", type: .unknown))
    func constant(_ name: String, _ shape: Shape) throws -> String {
      builder.initializer(
        try Tensor([Float](repeating: 9, count: shape.elementCount), shape: shape), named: name)
    }
    let convolved = builder.add(
      "Conv", [x, try constant("conv.weight", [64, 8, 5, 5]), try constant("conv.bias", [64])],
      ["group": .int(2)])
    let normalized = builder.add(
      "BatchNormalization",
      [convolved]
        + (try ["scale", "bias", "mean", "variance"].map { try constant("norm.\($0)", [64]) }))
    let flat = builder.add("Flatten", [builder.add("GlobalAveragePool", [normalized])])
    let product = builder.add("MatMul", [flat, try constant("head.weight", [64, 50])])
    builder.output(builder.add("Add", [product, try constant("head.bias", [50])]))
    return Model(graph: builder.graph)
  }

  private func values(_ model: Model, _ name: String) throws -> [Float] {
    try #require(model.parameters[name]).values(as: Float.self)
  }

  @Test func `layers start as PyTorch starts them`() throws {
    var model = try convolutional()
    let names = try model.reset(.all, to: .random(seed: 1))
    #expect(Set(names) == Set(model.parameters.keys))
    for (name, inputs) in [
      ("conv.weight", 200), ("conv.bias", 200), ("head.weight", 64), ("head.bias", 64),
    ] {
      let bound = 1 / Float(inputs).squareRoot()
      let values = try values(model, name)
      #expect(values.allSatisfy { $0.magnitude <= bound }, "\(name)")
      #expect(try #require(values.map(\.magnitude).max()) > 0.85 * bound, "\(name)")
      let square = values.reduce(0) { $0 + $1 * $1 } / Float(values.count)
      #expect((square / (bound * bound / 3) - 1).magnitude < 0.4, "\(name)")
    }
    #expect(try values(model, "norm.scale").allSatisfy { $0 == 1 })
    #expect(try values(model, "norm.bias").allSatisfy { $0 == 0 })
    #expect(try values(model, "norm.mean").allSatisfy { $0 == 0 })
    #expect(try values(model, "norm.variance").allSatisfy { $0 == 1 })
    var same = try convolutional()
    try same.reset(.all, to: .random(seed: 1))
    #expect(try values(same, "head.weight") == values(model, "head.weight"))
    try same.reset(.all, to: .random(seed: 2))
    #expect(try values(same, "head.weight") != values(model, "head.weight"))
  }

  @Test func `a head goes back to random or to the file's values, and nothing else changes`() throws
  {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "model.onnx")
    try classifier().write(to: url)
    var model = try Model(contentsOf: url)
    let original = try run(model, features(3, seed: 1))
    let names = try model.resetHead(to: .random(seed: 4))
    #expect(names == ["classifier.weight", "classifier.bias"])
    #expect(try run(model, features(3, seed: 1)) != original)
    try model.resetHead(to: .pretrained)
    #expect(try run(model, features(3, seed: 1)) == original)
    try model.resetHead(to: .random(seed: 4))
    try model.resetHead(to: .values(of: try classifier()))
    #expect(try run(model, features(3, seed: 1)) == original)
    try model.widenHead(classes: ["d"], seed: 1)
    expectError(.shapeMismatch, "parameter 'classifier.") { try model.resetHead(to: .pretrained) }
    var built = try classifier()
    expectError(.invalidArgument, "was not read from a file") {
      try built.resetHead(to: .pretrained)
    }
  }

  @Test func `weights that are set change what the model says`() throws {
    var model = try classifier(softmax: false)
    try model.setParameters([
      "classifier.weight": try Tensor(zeros: [3, 8]),
      "classifier.bias": try Tensor([1, 2, 3] as [Float]),
    ])
    #expect(try run(model, features(2, seed: 1)) == [[1, 2, 3], [1, 2, 3]])
    expectError(.invalidArgument, "Did you mean 'classifier.bias'?") {
      try model.setParameters(["classifier.bia": try Tensor(zeros: [3])])
    }
    expectError(.shapeMismatch, "has shape [3] and [4] is given") {
      try model.setParameters(["classifier.bias": try Tensor(zeros: [4])])
    }
    expectError(.typeMismatch, "float32 and int64 is given") {
      try model.setParameters(["classifier.bias": try Tensor([1, 2, 3] as [Int64])])
    }
    #expect(try run(model, features(1, seed: 1)) == [[1, 2, 3]])
  }
}
