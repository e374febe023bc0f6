import GraftDiagnostics
import GraftTensor

/// The bytes of a checkpoint's storages, and tensors made over them.
struct StorageContents {
  /// Keeps the bytes mapped.
  let owner: FileMapping
  /// Looks up a storage's bytes.
  let bytes: (StoredStorage) throws -> UnsafeRawBufferPointer
  /// How many bytes may still be copied. A tensor that repeats its elements can be far larger than
  /// the file that describes it.
  private var copyBudget: Int

  init(owner: FileMapping, bytes: @escaping (StoredStorage) throws -> UnsafeRawBufferPointer) {
    self.owner = owner
    self.bytes = bytes
    copyBudget = owner.bytes.count.multipliedReportingOverflow(by: 4).partialValue + (64 << 20)
  }

  /// A tensor over its storage's bytes, copied only when they do not lie in row-major order.
  ///
  /// - Throws: `damaged` when it lies outside its storage, `unsupported` when it is far larger than
  ///   the file.
  mutating func tensor(_ stored: StoredTensor, _ storage: StoredStorage) throws -> Tensor {
    let shape = Shape(stored.shape)
    let type = stored.elementType
    let count = try shape.checkedElementCount()
    let byteCount = try Tensor.byteCount(shape, type)
    let elementSize = type.bitWidth / 8
    guard stored.strides.count == stored.shape.count, stored.offset >= 0 else {
      throw GraftError(
        .damaged,
        "shape \(shape), strides \(stored.strides) and offset \(stored.offset) "
          + "do not go together")
    }
    if count == 0 { return try Tensor(zeros: shape, type) }
    let elements = try elements(of: storage, elementSize)
    let available = elements.count / elementSize
    let end = try Self.end(stored)
    guard end <= available else {
      throw GraftError(
        .damaged, "it reaches to element \(end) of storage '\(storage.key)', which has \(available)"
      )
    }
    let start = stored.offset * elementSize
    if Self.isRowMajor(stored.strides, shape) {
      return try Tensor(
        borrowing: UnsafeRawBufferPointer(rebasing: elements[start..<start + byteCount]), type,
        shape: shape, owner: owner)
    }
    guard byteCount <= copyBudget else {
      throw GraftError(
        .unsupported, "with \(byteCount) bytes it is far larger than the file that holds it")
    }
    copyBudget -= byteCount
    let copy = try Tensor(uninitialized: shape, type)
    StridedCopy(
      source: elements, shape: stored.shape, strides: stored.strides, offset: stored.offset
    )
    .run(into: copy.mutableBytes, elementSize: elementSize)
    if type == .bool { copy.normalizeTruthValues() }
    return copy
  }

  /// The bytes of a storage, or of the part of it that is meant.
  private func elements(of storage: StoredStorage, _ elementSize: Int) throws
    -> UnsafeRawBufferPointer
  {
    let all = try bytes(storage)
    guard let part = storage.part else { return all }
    let size = storage.elementType == nil ? 1 : elementSize
    let (end, overflow) = part.upperBound.multipliedReportingOverflow(by: size)
    guard !overflow, end <= all.count else {
      throw GraftError(.damaged, "storage '\(storage.key)' is shorter than the view of it")
    }
    return UnsafeRawBufferPointer(rebasing: all[part.lowerBound * size..<end])
  }

  /// One past the last element that a tensor with elements reaches.
  private static func end(_ tensor: StoredTensor) throws -> Int {
    var last = tensor.offset
    for (dimension, stride) in zip(tensor.shape, tensor.strides) {
      let (distance, tooFar) = (dimension - 1).multipliedReportingOverflow(by: stride)
      let (sum, overflow) = last.addingReportingOverflow(distance)
      guard stride >= 0, !tooFar, !overflow, sum < Int.max / 16 else {
        throw GraftError(.damaged, "its strides are \(tensor.strides)")
      }
      last = sum
    }
    return last + 1
  }

  private static func isRowMajor(_ strides: [Int], _ shape: Shape) -> Bool {
    zip(shape.dimensions, zip(strides, shape.strides)).allSatisfy { $0 == 1 || $1.0 == $1.1 }
  }
}

/// Gathers elements that lie at strides into row-major order.
///
/// Everything is within bounds: the caller has checked the farthest element.
private struct StridedCopy {
  let source: UnsafeRawBufferPointer
  let shape: [Int]
  let strides: [Int]
  let offset: Int

  func run(into target: UnsafeMutableRawPointer, elementSize: Int) {
    switch elementSize {
    case 1: copy(UInt8.self, target)
    case 2: copy(UInt16.self, target)
    case 4: copy(UInt32.self, target)
    case 8: copy(UInt64.self, target)
    default: copy(SIMD2<UInt64>.self, target)
    }
  }

  private func copy<Element: BitwiseCopyable>(
    _: Element.Type, _ target: UnsafeMutableRawPointer
  ) {
    let size = MemoryLayout<Element>.size
    let innerCount = shape.last ?? 1
    let innerStride = (strides.last ?? 1) * size
    var index = [Int](repeating: 0, count: max(0, shape.count - 1))
    var rowStart = offset * size
    var written = 0
    while true {
      var position = rowStart
      for _ in 0..<innerCount {
        let element = source.loadUnaligned(fromByteOffset: position, as: Element.self)
        target.storeBytes(of: element, toByteOffset: written, as: Element.self)
        position += innerStride
        written += size
      }
      var axis = index.count - 1
      while axis >= 0 {
        index[axis] += 1
        rowStart += strides[axis] * size
        if index[axis] < shape[axis] { break }
        rowStart -= strides[axis] * size * shape[axis]
        index[axis] = 0
        axis -= 1
      }
      if axis < 0 { return }
    }
  }
}
