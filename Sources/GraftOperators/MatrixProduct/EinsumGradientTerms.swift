import GraftDiagnostics
import GraftGraph

/// The nodes that compute the gradient of an Einsum for one operand.
///
/// The gradient is the output's gradient times the other operands, summed to the operand's labels:
/// an Einsum again. Labels that only this operand has get there through ones in its shape; a label
/// that it has twice gets its second axis through a unit matrix.
struct EinsumGradientTerms {
  private let equation: EinsumEquation
  private let index: Int
  private var term: [EinsumEquation.Label] { equation.operands[index] }

  init(_ equation: EinsumEquation, operand index: Int) {
    self.equation = equation
    self.index = index
  }

  /// Adds the nodes and gives the name of the gradient. It may be larger than the operand where that
  /// broadcasts, with the axes that the operand lacks in front.
  ///
  /// - Throws: `unsupported` when there are no letters left for the second axes of repeated labels.
  func add(to builder: inout GradientBuilder) throws -> String {
    var terms = [equation.output]
    var values = [builder.outputGradient]
    for (other, labels) in equation.operands.enumerated() where other != index {
      terms.append(labels)
      values.append(builder.input(other))
    }
    let reached = Set(terms.joined())
    let operand = builder.input(index)
    var target = term
    var letters = equation.unusedLetters.makeIterator()
    for (position, label) in term.enumerated() where term.firstIndex(of: label) != position {
      let letter = try letters.next().orThrow {
        GraftError(
          .unsupported, "the equation uses so many letters that none is left for its gradient")
      }
      terms.append([label, letter])
      values.append(unitMatrix(position, of: operand, &builder))
      target[position] = letter
    }
    let isReached = reached.isSuperset(of: term)
    if !isReached {
      terms.append(target)
      let one = builder.scalar(1, like: operand)
      values.append(builder.add("Expand", [one, builder.shape(of: operand)]))
    }
    // A label that was summed over may have size 1 in the other operands.
    let expands = isReached && !Set(term).isSubset(of: equation.output)
    return product(terms, values, target, like: operand, expands: expands, &builder)
  }

  /// The product of the terms, at least as large as the operand.
  ///
  /// Where the operand's ellipsis is not in front, axes that broadcasting added stand in the middle:
  /// they are summed with the ellipsis moved to the front.
  private func product(
    _ terms: [[EinsumEquation.Label]], _ values: [String], _ target: [EinsumEquation.Label],
    like operand: String, expands: Bool, _ builder: inout GradientBuilder
  ) -> String {
    func einsum(
      _ terms: [[EinsumEquation.Label]], _ values: [String], _ output: [EinsumEquation.Label]
    ) -> String {
      let left = terms.map(EinsumEquation.text).joined(separator: ",")
      let text = "\(left)->\(EinsumEquation.text(output))"
      return builder.add("Einsum", values, ["equation": .string(text)])
    }
    let letters = target.filter { $0 != EinsumEquation.ellipsis }
    let ordered = letters.count < target.count ? [EinsumEquation.ellipsis] + letters : letters
    let model = ordered == target ? operand : einsum([target], [operand], ordered)
    var product = einsum(terms, values, ordered)
    if expands { product = builder.add("Expand", [product, builder.shape(of: model)]) }
    guard ordered != target else { return product }
    let summed = builder.add("SumToShape", domain: graftDomain, [product, model])
    return einsum([ordered], [summed], target)
  }

  /// A unit matrix as large as an axis of the operand.
  private func unitMatrix(
    _ position: Int, of operand: String, _ builder: inout GradientBuilder
  ) -> String {
    // Behind an ellipsis, axes can only be counted from the end.
    let isBehind = term.prefix(position).contains(EinsumEquation.ellipsis)
    let axis = isBehind ? position - term.count : position
    var range: [String: Attribute] = ["start": .int(axis)]
    if axis != -1 { range["end"] = .int(axis + 1) }
    let size = builder.add("Shape", [operand], range)
    let shape = builder.add("Concat", [size, size], ["axis": .int(0)])
    let unit = builder.add("EyeLike", [builder.add("ConstantOfShape", [shape])])
    return builder.add("CastLike", [unit, operand])
  }
}
