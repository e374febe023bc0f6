import GraftDiagnostics
import GraftGraph
import GraftTensor

/// What Resize does to each axis of its input.
struct ResizeGeometry {
  struct Axis {
    /// Its index in the shape.
    let index: Int
    let input: Int
    let output: Int
    /// Output size over input size, before the output size was rounded to a whole number.
    let scale: Float
    /// The part of the input that is read, in units of its size; for `tf_crop_and_resize` only.
    let region: (start: Float, end: Float)

    /// Whether every position reads just its own element.
    var isUnchanged: Bool { input == output && scale == 1 && region == (0, 1) }
  }

  let settings: ResizeSettings
  let inputShape: Shape
  let outputShape: Shape
  /// The axes that change, those that shrink most first: later ones then have less to do.
  let axes: [Axis]

  /// - Parameters:
  ///   - region: the starts, then the ends, of all resized axes.
  ///   - scales: a factor for each resized axis; nil or empty when sizes are given.
  ///   - sizes: a size for each resized axis; nil or empty when scales are given.
  /// - Throws: what is wrong with the node's attributes and these inputs.
  init(_ node: Node, _ shape: Shape, region: Tensor?, scales: Tensor?, sizes: Tensor?) throws {
    settings = try ResizeSettings(node)
    inputShape = shape
    let indices = try Self.axes(node, shape)
    let regions = try Self.regions(region, indices.count, settings)
    let scales = try scales.map { try Self.floats($0, "scales") } ?? []
    let sizes = try sizes?.ints.orThrow { GraftError(.typeMismatch, "sizes must be int64") } ?? []
    guard scales.isEmpty != sizes.isEmpty || indices.isEmpty else {
      throw GraftError(
        .invalidArgument,
        scales.isEmpty ? "neither scales nor sizes are given" : "both scales and sizes are given",
        fix: "Give one of them")
    }
    guard scales.count + sizes.count == indices.count else {
      throw GraftError(
        .shapeMismatch,
        "there are \(scales.count + sizes.count) \(sizes.isEmpty ? "scales" : "sizes") for "
          + "\(indices.count) axes")
    }
    let targets =
      sizes.isEmpty
      ? try Self.targets(scales, indices.map { shape[$0] })
      : try Self.targets(sizes, indices.map { shape[$0] }, settings.aspectPolicy)
    var dimensions = shape.dimensions
    var axes: [Axis] = []
    for ((index, target), region) in zip(zip(indices, targets), regions) {
      dimensions[index] = target.size
      let axis = Axis(
        index: index, input: shape[index], output: target.size, scale: target.scale,
        region: region)
      guard axis.input > 0 || axis.output == 0 else {
        throw GraftError(
          .shapeMismatch,
          "axis \(index) of shape \(shape) is empty; it cannot become \(axis.output)")
      }
      if !axis.isUnchanged { axes.append(axis) }
    }
    outputShape = Shape(dimensions)
    _ = try outputShape.checkedElementCount()
    self.axes = axes.sorted { $0.scale < $1.scale }
  }

  private static func axes(_ node: Node, _ shape: Shape) throws -> [Int] {
    guard node.has("axes") else { return Array(shape.indices) }
    let axes = try node.ints("axes").map { try shape.axis($0) }
    guard Set(axes).count == axes.count else {
      throw GraftError(.invalidArgument, "axes \(axes) name an axis twice")
    }
    return axes
  }

  private static func regions(_ region: Tensor?, _ count: Int, _ settings: ResizeSettings) throws
    -> [(start: Float, end: Float)]
  {
    guard settings.transformation == .cropAndResize else {
      return [(Float, Float)](repeating: (0, 1), count: count)
    }
    let values = try region.map { try floats($0, "roi") } ?? []
    guard values.count == 2 * count else {
      throw GraftError(
        .shapeMismatch, "roi has \(values.count) values; it must have two for each of \(count) axes"
      )
    }
    return (0..<count).map { (values[$0], values[count + $0]) }
  }

  private static func floats(_ tensor: Tensor, _ name: String) throws -> [Float] {
    switch tensor.elementType {
    case .float32: return try tensor.values(as: Float.self)
    case .float64: return try tensor.values(as: Double.self).map(Float.init)
    case let type: throw GraftError(.typeMismatch, "\(name) is \(type); it must be float32")
    }
  }

  /// Sizes from scales: the product, rounded down.
  private static func targets(_ scales: [Float], _ inputs: [Int]) throws
    -> [(size: Int, scale: Float)]
  {
    try zip(scales, inputs).map { scale, input in
      guard scale > 0, let size = wholeSize(scale * Float(input)) else {
        throw GraftError(
          .invalidArgument, "a scale of \(scale) for \(input) elements makes no size",
          fix: "Give scales above 0")
      }
      return (size, scale)
    }
  }

  /// Scales from sizes, and the sizes changed as the policy says.
  private static func targets(
    _ sizes: [Int], _ inputs: [Int], _ policy: ResizeSettings.AspectPolicy
  ) throws -> [(size: Int, scale: Float)] {
    for size in sizes where size < 0 {
      throw GraftError(.invalidArgument, "a size is \(size); sizes cannot be negative")
    }
    let scales = zip(sizes, inputs).map { $1 == 0 ? 1 : Float($0) / Float($1) }
    let common: Float?
    switch policy {
    case .stretch: common = nil
    case .notLarger: common = scales.min()
    case .notSmaller: common = scales.max()
    }
    guard let common else { return Array(zip(sizes, scales)) }
    return try inputs.map { input in
      guard let size = wholeSize(common * Float(input) + 0.5) else {
        throw GraftError(
          .invalidArgument, "\(input) elements scaled by \(common) make no size")
      }
      return (size, common)
    }
  }

  private static func wholeSize(_ size: Float) -> Int? {
    size >= 0 && size < 0x1p40 ? Int(size) : nil
  }
}

extension ResizeGeometry {
  /// Calls `pass` for each axis that changes, from the input's elements to the output's; what lies
  /// between is kept in memory of its own.
  func forEachPass<T: TensorElement>(
    from x: UnsafePointer<T>, to y: UnsafeMutablePointer<T>,
    _ pass: (AxisResampling, UnsafePointer<T>, UnsafeMutablePointer<T>) -> Void
  ) throws {
    try run(passes.map { ($0.resampling, $0.outputCount) }, inputShape.elementCount, x, y, pass)
  }

  /// The same backwards, from the output's gradient to the input's.
  func forEachPassBackwards<T: TensorElement>(
    from dy: UnsafePointer<T>, to dx: UnsafeMutablePointer<T>,
    _ pass: (AxisResampling, UnsafePointer<T>, UnsafeMutablePointer<T>) -> Void
  ) throws {
    let steps = passes.reversed().map { ($0.resampling, $0.inputCount) }
    try run(steps, outputShape.elementCount, dy, dx, pass)
  }

  /// The resampling of each axis, and the element counts before and after.
  private var passes: [(resampling: AxisResampling, inputCount: Int, outputCount: Int)] {
    var shape = inputShape
    return axes.map { axis in
      let resampling = AxisResampling(axis, settings, shape)
      let inputCount = shape.elementCount
      shape[axis.index] = axis.output
      return (resampling, inputCount, shape.elementCount)
    }
  }

  private func run<T: TensorElement>(
    _ steps: [(resampling: AxisResampling, resultCount: Int)], _ count: Int,
    _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>,
    _ pass: (AxisResampling, UnsafePointer<T>, UnsafeMutablePointer<T>) -> Void
  ) throws {
    guard let last = steps.last else { return y.update(from: x, count: count) }
    var source = x
    var sourceMemory: Tensor?
    for step in steps.dropLast() {
      let result = try Tensor(uninitialized: [step.resultCount], T.elementType)
      let target = try result.mutablePointer(as: T.self)
      if step.resultCount > 0 { pass(step.resampling, source, target) }
      // The memory read so far is free to go only now.
      sourceMemory = result
      source = UnsafePointer(target)
    }
    if last.resultCount > 0 { pass(last.resampling, source, y) }
    withExtendedLifetime(sourceMemory) {}
  }
}

extension TypeContext {
  /// The geometry of a Resize node whose input X is input `x`.
  func resizeGeometry(_ x: Int) throws -> ResizeGeometry {
    func valueIfPresent(_ index: Int) throws -> Tensor? { has(index) ? try value(index) : nil }
    return try ResizeGeometry(
      node, try shape(x), region: try valueIfPresent(x + 1), scales: try valueIfPresent(x + 2),
      sizes: try valueIfPresent(x + 3))
  }
}

extension KernelContext {
  /// The geometry of a Resize node whose input X is input `x`.
  func resizeGeometry(_ x: Int) throws -> ResizeGeometry {
    func valueIfPresent(_ index: Int) throws -> Tensor? { has(index) ? try input(index) : nil }
    return try ResizeGeometry(
      node, try input(x).shape, region: try valueIfPresent(x + 1),
      scales: try valueIfPresent(x + 2), sizes: try valueIfPresent(x + 3))
  }
}
