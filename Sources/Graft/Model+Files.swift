import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph

extension Model {
  /// Opens a model file, ONNX, TensorFlow Lite or Core ML; only its structure is read, weights when
  /// they are used.
  ///
  /// - Parameters:
  ///   - arithmetic: how the quantized operators of a TensorFlow Lite file compute.
  ///   - signature: which of a TensorFlow Lite file's signatures is meant; the first when nil.
  /// - Throws: `notFound`, `inputOutput`, `damaged` or `unsupported`, with the file as place.
  public init(
    contentsOf url: URL, arithmetic: TFLiteArithmetic = .float, signature: String? = nil
  ) throws {
    if CoreMLReader.isModel(url.path) {
      self = try CoreMLReader.read(path: url.path)
      return
    }
    let isTFLite = url.pathExtension.lowercased() == "tflite" || TFLiteReader.isModel(url.path)
    self =
      isTFLite
      ? try TFLiteReader.read(path: url.path, arithmetic: arithmetic, signature: signature)
      : try ONNXReader.read(path: url.path)
  }

  /// Writes the model as ONNX or TensorFlow Lite, as the name's ending says, replacing a file that is
  /// there only when all has been written.
  ///
  /// A TensorFlow Lite file is for inference: batch normalizations are folded into the layers before
  /// them, and quantized operators compute in floats. Labels, descriptions and normalization go into
  /// its metadata. Open sizes stand as 1 and can be resized by whoever runs the file.
  ///
  /// - Parameters:
  ///   - opset: the version of ONNX's operators; by default that of the file the model was read
  ///     from, or 17.
  ///   - weights: how a TensorFlow Lite file stores weights of more than 1024 elements.
  ///   - sizes: sizes of open dimensions, by their names, to be fixed in a TensorFlow Lite file.
  /// - Throws: `unsupported` when the model needs a later opset or has operators without a form in
  ///   the format, all of which are named; `invalidArgument` when the name has another ending;
  ///   `inputOutput`.
  public func write(
    to url: URL, opset: Int? = nil, weights: TFLiteWeights = .float32, sizes: [String: Int] = [:]
  ) throws {
    switch url.pathExtension.lowercased() {
    case "onnx": try ONNXWriter.write(self, to: url.path, opset: opset)
    case "tflite":
      let prepared = try locating(url.path) { try TFLitePreparation(self, sizes: sizes) }
      try TFLiteWriter.write(prepared.model, prepared.shapes, weights: weights, to: url.path)
    default:
      throw GraftError(
        .invalidArgument, "models are written as .onnx or .tflite, not as '.\(url.pathExtension)'",
        at: [url.path], fix: "Choose a name that ends in .onnx or .tflite")
    }
  }
}
