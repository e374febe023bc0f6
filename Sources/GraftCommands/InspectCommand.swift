import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftOperators

/// `graft inspect`: what a model file holds.
enum InspectCommand: Command {
  static let specification = CommandSpecification(
    name: "inspect",
    summary:
      "Show a model's inputs, outputs, parameters and operators, or an ONNX Runtime checkpoint",
    positionals: "MODEL", positionalCount: 1...1,
    options: [
      .flag("--plan", "show the steps of a run: kernels, layouts, why no faster kernel"),
      .flag(
        "--updatable", "show how a Core ML file updates, and which of Core ML's rules it breaks"),
    ] + SampleInputs.options + [
      .value("--threads", "N", "threads that the plan is for; all cores by default"),
      ArithmeticOption.specification,
      .flag("--json", "print JSON"),
    ],
    example: "graft inspect mobilenet_v2.onnx --plan")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let path = arguments.positionals[0]
    var files = CallFiles()
    try files.read(path, "the model")
    if ORTCheckpoint.isCheckpoint(path) {
      return try CheckpointListing(try ORTCheckpoint(path: path)).print(path, arguments, console)
    }
    let model = try Model(contentsOf: URL(fileURLWithPath: path), arithmetic: arguments.arithmetic)
    let sampleInputs = try SampleInputs(arguments)
    var report = Report(model)
    let listing =
      arguments.has("--plan")
      ? try locating(path) {
        let session = try InferenceSession(model, threads: try arguments.threads())
        return PlanListing(try session.steps(try sampleInputs.tensors(of: model)))
      } : nil
    report.plan = listing?.steps
    if arguments.has("--updatable") {
      report.updatable = try locating(path) { try UpdatableListing(model) }
    }
    if arguments.has("--json") { return try console.print(json: report) }
    report.print(path, console)
    report.updatable?.print(console)
    listing?.print(console)
  }

  struct Report: Encodable {
    struct Value: Encodable {
      let name: String
      let type: String
      /// Numbers for fixed dimensions, names for open ones; nil when unknown.
      let shape: [Size]?
      /// What integers stand for: scale * (value - zero point); nil when they mean themselves.
      var scale: Float?
      var zeroPoint: Int?
    }

    enum Size: Encodable {
      case fixed(Int)
      case open(String)

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .fixed(let size): try container.encode(size)
        case .open(let name): try container.encode(name)
        }
      }
    }

    struct Parameter: Encodable {
      let name: String
      let type: String
      let shape: [Int]
    }

    let format: String
    let opset: Int?
    let producer: String
    let inputs: [Value]
    let outputs: [Value]
    let parameters: [Parameter]
    let parameterCount: Int
    let operators: [String: Int]
    let unsupported: [String: Int]
    /// Why an operator of the file has no form here, by its name.
    let reasons: [String: String]
    let metadata: [String: String]
    /// With '--plan', the steps of a run.
    var plan: [PlanListing.Step]?
    /// With '--updatable', how a Core ML file updates.
    var updatable: UpdatableListing?

    init(_ model: Model) {
      format = model.origin?.format ?? "ONNX"
      opset = model.originalOpset
      producer = [model.producerName, model.producerVersion].filter { !$0.isEmpty }
        .joined(separator: " ")
      inputs = model.inputs.map(Self.value)
      outputs = model.outputs.map(Self.value)
      parameters = model.graph.initializers.map {
        Parameter(name: $0, type: "\($1.elementType)", shape: $1.shape.dimensions)
      }
      parameterCount = model.parameters.reduce(0) { $0 + $1.value.elementCount }
      operators = Self.operatorCounts(model.graph)
      unsupported = Dictionary(
        uniqueKeysWithValues: OperatorRegistry.standard.unsupported(in: model.graph).map {
          ($0.op, $0.count)
        })
      let missing = unsupported
      reasons = Dictionary(
        model.graph.nodes.filter { missing[$0.qualifiedOp] != nil && !$0.documentation.isEmpty }
          .map { ($0.qualifiedOp, $0.documentation) }
      ) { first, _ in first }
      metadata = Dictionary(uniqueKeysWithValues: model.metadata.map { ($0, $1) })
    }

    private static func value(_ feature: Feature) -> Value {
      guard case .tensor(let type, let shape) = feature.type else {
        return Value(name: feature.name, type: "\(feature.type)", shape: nil)
      }
      let sizes = shape?.map { dimension -> Size in
        if case .fixed(let size) = dimension { .fixed(size) } else { .open("\(dimension)") }
      }
      return Value(
        name: feature.name, type: "\(type)", shape: sizes, scale: feature.quantization?.scale,
        zeroPoint: feature.quantization?.zeroPoint)
    }

    private static func operatorCounts(_ graph: Graph) -> [String: Int] {
      var counts: [String: Int] = [:]
      for node in graph.nodes {
        counts[node.qualifiedOp, default: 0] += 1
        for graph in node.subgraphs { counts.merge(operatorCounts(graph), uniquingKeysWith: +) }
      }
      return counts
    }

    func print(_ path: String, _ console: Console) {
      let version = opset.map { ", opset \($0)" } ?? ""
      console.print("\(path): \(format)\(version)" + (producer.isEmpty ? "" : ", from \(producer)"))
      for (title, values) in [("inputs", inputs), ("outputs", outputs)] {
        console.print("\n\(title):")
        for value in values {
          let scale = value.scale.map { ", scale \($0), zero point \(value.zeroPoint ?? 0)" } ?? ""
          console.print("  \(value.name)  \(value.type) \(text(value.shape))\(scale)")
        }
      }
      console.print("\nparameters: \(parameterCount) values in \(parameters.count) tensors")
      for parameter in parameters {
        console.print("  \(parameter.name)  \(parameter.type) \(Shape(parameter.shape))")
      }
      console.print("\noperators:")
      for (op, count) in operators.sorted(by: { $0.key < $1.key }) {
        let reason = reasons[op].map { ": \($0)" } ?? ""
        console.print(
          "  \(op) \(count)" + (unsupported[op] == nil ? "" : "  (not supported\(reason))"))
      }
      if !metadata.isEmpty {
        console.print("\nmetadata:")
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
          let line = value.prefix(200).split(whereSeparator: \.isNewline).joined(separator: " | ")
          console.print("  \(key): \(line)")
        }
      }
      console.print(
        unsupported.isEmpty
          ? "\nGraft has all of its operators."
          : "\nGraft cannot run it: \(unsupported.keys.sorted().joined(separator: ", ")).")
    }

    private func text(_ shape: [Size]?) -> String {
      guard let shape else { return "" }
      let sizes = shape.map { size in
        switch size {
        case .fixed(let size): "\(size)"
        case .open(let name): name
        }
      }
      return "[\(sizes.joined(separator: ", "))]"
    }
  }
}
