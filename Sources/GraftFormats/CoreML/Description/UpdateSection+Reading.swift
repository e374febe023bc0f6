import GraftDiagnostics

extension UpdateSection {
  /// - Parameters:
  ///   - message: the network's update parameters.
  ///   - layers: the layers that are marked as updatable.
  ///   - value: the name in the graph of a value of the network.
  init(_ message: CoreMLMessage, layers: [UpdatableLayer], value: (String) -> String) throws {
    var losses: [UpdateLoss] = []
    for loss in try message.messages(1) {
      let isCrossEntropy = loss.has(10)
      guard isCrossEntropy || loss.has(11) else {
        throw GraftError(.damaged, "the loss '\(try loss.string(1))' is of an unknown kind")
      }
      let options = try loss.message(isCrossEntropy ? 10 : 11)
      losses.append(
        UpdateLoss(
          name: try loss.string(1),
          kind: isCrossEntropy ? .categoricalCrossEntropy : .meanSquaredError,
          input: value(try options.string(1)), target: try options.string(2)))
    }
    let chosen = try message.message(2)
    let isAdam = chosen.has(11)
    let optimizer: Optimizer? = isAdam ? .adam : chosen.has(10) ? .sgd : nil
    let options = try chosen.message(isAdam ? 11 : 10)
    var parameters: [UpdateParameter] = []
    let names =
      isAdam
      ? ["learningRate", "miniBatchSize", "beta1", "beta2", "eps"]
      : ["learningRate", "miniBatchSize", "momentum"]
    for (index, name) in names.enumerated() where options.has(index + 1) {
      let isWhole = name == "miniBatchSize"
      parameters.append(
        try UpdateParameter(name, try options.message(index + 1), isWhole: isWhole))
    }
    for (field, name) in [(3, "epochs"), (20, "seed")] where message.has(field) {
      parameters.append(try UpdateParameter(name, try message.message(field), isWhole: true))
    }
    self.init(
      layers: layers, losses: losses, optimizer: optimizer, parameters: parameters,
      shuffles: message.has(10) ? try message.message(10).bool(1) : nil)
  }
}

extension UpdateParameter {
  /// - Parameter isWhole: whether the message holds whole numbers.
  init(_ name: String, _ message: CoreMLMessage, isWhole: Bool) throws {
    func number(_ message: CoreMLMessage, _ field: Int) throws -> Double {
      isWhole ? Double(try message.int(field)) : try message.double(field)
    }
    let bounds = try message.message(10)
    self.init(
      name: name, defaultValue: try number(message, 1),
      range: message.has(10) ? [try number(bounds, 1), try number(bounds, 2)] : nil,
      set: isWhole && message.has(11) ? try message.message(11).ints(1).map(Double.init) : nil)
  }

  /// The rule that the default breaks; nil when it is allowed.
  var brokenRule: BrokenUpdateRule? {
    do {
      try check(defaultValue)
      return nil
    } catch let error as GraftError {
      return BrokenUpdateRule("the default is not allowed: \(error.what)", isNoObstacle: true)
    } catch {
      return nil
    }
  }
}
