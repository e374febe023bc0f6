import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor

/// Feature matrices of pictures: all specifications of a trunk in one run for each picture.
struct PictureFeatures {
  /// The specifications' texts, one for each matrix.
  let names: [String]
  private let pictures: ExampleSet
  /// The pictures' input and that of the trunk.
  private let inputs: (of: String, to: String)
  private let session: InferenceSession
  private let mirrors: Bool

  /// - Throws: `invalidArgument` when the trunk or the pictures do not have one input, or the trunk
  ///   has no such features.
  init(
    of pictures: ExampleSet, with trunk: Model, _ specifications: [FeatureSpecification],
    mirrors: Bool, threads: Int?
  ) throws {
    let model = try trunk.features(specifications)
    guard let input = model.inputs.first, model.inputs.count == 1 else {
      throw GraftError(
        .invalidArgument,
        "the trunk has \(model.inputs.count) inputs, not one that takes pictures",
        fix: "Choose another trunk")
    }
    guard let own = pictures.inputTypes.keys.first, pictures.inputTypes.count == 1 else {
      throw GraftError(
        .invalidArgument,
        "the examples have \(pictures.inputTypes.count) inputs, not pictures only",
        at: [pictures.name], fix: "Give examples with one input")
    }
    names = model.outputs.map(\.name)
    self.pictures = pictures
    self.mirrors = mirrors
    inputs = (own, input.name)
    session = try InferenceSession(model, threads: threads)
  }

  /// For each specification [rows, D]; with mirror images [2 * rows, D], each behind its picture.
  ///
  /// - Parameter progress: is told how many pictures are done.
  func matrices(_ rows: [Int], progress: (Int) -> Void = { _ in }) throws -> [Tensor] {
    var parts = [[Tensor]](repeating: [], count: names.count)
    for (index, row) in rows.enumerated() {
      guard !Task.isCancelled else {
        throw GraftError(.cancelled, "the work was cancelled after \(index) pictures")
      }
      let example = try pictures.load(row: row)
      guard let picture = example[inputs.of] else { continue }
      let tensors = mirrors ? [picture, try picture.mirrored()] : [picture]
      let results = try locating("\(pictures.name): row \(row)") {
        try session.run(each: tensors.map { [inputs.to: $0] })
      }
      for result in results {
        for (place, name) in names.enumerated() {
          if let features = result[name] { parts[place].append(features) }
        }
      }
      progress(index + 1)
    }
    return try parts.map { try Tensor.stacking($0) }
  }
}

extension Tensor {
  /// A picture [1, channels, rows, columns] or [1, rows, columns, channels] with left and right
  /// exchanged.
  ///
  /// - Throws: `shapeMismatch` when it is no picture, `typeMismatch` when it is not float32.
  func mirrored() throws -> Tensor {
    guard shape.rank == 4 else {
      throw GraftError(
        .shapeMismatch, "\(shape) is not the shape of a picture, such as [1, 3, 224, 224]")
    }
    let isChannelsFirst = shape[1] <= 4 || shape[3] > 4
    let columns = isChannelsFirst ? shape[3] : shape[2]
    let channels = isChannelsFirst ? 1 : shape[3]
    let result = try Tensor(uninitialized: shape, elementType)
    let source = try pointer(as: Float.self)
    let target = try result.mutablePointer(as: Float.self)
    let rowCount = columns * channels == 0 ? 0 : elementCount / (columns * channels)
    for row in 0..<rowCount {
      for column in 0..<columns {
        let from = (row * columns + column) * channels
        let to = (row * columns + columns - 1 - column) * channels
        for channel in 0..<channels { target[to + channel] = source[from + channel] }
      }
    }
    return result
  }
}
