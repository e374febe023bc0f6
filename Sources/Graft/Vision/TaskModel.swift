import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A model made ready for a task: its input for pictures, and inputs that carry what it remembers
/// from picture to picture.
struct TaskModel: Sendable {
  let input: PictureInput
  let outputs: [Feature]
  private let session: InferenceSession
  private let quantizations: [String: FeatureQuantization]
  /// Inputs that are fed with an output of the picture before.
  private let memories: [(input: String, output: String, start: Tensor)]

  /// - Throws: `badData` when the model takes anything beside pictures that it does not give itself;
  ///   `unsupported`.
  init(_ model: Model, _ options: TaskOptions) throws {
    input = try PictureInput(model, options)
    outputs = model.outputs
    let name = input.name
    memories = try Self.memories(model, beside: name)
    session = try InferenceSession(model, threads: options.threads)
    quantizations = Dictionary(
      model.outputs.compactMap { output in
        output.quantization.map { (output.name, $0) }
      }
    ) { first, _ in first }
  }

  /// Pairs the inputs beside the picture with outputs of the same type and shape, in order.
  private static func memories(_ model: Model, beside picture: String) throws -> [(
    input: String, output: String, start: Tensor
  )] {
    var free = model.outputs
    return try model.inputs.filter { $0.name != picture }.map { input in
      guard case .tensor(let elementType, _) = input.type,
        let output = free.firstIndex(where: { $0.type == input.type }),
        input.dimensions.allSatisfy({ $0 != nil })
      else {
        throw GraftError(
          .badData, "the model asks for more than a picture: '\(input.name)' of \(input.type)",
          fix: "Choose a model whose only input is the picture")
      }
      let start = try Tensor(zeros: Shape(input.dimensions.compactMap(\.self)), elementType)
      return (input.name, free.remove(at: output).name, start)
    }
  }

  /// Runs the model.
  ///
  /// - Parameter memory: what it remembers; empty before the first picture.
  func run(_ prepared: PictureInput.Prepared, memory: inout PictureMemory) throws -> [String:
    Tensor]
  {
    var inputs = [input.name: prepared.tensor]
    for place in memories { inputs[place.input] = memory.values[place.input] ?? place.start }
    let results = try session.run(inputs)
    for place in memories { memory.values[place.input] = results[place.output] }
    return results
  }

  /// An output as numbers, with its shape.
  func numbers(_ name: String, in results: [String: Tensor]) throws -> (
    values: [Double], shape: Shape
  ) {
    guard let tensor = results[name] else {
      throw GraftError(.damaged, "the model gives no output '\(name)'")
    }
    return try locating("output '\(name)'") {
      (try tensor.scores(quantizations[name]), tensor.shape)
    }
  }
}

/// What a model remembers from picture to picture of a video; empty before the first, and always for
/// models without memory.
public struct PictureMemory: Sendable {
  var values: [String: Tensor] = [:]

  public init() {}
}
