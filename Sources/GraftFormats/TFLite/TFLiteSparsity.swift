import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How the values of a sparse tensor are stored: level by level, in an order of the axes, where blocks
/// count as further axes.
///
/// Source: the schema's `SparsityParameters`, after "Format Abstraction for Sparse Tensor Algebra
/// Compilers", https://arxiv.org/abs/1804.10112.
package struct TFLiteSparsity {
  enum Level {
    /// All indices of an axis.
    case dense(Int)
    /// Only the indices between two neighbouring segments.
    case compressed(segments: [Int], indices: [Int])
  }

  /// The axis of each level; from the rank on, axes are those of blocks.
  let order: [Int]
  /// For each axis of a block: the tensor's axis that it divides.
  let blockMap: [Int]
  let levels: [Level]

  /// How many times as many elements a dense tensor may have as are stored.
  static let largestExpansion = 256

  init(_ table: FlatBufferTable) throws {
    typealias Field = TFLiteSchema.Sparsity
    order = try (table.integers(Field.order, Int32.self) ?? []).map(Int.init)
    blockMap = try (table.integers(Field.blockMap, Int32.self) ?? []).map(Int.init)
    levels = try table.tables(Field.dimensions).map(Self.level)
    guard levels.count == order.count, order.sorted() == Array(order.indices),
      blockMap.count <= order.count
    else { throw Self.damaged }
  }

  private static func level(_ table: FlatBufferTable) throws -> Level {
    typealias Field = TFLiteSchema.SparseDimension
    guard try table.integer(Field.format, Int8.self) != 0 else {
      return .dense(Int(try table.integer(Field.size, Int32.self)))
    }
    return .compressed(
      segments: try numbers(table, Field.segmentsKind, Field.segments),
      indices: try numbers(table, Field.indicesKind, Field.indices))
  }

  /// A list whose kind says how wide its numbers are.
  private static func numbers(_ table: FlatBufferTable, _ kind: Int, _ field: Int) throws -> [Int] {
    guard let list = try table.table(field) else { return [] }
    switch try table.integer(kind, UInt8.self) {
    case 1: return try (list.integers(0, Int32.self) ?? []).map(Int.init)
    case 2: return try (list.integers(0, UInt16.self) ?? []).map(Int.init)
    case 3: return try (list.integers(0, UInt8.self) ?? []).map(Int.init)
    default: throw damaged
    }
  }

  /// The dense tensor, zero where nothing is stored.
  func dense(_ data: UnsafeRawBufferPointer, _ type: ElementType, _ shape: Shape) throws -> Tensor {
    let width = type.bitWidth / 8
    guard type.bitWidth % 8 == 0, width > 0 else {
      throw GraftError(.unsupported, "sparse values of type \(type)")
    }
    let stored = data.count / width
    guard try shape.checkedElementCount() <= (stored + 64) * Self.largestExpansion else {
      throw GraftError(.damaged, "\(stored) values are stored for shape \(shape)")
    }
    var filling = try Filling(self, shape, stored)
    let tensor = try Tensor(zeros: shape, type)
    try filling.visit(0, 0) { element, value in
      tensor.mutableBytes.advanced(by: element * width).copyMemory(
        from: (try data.baseAddress.orThrow { Self.damaged }).advanced(by: value * width),
        byteCount: width)
    }
    return tensor
  }

  fileprivate static var damaged: GraftError {
    GraftError(.damaged, "the description of its sparse values contradicts itself")
  }
}

/// A walk over all stored values.
private struct Filling {
  private let sparsity: TFLiteSparsity
  private let strides: [Int]
  /// For each level: how many indices it has, and how far apart they lie in the dense tensor.
  private let sizes: [Int]
  private let steps: [Int]
  private let storedCount: Int
  private var next = 0

  init(_ sparsity: TFLiteSparsity, _ shape: Shape, _ storedCount: Int) throws {
    self.sparsity = sparsity
    self.storedCount = storedCount
    strides = shape.strides
    guard sparsity.order.count == shape.rank + sparsity.blockMap.count else {
      throw TFLiteSparsity.damaged
    }
    var blockSizes = [Int](repeating: 1, count: shape.rank)
    for (level, axis) in sparsity.order.enumerated() where axis >= shape.rank {
      let divided = sparsity.blockMap[axis - shape.rank]
      guard case .dense(let size) = sparsity.levels[level], size > 0,
        shape.indices.contains(divided), blockSizes[divided] == 1, shape[divided] % size == 0
      else { throw TFLiteSparsity.damaged }
      blockSizes[divided] = size
    }
    var sizes: [Int] = []
    var steps: [Int] = []
    for (level, axis) in sparsity.order.enumerated() {
      let isBlock = axis >= shape.rank
      let divided = isBlock ? sparsity.blockMap[axis - shape.rank] : axis
      let size = isBlock ? blockSizes[divided] : shape[divided] / blockSizes[divided]
      if case .dense(let declared) = sparsity.levels[level], declared != size {
        throw TFLiteSparsity.damaged
      }
      sizes.append(size)
      steps.append(strides[divided] * (isBlock ? 1 : blockSizes[divided]))
    }
    self.sizes = sizes
    self.steps = steps
  }

  /// Calls `store` with the dense place and the number of each stored value below a level.
  mutating func visit(
    _ level: Int, _ position: Int, _ place: Int = 0, _ store: (Int, Int) throws -> Void
  ) throws {
    guard level < sizes.count else {
      guard next < storedCount else { throw TFLiteSparsity.damaged }
      try store(place, next)
      next += 1
      return
    }
    switch sparsity.levels[level] {
    case .dense(let size):
      for index in 0..<size {
        try visit(level + 1, position * size + index, place + index * steps[level], store)
      }
    case .compressed(let segments, let indices):
      guard position + 1 < segments.count, segments[position] >= 0,
        segments[position] <= segments[position + 1], segments[position + 1] <= indices.count
      else { throw TFLiteSparsity.damaged }
      for entry in segments[position]..<segments[position + 1] {
        guard indices[entry] >= 0, indices[entry] < sizes[level] else {
          throw TFLiteSparsity.damaged
        }
        try visit(level + 1, entry, place + indices[entry] * steps[level], store)
      }
    }
  }
}
