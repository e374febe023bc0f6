import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the product of the operands, summed over all labels that the output lacks (Einstein's
/// convention).
///
/// Attribute `equation`: a term for each operand, separated by commas, then `->` and a term for the
/// output, as in `bij,bjk->bik`. A term has a letter for each axis; `...` stands for axes without
/// letters, which broadcast. A letter that a term has twice takes the diagonal. Without `->` the output
/// has the ellipsis, then the letters that occur once, in alphabetical order. An axis of size 1
/// broadcasts against longer ones with its label.
///
/// Operands are multiplied from left to right, each pair as a batch of matrix products, so sums over
/// different labels are taken at different times. Gradient: Einsum of dy and the other operands.
/// Source: ONNX Einsum-12.
struct Einsum: FloatingOperator {
  let name = "Einsum"
  let inputCount = 1...Int.max
  let broadcasts = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    for index in context.inputs.indices.dropFirst() { try context.requireSameType(0, index) }
    let shapes = try context.inputs.indices.map { try context.shape($0) }
    let axes = try EinsumAxes(try Self.equation(context.node), shapes)
    return [TensorType(try context.input(0).elementType, axes.outputShape)]
  }

  private static func equation(_ node: Node) throws -> EinsumEquation {
    try EinsumEquation(try node.string("equation"))
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let equation = try Self.equation(context.node)
    let operands = try context.inputs.indices.map { try context.input($0) }
    let axes = try EinsumAxes(equation, operands.map(\.shape))
    let y = try context.output(0, as: type)
    if operands.contains(where: { $0.elementCount == 0 }) {
      y.update(repeating: 0, count: axes.outputShape.elementCount)
      return
    }
    var factors: [LabelledTensor<T>] = []
    for (index, operand) in operands.enumerated() {
      let labels = axes.operands[index]
      factors.append(
        LabelledTensor(try operand.pointer(as: type), operand.shape, labels, axes))
    }
    try multiply(factors, axes, to: y, context)
  }

  private func multiply<T: FloatingElement>(
    _ factors: [LabelledTensor<T>], _ axes: EinsumAxes, to y: UnsafeMutablePointer<T>,
    _ context: KernelContext
  ) throws {
    // For each factor the labels that the output or other factors need.
    func needed(apartFrom indices: Set<Int>) -> Set<EinsumAxes.Label> {
      Set(factors.indices.filter { !indices.contains($0) }.flatMap { factors[$0].labels })
        .union(axes.output)
    }
    let parts = try factors.indices.map { index in
      try factors[index].summed(keeping: needed(apartFrom: [index]), axes, context)
    }
    var product = parts[0]
    for index in parts.indices.dropFirst() {
      let kept = needed(apartFrom: Set(0...index))
      let (left, right) = ordered(product, parts[index], kept, axes)
      let pair = PairContraction(left, right, kept: kept, order: axes.output, axes)
      if index == parts.count - 1, pair.labels == axes.output {
        try pair.run(left, right, to: y, context)
        return
      }
      let tensor = try Tensor(uninitialized: axes.shape(pair.labels), T.elementType)
      try pair.run(left, right, to: try tensor.mutablePointer(as: T.self), context)
      product = try LabelledTensor(tensor, pair.labels)
    }
    product.copy(to: y, axes.output, axes, context)
  }

  /// The two factors, exchanged when that gives the output's order at once.
  private func ordered<T: FloatingElement>(
    _ a: LabelledTensor<T>, _ b: LabelledTensor<T>, _ kept: Set<EinsumAxes.Label>,
    _ axes: EinsumAxes
  ) -> (LabelledTensor<T>, LabelledTensor<T>) {
    let exchanged = PairContraction(b, a, kept: kept, order: axes.output, axes)
    return exchanged.labels == axes.output ? (b, a) : (a, b)
  }

  let differentiation = Differentiation.rule { builder in
    let equation = try Einsum.equation(builder.node)
    return try equation.operands.indices.map { index in
      builder.wants(index)
        ? try EinsumGradientTerms(equation, operand: index).add(to: &builder) : nil
    }
  }

  var samples: [OperatorSample] {
    // ONNX Runtime wants ellipses of one rank; numpy and others broadcast them.
    func sample(
      _ equation: String, _ shapes: Shape..., ranksDiffer: Bool = false, error: String? = nil
    ) -> OperatorSample {
      OperatorSample(
        error.map { "\(equation): \($0)" } ?? equation,
        attributes: ["equation": .string(equation)],
        inputs: shapes.enumerated().map { .random($1, seed: UInt64($0)) }, error: error,
        skipsOracle: ranksDiffer)
    }
    return [
      sample("ij,jk->ik", [3, 4], [4, 5]),
      sample("ij,kj->ik", [9, 12], [11, 12]),
      sample("ij,kj->ki", [9, 12], [11, 12]),
      sample("ji,jk", [4, 3], [4, 5]),
      sample("bij,bjk->bik", [2, 3, 4], [2, 4, 5]),
      sample("bqhd,bkhd->bhqk", [2, 3, 2, 4], [2, 5, 2, 4]),
      sample("bhqk,bkhd->bqhd", [2, 2, 3, 5], [2, 5, 2, 4]),
      sample("...ij,...jk->...ik", [2, 1, 3, 4], [1, 3, 4, 5]),
      sample("...ij,...jk->...ik", [2, 1, 3, 4], [3, 4, 5], ranksDiffer: true),
      sample("i...j,j...->...i", [3, 2, 4], [4, 2]),
      sample("i...j,j...->...i", [3, 2, 4], [4, 5, 2], ranksDiffer: true),
      sample("...i,...i", [2, 3], [2, 3]),
      sample("...i,...i", [2, 3], [3], ranksDiffer: true),
      sample("ij->ji", [3, 4]),
      sample("ij->", [3, 4]),
      sample("ij->j", [3, 4]),
      sample("ii->i", [4, 4]),
      sample("ii", [4, 4]),
      sample("...ii->...i", [2, 3, 3]),
      sample("iij,j->i", [3, 3, 4], [4]),
      sample("iij,ik->jk", [3, 3, 4], [3, 2]),
      sample("ij,ij->ij", [3, 4], [3, 4]),
      sample("i,j->ij", [3], [4]),
      sample("i,i->", [5], [5]),
      sample("ij,i->ij", [3, 4], [3]),
      sample("ij,jk,kl->il", [2, 3], [3, 4], [4, 5]),
      sample("bi,bj,ijk->bk", [2, 3], [2, 4], [3, 4, 5]),
      sample("ij,k->ik", [2, 3], [4]),
      sample("ij,jk->ik", [1, 4], [4, 3]),
      sample("ij,ij->ij", [1, 4], [3, 4]),
      sample("ij,ij->i", [1, 4], [3, 1]),
      sample("i...j,...ij->...", [2, 3, 1], [4, 1, 1, 5], ranksDiffer: true),
      sample("iij,j->ji", [2, 2, 1], [3]),
      sample("iii->", [3, 3, 3]),
      sample(",i->i", [], [3]),
      sample(" i j , j k -> k i ", [2, 3], [3, 4]),
      sample("ij,jk->ik", [0, 3], [3, 2]),
      sample("ij,jk->ik", [2, 0], [0, 2]),
      sample("aB,Bc", [2, 3], [3, 4]),
      sample("ij,jk->ik", [2, 3], [4, 5], error: "shares its label with one of 3"),
      sample("ij->i", [2, 3, 4], error: "names 2 axes"),
      sample("ij,jk->ik", [2, 3], error: "2 terms for 1 inputs"),
      sample("ij->ik", [2, 3], error: "output label 'k' is in no input"),
      sample("ij->ii", [2, 3], error: "output label 'i' occurs twice"),
      sample("i1->i", [2, 3], error: "'1' is no letter"),
      sample("i..->i", [2, 3], error: "an ellipsis is three dots"),
      sample("...i->i", [2, 3], error: "the output has none"),
      sample("i-j", [2, 3], error: "'-' must be a part of '->'"),
      sample("ii->i", [2, 3], error: "two axes with one label must be equal"),
    ]
  }
}
