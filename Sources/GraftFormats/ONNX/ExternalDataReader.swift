import GraftDiagnostics
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds tensors that lie in files beside the model; each file is mapped once.
///
/// The files must lie in the model's folder or below: a model from elsewhere cannot make Graft read
/// other files of the user.
final class ExternalDataReader {
  /// nil when there is no folder, since the model comes from memory.
  private let directory: String?
  private var files: [String: FileMapping] = [:]

  init(directory: String?) { self.directory = directory }

  /// - Parameter entries: `location`, a relative path; `offset` and `length` in bytes, by default
  ///   0 and what the shape takes.
  /// - Throws: `damaged`, `notFound`, `inputOutput`.
  func tensor(
    _ entries: [String: String], _ type: ElementType, _ shape: Shape
  ) throws -> Tensor {
    let byteCount = try Tensor.byteCount(shape, type)
    guard let location = entries["location"] else {
      throw GraftError(.damaged, "the file with its external data is not named")
    }
    return try locating("external data '\(location)'") {
      let file = try file(location)
      let offset = try number(entries["offset"], "offset") ?? 0
      let length = try number(entries["length"], "length") ?? byteCount
      guard offset <= file.bytes.count, length <= file.bytes.count - offset else {
        throw GraftError(
          .damaged,
          "\(length) bytes at offset \(offset) are outside the file's \(file.bytes.count) bytes",
          fix: "Copy the file together with its model again")
      }
      let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[offset..<offset + length])
      return try Tensor(borrowing: bytes, type, shape: shape, owner: file)
    }
  }

  private func number(_ text: String?, _ name: String) throws -> Int? {
    guard let text else { return nil }
    guard let value = Int(text), value >= 0 else {
      throw GraftError(.damaged, "its \(name) is '\(text)', not a number of bytes")
    }
    return value
  }

  private func file(_ location: String) throws -> FileMapping {
    if let file = files[location] { return file }
    let file = try FileMapping(path: try safePath(location))
    files[location] = file
    return file
  }

  /// The real path of the file.
  ///
  /// - Throws: `unsupported` when it leaves the model's folder, by itself or through a link.
  private func safePath(_ location: String) throws -> String {
    guard let directory else {
      throw GraftError(
        .unsupported, "a model read from memory has no folder for external data",
        fix: "Open the model by its path")
    }
    let parts = location.split(separator: "/", omittingEmptySubsequences: false)
    let isInside =
      !location.isEmpty && !location.hasPrefix("/") && !parts.contains("..")
      && !location.utf8.contains(0)
    guard isInside, let root = realPath(directory) else { throw leavesFolder() }
    guard let path = realPath(directory + "/" + location) else {
      throw GraftError(
        .notFound, "the file is missing", fix: "Put the file into the model's folder")
    }
    guard path.hasPrefix(root == "/" ? root : root + "/") else { throw leavesFolder() }
    return path
  }

  private func leavesFolder() -> GraftError {
    GraftError(
      .unsupported, "the path leads out of the model's folder",
      fix: "Put the file into the model's folder, not a link to it")
  }

  private func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
