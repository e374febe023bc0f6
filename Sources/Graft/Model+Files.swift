import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph

extension Model {
  /// Opens a model file, ONNX, TensorFlow Lite or Core ML; only its structure is read, weights when
  /// they are used.
  ///
  /// - Parameter arithmetic: how the quantized operators of a TensorFlow Lite file compute.
  /// - Throws: `notFound`, `inputOutput`, `damaged` or `unsupported`, with the file as place.
  public init(contentsOf url: URL, arithmetic: TFLiteArithmetic = .float) throws {
    if CoreMLReader.isModel(url.path) {
      self = try CoreMLReader.read(path: url.path)
      return
    }
    let isTFLite = url.pathExtension.lowercased() == "tflite" || TFLiteReader.isModel(url.path)
    self =
      isTFLite
      ? try TFLiteReader.read(path: url.path, arithmetic: arithmetic)
      : try ONNXReader.read(path: url.path)
  }

  /// Writes the model, replacing a file that is there only when all has been written.
  ///
  /// - Parameters:
  ///   - opset: the version of ONNX's operators; by default that of the file the model was read
  ///     from, or 17.
  /// - Throws: `unsupported` when the model needs a later opset, `invalidArgument` when the name does
  ///   not end in `.onnx`, `inputOutput`.
  public func write(to url: URL, opset: Int? = nil) throws {
    try locating(url.path) {
      guard url.pathExtension.lowercased() == "onnx" else {
        throw GraftError(
          .invalidArgument, "models are written as .onnx, not as '.\(url.pathExtension)'",
          fix: "Choose a name that ends in .onnx")
      }
    }
    try ONNXWriter.write(self, to: url.path, opset: opset)
  }
}
