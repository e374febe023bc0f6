import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft run` on Core ML models, whose inputs are arrays, pictures, texts, numbers and dictionaries.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct RunCommandTests {
  private func run(_ words: [String], code: Int32 = 0) async -> String {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(["run"] + words, recorder.console) == code,
      "\(recorder.diagnostics)")
    return recorder.output + recorder.diagnostics
  }

  @Test(arguments: [
    "tabular_dict_vectorizer", "tabular_one_hot_ignore", "tabular_pipeline_mixed_columns",
    "tabular_glm_one_vs_rest", "tabular_svc_rbf_probability", "tabular_imputer", "layers_pooling",
  ])
  func `inputs are given as the expected values store them`(name: String) async throws {
    let folder = try TemporaryFolder()
    let place = SharedData.path("coreml/goldens/\(name)")
    let manifest = try #require(
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(fileURLWithPath: place + "/manifest.json"))) as? [String: Any])
    let golden = try SafetensorsFile(path: place + "/golden.safetensors").tensors
    let rule = try #require(manifest["tolerance"] as? [String: Double])
    func tensors(after prefix: String) -> [(String, Tensor)] {
      golden.compactMap { name, tensor in
        name.hasPrefix(prefix) ? (String(name.dropFirst(prefix.count)), tensor) : nil
      }
    }
    var words = [SharedData.path(try #require(manifest["model"] as? String))]
    let inputs = tensors(after: "in.")
    if !inputs.isEmpty {
      let path = folder.url.appending(path: "in.safetensors").path
      try SafetensorsFile.write(OrderedTable(inputs), to: path)
      words += ["--inputs", path]
    }
    if let rows = manifest["rows"] as? [String: [Any]], !rows.isEmpty {
      let path = folder.url.appending(path: "rows.json")
      try JSONSerialization.data(withJSONObject: rows).write(to: path)
      words += ["--rows", path.path]
    }
    let outputs = folder.url.appending(path: "out.safetensors").path
    let said = await run(words + ["--outputs", outputs])
    let results = try SafetensorsFile(path: outputs).tensors
    for (output, expected) in tensors(after: "out.") where output != "decision_values" {
      let result = try #require(results[output], "\(name), \(output)")
      try #require(result.elementCount == expected.elementCount)
      expectClose(
        try result.reshaped(to: expected.shape), expected,
        Tolerance(
          absolute: try #require(rule["atol"]), relative: try #require(rule["rtol"])),
        "\(name), \(output)")
    }
    for (output, labels) in manifest["predicted"] as? [String: [Any]] ?? [:] {
      let line = "\(output): " + labels.map { "\($0)" }.joined(separator: ", ") + "\n"
      #expect(said.contains(line), "\(said)")
    }
  }

  @Test(arguments: [
    (#"["a"]"#, "this is no JSON object"), (#"{"colour": "red"}"#, "an input is no list of rows"),
    (#"{"colour": [["red"]]}"#, "row 0"), ("", "this is no JSON object"),
  ])
  func `rows that cannot be read are told`(text: String, reason: String) async throws {
    let folder = try TemporaryFolder()
    let rows = folder.url.appending(path: "rows.json")
    try Data(text.utf8).write(to: rows)
    let outputs = folder.url.appending(path: "out.safetensors").path
    let model = SharedData.path("coreml/models/tabular_one_hot_ignore.mlmodel")
    let said = await run([model, "--rows", rows.path, "--outputs", outputs], code: 65)
    #expect(said.contains(reason), "\(said)")
    #expect(!FileManager.default.fileExists(atPath: outputs))
  }

  @Test func `a call without inputs says what is missing`() async {
    let said = await run(["model.mlmodel", "--outputs", "out.safetensors"], code: 64)
    #expect(said.contains("'--inputs' or '--rows'"), "\(said)")
  }
}
