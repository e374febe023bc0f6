import Foundation
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport

/// The small models beside the project.
enum ONNXModels {
  /// Paths relative to the shared folder; empty when it is absent.
  static let all: [String] = ["onnx/models", "onnx/models/opsets"].flatMap { folder -> [String] in
    let files = try? FileManager.default.contentsOfDirectory(atPath: SharedData.path(folder))
    return (files ?? []).filter { $0.hasSuffix(".onnx") }.sorted().map { "\(folder)/\($0)" }
  }

  static func read(_ relative: String) throws -> Model {
    try ONNXReader.read(path: SharedData.path(relative))
  }

  static func directory(_ relative: String) -> String {
    URL(fileURLWithPath: SharedData.path(relative)).deletingLastPathComponent().path
  }
}

/// The first difference between two graphs; nil when they are the same.
func difference(_ a: Graph, _ b: Graph) -> String? {
  if a.name != b.name { return "names '\(a.name)' and '\(b.name)'" }
  if a.documentation != b.documentation { return "documentation" }
  if a.inputs != b.inputs { return "inputs \(a.inputs) and \(b.inputs)" }
  if a.outputs != b.outputs { return "outputs \(a.outputs) and \(b.outputs)" }
  if a.nodes.count != b.nodes.count {
    return "nodes \(a.nodes.map(\.place)) and \(b.nodes.map(\.place))"
  }
  for (x, y) in zip(a.nodes, b.nodes) {
    if let found = difference(x, y) { return "\(x.place): \(found)" }
  }
  if Set(a.innerTypes.keys) != Set(b.innerTypes.keys) { return "names of inner types" }
  for (name, type) in a.innerTypes where type != b.innerTypes[name] { return "type of \(name)" }
  if a.stringInitializers.keys != b.stringInitializers.keys { return "string initializers" }
  if a.initializers.keys != b.initializers.keys {
    return "initializers \(a.initializers.keys) and \(b.initializers.keys)"
  }
  for (name, tensor) in a.initializers {
    if let other = b.initializers[name], !same(tensor, other) { return "initializer \(name)" }
  }
  return nil
}

private func difference(_ a: Node, _ b: Node) -> String? {
  if a.name != b.name || a.qualifiedOp != b.qualifiedOp { return "\(a.place) and \(b.place)" }
  if a.inputs != b.inputs { return "inputs \(a.inputs) and \(b.inputs)" }
  if a.outputs != b.outputs { return "outputs \(a.outputs) and \(b.outputs)" }
  if a.documentation != b.documentation { return "documentation" }
  if Set(a.attributes.keys) != Set(b.attributes.keys) {
    return "attributes \(a.attributes.keys) and \(b.attributes.keys)"
  }
  for (name, attribute) in a.attributes {
    guard let other = b.attributes[name] else { continue }
    if let found = difference(attribute, other) { return "attribute \(name): \(found)" }
  }
  return nil
}

private func difference(_ a: Attribute, _ b: Attribute) -> String? {
  switch (a, b) {
  case (.int(let x), .int(let y)): x == y ? nil : "\(x) and \(y)"
  case (.float(let x), .float(let y)): x.bitPattern == y.bitPattern ? nil : "\(x) and \(y)"
  case (.string(let x), .string(let y)): x == y ? nil : "\(x) and \(y)"
  case (.ints(let x), .ints(let y)): x == y ? nil : "\(x) and \(y)"
  case (.floats(let x), .floats(let y)): x == y ? nil : "\(x) and \(y)"
  case (.strings(let x), .strings(let y)): x == y ? nil : "\(x) and \(y)"
  case (.text(let x), .text(let y)): x == y ? nil : "\(x) and \(y)"
  case (.opaque(let x), .opaque(let y)): x == y ? nil : "\(x) and \(y)"
  case (.tensor(let x), .tensor(let y)): same(x, y) ? nil : "tensors"
  case (.tensors(let x), .tensors(let y)):
    x.count == y.count && zip(x, y).allSatisfy(same) ? nil : "lists of tensors"
  case (.graph(let x), .graph(let y)): difference(x, y)
  case (.graphs(let x), .graphs(let y)):
    x.count == y.count
      ? zip(x, y).lazy.compactMap { difference($0, $1) }.first : "numbers of graphs"
  default: "\(a.kind) and \(b.kind)"
  }
}

private func same(_ a: Tensor, _ b: Tensor) -> Bool {
  a.elementType == b.elementType && a.shape == b.shape && a.data == b.data
}
