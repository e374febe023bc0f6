import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How each operation of an ML program becomes operators of ONNX.
enum ProgramOperators {
  /// Adds the nodes for one operation. What it cannot express throws `unsupported`.
  typealias Rule = @Sendable (inout ProgramContext, ProgramOperation) throws -> Void

  /// The rules by the operation's name.
  static let table: [String: Rule] = [
    constantOperations, unaryOperations, activationOperations, binaryOperations,
    productOperations, windowOperations, normalizationOperations, reductionOperations,
    shapeOperations, sliceOperations, indexOperations, resizeOperations, endOperations,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }

  static let endOperations: [String: Rule] = [
    "classify": { context, operation in
      let scores = try context.value(operation, "probabilities")
      let labels: CoreMLLabels
      switch try context.constant(operation, "classes") {
      case .strings(let names)?: labels = .strings(names)
      case .numbers(let numbers)?: labels = .integers(try numbers.integerElements())
      case nil: throw GraftError(.damaged, "the classes are missing")
      }
      let rows = try context.graph.reshaped(scores, [-1, labels.count])
      context.classifier = (rows, labels)
    }
  ]

  /// Constants that are stored in fewer bits.
  static let constantOperations: [String: Rule] = [
    "const": { context, operation in
      guard let value = operation.attributes["val"], let name = operation.outputs.first else {
        throw GraftError(.damaged, "the value is missing")
      }
      context.define(name, try ProgramConstant(value, context.files))
    },
    "constexpr_cast": { context, operation in
      let source = try required(context, operation, "source_val")
      try define(&context, operation, try source.widened())
    },
    "constexpr_affine_dequantize": affine,
    "constexpr_lut_to_dense": lookup,
    "constexpr_blockwise_shift_scale": blockwise,
  ]

  private static func required(
    _ context: ProgramContext, _ operation: ProgramOperation, _ parameter: String
  ) throws -> Tensor {
    try context.tensor(operation, parameter, keepsCodes: true).orThrow {
      GraftError(.damaged, "'\(parameter)' is missing")
    }
  }

  private static func define(
    _ context: inout ProgramContext, _ operation: ProgramOperation, _ tensor: Tensor
  ) throws {
    guard let name = operation.outputs.first else { throw GraftError(.damaged, "no output") }
    context.define(name, .numbers(tensor))
  }

  /// (code - zero point) * scale, one of both for all or for each place along an axis.
  private static let affine: Rule = { context, operation in
    let codes = try required(context, operation, "quantized_data")
    let scale = try required(context, operation, "scale").floats()
    let zero = try context.tensor(operation, "zero_point", keepsCodes: true)?.floats() ?? [0]
    let axis = try context.int(operation, "axis") ?? 0
    let shape = codes.shape
    let place = axis < 0 ? axis + shape.rank : axis
    guard shape.indices.contains(place) || (scale.count == 1 && zero.count == 1),
      [scale, zero].allSatisfy({ $0.count == 1 || $0.count == shape[place] })
    else {
      throw GraftError(
        .damaged, "\(scale.count) scales, \(zero.count) zero points along axis \(axis) of \(shape)")
    }
    let inner = shape.indices.contains(place) ? shape.strides[place] : 1
    let size = shape.indices.contains(place) ? max(1, shape[place]) : 1
    let values = try codes.floats().enumerated().map { index, code in
      let row = index / max(1, inner) % size
      return (code - zero[zero.count == 1 ? 0 : row]) * scale[scale.count == 1 ? 0 : row]
    }
    try define(&context, operation, try Tensor(values, shape: shape))
  }

  /// Entries of a table; codes are packed bytes with a shape, or a tensor of codes.
  private static let lookup: Rule = { context, operation in
    let table = try required(context, operation, "lut")
    var codes = try required(context, operation, "indices")
    var entries = table.elementCount
    if let shape = try context.ints(operation, "shape") {
      guard entries > 0, entries & (entries - 1) == 0, entries <= 256 else {
        throw GraftError(.damaged, "a table of \(entries) numbers")
      }
      let bits = max(1, entries.trailingZeroBitCount)
      codes = try codes.withUnsafeBytes { bytes in
        try ProgramConstant.codes(
          bytes, bits: bits, Shape(shape), try Shape(shape).checkedElementCount())
      }
    } else if table.shape.rank >= 2 {
      entries = table.shape[table.shape.rank - 2]
      guard table.shape[table.shape.rank - 1] == 1 else {
        throw GraftError(.unsupported, "tables of vectors")
      }
    }
    let numbers = try table.floats()
    let tables = try TableGrid(table.shape, entries: entries, over: codes.shape)
    let values = try codes.integerElements().enumerated().map { index, code -> Float in
      guard code >= 0, code < entries else {
        throw GraftError(.damaged, "a code is \(code), and the table has \(entries) numbers")
      }
      return numbers[tables.table(of: index) * entries + code]
    }
    try define(&context, operation, try Tensor(values, shape: codes.shape))
  }

  /// (code - offset) * scale, one of both for each block of numbers.
  private static let blockwise: Rule = { context, operation in
    let codes = try required(context, operation, "data")
    let scale = try required(context, operation, "scale")
    let offset = try context.tensor(operation, "offset", keepsCodes: true)
    let grid = try TableGrid(scale.shape, over: codes.shape)
    guard offset.map({ $0.shape == scale.shape }) ?? true else {
      throw GraftError(.damaged, "offsets and scales have different shapes")
    }
    let (scales, offsets) = (try scale.floats(), try offset?.floats())
    let values = try codes.floats().enumerated().map { index, code in
      let block = grid.table(of: index)
      return (code - (offsets?[block] ?? 0)) * scales[block]
    }
    try define(&context, operation, try Tensor(values, shape: codes.shape))
  }
}

/// Which block of a tensor an element is in, where blocks divide every axis evenly.
private struct TableGrid {
  private let strides: [Int]
  private let sizes: [Int]
  private let blockSizes: [Int]
  private let gridStrides: [Int]

  /// - Parameter shape: the number of blocks along each axis.
  init(_ shape: Shape, over whole: Shape) throws {
    try self.init(grid: Array(shape), over: whole)
  }

  /// - Parameter shape: that of tables: their number along each axis, and two axes of a table. One
  ///   table for all may have any shape.
  init(_ shape: Shape, entries: Int, over whole: Shape) throws {
    let isSingle = shape.elementCount == entries
    let grid =
      isSingle ? whole.map { _ in 1 } : Array(shape.dimensions.dropLast(2))
    try self.init(grid: grid, over: whole)
  }

  private init(grid: [Int], over whole: Shape) throws {
    guard grid.count == whole.rank,
      zip(grid, whole).allSatisfy({ $0 > 0 && $1 % $0 == 0 && ($1 > 0) })
    else {
      throw GraftError(.damaged, "blocks \(grid) do not divide shape \(whole)")
    }
    strides = whole.strides
    sizes = whole.dimensions
    blockSizes = zip(grid, whole).map { $1 / $0 }
    gridStrides = Shape(grid).strides
  }

  func table(of index: Int) -> Int {
    var block = 0
    for axis in sizes.indices {
      block += index / strides[axis] % sizes[axis] / blockSizes[axis] * gridStrides[axis]
    }
    return block
  }
}
