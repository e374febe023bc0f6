import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A model that is run step by step, as TensorFlow Lite's interpreter does it: allocate, copy in,
/// invoke, copy out. It takes models of every format.
///
/// It is not safe to share between threads: one thread at a time may use it, and so it is not
/// Sendable. `InferenceSession` does the same in one call and from any thread.
public final class Interpreter {
  /// How many threads to use, from the next `invoke` on; all cores when nil.
  public var threads: Int? {
    didSet { session?.threads = threads }
  }
  private var model: Model
  private var session: InferenceSession?
  private var inputs: [Tensor] = []
  /// Empty until `invoke` succeeded with the inputs as they are.
  private var outputs: [Tensor] = []

  /// - Throws: as `Model(contentsOf:)`.
  public convenience init(contentsOf url: URL, threads: Int? = nil) throws {
    self.init(try Model(contentsOf: url), threads: threads)
  }

  public init(_ model: Model, threads: Int? = nil) {
    self.model = model
    self.threads = threads
  }

  public var inputCount: Int { model.inputs.count }
  public var outputCount: Int { model.outputs.count }

  /// Prepares the model and makes the inputs' tensors, filled with zeros; open dimensions are 1. It
  /// must be called before anything is copied, and again after `resizeInput`.
  ///
  /// - Throws: `unsupported` naming all operators that Graft does not have or inputs of other types
  ///   than tensors; `badData` when there is not enough memory.
  public func allocateTensors() throws {
    outputs = []
    session = nil
    inputs = try model.inputs.map { input in
      guard case .tensor(let elementType, _?) = input.type else {
        throw GraftError(
          .unsupported, "an input of \(input.type) has no shape to allocate",
          at: ["input '\(input.name)'"], fix: "Resize the input first")
      }
      return try locating("input '\(input.name)'") {
        try Tensor(zeros: Shape(input.dimensions.map { $0 ?? 1 }), elementType)
      }
    }
    session = try InferenceSession(model, threads: threads)
  }

  // MARK: Inputs

  /// What an input is.
  ///
  /// - Throws: `invalidArgument` when there is no such input.
  public func input(at index: Int) throws -> InterpreterTensor {
    let feature = try feature(index, of: model.inputs, "input")
    return InterpreterTensor(feature, inputs.indices.contains(index) ? inputs[index].shape : nil)
  }

  /// Gives an input another shape; `allocateTensors` must follow.
  ///
  /// - Throws: `invalidArgument` when there is no such input or a size is below 0.
  public func resizeInput(at index: Int, to shape: Shape) throws {
    let feature = try feature(index, of: model.inputs, "input")
    guard case .tensor(let elementType, _) = feature.type else {
      throw GraftError(
        .unsupported, "an input of \(feature.type) cannot be resized", at: [Self.place(feature)])
    }
    _ = try locating(Self.place(feature)) { try Tensor.byteCount(shape, elementType) }
    let dimensions = shape.dimensions.map { FeatureDimension.fixed($0) }
    for place in model.graph.inputs.indices where model.graph.inputs[place].name == feature.name {
      model.graph.inputs[place].type = .tensor(elementType, shape: dimensions)
    }
    (session, inputs, outputs) = (nil, [], [])
  }

  /// Copies a tensor into an input.
  ///
  /// - Throws: `invalidArgument` before `allocateTensors` or when there is no such input;
  ///   `typeMismatch`, `shapeMismatch`.
  public func copy(_ tensor: Tensor, toInputAt index: Int) throws {
    let (feature, place) = try allocated(index)
    guard tensor.elementType == place.elementType else {
      throw GraftError(
        .typeMismatch, "the input is \(place.elementType) and \(tensor.elementType) is given",
        at: [feature], fix: "Convert the values to \(place.elementType)")
    }
    guard tensor.shape == place.shape else {
      throw GraftError(
        .shapeMismatch, "the input has shape \(place.shape) and \(tensor.shape) is given",
        at: [feature], fix: "Give that shape, or resize the input and allocate again")
    }
    inputs[index] = tensor
    outputs = []
  }

  /// Copies numbers in row-major order into an input.
  ///
  /// - Throws: as `copy(_:toInputAt:)` for a tensor.
  public func copy<Element: TensorElement>(_ values: [Element], toInputAt index: Int) throws {
    let (feature, place) = try allocated(index)
    guard values.count == place.elementCount else {
      throw GraftError(
        .shapeMismatch,
        "the input of shape \(place.shape) holds \(place.elementCount) values and \(values.count) "
          + "are given", at: [feature], fix: "Give as many values as the input holds")
    }
    try copy(try Tensor(values, shape: place.shape), toInputAt: index)
  }

  /// Copies the bytes of numbers, little-endian and in row-major order, into an input.
  ///
  /// - Throws: as `copy(_:toInputAt:)` for a tensor.
  public func copy(_ bytes: Data, toInputAt index: Int) throws {
    let (feature, place) = try allocated(index)
    guard bytes.count == place.byteCount else {
      throw GraftError(
        .shapeMismatch,
        "the input of \(place.elementType) \(place.shape) holds \(place.byteCount) bytes and "
          + "\(bytes.count) are given", at: [feature],
        fix: "Give as many bytes as the input holds")
    }
    let tensor = try Tensor(uninitialized: place.shape, place.elementType)
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress {
        tensor.mutableBytes.copyMemory(from: base, byteCount: source.count)
      }
    }
    try copy(tensor, toInputAt: index)
  }

  // MARK: Running

  /// Runs the model on what was copied in.
  ///
  /// - Throws: `invalidArgument` before `allocateTensors`; what the operators throw.
  public func invoke() throws {
    guard let session else { throw Self.notAllocated() }
    outputs = []
    let names = model.inputs.map(\.name)
    let results = try session.run(
      Dictionary(zip(names, inputs).map { ($0, $1) }) { first, _ in first })
    outputs = try model.outputs.map { output in
      guard let tensor = results[output.name] else {
        throw GraftError(.internalFault, "the output '\(output.name)' was not computed")
      }
      return tensor
    }
  }

  // MARK: Outputs

  /// What an output is; its shape is known after `invoke`, or before where the model declares it.
  ///
  /// - Throws: `invalidArgument` when there is no such output.
  public func output(at index: Int) throws -> InterpreterTensor {
    let feature = try feature(index, of: model.outputs, "output")
    return InterpreterTensor(feature, outputs.indices.contains(index) ? outputs[index].shape : nil)
  }

  /// What `invoke` computed.
  ///
  /// - Throws: `invalidArgument` when there is no such output, or nothing was computed since the last
  ///   change of an input.
  public func outputTensor(at index: Int) throws -> Tensor {
    let feature = try feature(index, of: model.outputs, "output")
    guard outputs.indices.contains(index) else {
      throw GraftError(
        .invalidArgument, "the output is not computed", at: ["output '\(feature.name)'"],
        fix: session == nil ? "Call allocateTensors and invoke first" : "Call invoke first")
    }
    return outputs[index]
  }

  // MARK: Parts

  private func feature(_ index: Int, of features: [Feature], _ kind: String) throws -> Feature {
    guard features.indices.contains(index) else {
      throw GraftError(
        .invalidArgument, "there is no \(kind) \(index)",
        fix: features.isEmpty ? nil : "Choose 0 to \(features.count - 1)")
    }
    return features[index]
  }

  private static func place(_ feature: Feature) -> String { "input '\(feature.name)'" }

  /// The place and the tensor of an input.
  private func allocated(_ index: Int) throws -> (String, Tensor) {
    let feature = try feature(index, of: model.inputs, "input")
    guard session != nil, inputs.indices.contains(index) else { throw Self.notAllocated() }
    return (Self.place(feature), inputs[index])
  }

  private static func notAllocated() -> GraftError {
    GraftError(
      .invalidArgument, "the tensors are not allocated", fix: "Call allocateTensors first")
  }
}

/// What an input or output of an `Interpreter` is.
public struct InterpreterTensor: Sendable, Hashable {
  public let name: String
  /// Nil for what is no tensor.
  public let elementType: ElementType?
  /// Nil where it is not known yet.
  public let shape: Shape?
  /// The sizes that the model declares, nil where they are open; nil when not even the rank is known.
  public let declaredShape: [Int?]?
  /// What its integers stand for; nil when the values mean themselves.
  public let quantization: FeatureQuantization?

  init(_ feature: Feature, _ shape: Shape?) {
    name = feature.name
    quantization = feature.quantization
    guard case .tensor(let elementType, let dimensions) = feature.type else {
      (elementType, declaredShape, self.shape) = (nil, nil, shape)
      return
    }
    self.elementType = elementType
    declaredShape = dimensions == nil ? nil : feature.dimensions
    let sizes = feature.dimensions.compactMap(\.self)
    let isFixed = dimensions != nil && sizes.count == feature.dimensions.count
    self.shape = shape ?? (isFixed ? Shape(sizes) : nil)
  }
}
