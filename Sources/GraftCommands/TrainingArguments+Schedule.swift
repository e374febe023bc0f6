import Foundation
import Graft

extension TrainingArguments {
  static let scheduleOptions: [OptionSpecification] = [
    .value(
      "--schedule", "NAME",
      "constant (default), step, multi-step, exponential, cosine, linear or plateau",
      standard: "constant"),
    .value("--warmup-steps", "N", "updates over which the learning rate rises first, 0"),
    .value(
      "--schedule-steps", "N",
      "step: updates between two steps; cosine, linear: updates until the rate is lowest, by default "
        + "all after the warm-up"),
    .value("--schedule-milestones", "N,N,...", "multi-step: updates after which the rate changes"),
    .value(
      "--schedule-factor", "F",
      "step, multi-step, plateau: what the rate is multiplied by, 0.1; exponential: after every "
        + "update"),
    .value("--schedule-minimum", "F", "cosine, linear, plateau: lowest share of the rate, 0"),
    .value("--schedule-patience", "N", "plateau: epochs without a smaller loss that are borne, 10"),
    .value("--schedule-threshold", "T", "plateau: by what share a loss must be smaller, 1e-4"),
  ]

  private static let owners: KeyValuePairs<String, [String]> = [
    "--schedule-steps": ["step", "cosine", "linear"],
    "--schedule-milestones": ["multi-step"],
    "--schedule-factor": ["step", "multi-step", "exponential", "plateau"],
    "--schedule-minimum": ["cosine", "linear", "plateau"],
    "--schedule-patience": ["plateau"],
    "--schedule-threshold": ["plateau"],
  ]

  /// The schedule, behind the warm-up.
  ///
  /// - Parameter updates: of the whole run.
  static func schedule(_ arguments: Arguments, over updates: Int) throws -> LearningRateSchedule {
    let names = ["constant", "step", "multi-step", "exponential", "cosine", "linear", "plateau"]
    let name = try arguments.choice("--schedule", names) ?? "constant"
    try refuse(owners, of: "schedule", name, arguments)
    let warmUp = try arguments.int("--warmup-steps", in: 0...Int.max) ?? 0
    let schedule = try schedule(named: name, arguments, over: max(1, updates - warmUp))
    return warmUp > 0 ? .linearWarmUp(steps: warmUp, then: schedule) : schedule
  }

  private static func schedule(named name: String, _ arguments: Arguments, over updates: Int)
    throws -> LearningRateSchedule
  {
    let factor = try arguments.float(
      "--schedule-factor", name == "plateau" ? .belowOne : .notNegative)
    let minimum = try arguments.float("--schedule-minimum", .share) ?? 0
    let steps = try arguments.int("--schedule-steps")
    switch name {
    case "step":
      _ = try arguments.required("--schedule-steps")
      return .step(every: steps ?? updates, factor: factor ?? 0.1)
    case "multi-step":
      return .multiStep(after: try milestones(arguments), factor: factor ?? 0.1)
    case "exponential":
      _ = try arguments.required("--schedule-factor")
      return .exponential(factor: factor ?? 1)
    case "cosine": return .cosine(steps: steps ?? updates, minimum: minimum)
    case "linear": return .linear(steps: steps ?? updates, minimum: minimum)
    case "plateau":
      return .reduceOnPlateau(
        factor: factor ?? 0.1,
        patience: try arguments.int("--schedule-patience", in: 0...Int.max) ?? 10,
        threshold: try arguments.float("--schedule-threshold", .belowOne) ?? 1e-4, minimum: minimum)
    default: return .constant
    }
  }

  private static func milestones(_ arguments: Arguments) throws -> [Int] {
    let text = try arguments.required("--schedule-milestones")
    return try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      guard let step = Int(part.trimmingCharacters(in: .whitespaces)), step >= 1 else {
        throw UsageError(
          "'\(text)' is no value for '--schedule-milestones'",
          fix: "Give whole numbers, 1 or more, separated by commas")
      }
      return step
    }
  }
}
