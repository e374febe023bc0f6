import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The class of every position of a classification loss, and how much each position counts.
///
/// Scores have the shape [N, C, d1, ...], labels [N, d1, ...]; a position is an element of the
/// labels.
struct ClassLabels<T: FloatingElement> {
  /// How many positions there are.
  let count: Int
  /// The class of each position, 0 where it is ignored.
  private let classes: UnsafeMutablePointer<Int>
  /// The weight of each position's class, 0 where it is ignored.
  let weights: UnsafeMutablePointer<T>
  /// How many classes there are.
  let classCount: Int
  /// Elements of one class of one example.
  let classSize: Int

  /// Calls `body` with the labels of a kernel.
  ///
  /// - Parameters:
  ///   - scores: the index of the input with the scores; labels and class weights follow it.
  /// - Throws: `badData` when a label is no class and is not ignored; what `body` throws.
  static func read(
    _ context: KernelContext, scores: Int, _ body: (Self) throws -> Void
  ) throws {
    let count = try context.input(scores + 1).elementCount
    try context.withScratch(count, of: Int.self) { classes in
      try context.withScratch(count, of: T.self) { weights in
        try body(Self(context, scores: scores, count, classes, weights))
      }
    }
  }

  private init(
    _ context: KernelContext, scores: Int, _ count: Int, _ classes: UnsafeMutablePointer<Int>,
    _ weights: UnsafeMutablePointer<T>
  ) throws {
    self.count = count
    self.classes = classes
    self.weights = weights
    let shape = try context.input(scores).shape
    let labels = try context.input(scores + 1)
    classCount = shape[1]
    classSize = shape.elementCount(in: 2..<shape.rank)
    let ignored = try LossReduction.ignoredLabel(context.node)
    let classWeights = try context.inputIfPresent(scores + 2, as: T.self)
    try Self.copy(labels, to: classes)
    for position in 0..<count {
      let label = classes[position]
      weights[position] = 1
      if label == ignored {
        classes[position] = 0
        weights[position] = 0
      } else if label >= 0, label < classCount {
        if let classWeights { weights[position] = classWeights[label] }
      } else {
        throw Self.error(label, at: position, in: labels.shape, classCount)
      }
    }
  }

  private static func copy(_ labels: Tensor, to classes: UnsafeMutablePointer<Int>) throws {
    if labels.elementType == .int32 {
      let source = try labels.pointer(as: Int32.self)
      for position in 0..<labels.elementCount { classes[position] = Int(source[position]) }
    } else {
      let source = try labels.pointer(as: Int64.self)
      for position in 0..<labels.elementCount { classes[position] = Int(source[position]) }
    }
  }

  private static func error(
    _ label: Int, at position: Int, in shape: Shape, _ classCount: Int
  ) -> GraftError {
    var rest = position
    var index = [Int](repeating: 0, count: shape.rank)
    for axis in shape.indices.reversed() {
      index[axis] = rest % max(1, shape[axis])
      rest /= max(1, shape[axis])
    }
    let classes =
      classCount == 0
      ? "there are no classes" : "the \(classCount) classes are 0 to \(classCount - 1)"
    return GraftError(
      .badData, "the label at \(Shape(index)) is \(label); \(classes)",
      fix: "Correct the label, or let \(label) be ignored (ignore_index, '--ignore-index')")
  }

  /// The element of the scores that belongs to a position's class.
  @inline(__always)
  func element(_ position: Int) -> Int {
    let example = position / classSize
    return (example * classCount + classes[position]) * classSize + position % classSize
  }

  /// Turns the weights into the derivatives of the loss by the loss of each position.
  ///
  /// - Parameter dy: the gradient of the loss: one number, or one for each position.
  func multiplyWeights(_ dy: UnsafePointer<T>, _ reduction: LossReduction) {
    switch reduction {
    case .none: for position in 0..<count { weights[position] *= dy[position] }
    case .sum: for position in 0..<count { weights[position] *= dy[0] }
    case .mean:
      let total = T(totalWeight)
      for position in 0..<count {
        weights[position] = total == 0 ? 0 : dy[0] * weights[position] / total
      }
    }
  }

  private var totalWeight: Double {
    var total = 0.0
    for position in 0..<count { total += weights[position].double }
    return total
  }

  /// The loss made of the losses of all positions, which are weighted already.
  ///
  /// A mean over positions that weigh nothing together, because all are ignored, is 0 and has no
  /// gradient: such a batch teaches nothing. (PyTorch and ONNX Runtime give NaN, which would spoil
  /// every parameter.)
  func total(_ losses: UnsafePointer<T>, isMean: Bool) -> T {
    var sum = 0.0
    for position in 0..<count { sum += losses[position].double }
    if !isMean { return T(sum) }
    return totalWeight == 0 ? 0 : T(sum / totalWeight)
  }
}

/// How the losses of positions become one loss.
enum LossReduction: String {
  case none, sum, mean

  init(_ node: Node) throws {
    let name = try node.string("reduction", default: "mean")
    guard let reduction = LossReduction(rawValue: name) else {
      throw GraftError(
        .invalidArgument, "reduction is '\(name)'; it must be none, sum or mean")
    }
    self = reduction
  }

  /// The label of positions that do not count; nil when all count.
  static func ignoredLabel(_ node: Node) throws -> Int? {
    node.has("ignore_index") ? try node.int("ignore_index") : nil
  }
}

extension Operator {
  /// Checks scores [N, C, ...], labels [N, ...] and class weights [C], three inputs in a row, and
  /// the attributes of a classification loss; gives the loss's type.
  func classLossType(_ context: TypeContext, scores index: Int) throws -> TensorType {
    try context.require(index, ElementType.floating)
    try context.requireRank(index, 2...Int.max)
    let scores = try context.input(index)
    try context.require(index + 1, ElementType.integers)
    var positions = scores.shape.dimensions
    positions.remove(at: 1)
    try context.requireShape(index + 1, Shape(positions))
    if context.has(index + 2) {
      try context.requireSameType(index, index + 2)
      try context.requireShape(index + 2, [scores.shape[1]])
    }
    _ = try LossReduction.ignoredLabel(context.node)
    let isReduced = try LossReduction(context.node) != .none
    return TensorType(scores.elementType, isReduced ? [] : Shape(positions))
  }

  /// The type of the scores' gradient; input 0 is the gradient of the loss, scores, labels and
  /// class weights follow.
  func classLossGradientType(_ context: TypeContext) throws -> TensorType {
    let loss = try classLossType(context, scores: 1)
    try context.requireSameType(1, 0)
    try context.requireShape(0, loss.shape)
    return try context.input(1)
  }
}

extension KernelContext {
  /// Fills output 0 with the loss of all positions, as the reduction says.
  ///
  /// - Parameter fill: fills the weighted losses of all positions.
  func fillClassLoss<T: FloatingElement>(
    _ labels: ClassLabels<T>, _ fill: (UnsafeMutablePointer<T>) throws -> Void
  ) throws {
    let reduction = try LossReduction(node)
    if reduction == .none, wantsOutput(0) { return try fill(try output(0, as: T.self)) }
    try withScratch(labels.count, of: T.self) { losses in
      try fill(losses)
      guard wantsOutput(0) else { return }
      try output(0, as: T.self).pointee = labels.total(losses, isMean: reduction == .mean)
    }
  }
}
