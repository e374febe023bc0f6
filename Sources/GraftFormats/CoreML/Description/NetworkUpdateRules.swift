/// Core ML's rules for updatable neural networks.
struct NetworkUpdateRules {
  let layers: [CoreMLLayer]
  let description: CoreMLDescription
  /// The update parameters; nil when the network has none.
  let message: CoreMLMessage?
  let section: UpdateSection?
  private(set) var broken: [BrokenUpdateRule] = []

  /// Kinds of layers that Core ML updates.
  private static let updatable: Set<String> = [
    "convolution", "innerProduct", "uniDirectionalLSTM",
  ]
  /// Kinds of layers through which Core ML has gradients.
  private static let differentiable: Set<String> = [
    "convolution", "innerProduct", "pooling", "batchnorm", "flatten", "softmax",
  ]
  /// The fields of activations with gradients: ReLU, tanh, sigmoid.
  private static let differentiableFunctions = [10, 30, 40]

  init(
    layers: [CoreMLLayer], description: CoreMLDescription, message: CoreMLMessage?,
    section: UpdateSection?
  ) {
    self.layers = layers
    self.description = description
    self.message = message
    self.section = section
  }

  mutating func check() throws {
    guard description.isUpdatable || message != nil else { return }
    guard let section else {
      broken.append(
        BrokenUpdateRule("the model is marked as updatable and has no update parameters"))
      return
    }
    try checkLayers()
    checkSettings(section)
    try checkLosses(section)
    checkGradientPath(section)
  }

  private mutating func checkLayers() throws {
    let marked = layers.filter(\.isUpdatable)
    if marked.isEmpty { add("no layer is marked as updatable") }
    for layer in marked {
      guard Self.updatable.contains(layer.kind) else {
        add(
          "the \(layer.place) is marked as updatable, and Core ML updates "
            + "convolution, innerProduct and LSTM only", isNoObstacle: true)
        continue
      }
      guard layer.kind != "uniDirectionalLSTM" else { continue }
      let fields = layer.kind == "convolution" ? (70, 90, 91) : (10, 20, 21)
      var weights = [("weights", try layer.parameters.message(fields.1))]
      if try layer.parameters.bool(fields.0) {
        weights.append(("bias", try layer.parameters.message(fields.2)))
      }
      for (name, message) in weights {
        let stored = CoreMLWeights(message)
        if stored.isQuantized {
          add("the \(name) of the updatable \(layer.place) are quantized", isNoObstacle: true)
        } else if try !stored.isUpdatable() {
          add(
            "the \(layer.place) is updatable and its \(name) are not marked as such",
            isNoObstacle: true)
        }
      }
    }
  }

  private mutating func checkSettings(_ section: UpdateSection) {
    if section.optimizer == nil { add("the model is updatable and names no optimizer") }
    if section.parameter("epochs") == nil {
      add("the model is updatable and does not say how many epochs it trains")
    }
    for parameter in section.parameters {
      if let rule = parameter.brokenRule { broken.append(rule) }
    }
  }

  private mutating func checkLosses(_ section: UpdateSection) throws {
    if section.losses.isEmpty { add("the model is updatable and has no loss layer") }
    if section.losses.count > 1 {
      add(
        "there are \(section.losses.count) loss layers, and Core ML takes one",
        isNoObstacle: true)
    }
    let names = Set(layers.map(\.name))
    let messages = try message?.messages(1) ?? []
    for (loss, stored) in zip(section.losses, messages) {
      if names.contains(loss.name) {
        add("the loss layer has the name of another layer, '\(loss.name)'", isNoObstacle: true)
      }
      let isCrossEntropy = loss.kind == .categoricalCrossEntropy
      let input = try stored.message(isCrossEntropy ? 10 : 11).string(1)
      let producer = layers.last { $0.outputs.contains(input) }
      if producer == nil { add("the loss reads '\(input)', which no layer makes") }
      if isCrossEntropy, let producer, !producer.kind.hasPrefix("softmax") {
        add(
          "the cross entropy reads '\(input)', which is not the output of a softmax",
          isNoObstacle: true)
      }
      checkTarget(loss)
    }
  }

  private mutating func checkTarget(_ loss: UpdateLoss) {
    let isClassifier = description.kind == "neuralNetworkClassifier"
    // For a classifier, the target is made of the label.
    let wanted =
      isClassifier && loss.kind == .categoricalCrossEntropy
      ? description.predictedFeatureName : loss.target
    if description.outputs.contains(where: { $0.name == loss.target }) {
      add("the target '\(loss.target)' has the name of a model output")
    } else if !description.trainingInputs.contains(where: { $0.name == wanted }) {
      add("the description has no training input '\(wanted)' for the target")
    }
  }

  /// Every layer between an updatable one and the loss must have a gradient in Core ML.
  private mutating func checkGradientPath(_ section: UpdateSection) {
    var changing: Set<String> = []
    for layer in layers {
      let isReached = layer.inputs.contains(where: changing.contains)
      if isReached, !Self.isDifferentiable(layer) {
        add(
          "there is no gradient through the \(layer.place), behind which an updatable layer lies",
          isNoObstacle: true)
      }
      if layer.isUpdatable || isReached { changing.formUnion(layer.outputs) }
    }
  }

  private static func isDifferentiable(_ layer: CoreMLLayer) -> Bool {
    layer.kind == "activation"
      ? differentiableFunctions.contains { layer.parameters.has($0) }
      : differentiable.contains(layer.kind)
  }

  private mutating func add(_ what: String, isNoObstacle: Bool = false) {
    broken.append(BrokenUpdateRule(what, isNoObstacle: isNoObstacle))
  }
}
