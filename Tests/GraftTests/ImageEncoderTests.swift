import Foundation
import GraftFormats
import GraftGraph
import GraftMedia
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// The image encoder against PyTorch: `Tests/ImageEncoder/make.py`.
@Suite(
  .enabled(if: SharedData.isPresent, SharedData.reason),
  .enabled(if: ModelLibrary.isPresent("image-encoder"), "needs: graft models pull image-encoder"))
struct ImageEncoderTests {
  private let golden: GoldenFile
  private let pictures: [String]

  init() throws {
    golden = try GoldenFile(stem: SharedData.project.path + "/Tests/ImageEncoder/golden")
    pictures = try #require(golden.manifest["pictures"] as? [String])
  }

  private func names(_ key: String) throws -> [String] {
    try #require(golden.manifest[key] as? [String])
  }

  /// The middle 224 x 224 pixels, [1, 3, 224, 224].
  private func pixels(_ picture: String) throws -> Tensor {
    let url = URL(fileURLWithPath: SharedData.path("data/" + picture))
    let whole = try Picture(contentsOf: url)
    let size = ImageEncoder.size
    let (left, top) = ((whole.width - size) / 2, (whole.height - size) / 2)
    var values: [Float] = []
    for channel in 0..<3 {
      for y in top..<top + size {
        for x in left..<left + size {
          values.append(Float(whole.pixels[(y * whole.width + x) * 3 + channel]))
        }
      }
    }
    return try Tensor(values, shape: [1, 3, size, size])
  }

  /// Compares a spread of elements, the shape and the sum of all.
  private func compare(_ value: Tensor, _ name: String, _ picture: Int) throws {
    let expected = golden.tensors(after: "\(picture)/\(name)/")
    let shape = try #require(expected["shape"]).values(as: Int64.self).map(Int.init)
    #expect(value.shape == Shape(shape), "\(name)")
    let all = try value.values(as: Float.self)
    let elements = try #require(expected["elements"])
    let step = max(1, all.count / 400)
    let kept = stride(from: 0, to: all.count, by: step).prefix(400).map { all[$0] }
    // Elements near zero are compared on the scale of the layer.
    let sums = try #require(expected["sums"]).values(as: Double.self)
    let scale = sums[1] / Double(all.count)
    expectClose(
      try Tensor(Array(kept)), elements, Tolerance(absolute: 1e-4 * scale, relative: 1e-4), name)
    let sum = all.reduce(0.0) { $0 + Double($1) }
    #expect(abs(sum - sums[0]) <= 1e-5 * sums[1], "\(name): the sum is \(sum), not \(sums[0])")
  }

  @Test func `every layer and pooling equals PyTorch's`() throws {
    let model = try ImageEncoder.model(includesClassifier: true)
    let values = try names("values")
    #expect(model.featureLayers == values)
    let features = try names("features")
    let pooled = try model.features(features.map { try FeatureSpecification($0) })
    #expect(pooled.outputs.map(\.name) == features)
    let session = try InferenceSession(model, outputs: values)
    let poolings = try InferenceSession(pooled)
    for (index, picture) in pictures.enumerated() {
      let input = [ImageEncoder.input: try pixels(picture)]
      let results = try session.run(input).merging(poolings.run(input)) { $1 }
      #expect(results.count == values.count + features.count)
      for name in values + features { try compare(try #require(results[name]), name, index) }
    }
  }

  @Test func `a batch gives the rows that its pictures give alone`() throws {
    let session = try InferenceSession(try ImageEncoder.model())
    let tensors = try pictures.map(pixels)
    let alone = try tensors.map { try #require(try session.run(["image": $0])["pooled"]) }
    let together = try session.run(["image": try Tensor.stacking(tensors)])["pooled"]
    expectClose(
      together, try Tensor.stacking(alone), Tolerance(absolute: 1e-5, relative: 1e-4), "batch")
  }

  @Test func `what it sees is what ImageNet's classes say`() throws {
    let model = try ImageEncoder.model(includesClassifier: true)
    #expect(model.labels?.count == 1000)
    let session = try InferenceSession(model)
    // Cheeseburger, hot dog, macaw.
    for (name, wanted) in [("burger.jpg", 933), ("hot_dog.jpg", 934), ("parrot.jpg", 88)] {
      let url = URL(fileURLWithPath: SharedData.path("data/pictures/" + name))
      let input = try ImageEncoder.preprocessing.tensor(try Picture(contentsOf: url))
      let logits = try #require(try session.run(["image": input])["logits"])
      let values = try logits.values(as: Float.self)
      #expect(values.firstIndex(of: values.max() ?? 0) == wanted, "\(name)")
    }
  }

  @Test func `it writes as ONNX and gives the same features`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "encoder.onnx")
    let model = try ImageEncoder.model().features([try FeatureSpecification("block12:3x3")])
    try model.write(to: url)
    let input = ["image": try pixels(pictures[0])]
    let before = try InferenceSession(model).run(input)["block12:3x3"]
    let after = try InferenceSession(try Model(contentsOf: url)).run(input)["block12:3x3"]
    expectClose(after, before, Tolerance(absolute: 0, relative: 0), "block12:3x3")
  }

  @Test func `a checkpoint of something else is an error that says what is missing`() throws {
    expectError(.damaged, "holds no '_conv_stem.weight'. Use the image encoder's checkpoint") {
      _ = try ImageEncoder.model(weights: OrderedTable(), includesClassifier: false)
    }
    var weights = OrderedTable<Tensor>()
    weights["_conv_stem.weight"] = try Tensor(zeros: [8, 3, 3, 3])
    expectError(.damaged, "is float32 [8, 3, 3, 3], not float32 [32, 3, 3, 3]") {
      _ = try ImageEncoder.model(weights: weights, includesClassifier: false)
    }
  }
}
