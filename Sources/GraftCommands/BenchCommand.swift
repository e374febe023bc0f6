import Foundation
import Graft
import GraftGraph

/// `graft bench`: how long a model takes.
enum BenchCommand: Command {
  static let specification = CommandSpecification(
    name: "bench", summary: "Measure how fast a model runs",
    positionals: "MODEL", positionalCount: 1...1,
    options: SampleInputs.options + [
      .value("--threads", "N", "threads; all cores by default"),
      .value("--runs", "N", "measured runs, 10"),
      .value("--warmup", "N", "runs before, 2"),
      .repeated("--output", "NAME", "a value to compute; all outputs by default"),
      ArithmeticOption.specification,
      .flag("--profile", "also show where the time goes: by step and by operator"),
      .flag("--json", "print JSON"),
    ],
    example: "graft bench mobilenet_v2.onnx --runs 20 --profile")

  struct Report: Encodable {
    /// Milliseconds of one run.
    let minimum: Double
    let median: Double
    let maximum: Double
    /// Milliseconds to open the model and make it ready.
    let load: Double
    /// The most memory the process has had, in megabytes.
    let peakMemory: Double
    /// With '--profile', the steps with their times.
    var steps: [PlanListing.Step]?

    enum CodingKeys: String, CodingKey {
      case minimum = "min_ms"
      case median = "median_ms"
      case maximum = "max_ms"
      case load = "load_ms"
      case peakMemory = "peak_rss_mb"
      case steps
    }
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let path = arguments.positionals[0]
    let runs = try arguments.int("--runs", in: 1...mostRuns) ?? 10
    let warmups = try arguments.int("--warmup", in: 0...mostRuns) ?? 2
    let threads = try arguments.threads()
    let sampleInputs = try SampleInputs(arguments)
    var files = CallFiles()
    try files.read(path, "the model")
    let names = arguments.all("--output")
    let clock = ContinuousClock()
    let start = clock.now
    let model = try Model(contentsOf: URL(fileURLWithPath: path), arithmetic: arguments.arithmetic)
    let session = try locating(path) {
      try InferenceSession(model, outputs: names.isEmpty ? nil : names, threads: threads)
    }
    let load = clock.now - start
    let tensors = try locating(path) { try sampleInputs.tensors(of: model) }
    var times: [Double] = []
    for index in 0..<warmups + runs {
      let time = try clock.measure { _ = try session.run(tensors) }
      if index >= warmups { times.append(time.milliseconds) }
    }
    times.sort()
    var report = Report(
      minimum: times[0], median: median(times), maximum: times[times.count - 1],
      load: load.milliseconds, peakMemory: peakMemory)
    let listing =
      arguments.has("--profile")
      ? PlanListing(try locating(path) { try session.profile(tensors, runs: runs) }) : nil
    report.steps = listing?.steps
    if arguments.has("--json") { return try console.print(json: report) }
    console.print(
      String(
        format: "min %.2f ms, median %.2f ms, max %.2f ms, load %.1f ms, peak memory %.0f MB",
        report.minimum, report.median, report.maximum, report.load, report.peakMemory))
    listing?.print(console)
  }

  private static let mostRuns = 1_000_000

  private static func median(_ sorted: [Double]) -> Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
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
