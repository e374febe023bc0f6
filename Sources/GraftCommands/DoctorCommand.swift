import Foundation
import Graft
import GraftLearning

/// `graft doctor`: what is installed, what is missing and how to get it.
enum DoctorCommand: Command {
  static let specification = CommandSpecification(
    name: "doctor", summary: "Show what is installed and what is missing",
    example: "graft doctor")

  private struct Finding {
    let what: String
    let isPresent: Bool
    let use: String
    let fix: String
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let programs: [(name: String, use: String, fix: String)] = [
      ("ffmpeg", "reading and recording sound", "apt-get install ffmpeg"),
      ("python3", "fetching models (pip)", "apt-get install python3 python3-pip"),
      ("apt-get", "fetching Debian's voices", "use Debian, or give recordings with '--others'"),
      ("dpkg-deb", "unpacking Debian's voices", "use Debian, or give recordings with '--others'"),
    ]
    var findings = programs.map { program in
      Finding(
        what: program.name, isPresent: isInstalled(program.name), use: program.use,
        fix: program.fix)
    }
    findings.append(
      Finding(
        what: accelerationLibrary ?? "oneDNN", isPresent: accelerationLibrary != nil,
        use: "accelerated kernels", fix: "apt-get install libdnnl-dev, and build Graft again"))
    findings += ModelLibrary.entries.map { entry in
      Finding(
        what: "model \(entry.name)", isPresent: ModelLibrary.isPresent(entry.name), use: entry.use,
        fix: "graft models pull \(entry.name)")
    }
    console.print("\(CommandLineTool.version), \(availableThreads) cores")
    for finding in findings {
      console.print(
        "\(finding.isPresent ? "ok      " : "missing ") \(finding.what): \(finding.use)")
      if !finding.isPresent { console.print("         \(finding.fix)") }
    }
  }

  /// Whether a program lies in one of PATH's folders.
  private static func isInstalled(_ program: String) -> Bool {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
  }
}
