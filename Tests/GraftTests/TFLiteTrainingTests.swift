import Foundation
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// A plain quantised classifier from TensorFlow Lite, its last layer replaced and trained.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteTrainingTests {
  private static let file = URL(
    fileURLWithPath: SharedData.path("tflite/models/mobilenet_v2_1.0_224_quant.tflite"))
  private static let tolerance = Tolerance(absolute: 1e-3, relative: 1e-3)

  /// Four animals, 20 pictures of each, as the model takes them.
  private func animals(_ model: Model) throws -> ExampleSet {
    let preprocessing = try #require(model.picturePreprocessing)
    let url = URL(fileURLWithPath: SharedData.path("data/animals"))
    let set = try LabeledFolder(url, media: .pictures)
      .pictureExamples(input: model.inputs[0].name, preprocessing: preprocessing)
    return try ExampleSet(
      name: "animals", inputs: try set.load(rows: Array(0..<set.count)), targets: set.targets,
      labels: set.labels)
  }

  @Test func `a new last layer tells four animals apart, here and in both peers`() throws {
    var model = try Model(contentsOf: Self.file)
    let animals = try animals(model)
    #expect(animals.count == 80)
    let head = try model.replaceHead(classes: try #require(animals.labels), seed: 1)
    // The trunk runs once for each picture, for all folds.
    let folder = try TemporaryFolder()
    var options = TrainingOptions()
    options.featureFolder = folder.url
    var right = 0.0
    var trained = model
    for fold in 0..<5 {
      let session = try TrainingSession(
        model, trainable: .matching(head), loss: .crossEntropy,
        optimizer: .adam(learningRate: 1e-3), options: options)
      let rows = 0..<animals.count
      let run = try session.fit(
        [animals.subset(rows: rows.filter { $0 % 5 != fold })], epochs: 15, batchSize: 8,
        shuffleSeed: 2)
      let events = run.makeAsyncIterator()
      while try events.nextEvent() != nil {}
      let test = try animals.subset(rows: rows.filter { $0 % 5 == fold })
      let accuracy = try #require(try session.evaluate([test]).accuracy)
      right += accuracy * Double(test.count)
      trained = session.model
    }
    print("quantised MobileNetV2, new last layer, 5 folds: \(Int(right.rounded())) of 80 right")
    #expect(right / 80 >= 0.95)
    try compareWithPeers(trained, animals)
  }

  /// Pictures of three animals in ONNX Runtime and LiteRT.
  private func compareWithPeers(_ model: Model, _ animals: ExampleSet) throws {
    guard LiteRTOracle.isPresent, Oracle.current.isPresent else { return }
    let session = try InferenceSession(model)
    let folder = try TemporaryFolder()
    var cases = try LiteRTCases()
    var expected: [(folder: URL, outputs: [String: Tensor])] = []
    for row in [0, 30, 70] {
      let inputs = try animals.load(row: row)
      let outputs = try session.run(inputs)
      try cases.add("row \(row)", model, inputs, expecting: outputs, Self.tolerance)
      let place = try folder.folder("\(row)")
      try model.write(to: place.appending(path: "model.onnx"))
      try SafetensorsFile.write(
        OrderedTable(inputs.sorted { $0.key < $1.key }),
        to: place.appending(path: "inputs.safetensors").path)
      expected.append((place, outputs))
    }
    try cases.run()
    try Oracle.current.run(folder.url)
    for (place, outputs) in expected {
      let found = try Oracle.outputs(in: place)
      for (name, tensor) in outputs {
        expectClose(found[name], tensor, Self.tolerance, "\(name) in ONNX Runtime")
      }
    }
  }
}
