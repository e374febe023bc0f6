import Graft
import GraftFormats
import GraftTensor

/// What an ONNX Runtime checkpoint holds.
struct CheckpointListing: Encodable {
  struct Parameter: Encodable {
    let name: String
    let trains: Bool
    /// Nil in a nominal checkpoint, which holds names only.
    let type: String?
    let shape: [Int]?
  }

  struct Group: Encodable {
    let name: String
    let step: Int
    let learningRate: Float
    /// By parameter, the names of its moments.
    let moments: [String: [String]]
  }

  enum Property: Encodable {
    case integer(Int)
    case number(Float)
    case text(String)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .integer(let value): try container.encode(value)
      case .number(let value): try container.encode(value)
      case .text(let value): try container.encode(value)
      }
    }

    var text: String {
      switch self {
      case .integer(let value): "\(value)"
      case .number(let value): "\(value)"
      case .text(let value): value
      }
    }
  }

  let format = "ONNX Runtime checkpoint"
  let version: Int
  let isNominal: Bool
  let parameters: [Parameter]
  let optimizerGroups: [Group]
  let properties: [String: Property]

  init(_ checkpoint: ORTCheckpoint) {
    version = checkpoint.version
    isNominal = checkpoint.isNominal
    parameters = checkpoint.parameters.map { name, parameter in
      Parameter(
        name: name, trains: parameter.isTrainable,
        type: parameter.value.map { "\($0.elementType)" },
        shape: parameter.value?.shape.dimensions)
    }
    optimizerGroups = checkpoint.groups.map { group in
      Group(
        name: group.name, step: group.step, learningRate: group.initialLearningRate,
        moments: Dictionary(uniqueKeysWithValues: group.moments.map { ($0, $1.keys) }))
    }
    properties = Dictionary(
      uniqueKeysWithValues: checkpoint.properties.map { name, property in
        switch property {
        case .int(let value): (name, .integer(value))
        case .float(let value): (name, .number(value))
        case .string(let value): (name, .text(value))
        }
      })
  }

  func print(_ path: String, _ arguments: Arguments, _ console: Console) throws {
    if arguments.has("--json") { return try console.print(json: self) }
    console.print(
      "\(path): \(format), version \(version)" + (isNominal ? ", names without values" : ""))
    for (title, trains) in [("trainable", true), ("frozen", false)] {
      let chosen = parameters.filter { $0.trains == trains }
      console.print("\n\(title): \(chosen.count) parameters")
      for parameter in chosen {
        let type = parameter.type.map { "  \($0) \(Shape(parameter.shape ?? []))" } ?? ""
        console.print("  \(parameter.name)\(type)")
      }
    }
    for group in optimizerGroups {
      console.print(
        "\noptimizer group '\(group.name)': step \(group.step), initial learning rate "
          + "\(group.learningRate)")
      for (parameter, moments) in group.moments.sorted(by: { $0.key < $1.key }) {
        console.print("  \(parameter): \(moments.joined(separator: ", "))")
      }
    }
    guard !properties.isEmpty else { return }
    console.print("\nproperties:")
    for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
      console.print("  \(name): \(property.text.prefix(200))")
    }
  }
}
