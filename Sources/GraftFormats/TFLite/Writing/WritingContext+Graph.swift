import GraftDiagnostics
import GraftGraph
import GraftTensor

extension WritingContext {
  /// Writes the whole graph.
  ///
  /// - Throws: `unsupported` naming every operator that has no form in TensorFlow Lite.
  mutating func write() throws {
    for input in graph.requiredInputs {
      var value = try locating("input '\(input.name)'") { try description(of: input.name) }
      if let quantization = input.quantization {
        value.quantization = TFLiteQuantization(
          scales: [quantization.scale], zeroPoints: [quantization.zeroPoint])
      }
      let tensor = draft.add(value)
      bind(input.name, tensor, order: Array(value.shape.indices))
      draft.inputs.append((input.name, tensor))
    }
    var failures: [(op: String, reason: String)] = []
    for (index, node) in graph.nodes.enumerated() where !absorbed.contains(index) {
      if node.outputs.allSatisfy({ $0.isEmpty || constant($0) != nil }) { continue }
      // Behind a node that cannot be written, nothing may be known.
      if !failures.isEmpty, node.inputs.contains(where: isUnknown) { continue }
      if let reason = try write(node) { failures.append((node.qualifiedOp, reason)) }
    }
    guard failures.isEmpty else { throw Self.refusal(failures) }
    for output in graph.outputs {
      let tensor = try tensor(output.name)
      draft.outputs.append((output.name, tensor))
    }
  }

  private func isUnknown(_ value: String) -> Bool {
    !value.isEmpty && shapes.types[value] == nil
  }

  /// Writes a node; gives the reason when it cannot be written.
  private mutating func write(_ node: Node) throws -> String? {
    let before = absorbed
    do {
      guard let rule = TFLiteWriting.table[node.qualifiedOp] else { throw Unwritten(reason: "") }
      // What has known types has been checked.
      for output in node.outputs where !output.isEmpty { _ = try type(output) }
      try requireKernel(node)
      try locating(node.place) { try rule(&self, node) }
      return nil
    } catch let error as Unwritten {
      bindPlaceholders(node)
      return error.reason
    } catch let error as GraftError where error.code == .unsupported {
      // Nodes that it was to do as well are looked at by themselves.
      absorbed = before
      bindPlaceholders(node)
      return error.what
    }
  }

  /// Operators for which LiteRT has kernels for floats only.
  private static let floatOperators: Set<String> = [
    "Abs", "Exp", "Log", "Pow", "ReduceL1", "ReduceL2", "ReduceLogSum", "Relu", "Sign", "Sqrt",
  ]
  /// Operators with kernels for small integers as they are stored, beside those that move values.
  private static let integerOperators: Set<String> = [
    "ArgMax", "ArgMin", "Cast", "DequantizeLinear", "Dropout", "Identity", "QuantizeLinear",
    "Shape",
    "Where",
  ]

  /// Refuses element types that LiteRT has no kernels for.
  private func requireKernel(_ node: Node) throws {
    let types = node.inputs.compactMap { shapes.types[$0]?.elementType }
    let small = types.first { [.int8, .uint8, .int16].contains($0) }
    let takesSmall =
      QuantizedValues.movers.contains(node.op) || Self.integerOperators.contains(node.op)
    if let small, !takesSmall { throw GraftError(.unsupported, "values of type \(small)") }
    let needsFloats = Self.floatOperators.contains(node.op)
    if needsFloats, let other = types.first(where: { $0 != .float32 }) {
      throw GraftError(.unsupported, "values of type \(other)")
    }
    if node.op.hasPrefix("Arg"), types.first == .int64 {
      throw GraftError(.unsupported, "values of type int64")
    }
  }

  private struct Unwritten: Error { let reason: String }

  /// Lets the nodes behind one that cannot be written be looked at all the same.
  private mutating func bindPlaceholders(_ node: Node) {
    for output in node.outputs where !output.isEmpty && forms[output] == nil {
      guard let value = try? description(of: output) else { continue }
      bind(output, draft.add(value), order: Array(value.shape.indices))
    }
  }

  private static func refusal(_ failures: [(op: String, reason: String)]) -> GraftError {
    var counts: [String: Int] = [:]
    for (op, reason) in failures {
      counts[reason.isEmpty ? op : "\(op) (\(reason))", default: 0] += 1
    }
    let list = counts.sorted { $0.key < $1.key }.map { text, count in
      count == 1 ? text : "\(text), \(count) times"
    }
    return GraftError(
      .unsupported, "TensorFlow Lite has no form for: " + list.joined(separator: "; "),
      fix: "Write the model as .onnx, or change these operators")
  }
}

/// What the integers of values stand for: from the nodes that quantize and dequantize them, and
/// through nodes that only move them.
struct QuantizedValues {
  private(set) var quantizations: [String: TFLiteQuantization] = [:]

  static let movers: Set<String> = [
    "Reshape", "Transpose", "Concat", "Split", "Slice", "Gather", "GatherND", "Squeeze",
    "Unsqueeze", "Flatten", "MaxPool", "Pad", "Identity", "Expand", "Tile", "Resize",
    "DepthToSpace", "SpaceToDepth",
  ]

  init(_ graph: Graph, _ shapes: TFLiteShapes) {
    for input in graph.inputs {
      guard let quantization = input.quantization else { continue }
      quantizations[input.name] = TFLiteQuantization(
        scales: [quantization.scale], zeroPoints: [quantization.zeroPoint])
    }
    for node in graph.nodes where node.domain.isEmpty {
      guard let value = node.op == "QuantizeLinear" ? node.outputs.first : node.inputs.first,
        ["QuantizeLinear", "DequantizeLinear"].contains(node.op)
      else { continue }
      quantizations[value] = Self.parameters(of: node, shapes)
    }
    for node in graph.nodes { spread(node, fromInput: true, shapes) }
    for node in graph.nodes.reversed() { spread(node, fromInput: false, shapes) }
  }

  private mutating func spread(_ node: Node, fromInput: Bool, _ shapes: TFLiteShapes) {
    guard node.domain.isEmpty, Self.movers.contains(node.op), let input = node.inputs.first else {
      return
    }
    let inputs = node.op == "Concat" ? node.inputs : [input]
    let (sources, targets) = fromInput ? (inputs, node.outputs) : (node.outputs, inputs)
    guard let known = sources.compactMap({ quantizations[$0] }).first, !known.isPerChannel
    else { return }
    for target in targets where quantizations[target] == nil {
      guard let type = shapes.types[target]?.elementType, [.int8, .uint8, .int16].contains(type)
      else { continue }
      quantizations[target] = known
    }
  }

  /// The scales and zero points of a node that quantizes or dequantizes; nil when they are computed.
  private static func parameters(of node: Node, _ shapes: TFLiteShapes) -> TFLiteQuantization? {
    guard node.inputs.count >= 2, let scale = shapes.constants[node.inputs[1]],
      let scales = try? scale.values(as: Float.self), scale.shape.rank <= 1
    else { return nil }
    var zeroPoints = scales.map { _ in 0 }
    if node.inputs.count > 2, !node.inputs[2].isEmpty {
      guard let given = shapes.constants[node.inputs[2]]?.wholeNumbers,
        given.count == scales.count
      else { return nil }
      zeroPoints = given
    }
    let rank = shapes.types[node.inputs[0]]?.shape.rank ?? 1
    let axis = scales.count == 1 ? 0 : (try? node.int("axis", default: 1)) ?? 1
    return TFLiteQuantization(
      scales: scales, zeroPoints: zeroPoints, axis: axis < 0 ? axis + rank : axis)
  }
}

extension Tensor {
  /// The elements of a tensor of whole numbers.
  var wholeNumbers: [Int]? {
    switch elementType {
    case .int8: try? values(as: Int8.self).map(Int.init)
    case .uint8: try? values(as: UInt8.self).map(Int.init)
    case .int16: try? values(as: Int16.self).map(Int.init)
    case .uint16: try? values(as: UInt16.self).map(Int.init)
    default: ints
    }
  }
}
