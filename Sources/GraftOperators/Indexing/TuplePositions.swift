import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The slices of a tensor that the index tuples of GatherND and ScatterND mean: the last axis of the
/// indices holds tuples, each of which fixes the data's axes behind the batch.
struct TuplePositions {
  /// Axes that data and indices share.
  let batchAxes: Int
  /// Axes that a tuple fixes.
  let tupleSize: Int
  /// The shape of one slice.
  let slice: Shape
  /// The shape of the indices without the tuples' axis.
  let places: Shape
  private let data: Shape

  init(data: Shape, indices: Shape, batchAxes: Int) throws {
    guard data.rank > 0, let tupleSize = indices.last else {
      throw GraftError(
        .shapeMismatch,
        "data of shape \(data) and indices of shape \(indices) must have at least one axis")
    }
    guard batchAxes >= 0, batchAxes < min(data.rank, indices.rank) else {
      throw GraftError(
        .invalidArgument,
        "batch_dims is \(batchAxes); it must be below the ranks of data \(data) and indices "
          + "\(indices)")
    }
    guard data.prefix(batchAxes) == indices.prefix(batchAxes) else {
      throw GraftError(
        .shapeMismatch,
        "data of shape \(data) and indices of shape \(indices) differ in their \(batchAxes) batch "
          + "dimensions")
    }
    guard tupleSize <= data.rank - batchAxes else {
      throw GraftError(
        .shapeMismatch,
        "the tuples of indices \(indices) fix \(tupleSize) axes; data of shape \(data) has "
          + "\(data.rank - batchAxes) for them")
    }
    self.data = data
    self.batchAxes = batchAxes
    self.tupleSize = tupleSize
    slice = Shape(Array(data.dropFirst(batchAxes + tupleSize)))
    places = Shape(Array(indices.dropLast()))
  }

  /// The shape of all slices together.
  var slicesShape: Shape { Shape(places.dimensions + slice.dimensions) }

  /// The first element of each slice.
  ///
  /// - Parameter input: the input that holds the indices.
  /// - Throws: `badData` when one is outside its axis.
  func find(_ context: KernelContext, indices input: Int) throws -> [Int] {
    let indices = try context.ints(input)
    let strides = data.strides
    let count = places.elementCount
    let batchSize = data.elementCount(in: 0..<batchAxes)
    let placesPerBatch = batchSize > 0 ? max(1, count / batchSize) : 1
    let batchStride = data.elementCount(in: batchAxes..<data.rank)
    return try (0..<count).map { place in
      var position = place / placesPerBatch &* batchStride
      for axis in 0..<tupleSize {
        let index = try checkedIndex(
          indices[place * tupleSize + axis], input, batchAxes + axis, data[batchAxes + axis])
        position += index * strides[batchAxes + axis]
      }
      return position
    }
  }
}
