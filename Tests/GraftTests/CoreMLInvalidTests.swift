import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Core ML files that must be refused, or that break its rules for updates.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct CoreMLInvalidTests {
  private static let folder = SharedData.path("coreml/invalid")

  private func model(_ name: String) throws -> Model {
    try Model(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name).mlmodel"))
  }

  @Test(arguments: [
    ("layer_names_collide", "two layers have the name 'relu1'"),
    ("unknown_blob", "it reads 'nowhere', which no layer or input makes"),
    ("weights_too_short", "weights are stored, and shape"),
    ("labels_do_not_match", "9 class labels are given for 10 probabilities"),
    ("pipeline_updatable_not_last", "the updatable model is not the last of the pipeline"),
    ("future_version", "version 99"), ("truncated_half", "announced"),
    ("truncated_by_one", "announced"), ("empty_file", "the file is empty"),
    ("random_bytes", ""), ("huge_length", "is no wire type in use"),
  ])
  func `a damaged file is refused with the reason`(name: String, reason: String) throws {
    expectError(name == "future_version" ? .unsupported : .damaged, reason) { _ = try model(name) }
  }

  @Test(arguments: [
    ("missing_loss", "has no loss layer"), ("missing_optimizer", "names no optimizer"),
    ("missing_epochs", "how many epochs"), ("missing_update_params", "has no update parameters"),
    ("wrong_layer_updatable", "the activation layer 'relu2' is marked as updatable"),
    ("no_updatable_layer", "no layer is marked as updatable"),
    ("weights_not_flagged", "its weights are not marked as such"),
    ("quantised_updatable_weights", "are quantized"),
    ("loss_name_collides", "the loss layer has the name of another layer"),
    ("cross_entropy_not_on_softmax", "not the output of a softmax"),
    ("two_losses", "there are 2 loss layers"),
    ("no_gradient_path", "there is no gradient through the unary layer"),
    ("missing_training_input", "no training input"),
    ("mse_target_is_output", "has the name of a model output"),
    ("lr_out_of_range", "learningRate is 2"),
    ("pipeline_not_marked_updatable", "in a pipeline that is not updatable"),
  ])
  func `a broken rule for updates is found`(name: String, reason: String) throws {
    let model = try model(name)
    let description = try #require(model.coreML)
    #expect(
      description.brokenRules.contains { $0.what.contains(reason) },
      "\(name): \(description.brokenRules)")
    expectError(.damaged, "the update section") { try description.requireUpdateRules() }
  }

  @Test
  func `all files of the folder are tested`() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
    #expect(names.filter { $0.hasSuffix(".mlmodel") }.count == 27)
  }

  @Test
  func `a compiled model is refused with the reason`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "\(UUID().uuidString).mlmodelc")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    expectError(.unsupported, "this is a compiled model") { _ = try Model(contentsOf: folder) }
  }

  @Test
  func `damaged files give errors and nothing else`() throws {
    let folder = SharedData.path("coreml/models")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .filter { $0.hasSuffix(".mlmodel") }
    let copies = (SharedData.isLong ? 5000 : 200 + names.count) / names.count
    for (index, name) in names.enumerated() {
      let copy = FileManager.default.temporaryDirectory.appending(
        path: "\(UUID().uuidString).mlmodel")
      defer { try? FileManager.default.removeItem(at: copy) }
      let file = try DamagedFile("\(folder)/\(name)", copy: copy)
      try file.expectErrorsOnly(count: copies + 1, seed: UInt64(index + 1)) { path in
        let model = try Model(contentsOf: URL(fileURLWithPath: path))
        for (_, tensor) in model.parameters { tensor.touch() }
        _ = try? InferenceSession(model)
      }
    }
  }
}
