import GraftGraph
import GraftTensor

/// The operations of Core ML's intermediate language that a graph becomes: what both of its formats
/// are written from.
///
/// Names and arguments of operations are those of the language, version CoreML6. Numbers are float32,
/// whole ones int32; every shape is known.
struct CoreMLDraft {
  /// What an operation is given under an argument's name.
  enum Argument {
    case value(String)
    case values([String])
    case ints([Int])
    case int(Int)
    case bool(Bool)
    case bools([Bool])
    case number(Float)
    case text(String)
  }

  struct Operation {
    var type: String
    var arguments: [(name: String, value: Argument)]
    var outputs: [String]
    /// The name of the node it comes from, and how messages name it.
    var name: String
    var place: String
  }

  /// An input: its name in the graph and in the file, and whether it is a picture.
  struct Input {
    var name: String
    var value: String
    /// The channels of a picture, whose value is [pictures, channels, height, width].
    var pictureChannels: Int?
    /// Applied to a picture's bytes before the first operation: `scale * byte + bias`.
    var scale: Float = 1
    var bias: [Float] = []
  }

  var inputs: [Input] = []
  /// Outputs by their names in the graph, and the values that they are.
  var outputs: [(name: String, value: String)] = []
  var operations: [Operation] = []
  /// The types of all values and constants.
  var types: [String: TensorType] = [:]
  var constants: [String: Tensor] = [:]
  /// The initializers of the graph that constants come from.
  var sources: [String: String] = [:]
}

extension CoreMLDraft.Operation {
  subscript(_ name: String) -> CoreMLDraft.Argument? {
    arguments.first { $0.name == name }?.value
  }

  /// The value given under a name; nil when there is none.
  func value(_ name: String) -> String? {
    if case .value(let value)? = self[name] { value } else { nil }
  }

  func ints(_ name: String) -> [Int] {
    if case .ints(let list)? = self[name] { list } else { [] }
  }

  func int(_ name: String) -> Int {
    if case .int(let number)? = self[name] { number } else { 0 }
  }

  func bool(_ name: String) -> Bool {
    if case .bool(let flag)? = self[name] { flag } else { false }
  }

  func number(_ name: String) -> Float {
    if case .number(let number)? = self[name] { number } else { 0 }
  }

  func text(_ name: String) -> String {
    if case .text(let text)? = self[name] { text } else { "" }
  }

  /// All values it reads, in order.
  var reads: [String] {
    arguments.flatMap { argument -> [String] in
      switch argument.value {
      case .value(let value): [value]
      case .values(let values): values
      default: []
      }
    }
  }
}

extension CoreMLDraft {
  /// Takes out the operations that no output needs.
  mutating func prune() {
    var needed = Set(outputs.map(\.value))
    var kept: [Operation] = []
    for operation in operations.reversed()
    where operation.outputs.contains(where: needed.contains) {
      needed.formUnion(operation.reads)
      kept.append(operation)
    }
    operations = kept.reversed()
    constants = constants.filter { needed.contains($0.key) }
  }

  /// Makes what scales and shifts a picture's bytes a property of the input, as networks have it.
  mutating func absorbScaling() {
    for index in inputs.indices {
      guard let channels = inputs[index].pictureChannels else { continue }
      if let (value, factor) = absorb("mul", of: inputs[index], counts: [1]) {
        inputs[index].scale = factor[0]
        inputs[index].value = value
      }
      if let (value, bias) = absorb("add", of: inputs[index], counts: [1, channels]) {
        inputs[index].bias = bias.count == channels ? bias : bias + bias + bias
        inputs[index].value = value
      }
    }
  }

  /// The output and the numbers of an operation that alone reads an input, with a constant.
  private mutating func absorb(_ type: String, of input: Input, counts: Set<Int>) -> (
    String, [Float]
  )? {
    let readers = operations.indices.filter { operations[$0].reads.contains(input.value) }
    guard readers.count == 1, !outputs.contains(where: { $0.value == input.value }),
      operations[readers[0]].type == type, operations[readers[0]].value("x") == input.value,
      let constant = operations[readers[0]].value("y").flatMap({ constants[$0] }),
      let numbers = try? constant.values(as: Float.self), counts.contains(numbers.count),
      numbers.count == 1 || constant.shape.dimensions.suffix(3) == [numbers.count, 1, 1]
    else { return nil }
    return (operations.remove(at: readers[0]).outputs[0], numbers)
  }
}
