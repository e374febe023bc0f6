import COneDNN
import GraftGraph
import GraftTensor

/// A layout as oneDNN describes it.
final class OneDNNLayout: ValueLayout, @unchecked Sendable {
  /// Never changed after it was made.
  let handle: OpaquePointer
  let description: String
  /// The strides by which a tensor in row-major order is read as one of these dimensions, where it is
  /// a transposed one.
  let transposedStrides: [Int]?

  /// Takes over the handle.
  ///
  /// - Parameter strides: those it was made with, which oneDNN's own description leaves out.
  init(_ handle: OpaquePointer, transposedStrides: [Int]? = nil, strides: [Int]? = nil) {
    self.handle = handle
    self.transposedStrides = transposedStrides
    var text = [CChar](repeating: 0, count: 256)
    let count = graft_layout_describe(handle, &text, Int32(text.count))
    let name = String(
      decoding: text.prefix(Int(min(max(0, count), 255))).map(UInt8.init(bitPattern:)),
      as: UTF8.self)
    description =
      name + (transposedStrides == nil ? "" : " of the transpose")
      + (strides.map { " strides \($0)" } ?? "")
  }

  deinit { graft_layout_free(handle) }

  /// Row-major, or with the given strides.
  convenience init(_ dimensions: [Int], strides: [Int]? = nil) throws {
    var handle: OpaquePointer?
    let sizes = dimensions.map(Int64.init)
    let status =
      if let strides {
        graft_layout_create_plain(
          Int32(sizes.count), sizes, strides.map(Int64.init), &handle)
      } else {
        graft_layout_create_plain(Int32(sizes.count), sizes, nil, &handle)
      }
    try self.init(checked(handle, status), strides: strides)
  }

  /// Whatever the primitive prefers.
  static func any(_ dimensions: [Int]) throws -> OneDNNLayout {
    var handle: OpaquePointer?
    let status = graft_layout_create_any(
      Int32(dimensions.count), dimensions.map(Int64.init), &handle)
    return try OneDNNLayout(checked(handle, status))
  }

  /// The order of the axes, such as `aBcd8b`.
  var order: Substring { description.split(separator: " ").last ?? "" }

  var byteCount: Int { Int(graft_layout_byte_size(handle)) }
  var isDense: Bool { graft_layout_has_padding(handle) == 0 }
  var isRowMajor: Bool { graft_layout_is_plain_row_major(handle) != 0 }
  var dimensions: [Int] {
    (0..<graft_layout_rank(handle)).map { Int(graft_layout_dimension(handle, $0)) }
  }

  /// As a plan writes it down: nil for row-major order.
  var planned: OneDNNLayout? { isRowMajor && transposedStrides == nil ? nil : self }
}

/// The handle, or a decline that says what oneDNN answered.
func checked(_ handle: OpaquePointer?, _ status: Int32) throws -> OpaquePointer {
  guard status == 0, let handle else {
    throw KernelDeclined(String(cString: graft_dnn_message(status)))
  }
  return handle
}

extension PlannedValue {
  /// The layout it lies in.
  ///
  /// - Parameter flat: a row-major value is one row of numbers.
  func currentLayout(flat: Bool = false) throws -> OneDNNLayout {
    guard let layout else {
      return try OneDNNLayout(flat ? [1, type.shape.elementCount] : type.shape.dimensions)
    }
    return try (layout as? OneDNNLayout).orThrow { KernelDeclined("the layout is not oneDNN's") }
  }
}
