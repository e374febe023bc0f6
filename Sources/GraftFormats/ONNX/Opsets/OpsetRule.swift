import GraftGraph
import GraftTensor

/// How nodes of one operator are brought over one change of its form.
struct OpsetRule: Sendable {
  /// Emits nodes in place of the node; they must make the node's outputs.
  typealias Rewrite = @Sendable (Node, inout NodeRewriter) throws -> Void

  let op: String
  /// The opset that brought the new form.
  let version: Int
  /// Emits nodes in the form of `version`.
  let upgrade: Rewrite
  /// Emits nodes in the form of the opset before `version`, or throws `NeedsNewerOpset`.
  let downgrade: Rewrite

  init(
    _ op: String, _ version: Int, upgrade: @escaping Rewrite = keep,
    downgrade: @escaping Rewrite = keep
  ) {
    self.op = op
    self.version = version
    self.upgrade = upgrade
    self.downgrade = downgrade
  }

  /// Both forms are the same for this node.
  static let keep: Rewrite = { node, rewriter in rewriter.emit(node) }
}

/// Thrown by a downgrade: the node cannot be said in the older form.
struct NeedsNewerOpset: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

extension OpsetRule {
  /// The value of a new attribute with which the operator does what it did before.
  enum OldBehaviour: Sendable {
    case int(Int)
    case text(String)
    case ones

    func matches(_ attribute: Attribute) -> Bool {
      switch (self, attribute) {
      case (.int(let old), .int(let value)): value == old
      case (.text(let old), .string(let value)): value == Array(old.utf8)
      case (.ones, .ints(let values)): values.allSatisfy { $0 == 1 }
      default: false
      }
    }
  }

  /// The operator got attributes whose absence means the old behaviour.
  static func addsAttributes(
    _ op: String, _ version: Int, _ attributes: [String: OldBehaviour]
  ) -> OpsetRule {
    OpsetRule(op, version) { node, rewriter in
      var node = node
      for (name, old) in attributes.sorted(by: { $0.key < $1.key }) {
        guard let value = node.attributes.removeValue(forKey: name) else { continue }
        guard old.matches(value) else {
          throw NeedsNewerOpset("its attribute '\(name)' is newer")
        }
      }
      rewriter.emit(node)
    }
  }

  private init(_ op: String, _ version: Int, downgrade: @escaping Rewrite) {
    self.init(op, version, upgrade: Self.keep, downgrade: downgrade)
  }

  /// A list of integers was an attribute and became input `index`.
  static func movesToInput(
    _ op: String, _ version: Int, _ attribute: String, input index: Int
  ) -> OpsetRule {
    OpsetRule(
      op, version,
      upgrade: { node, rewriter in
        var node = node
        if let values = try node.removeInts(attribute) {
          node.setInput(index, try rewriter.ints(values, attribute, for: node))
        }
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        if let values = try rewriter.removeInts(index, attribute, of: &node) {
          node.attributes[attribute] = .ints(values)
        }
        rewriter.emit(node)
      })
  }

  /// The operator is new; `composition` emits older ones that do the same.
  static func introduces(
    _ op: String, _ version: Int, composition: @escaping Rewrite
  ) -> OpsetRule {
    OpsetRule(op, version, downgrade: composition)
  }

  /// Input 0 could have only the given types before.
  static func widensTypes(_ op: String, _ version: Int, from types: Set<ElementType>) -> OpsetRule {
    OpsetRule(op, version) { node, rewriter in
      if let type = rewriter.facts.elementType(node.input(0)), !types.contains(type) {
        throw NeedsNewerOpset("it takes no \(type) values")
      }
      rewriter.emit(node)
    }
  }
}

extension Node {
  /// The name of an input; empty when it is left out.
  func input(_ index: Int) -> String { index < inputs.count ? inputs[index] : "" }

  func output(_ index: Int) -> String { index < outputs.count ? outputs[index] : "" }

  /// Sets an input, leaving out those between.
  mutating func setInput(_ index: Int, _ name: String) {
    while inputs.count <= index { inputs.append("") }
    inputs[index] = name
    while inputs.last == "" { inputs.removeLast() }
  }

  mutating func removeInts(_ attribute: String) throws -> [Int]? {
    guard has(attribute) else { return nil }
    defer { attributes[attribute] = nil }
    return try ints(attribute)
  }

  mutating func removeFloat(_ attribute: String) throws -> Float? {
    guard has(attribute) else { return nil }
    defer { attributes[attribute] = nil }
    return try float(attribute)
  }
}
