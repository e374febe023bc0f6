import GraftDiagnostics
import GraftTensor

/// The equation of Einsum: for each operand and for the output, a label for every axis.
struct EinsumEquation {
  /// A letter's ASCII code, or `ellipsis`.
  typealias Label = UInt8
  /// Stands for all axes that have no letter.
  static let ellipsis = UInt8(ascii: ".")

  let operands: [[Label]]
  let output: [Label]

  /// Without `->` the output has the ellipsis, then the letters that occur once, in alphabetical order.
  ///
  /// - Throws: `damaged` when the text is no equation.
  init(_ text: String) throws {
    let symbols = text.utf8.filter { $0 != UInt8(ascii: " ") }
    let sides = try Self.sides(symbols, text)
    operands = try sides.inputs.split(
      separator: UInt8(ascii: ","), omittingEmptySubsequences: false
    ).map { try Self.labels($0, text) }
    let used = Set(operands.joined())
    guard let right = sides.output else {
      output = Self.impliedOutput(operands)
      return
    }
    output = try Self.labels(right, text)
    for label in output where label != Self.ellipsis {
      guard used.contains(label) else {
        throw Self.error(text, "output label '\(Self.name(label))' is in no input")
      }
      guard output.filter({ $0 == label }).count == 1 else {
        throw Self.error(text, "output label '\(Self.name(label))' occurs twice")
      }
    }
    guard output.contains(Self.ellipsis) || !used.contains(Self.ellipsis) else {
      throw Self.error(text, "the inputs have an ellipsis, the output has none")
    }
  }

  private static func sides(_ symbols: [UInt8], _ text: String) throws
    -> (inputs: ArraySlice<UInt8>, output: ArraySlice<UInt8>?)
  {
    let arrow = [UInt8(ascii: "-"), UInt8(ascii: ">")]
    guard let dash = symbols.firstIndex(of: arrow[0]) else { return (symbols[...], nil) }
    guard symbols[dash...].prefix(2).elementsEqual(arrow) else {
      throw error(text, "'-' must be a part of '->'")
    }
    return (symbols[..<dash], symbols[(dash + 2)...])
  }

  private static func labels(_ symbols: ArraySlice<UInt8>, _ text: String) throws -> [Label] {
    var labels: [Label] = []
    var rest = symbols
    while let symbol = rest.first {
      if symbol == ellipsis {
        guard rest.prefix(3).elementsEqual([ellipsis, ellipsis, ellipsis]) else {
          throw error(text, "an ellipsis is three dots")
        }
        guard !labels.contains(ellipsis) else { throw error(text, "one term has two ellipses") }
        rest = rest.dropFirst(3)
      } else {
        guard isLetter(symbol) else {
          throw error(text, "'\(name(symbol))' is no letter")
        }
        rest = rest.dropFirst()
      }
      labels.append(symbol)
    }
    return labels
  }

  private static func impliedOutput(_ operands: [[Label]]) -> [Label] {
    var counts: [Label: Int] = [:]
    for label in operands.joined() { counts[label, default: 0] += 1 }
    let letters = counts.filter { $0.key != ellipsis && $0.value == 1 }.keys.sorted()
    return (counts[ellipsis] == nil ? [] : [ellipsis]) + letters
  }

  private static func isLetter(_ symbol: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(symbol)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(symbol)
  }

  private static func name(_ label: Label) -> String { String(UnicodeScalar(label)) }

  private static func error(_ text: String, _ what: String) -> GraftError {
    GraftError(.damaged, "equation '\(text)': \(what)")
  }

  /// One term as text.
  static func text(_ labels: [Label]) -> String {
    labels.map { $0 == ellipsis ? "..." : name($0) }.joined()
  }

  /// Letters that occur in no term.
  var unusedLetters: [Label] {
    let used = Set(operands.joined())
    return (UInt8(ascii: "A")...UInt8(ascii: "z")).filter {
      Self.isLetter($0) && !used.contains($0)
    }
  }
}

/// An equation for operands of known shapes: every axis has a label of its own, also those that the
/// ellipsis stands for, and every label a size.
struct EinsumAxes {
  /// A letter's code; -1, -2, ... for the axes of the ellipsis, counted from its end.
  typealias Label = Int

  /// For each operand a label for each axis.
  private(set) var operands: [[Label]] = []
  private(set) var output: [Label] = []
  /// A size of 1 in one operand is repeated to the size in another.
  private(set) var sizes: [Label: Int] = [:]

  init(_ equation: EinsumEquation, _ shapes: [Shape]) throws {
    guard shapes.count == equation.operands.count else {
      throw GraftError(
        .damaged,
        "the equation has \(equation.operands.count) terms for \(shapes.count) inputs")
    }
    var ellipsisRank = 0
    for (index, shape) in shapes.enumerated() {
      let term = equation.operands[index]
      let hidden = try Self.hiddenAxes(term, shape, index)
      ellipsisRank = max(ellipsisRank, hidden)
      let labels = Self.expanded(term, hidden)
      try addSizes(labels, shape, index)
      operands.append(labels)
    }
    output = Self.expanded(equation.output, ellipsisRank)
  }

  /// How many axes of an operand the ellipsis stands for.
  private static func hiddenAxes(_ term: [EinsumEquation.Label], _ shape: Shape, _ index: Int)
    throws -> Int
  {
    let hasEllipsis = term.contains(EinsumEquation.ellipsis)
    let letters = term.count - (hasEllipsis ? 1 : 0)
    guard hasEllipsis ? shape.rank >= letters : shape.rank == letters else {
      throw GraftError(
        .shapeMismatch,
        "input \(index) has shape \(shape), but the term '\(EinsumEquation.text(term))' names "
          + "\(letters) axes")
    }
    return shape.rank - letters
  }

  private static func expanded(_ term: [EinsumEquation.Label], _ hidden: Int) -> [Label] {
    term.flatMap { label in
      label == EinsumEquation.ellipsis ? Array(-hidden..<0) : [Label(label)]
    }
  }

  private mutating func addSizes(_ labels: [Label], _ shape: Shape, _ index: Int) throws {
    var own: [Label: Int] = [:]
    for (label, size) in zip(labels, shape) {
      guard own[label] ?? size == size else {
        throw GraftError(
          .shapeMismatch,
          "input \(index) has shape \(shape); two axes with one label must be equal")
      }
      own[label] = size
      let known = sizes[label] ?? size
      guard known == size || known == 1 || size == 1 else {
        throw GraftError(
          .shapeMismatch,
          "input \(index) has shape \(shape); an axis of \(size) elements shares its label with one "
            + "of \(known)")
      }
      sizes[label] = known == 1 ? size : known
    }
  }

  func size(_ label: Label) -> Int { sizes[label] ?? 1 }

  func shape(_ labels: [Label]) -> Shape { Shape(labels.map { size($0) }) }

  var outputShape: Shape { shape(output) }
}
