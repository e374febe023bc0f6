import Foundation
import Graft
import GraftEngine

/// The steps of a plan as the command line shows them.
struct PlanListing {
  struct Step: Encodable {
    /// The node, or what is done between nodes.
    let place: String
    let kernel: String
    /// The nodes that are done along with it.
    let absorbed: [String]
    let inputLayouts: [String]
    let outputLayouts: [String]
    /// Bytes of its outputs.
    let bytes: Int
    /// Why an accelerated kernel was not taken.
    let declined: String?
    /// Milliseconds; nil when nothing was measured.
    let milliseconds: Double?

    enum CodingKeys: String, CodingKey {
      case place, kernel, absorbed, bytes, declined
      case inputLayouts = "input_layouts"
      case outputLayouts = "output_layouts"
      case milliseconds = "ms"
    }
  }

  let steps: [Step]

  init(_ steps: [StepListing]) { self.steps = steps.map { Self.step($0, nil) } }

  init(_ profile: [(step: StepListing, duration: Duration)]) {
    steps = profile.map { Self.step($0.step, $0.duration.milliseconds) }
  }

  private static func step(_ step: StepListing, _ milliseconds: Double?) -> Step {
    Step(
      place: step.place, kernel: step.kernel, absorbed: step.absorbed,
      inputLayouts: step.inputLayouts, outputLayouts: step.outputLayouts, bytes: step.byteCount,
      declined: step.declined, milliseconds: milliseconds)
  }

  func print(_ console: Console) {
    console.print("\nsteps:")
    for step in steps {
      let time = step.milliseconds.map { String(format: "%9.3f ms  ", $0) } ?? ""
      console.print("  \(time)\(step.place): \(step.kernel), \(step.bytes) bytes")
      let layouts = step.inputLayouts + ["->"] + step.outputLayouts
      if layouts.contains(where: { !["row-major", "-", "->"].contains($0) }) {
        console.print("    \(layouts.joined(separator: "  "))")
      }
      if !step.absorbed.isEmpty {
        console.print("    with \(step.absorbed.joined(separator: ", "))")
      }
      if let declined = step.declined { console.print("    \(declined)") }
    }
    let total = steps.compactMap(\.milliseconds).reduce(0, +)
    guard total > 0 else { return }
    console.print("\nby operator:")
    let byKind = Dictionary(grouping: steps) { step in
      "\(step.place.prefix { $0 != " " }) (\(step.kernel))"
    }
    let sums = byKind.mapValues { steps in
      (count: steps.count, time: steps.compactMap(\.milliseconds).reduce(0, +))
    }
    for (kind, sum) in sums.sorted(by: { ($0.value.time, $1.key) > ($1.value.time, $0.key) }) {
      console.print(
        String(format: "  %9.3f ms %5.1f %%  ", sum.time, 100 * sum.time / total)
          + "\(kind), \(sum.count) steps")
    }
  }
}
