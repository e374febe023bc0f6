import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Which outputs of a model are the boxes, classes, scores and number of its detections.
struct DetectionOutputs: Sendable {
  private enum Role: Int, CaseIterable {
    case boxes, classes, scores, count

    /// In AutoML's description of a model.
    var description: String {
      switch self {
      case .boxes: "bounding_boxes"
      case .classes: "class_labels"
      case .scores: "class_confidences"
      case .count: "num_of_boxes"
      }
    }

    /// What an output's name holds.
    var words: [String] {
      switch self {
      case .boxes: ["location", "box"]
      case .classes: ["class", "categor", "label"]
      case .scores: ["score", "confidence", "probabilit"]
      case .count: ["number", "num_", "count"]
      }
    }
  }

  /// By role; empty when only the shapes can tell.
  private let names: [String]
  private let candidates: [String]

  /// - Parameter given: names of outputs by their role in AutoML's description.
  /// - Throws: `badData` when the model has fewer than four outputs.
  init(_ model: Model, named given: [String: String]) throws {
    candidates = model.outputs.map(\.name)
    guard candidates.count >= 4 else {
      throw GraftError(
        .badData,
        "the model gives \(candidates.count) outputs, not boxes, classes, scores and their number",
        fix: "Choose a detection model that ends in post-processing")
    }
    names =
      try Self.names(described: given, among: candidates)
      ?? Self.names(ofOperatorIn: model.graph) ?? Self.names(spelledIn: candidates) ?? []
  }

  /// How many classes the post-processing tells apart; nil when there is no such operator.
  static func classCount(_ model: Model) -> Int? {
    guard let node = postProcessing(model.graph),
      case .int(let count)? = node.attributes["num_classes"], count > 0
    else { return nil }
    return count
  }

  private static func postProcessing(_ graph: Graph) -> Node? {
    graph.nodes.first { $0.op.contains("Detection") && $0.op.contains("PostProcess") }
  }

  private static func names(described given: [String: String], among candidates: [String]) throws
    -> [String]?
  {
    let names = Role.allCases.compactMap { given[$0.description] }
    guard names.count == Role.allCases.count else { return nil }
    for name in names where !candidates.contains(name) {
      throw GraftError(
        .badData, "the description names an output '\(name)' that the model does not have",
        fix: didYouMean(name, among: candidates)
          ?? "Give the description that belongs to the model")
    }
    return names
  }

  /// The outputs that the post-processing operator leads to.
  private static func names(ofOperatorIn graph: Graph) -> [String]? {
    guard let node = postProcessing(graph), node.outputs.count >= 4 else { return nil }
    var sources: [String: String] = [:]
    for node in graph.nodes where node.inputs.count == 1 || node.op == "Reshape" {
      guard ["Identity", "Cast", "Reshape", "Squeeze"].contains(node.op) else { continue }
      for output in node.outputs { sources[output] = node.inputs[0] }
    }
    func source(_ name: String) -> String {
      var name = name
      for _ in 0..<8 { name = sources[name] ?? name }
      return name
    }
    let outputs = graph.outputs.map(\.name)
    let names = node.outputs.prefix(4).compactMap { made in
      outputs.first { source($0) == made }
    }
    return names.count == 4 ? names : nil
  }

  /// The outputs whose names each hold a word of one role only.
  private static func names(spelledIn candidates: [String]) -> [String]? {
    // Before others, since `num_classes` or `box scores` hold words of two.
    let order: [Role] = [.count, .scores, .classes, .boxes]
    var found: [Role: String] = [:]
    for name in candidates {
      let text = name.lowercased()
      guard let role = order.first(where: { $0.words.contains(where: text.contains) }) else {
        continue
      }
      guard found[role] == nil else { return nil }
      found[role] = name
    }
    let names = Role.allCases.compactMap { found[$0] }
    return names.count == Role.allCases.count ? names : nil
  }

  // MARK: Values

  struct Numbers {
    let boxes: [Double]
    let classes: [Double]
    let scores: [Double]
    let count: Int
  }

  func numbers(_ results: [String: Tensor], _ model: TaskModel) throws -> Numbers {
    let names = try self.names.isEmpty ? names(shapedAs: results) : self.names
    let values = try names.map { try model.numbers($0, in: results) }
    let (boxes, classes, scores) = (values[0].values, values[1].values, values[2].values)
    let places = min(boxes.count / 4, classes.count, scores.count)
    guard boxes.count == 4 * places, classes.count == places, scores.count == places,
      let count = values[3].values.first, values[3].values.count == 1, count.isFinite
    else {
      let shapes = values.map { "\($0.shape)" }.joined(separator: ", ")
      throw GraftError(
        .badData, "outputs of the shapes \(shapes) are no boxes, classes, scores and their number",
        at: names.map { "output '\($0)'" }.prefix(1).map(\.self),
        fix: "Choose a detection model that ends in post-processing")
    }
    return Numbers(
      boxes: boxes, classes: classes, scores: scores,
      count: Int(min(max(count.rounded(), 0), Double(places))))
  }

  /// Boxes are four numbers each and the number stands alone; of the two others the classes come
  /// first where the boxes come before them, as in TensorFlow 1, else the scores, as in TensorFlow 2.
  private func names(shapedAs results: [String: Tensor]) throws -> [String] {
    let sizes = candidates.map { (name: $0, shape: results[$0]?.shape ?? []) }
    let boxes = sizes.indices.filter { sizes[$0].shape.rank >= 2 && sizes[$0].shape.last == 4 }
    if let box = boxes.first, boxes.count == 1 {
      let count = sizes[box].shape.elementCount / 4
      let numbers = sizes.indices.filter { $0 != box && sizes[$0].shape.elementCount == 1 }
      let lists = sizes.indices.filter { index in
        index != box && sizes[index].shape.elementCount == count && index != numbers.first
      }
      if let number = numbers.first, lists.count == 2 {
        let (classes, scores) = box < lists[0] ? (lists[0], lists[1]) : (lists[1], lists[0])
        return [box, classes, scores, number].map { sizes[$0].name }
      }
    }
    let shapes = sizes.map { "'\($0.name)' of \($0.shape)" }.joined(separator: ", ")
    throw GraftError(
      .badData, "no four outputs are boxes, classes, scores and their number: \(shapes)",
      fix: "Choose a detection model that ends in post-processing")
  }
}
