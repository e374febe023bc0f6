import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// TensorFlow Lite models that lie inside wheels, against LiteRT's reference kernels.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteWheelTests {
  @Test(arguments: [
    ("basic_pitch_nmp", "pitch", "nmp.tflite"),
    ("face_detection_full_range_sparse", "faces", "face_detection_full_range_sparse.tflite"),
    ("face_detection_short_range", "faces", "face_detection_short_range.tflite"),
    ("hand_landmark_full", "hands", "hand_landmark_full.tflite"),
    ("hand_landmark_lite", "hands", "hand_landmark_lite.tflite"),
    ("palm_detection_lite", "hands", "palm_detection_lite.tflite"),
    ("pose_landmark_full", "pose", "pose_landmark_full.tflite"),
    // As it lies in the wheel, with MediaPipe's own operator; the golden has it replaced.
    ("selfie_segmentation", "people", "selfie_segmentation.tflite"),
  ])
  func `a published model gives LiteRT's outputs`(name: String, entry: String, file: String)
    throws
  {
    guard let paths = try? ModelLibrary.pull(entry) else { return }
    let path = try #require(paths.first { $0.hasSuffix(file) })
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    let session = try InferenceSession(model)
    let golden = try TFLiteGolden("tflite/wheel_goldens/\(name)")
    for set in golden.cases {
      let inputs = zip(model.inputs, try golden.inputs(set)).map { ($0.name, $1) }
      #expect(inputs.count == model.inputs.count)
      let outputs = try session.run(Dictionary(uniqueKeysWithValues: inputs))
      for (index, output) in model.outputs.enumerated() {
        let result = try #require(outputs[output.name])
        let (expected, actual) = try #require(try golden.reference(set, index, of: result))
        let tolerance = try #require(golden.tolerance(set, index))
        expectClose(actual, expected, tolerance, "\(name), \(set), output \(index)")
      }
    }
  }

  @Test func `one model in two formats gives the same notes`() throws {
    guard let paths = try? ModelLibrary.pull("pitch") else { return }
    let golden = try TFLiteGolden("tflite/wheel_goldens/basic_pitch_nmp")
    let input = try #require(try golden.inputs("speech").first)
    var results: [[Shape: [Tensor]]] = []
    for ending in ["nmp.tflite", "nmp.onnx"] {
      let path = try #require(paths.first { $0.hasSuffix(ending) })
      let model = try Model(contentsOf: URL(fileURLWithPath: path))
      let outputs = try InferenceSession(model).run([model.inputs[0].name: input])
      results.append(
        Dictionary(grouping: outputs.sorted { $0.key < $1.key }.map(\.value), by: \.shape))
    }
    #expect(results[0].keys == results[1].keys)
    for (shape, tensors) in results[0] {
      let others = results[1][shape] ?? []
      // Outputs have other names and order in the two files.
      for tensor in tensors {
        #expect(
          others.contains {
            difference(tensor, $0, Tolerance(absolute: 1e-4, relative: 0)) == nil
          }, "an output of shape \(shape)")
      }
    }
  }
}
