import GraftDiagnostics
import GraftGraph
import GraftTensor

extension FeatureLayers {
  /// Adds the pooling of a layer, with the specification's text as the result's name.
  ///
  /// - Parameter specification: resolved.
  /// - Returns: the number of features.
  /// - Throws: `invalidArgument` when there is no such layer or the pooling does not fit it.
  func add(_ specification: FeatureSpecification, to builder: inout GraphBuilder) throws -> Int {
    let shape = try shape(of: specification.layer)
    let name = specification.description
    guard let pooling = specification.pooling else { return try known(shape[1], shape) }
    let pooled: (value: String, size: Int)
    switch pooling {
    case .flatten:
      pooled = (specification.layer, try shape.dropFirst().reduce(1) { try $0 * known($1, shape) })
    case .average, .maximum:
      pooled = try addGlobal(pooling, specification.layer, shape, &builder)
    case .averageGrid(let rows, let columns), .maximumGrid(let rows, let columns):
      pooled = try addCells(rows, columns, pooling, specification.layer, shape, &builder)
    }
    let flat = builder.add("Flatten", [pooled.value], named: name)
    guard flat == name else {
      throw GraftError(.invalidArgument, "the model has a value of that name already")
    }
    return pooled.size
  }

  private func known(_ size: Int, _ shape: Shape) throws -> Int {
    guard size > 0 else {
      throw GraftError(
        .invalidArgument, "the number of features depends on the input's size",
        fix: "Pool with 'average' or 'max'")
    }
    return size
  }

  /// Over all positions: [batch, channels, 1, ...], or [batch, features] for sequences.
  private func addGlobal(
    _ pooling: FeatureSpecification.Pooling, _ layer: String, _ shape: Shape,
    _ builder: inout GraphBuilder
  ) throws -> (String, Int) {
    guard shape.rank > 2 else { throw nothingToPool(layer, shape) }
    let isMaximum = pooling == .maximum
    if shape.rank == 3 {
      let reduced = builder.add(
        isMaximum ? "ReduceMax" : "ReduceMean", [layer, try builder.ints([1])],
        ["keepdims": .int(0)])
      return (reduced, try known(shape[2], shape))
    }
    let pooled = builder.add(isMaximum ? "GlobalMaxPool" : "GlobalAveragePool", [layer])
    return (pooled, try known(shape[1], shape))
  }

  /// Over the cells of a grid: [batch, channels, rows, columns].
  private func addCells(
    _ rows: Int, _ columns: Int, _ pooling: FeatureSpecification.Pooling, _ layer: String,
    _ shape: Shape, _ builder: inout GraphBuilder
  ) throws -> (String, Int) {
    guard shape.rank == 3 || shape.rank == 4 else { throw nothingToPool(layer, shape) }
    let isSequence = shape.rank == 3
    // A sequence is a picture with one channel, whose rows are frames.
    let value =
      isSequence ? builder.add("Unsqueeze", [layer, try builder.ints([1])]) : layer
    let sizes = isSequence ? [shape[1], 1] : [shape[2], shape[3]]
    let cells = [rows, columns]
    guard zip(sizes, cells).allSatisfy({ $0 >= $1 }) else {
      let size = isSequence ? "\(sizes[0]) frames" : "\(sizes[0]) x \(sizes[1]) positions"
      throw GraftError(
        .invalidArgument,
        sizes.contains(0)
          ? "a grid needs a layer of fixed size, and that of '\(layer)' depends on the input's"
          : "a grid of \(rows) x \(columns) cells does not fit the \(size) of '\(layer)'",
        fix: sizes.contains(0) ? "Pool with 'average' or 'max'" : "Choose fewer cells")
    }
    let steps = zip(sizes, cells).map { $0 / $1 }
    let windows = zip(zip(sizes, cells), steps).map { $0.0 - ($0.1 - 1) * $1 }
    var isMaximum = false
    if case .maximumGrid = pooling { isMaximum = true }
    let pooled = builder.add(
      isMaximum ? "MaxPool" : "AveragePool", [value],
      ["kernel_shape": .ints(windows), "strides": .ints(steps)])
    return (pooled, try known(isSequence ? shape[2] : shape[1], shape) * rows * columns)
  }

  private func nothingToPool(_ layer: String, _ shape: Shape) -> GraftError {
    let dimensions = ["batch"] + shape.dropFirst().map { $0 == 0 ? "?" : String($0) }
    return GraftError(
      .invalidArgument,
      "'\(layer)' is [\(dimensions.joined(separator: ", "))]: there is nothing to pool so",
      fix: shape.rank == 2 ? "Write '\(layer)'" : "Pool with 'average', 'max' or 'flatten'")
  }
}
