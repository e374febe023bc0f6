import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  static let networkStages: [String: Rule] = [
    "neuralNetwork": network, "neuralNetworkClassifier": network, "neuralNetworkRegressor": network,
  ]

  private static let network: Rule = { assembly, stage in
    let message = try stage.parameters()
    let layers = try message.messages(1).map { try CoreMLLayer($0) }
    try NetworkStage(stage: stage, message: message, layers: layers).lower(&assembly)
  }
}

/// A neural network of the file.
private struct NetworkStage {
  let stage: CoreMLStage
  let message: CoreMLMessage
  let layers: [CoreMLLayer]

  func lower(_ assembly: inout CoreMLAssembly) throws {
    var names: Set<String> = []
    for layer in layers where !names.insert(layer.name).inserted {
      throw GraftError(.damaged, "two layers have the name '\(layer.name)'")
    }
    var context = NetworkContext(assembly.graph, isExact: try message.int(5) == 1)
    for feature in stage.description.inputs {
      try locating("input '\(feature.name)'") {
        try bind(feature, try assembly.value(feature.name), &context)
      }
    }
    for layer in layers { try locating(layer.place) { try context.lower(layer) } }
    let scores = try scoresName()
    for feature in stage.description.outputs where context.has(feature.name) {
      try locating("output '\(feature.name)'") {
        assembly.values[feature.name] = try output(feature, &context, isScores: false)
      }
    }
    if stage.kind == "neuralNetworkClassifier" {
      guard let labels = try CoreMLLabels(message, strings: 100, integers: 101) else {
        throw GraftError(.damaged, "the classifier has no class labels")
      }
      try checkLabels(labels, scores)
      let probabilities = try output(
        CoreMLFeature(
          name: scores, documentation: "", isOptional: false, type: .unknown, encoding: nil),
        &context, isScores: true)
      assembly.graph = context.graph
      assembly.classify(stage, probabilities, labels)
    } else {
      assembly.graph = context.graph
    }
    try readUpdate(context, &assembly)
  }

  // MARK: Inputs

  private func bind(
    _ feature: CoreMLFeature, _ value: String, _ context: inout NetworkContext
  ) throws {
    if case .image(let image) = feature.type {
      return try bind(image, feature.name, value, &context)
    }
    let rank = context.graph.rank(value)
    let float = context.graph.cast(value, to: .float32)
    if context.isExact { return context.bind(feature.name, float, .exact) }
    if context.batch == nil {
      let hasSteps = rank == 3 || rank == 5
      let start = hasSteps ? 1 : 0
      context.batch = (context.graph.sizes(value, from: start, to: start + 1), hasSteps)
    }
    switch rank {
    case 2: context.bind(feature.name, float, .vector)
    case 4: context.bind(feature.name, float, .picture)
    case 3:
      let size = context.graph.sizes(float, from: 2)
      context.bind(feature.name, try folded(float, size, 2, &context), .vector)
    case 5:
      let sizes = context.graph.sizes(float, from: 2)
      context.bind(feature.name, try folded(float, sizes, 4, &context), .picture)
    default: throw GraftError(.unsupported, "a value of \(rank ?? 0) axes")
    }
  }

  /// Steps and batch as one axis.
  private func folded(
    _ value: String, _ sizes: String, _ rank: Int, _ context: inout NetworkContext
  ) throws -> String {
    let shape = context.graph.add(
      "Concat", [try context.graph.ints([-1]), sizes], ["axis": .int(0)])
    let result = context.graph.add("Reshape", [value, shape])
    context.graph.declare(result, KnownType(elementType: .float32, rank: rank))
    return result
  }

  /// A picture, [batch, height, width, channels], with what is done to it before the first layer.
  private func bind(
    _ image: CoreMLImage, _ name: String, _ value: String, _ context: inout NetworkContext
  ) throws {
    if context.batch == nil { context.batch = (context.graph.sizes(value, from: 0, to: 1), false) }
    var picture = context.graph.cast(value, to: .float32)
    picture = context.graph.transposed(picture, [0, 3, 1, 2])
    if image.colorSpace == .bgr {
      picture = context.graph.add(
        "Gather", [picture, try context.graph.ints([2, 1, 0])], ["axis": .int(1)])
    }
    for step in try message.messages(2) {
      let wanted = try step.string(1)
      guard wanted.isEmpty || wanted == name else { continue }
      if step.has(10) {
        picture = try scaled(picture, try step.message(10), image, &context)
      } else if step.has(11) {
        let mean = try step.message(11).floats(1)
        let channels = image.colorSpace == .grayscale ? 1 : 3
        let tensor = try Tensor(mean, shape: [1, channels, image.height, image.width])
        let constant = context.graph.initializer(tensor, named: "\(name).mean_image")
        picture = context.graph.add("Sub", [picture, constant])
      }
    }
    if context.isExact, try message.int(6) == 0 {
      picture = context.graph.add("Unsqueeze", [picture, try context.graph.ints([0])])
    }
    context.bind(name, picture, context.isExact ? .exact : .picture)
  }

  private func scaled(
    _ picture: String, _ scaler: CoreMLMessage, _ image: CoreMLImage,
    _ context: inout NetworkContext
  ) throws -> String {
    let fields: [Int]
    switch image.colorSpace {
    case .rgb: fields = [22, 21, 20]
    case .bgr: fields = [20, 21, 22]
    case .grayscale, .grayscaleHalf: fields = [30]
    }
    let scale = Double(try scaler.float(10, zeroMeans: 1))
    let product = try context.graph.scaled(picture, scale)
    let bias = try fields.map { try scaler.float($0) }
    guard bias.contains(where: { $0 != 0 }) else { return product }
    let constant = context.graph.initializer(
      try Tensor(bias, shape: [bias.count, 1, 1]), named: "picture.bias")
    return context.graph.add("Add", [product, constant])
  }

  // MARK: Outputs

  /// The value that holds the probabilities of the classes.
  private func scoresName() throws -> String {
    let named = try message.string(200)
    if !named.isEmpty { return named }
    return layers.last?.outputs.first ?? ""
  }

  /// A value of the network as it leaves it: as a vector where one is declared or holds scores.
  private func output(
    _ feature: CoreMLFeature, _ context: inout NetworkContext, isScores: Bool
  ) throws -> String {
    let blob = try context.blob(feature.name)
    let isVector: Bool
    if case .array(let array) = feature.type {
      isVector = array.shape.count == 1
    } else {
      isVector = isScores
    }
    if case .image(let image) = feature.type {
      var picture = try context.picture(blob)
      if image.colorSpace == .bgr {
        picture = context.graph.add(
          "Gather", [picture, try context.graph.ints([2, 1, 0])], ["axis": .int(1)])
      }
      return context.graph.transposed(picture, [0, 2, 3, 1])
    }
    switch blob.form {
    case .exact:
      guard isScores, try context.rank(blob) != 2 else { return blob.value }
      // Scores of one example may have any axes.
      return context.graph.add("Flatten", [blob.value], ["axis": .int(context.isExact ? 1 : 2)])
    case .vector:
      if context.batch?.isSecond == true { return try context.unfolded(blob.value) }
      guard case .array(let array) = feature.type, array.shape.count == 3 else { return blob.value }
      return try context.picture(blob)
    case .picture:
      if context.batch?.isSecond == true { return try context.unfolded(blob.value) }
      return isVector
        ? context.graph.add("Flatten", [blob.value], ["axis": .int(1)]) : blob.value
    }
  }

  private func checkLabels(_ labels: CoreMLLabels, _ scores: String) throws {
    var name = scores
    for layer in layers.reversed() where layer.outputs.contains(name) {
      switch layer.kind {
      case "softmax", "softmaxND", "activation", "flatten", "batchnorm":
        name = try layer.input(0)
      case "innerProduct", "convolution":
        let count = try layer.parameters.int(layer.kind == "innerProduct" ? 2 : 1)
        let isFlat = layer.kind == "innerProduct"
        guard count == labels.count || (!isFlat && labels.count % max(1, count) == 0) else {
          throw GraftError(
            .damaged, "\(labels.count) class labels are given for \(count) probabilities",
            at: [layer.place])
        }
        return
      default: return
      }
    }
  }

  // MARK: Update

  private func readUpdate(_ context: NetworkContext, _ assembly: inout CoreMLAssembly) throws {
    let updatable = layers.filter(\.isUpdatable).map {
      UpdatableLayer(
        name: $0.name, kind: $0.kind, parameters: context.parameters[$0.name] ?? [])
    }
    let parameters = message.has(10) ? try message.message(10) : nil
    if let parameters {
      assembly.update = try UpdateSection(parameters, layers: updatable) { name in
        (try? context.blob(name).value) ?? name
      }
    }
    var rules = NetworkUpdateRules(
      layers: layers, description: stage.description, message: parameters,
      section: assembly.update)
    try rules.check()
    assembly.brokenRules += rules.broken
  }
}
