import GraftDiagnostics

/// Refuses a file that its first bytes show to be of another format than ONNX.
///
/// - Throws: `damaged` naming the format that it looks like.
func refuseOtherFormats(_ bytes: UnsafeRawBufferPointer) throws {
  guard !bytes.isEmpty else {
    throw GraftError(.damaged, "the file is empty", fix: "Copy or download it again")
  }
  for format in knownFormats where format.matches(bytes) {
    throw GraftError(
      .damaged, "this is no ONNX model: it looks like \(format.name)", fix: format.fix)
  }
  guard !looksLikeText(bytes) else {
    throw GraftError(.damaged, "this is no ONNX model: it looks like text", fix: modelFix)
  }
}

/// Whether a file begins like text: an ONNX model has bytes among its first that no text has.
private func looksLikeText(_ bytes: UnsafeRawBufferPointer) -> Bool {
  let start = bytes.prefix(256)
  let isPrintable = start.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }
  // The end may cut a character in two.
  return isPrintable
    && (0...3).contains { String(validating: start.dropLast($0), as: UTF8.self) != nil }
}

private let modelFix = "Name the model's file"

private struct KnownFormat {
  let name: String
  let magic: [UInt8]
  var offset = 0
  var fix: String? = nil

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= offset + magic.count
      && magic.indices.allSatisfy { bytes[offset + $0] == magic[$0] }
  }
}

private let knownFormats = [
  KnownFormat(
    name: "a ZIP archive, such as a PyTorch checkpoint", magic: [0x50, 0x4B, 0x03, 0x04],
    fix: "Export it with torch.onnx.export, or unpack it"),
  KnownFormat(
    name: "a Python pickle, such as an old PyTorch checkpoint", magic: [0x80, 0x02],
    fix: "Export it with torch.onnx.export"),
  KnownFormat(
    name: "an HDF5 file, such as a Keras model", magic: [0x89, 0x48, 0x44, 0x46],
    fix: "Export it with tf2onnx"),
  KnownFormat(
    name: "a TensorFlow Lite model", magic: Array("TFL3".utf8), offset: 4,
    fix: "Open it by its path"),
  KnownFormat(
    name: "a model in ONNX Runtime's own format", magic: Array("ORTM".utf8), offset: 4,
    fix: "Use the .onnx file that it was made from"),
  KnownFormat(
    name: "an ONNX Runtime checkpoint", magic: Array("ODTC".utf8), offset: 4,
    fix: "Show it with 'graft inspect'; train it with its folder, as ONNXRuntimeArtifacts"),
  KnownFormat(
    name: "a GGUF file", magic: Array("GGUF".utf8)),
  KnownFormat(
    name: "a safetensors file", magic: Array("{\"".utf8), offset: 8),
  KnownFormat(
    name: "a PNG picture", magic: [0x89, 0x50, 0x4E, 0x47], fix: modelFix),
  KnownFormat(
    name: "a JPEG picture", magic: [0xFF, 0xD8, 0xFF], fix: modelFix),
  KnownFormat(
    name: "a gzip archive", magic: [0x1F, 0x8B], fix: "Unpack it first"),
  KnownFormat(
    name: "a Git LFS pointer", magic: Array("version https://git-lfs".utf8),
    fix: "Fetch the file with git lfs pull"),
  KnownFormat(
    name: "a web page", magic: Array("<!".utf8), fix: "Download the file itself"),
  KnownFormat(
    name: "a web page", magic: Array("<html".utf8), fix: "Download the file itself"),
]
