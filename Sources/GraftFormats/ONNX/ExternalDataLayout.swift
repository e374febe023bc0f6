import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Which initializers go into a file beside the model's, and where in it they lie.
struct ExternalDataLayout {
  /// The file's name, as the model gives it.
  let location: String
  private var offsets: [String: Int] = [:]
  private var tensors: [(offset: Int, tensor: Tensor)] = []

  /// Smaller tensors stay in the model's file.
  private static let minimumByteCount = 1024
  /// Offsets are multiples of a memory page, so that tensors can be mapped.
  private static let alignment = 4096

  init(_ graph: Graph, location: String) {
    self.location = location
    var end = 0
    for (name, tensor) in graph.initializers where tensor.byteCount >= Self.minimumByteCount {
      let offset = (end + Self.alignment - 1) / Self.alignment * Self.alignment
      offsets[name] = offset
      tensors.append((offset, tensor))
      end = offset + tensor.byteCount
    }
  }

  /// Where an initializer's elements start; nil when they are in the model's file.
  func offset(of name: String) -> Int? { offsets[name] }

  /// Calls `sink` with consecutive pieces of the file.
  func write(to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    let padding = [UInt8](repeating: 0, count: Self.alignment)
    var position = 0
    for (offset, tensor) in tensors {
      try padding.prefix(offset - position).withUnsafeBytes(sink)
      try tensor.withUnalignedBytes(sink)
      position = offset + tensor.byteCount
    }
  }
}
