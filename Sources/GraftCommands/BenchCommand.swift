import Foundation
import Graft
import GraftGraph

/// `graft bench`: how long a model takes.
enum BenchCommand: Command {
  static let specification = CommandSpecification(
    name: "bench", summary: "Measure how fast a model runs",
    positionals: "MODEL", positionalCount: 1...1,
    options: [
      .repeated("--shape", "NAME=D,D,...", "the shape of an input"),
      .value("--batch", "N", "size of open first dimensions, 1"),
      .value("--threads", "N", "threads; all cores by default"),
      .value("--runs", "N", "measured runs, 10"),
      .value("--warmup", "N", "runs before, 2"),
      .repeated("--output", "NAME", "a value to compute; all outputs by default"),
      .flag("--json", "print JSON"),
    ],
    example: "graft bench mobilenet_v2.onnx --runs 20")

  struct Report: Encodable {
    /// Milliseconds of one run.
    let minimum: Double
    let median: Double
    let maximum: Double
    /// Milliseconds to open the model and make it ready.
    let load: Double
    /// The most memory the process has had, in megabytes.
    let peakMemory: Double

    enum CodingKeys: String, CodingKey {
      case minimum = "min_ms"
      case median = "median_ms"
      case maximum = "max_ms"
      case load = "load_ms"
      case peakMemory = "peak_rss_mb"
    }
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let path = arguments.positionals[0]
    let runs = try arguments.int("--runs") ?? 10
    let warmups = try arguments.int("--warmup", in: 0...Int.max) ?? 2
    let batch = try arguments.int("--batch") ?? 1
    let shapes = try shapes(arguments.all("--shape"))
    let names = arguments.all("--output")
    let clock = ContinuousClock()
    let start = clock.now
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    let threads = try arguments.int("--threads")
    let session = try locating(path) {
      try InferenceSession(model, outputs: names.isEmpty ? nil : names, threads: threads)
    }
    let load = clock.now - start
    let tensors = try locating(path) { try inputs(of: model, shapes, batch: batch) }
    var times: [Double] = []
    for index in 0..<warmups + runs {
      let time = try clock.measure { _ = try session.run(tensors) }
      if index >= warmups { times.append(time.milliseconds) }
    }
    times.sort()
    let report = Report(
      minimum: times[0], median: median(times), maximum: times[times.count - 1],
      load: load.milliseconds, peakMemory: peakMemory)
    if arguments.has("--json") { return try console.print(json: report) }
    console.print(
      String(
        format: "min %.2f ms, median %.2f ms, max %.2f ms, load %.1f ms, peak memory %.0f MB",
        report.minimum, report.median, report.maximum, report.load, report.peakMemory))
  }

  private static func median(_ sorted: [Double]) -> Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  private static func shapes(_ texts: [String]) throws -> [String: Shape] {
    var shapes: [String: Shape] = [:]
    for text in texts {
      guard let sign = text.lastIndex(of: "=") else {
        throw UsageError("'\(text)' is no shape", fix: "Write it as in '--shape input=1,3,224,224'")
      }
      let sizes = text[text.index(after: sign)...].split(separator: ",").map { Int($0) }
      guard !sizes.isEmpty, sizes.allSatisfy({ ($0 ?? -1) >= 0 }) else {
        throw UsageError("'\(text)' is no shape", fix: "Write it as in '--shape input=1,3,224,224'")
      }
      shapes[String(text[..<sign])] = Shape(sizes.compactMap { $0 })
    }
    return shapes
  }

  private static func inputs(of model: Model, _ shapes: [String: Shape], batch: Int) throws
    -> [String: Tensor]
  {
    let names = model.inputs.map(\.name)
    if let unknown = shapes.keys.first(where: { !names.contains($0) }) {
      throw GraftError(
        .invalidArgument, "the model has no input '\(unknown)'",
        fix: didYouMean(unknown, among: names) ?? "Choose one of: \(names.joined(separator: ", "))")
    }
    var tensors: [String: Tensor] = [:]
    for feature in model.inputs {
      guard case .tensor(let type, let dimensions) = feature.type else {
        throw GraftError(.unsupported, "the input '\(feature.name)' is no tensor")
      }
      let shape = try shapes[feature.name] ?? openShape(feature.name, dimensions, batch)
      tensors[feature.name] = try values(type, shape)
    }
    return tensors
  }

  private static func openShape(_ name: String, _ dimensions: [FeatureDimension]?, _ batch: Int)
    throws
    -> Shape
  {
    let sizes = dimensions?.enumerated().map { axis, dimension -> Int? in
      if case .fixed(let size) = dimension { size } else { axis == 0 ? batch : nil }
    }
    guard let sizes, sizes.allSatisfy({ $0 != nil }) else {
      throw GraftError(
        .invalidArgument, "the shape of the input '\(name)' is open",
        fix: "Give it with '--shape \(name)=...'")
    }
    return Shape(sizes.compactMap { $0 })
  }

  /// Fixed values like those of real inputs: between -1 and 1, or 0 and 1 for integers.
  private static func values(_ type: ElementType, _ shape: Shape) throws -> Tensor {
    var generator = SeededGenerator(seed: 1)
    let count = try shape.checkedElementCount()
    switch type {
    case .float32:
      return try Tensor((0..<count).map { _ in Float(generator.uniform() * 2 - 1) }, shape: shape)
    case .float64:
      return try Tensor((0..<count).map { _ in generator.uniform() * 2 - 1 }, shape: shape)
    case .int64:
      return try Tensor((0..<count).map { _ in Int64(generator.next() & 1) }, shape: shape)
    case .int32:
      return try Tensor((0..<count).map { _ in Int32(generator.next() & 1) }, shape: shape)
    default: return try Tensor(zeros: shape, type)
    }
  }

  /// The most memory the process has had, in megabytes (1e6 bytes).
  private static var peakMemory: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #if os(Linux)
      return Double(usage.ru_maxrss) * 1024 / 1e6
    #else
      return Double(usage.ru_maxrss) / 1e6
    #endif
  }
}

extension Duration {
  var milliseconds: Double {
    Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
  }
}
