import Graft
import GraftGraph

/// What a Core ML file says about updates on a device, and which of Core ML's rules it breaks.
struct UpdatableListing: Encodable {
  struct Parameter: Encodable {
    let name: String
    let defaultValue: Double
    let allowed: String
  }

  struct Rule: Encodable {
    let what: String
    /// Whether Graft trains the model all the same.
    let isNoObstacle: Bool
  }

  let isUpdatable: Bool
  let layers: [String]
  let losses: [String]
  let optimizer: String?
  let parameters: [Parameter]
  let trainingInputs: [String]
  let brokenRules: [Rule]

  /// - Throws: `invalidArgument` for a model that is not of Core ML.
  init(_ model: Model) throws {
    guard let description = model.coreML else {
      throw GraftError(
        .invalidArgument, "'--updatable' is about Core ML files, and this is another one",
        fix: "Leave '--updatable' out; 'graft train' trains any model")
    }
    isUpdatable = description.isUpdatable
    let update = description.update
    layers = update?.layers.map { "\($0.name) (\($0.kind))" } ?? []
    losses = update?.losses.map { "\($0.kind.rawValue) of \($0.input) and \($0.target)" } ?? []
    optimizer = update?.optimizer?.rawValue
    let parameters =
      (update?.parameters ?? []) + (description.neighbors.map { [$0.neighborCount] } ?? [])
    self.parameters = parameters.map {
      Parameter(name: $0.name, defaultValue: $0.defaultValue, allowed: Self.allowed($0))
    }
    trainingInputs = description.trainingInputs.map(\.name)
    brokenRules = description.brokenRules.map {
      Rule(what: $0.what, isNoObstacle: $0.isNoObstacle)
    }
  }

  private static func text(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func allowed(_ parameter: UpdateParameter) -> String {
    if let set = parameter.set { return "one of " + set.map(text).joined(separator: ", ") }
    if let range = parameter.range, range.count == 2 {
      return "\(text(range[0])) to \(text(range[1]))"
    }
    return "any value"
  }

  func print(_ console: Console) {
    console.print(
      "\nupdatable: " + (isUpdatable ? "the file says so" : "the file does not say so"))
    for layer in layers { console.print("  layer \(layer)") }
    for loss in losses { console.print("  loss \(loss)") }
    if let optimizer { console.print("  optimizer \(optimizer)") }
    for parameter in parameters {
      console.print(
        "  \(parameter.name) \(Self.text(parameter.defaultValue)), \(parameter.allowed)")
    }
    if !trainingInputs.isEmpty {
      console.print("  training inputs \(trainingInputs.joined(separator: ", "))")
    }
    for rule in brokenRules {
      console.print(
        "  broken rule: \(rule.what)"
          + (rule.isNoObstacle ? " (Graft trains the model all the same)" : ""))
    }
    if isUpdatable, brokenRules.isEmpty {
      console.print("  It breaks none of the rules of Core ML that Graft checks.")
    }
  }
}
