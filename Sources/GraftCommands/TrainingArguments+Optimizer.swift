import Graft

extension TrainingArguments {
  private static let adaptive = ["adamw", "adamw-pytorch", "adam"]

  /// The options of `optimizerOptions` that not all optimizers have.
  private static let owners: KeyValuePairs<String, [String]> = [
    "--beta1": adaptive, "--beta2": adaptive,
    "--epsilon": adaptive + ["rmsprop", "adagrad"],
    "--momentum": ["sgd", "rmsprop"], "--dampening": ["sgd"], "--nesterov": ["sgd"],
    "--alpha": ["rmsprop"], "--centered": ["rmsprop"],
    "--rate-decay": ["adagrad"], "--initial-accumulator": ["adagrad"],
  ]

  /// The optimizer; numbers that are not given are its defaults.
  static func optimizer(_ arguments: Arguments) throws -> Optimizer {
    let names = adaptive + ["sgd", "rmsprop", "adagrad"]
    let name = try arguments.choice("--optimizer", names) ?? "adamw"
    try refuse(owners, of: "optimizer", name, arguments)
    var optimizer = try optimizer(named: name, arguments)
    if let rate = try arguments.float("--learning-rate", .positive) {
      optimizer.learningRate = rate
    }
    if let decay = try arguments.float("--weight-decay", .notNegative) {
      optimizer.weightDecay = decay
    }
    if let l1 = try arguments.float("--l1-penalty", .notNegative) { optimizer.l1 = l1 }
    return optimizer
  }

  private static func optimizer(named name: String, _ arguments: Arguments) throws -> Optimizer {
    func number(_ option: String, _ standard: Float, _ range: NumberRange) throws -> Float {
      try arguments.float(option, range) ?? standard
    }
    switch name {
    case "sgd":
      return .sgd(
        momentum: try number("--momentum", 0, .notNegative),
        dampening: try number("--dampening", 0, .notNegative),
        nesterov: arguments.has("--nesterov"))
    case "rmsprop":
      return .rmsProp(
        alpha: try number("--alpha", 0.99, .belowOne),
        epsilon: try number("--epsilon", 1e-8, .positive),
        momentum: try number("--momentum", 0, .notNegative), centered: arguments.has("--centered"))
    case "adagrad":
      return .adagrad(
        rateDecay: try number("--rate-decay", 0, .notNegative),
        initialAccumulator: try number("--initial-accumulator", 0, .notNegative),
        epsilon: try number("--epsilon", 1e-10, .positive))
    case "adam":
      return .adam(
        beta1: try number("--beta1", 0.9, .belowOne),
        beta2: try number("--beta2", 0.999, .belowOne),
        epsilon: try number("--epsilon", 1e-8, .positive))
    default:
      return .adamW(
        form: name == "adamw" ? .onnxRuntime : .pyTorch,
        beta1: try number("--beta1", 0.9, .belowOne),
        beta2: try number("--beta2", 0.999, .belowOne),
        epsilon: try arguments.float("--epsilon", .positive))
    }
  }
}
