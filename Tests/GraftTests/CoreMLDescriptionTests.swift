import Foundation
import Graft
import GraftTestSupport
import Testing

/// What a Core ML file says about itself.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct CoreMLDescriptionTests {
  @Test
  func `the update section of a classifier is read`() throws {
    let model = try CoreMLGolden("gestures_like_nn").model
    let description = try #require(model.coreML)
    #expect(description.kind == "neuralNetworkClassifier")
    #expect(description.isUpdatable)
    #expect(description.brokenRules.isEmpty, "\(description.brokenRules)")
    #expect(description.trainingInputs.map(\.name) == ["image", "label"])
    #expect(model.labels?.count == 10)
    let update = try #require(description.update)
    #expect(
      update.layers == [
        UpdatableLayer(
          name: "fullyconnected0", kind: "innerProduct",
          parameters: ["fullyconnected0.weights", "fullyconnected0.bias"])
      ])
    #expect(update.losses.map(\.kind) == [.categoricalCrossEntropy])
    #expect(update.losses.map(\.input) == ["labelProbability"])
    #expect(update.losses.map(\.target) == ["labelProbability_true"])
    #expect(update.optimizer == .sgd)
    #expect(update.parameter("learningRate")?.range == [0, 1])
    #expect(update.parameter("miniBatchSize")?.set == [1, 2, 8, 16])
    #expect(update.parameter("epochs")?.defaultValue == 10)
    #expect(update.shuffles == true)
    expectError(.invalidArgument, "Choose one of 1, 2, 8, 16") {
      try update.parameter("miniBatchSize")?.check(5)
    }
  }

  @Test
  func `Adam's parameters are read`() throws {
    let update = try #require(try CoreMLGolden("gestures_like_nn_adam").model.coreML?.update)
    #expect(update.optimizer == .adam)
    #expect(update.layers.map(\.name) == ["conv2", "fullyconnected0"])
    #expect(update.parameter("beta2")?.defaultValue == 0.999)
  }

  @Test
  func `pictures and arrays have their declared sizes`() throws {
    let description = try #require(try CoreMLGolden("knn_pipeline_filled").model.coreML)
    guard case .image(let image)? = description.inputs.first?.type else {
      Issue.record("the input is no picture")
      return
    }
    #expect(image.width == 64)
    #expect(image.height == 64)
    #expect(image.colorSpace == .rgb)
  }
}
