import GraftTensor

/// For every position of a resampled axis the source elements it reads, and their weights.
///
/// Resampling is a linear map; the table is the map along one axis, and its transpose the gradient.
struct SamplingTable {
  /// How many source elements every position reads; those not needed have weight 0.
  let taps: Int
  /// Source elements, `taps` for each position.
  private(set) var indices: [Int]
  private(set) var weights: [Double]
  /// Positions that read nothing because they lie outside the source.
  private(set) var isOutside: [Bool]

  var count: Int { isOutside.count }

  /// The table of an axis, with coordinates computed in float32 as ONNX Runtime does, so that
  /// positions halfway between two elements round alike.
  init(_ axis: ResizeGeometry.Axis, _ settings: ResizeSettings) {
    switch settings.mode {
    case .nearest:
      self.init(axis, settings, taps: 1) { x in
        [(Self.nearest(x, settings.nearestMode), 1)]
      }
    case .linear, .cubic:
      // An axis that becomes empty may have the scale 0.
      let isStretched = settings.antialias && axis.output > 0
      let stretch = isStretched ? Double(min(axis.scale, 1)) : 1
      let radius = (settings.mode == .linear ? 1 : 2) / stretch
      let taps = 2 * Int(radius.rounded(.up))
      self.init(axis, settings, taps: taps) { x in
        Self.neighbours(of: x, radius, taps, isNormalized: settings.antialias) { distance in
          settings.mode == .linear
            ? max(0, 1 - abs(distance * stretch))
            : Self.cubic(distance * stretch, Double(settings.cubicCoefficient))
        }
      }
    }
  }

  /// - Parameter neighbours: the elements to read at a coordinate, which may lie outside the
  ///   source, and their weights.
  private init(
    _ axis: ResizeGeometry.Axis, _ settings: ResizeSettings, taps: Int,
    _ neighbours: (Float) -> [(element: Int, weight: Double)]
  ) {
    self.taps = taps
    indices = [Int](repeating: 0, count: axis.output * taps)
    weights = [Double](repeating: 0, count: axis.output * taps)
    isOutside = [Bool](repeating: false, count: axis.output)
    for position in 0..<axis.output {
      let x = settings.coordinate(of: position, axis)
      if settings.transformation == .cropAndResize, !(x >= 0 && x <= Float(axis.input - 1)) {
        isOutside[position] = true
        continue
      }
      var found = neighbours(x)
      if settings.excludesOutside {
        found.removeAll { $0.element < 0 || $0.element >= axis.input }
        let total = found.reduce(0) { $0 + $1.weight }
        for index in found.indices where total != 0 { found[index].weight /= total }
      }
      for (tap, neighbour) in found.prefix(taps).enumerated() {
        indices[position * taps + tap] = max(0, min(axis.input - 1, neighbour.element))
        weights[position * taps + tap] = neighbour.weight
      }
    }
  }

  private static func nearest(_ x: Float, _ mode: ResizeSettings.NearestMode) -> Int {
    let below = x.rounded(.down)
    switch mode {
    case .floor: return Int(below)
    case .ceil: return Int(x.rounded(.up))
    case .roundPreferFloor: return Int(below) + (x - below > 0.5 ? 1 : 0)
    case .roundPreferCeil: return Int(below) + (x - below >= 0.5 ? 1 : 0)
    }
  }

  /// All elements closer than `radius`, `taps` at most.
  private static func neighbours(
    of x: Float, _ radius: Double, _ taps: Int, isNormalized: Bool, _ weight: (Double) -> Double
  ) -> [(element: Int, weight: Double)] {
    let x = Double(x)
    let first = Int((x - radius).rounded(.down)) + 1
    var found = (first..<first + taps).map { (element: $0, weight: weight(Double($0) - x)) }
    if isNormalized {
      let total = found.reduce(0) { $0 + $1.weight }
      for index in found.indices where total != 0 { found[index].weight /= total }
    }
    return found
  }

  /// The cubic convolution kernel of Keys (Cubic convolution interpolation for digital image
  /// processing, 1981).
  private static func cubic(_ distance: Double, _ a: Double) -> Double {
    let d = abs(distance)
    if d <= 1 { return ((a + 2) * d - (a + 3)) * d * d + 1 }
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0
  }
}
