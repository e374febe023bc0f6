import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Reads the tensors of files that `torch.save` wrote, in the ZIP format and the one before it.
///
/// A checkpoint is a program; it is read without executing anything. Names outside a short list are
/// refused. The file is mapped and tensors lie in the mapping where they can. Source: the layout that
/// PyTorch's `torch/serialization.py` reads and writes.
package enum PyTorchCheckpoint {
  /// The tensors of a checkpoint. Names in nested dictionaries and lists are joined with dots;
  /// everything else in it is left out.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the file breaks the format; `unsupported`
  ///   when it is no checkpoint, names something that is not a tensor's, was written on a big-endian
  ///   machine or is compressed.
  package static func read(path: String) throws -> OrderedTable<Tensor> {
    let file = try FileMapping(path: path)
    return try locating(path) {
      if file.bytes.starts(with: "PK".utf8) { return try readArchive(file) }
      if file.bytes.first == 0x80 || file.bytes.first == UInt8(ascii: "L") {
        return try readLegacy(file)
      }
      throw GraftError(
        .unsupported, "this is no checkpoint that torch.save wrote",
        fix: "Name a .pt or .pth file")
    }
  }

  private static func readArchive(_ file: FileMapping) throws -> OrderedTable<Tensor> {
    let archive = try ZipArchive(file.bytes)
    let programs = archive.names.filter { $0.hasSuffix("/data.pkl") }
    guard let name = programs.first, programs.count == 1,
      let program = try archive.contents(of: name)
    else {
      throw GraftError(
        .unsupported, "this is a ZIP archive, but no checkpoint: it has no data.pkl",
        fix: "Name a .pt or .pth file that torch.save wrote")
    }
    let folder = name.dropLast("data.pkl".count)
    if let order = try archive.contents(of: folder + "byteorder"), order.starts(with: "big".utf8) {
      throw bigEndian
    }
    var machine = PickleMachine(try ByteCursor(program))
    let root = try locating("entry '\(name)'") { try machine.run() }
    let contents = StorageContents(owner: file) { storage in
      guard let bytes = try archive.contents(of: folder + "data/" + storage.key) else {
        throw GraftError(.damaged, "storage '\(storage.key)' is not in the archive")
      }
      return bytes
    }
    return try StateNames.tensors(of: root, machine.heap, contents)
  }

  static var bigEndian: GraftError {
    GraftError(
      .unsupported, "the checkpoint was written on a big-endian machine",
      fix: "Load and save it again on a little-endian one")
  }
}
