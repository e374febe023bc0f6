import Foundation
import GraftDiagnostics
import GraftMedia

/// Real voices that Debian ships: the prompts of the Asterisk telephone system, 16 kHz G.722.
///
/// Prompts are joined to recordings of about ten seconds. English and Spanish are spoken by Allison,
/// French by June, Italian by Carlo, Russian by a fourth speaker.
public enum DebianVoices {
  private static let languages = ["en", "es", "fr", "it", "ru"]
  /// Bytes of a second of G.722 sound.
  private static let byteRate = 8000
  private static let recordingLength = 10 * byteRate

  /// Downloads and unpacks what is missing.
  ///
  /// - Throws: `externalProgram` when apt-get or dpkg-deb is missing or fails.
  public static func fetch() throws {
    for language in languages where !FileManager.default.fileExists(atPath: folder(language)) {
      try fetch(language)
    }
  }

  /// One speaker for each voice, each with recordings of about ten seconds: the default "others" of
  /// voice training.
  public static func speakers(recordingsEach count: Int = 5) throws -> [VoiceTrainer.Speaker] {
    try fetch()
    return try [("Allison", "en"), ("June", "fr"), ("Carlo", "it"), ("Russian", "ru")].map {
      VoiceTrainer.Speaker(name: $0, recordings: try recordings($1, count: count))
    }
  }

  /// The first recordings of a language.
  ///
  /// - Parameter language: en, es, fr, it or ru.
  /// - Throws: `notFound` when the voices are not there, `badData` when there are too few.
  public static func recordings(_ language: String, count: Int) throws -> [Recording] {
    let groups = try groups(of: language).prefix(count)
    guard groups.count == count else {
      throw GraftError(
        .badData, "there are only \(groups.count) recordings, not \(count)", at: [folder(language)])
    }
    return try groups.enumerated().map { index, prompts in
      try AudioDecoder().decode(joining: prompts, name: "\(language)-\(index + 1)")
    }
  }

  /// Prompts of 2 to 10 seconds in the order of their names, together at least ten seconds long.
  private static func groups(of language: String) throws -> [[URL]] {
    let root = URL(fileURLWithPath: folder(language))
    guard
      let files = try? FileManager.default.contentsOfDirectory(
        at: root, includingPropertiesForKeys: [.fileSizeKey])
    else {
      throw GraftError(
        .notFound, "the voices are not there", at: [root.path], fix: "Run 'graft demo' once")
    }
    var groups: [[URL]] = []
    var current: [URL] = []
    var length = 0
    for file in files.sorted(by: { $0.lastPathComponent < $1.lastPathComponent })
    where isSpeech(file) {
      let size = (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
      guard size >= 2 * byteRate, size <= recordingLength else { continue }
      current.append(file)
      length += size
      if length >= recordingLength {
        groups.append(current)
        current = []
        length = 0
      }
    }
    return groups
  }

  /// Tones and sound effects are no speech, and the conference prompts are from another session.
  private static func isSpeech(_ file: URL) -> Bool {
    let name = file.deletingPathExtension().lastPathComponent
    let others = ["confbridge-", "tt-", "beep", "astcc", "ascending", "descending"]
    return file.pathExtension == "g722" && !others.contains(where: name.hasPrefix)
  }

  private static func folder(_ language: String) -> String {
    CacheFolder.url.appending(path: "voices/\(language)").path
  }

  private static func fetch(_ language: String) throws {
    let package = "asterisk-core-sounds-\(language)-g722"
    let parent = CacheFolder.url.appending(path: "voices")
    let work = parent.appending(path: ".\(UUID().uuidString)")
    let manager = FileManager.default
    do {
      try manager.createDirectory(at: work, withIntermediateDirectories: true)
    } catch {
      throw GraftError(.inputOutput, "the folder cannot be made", at: [work.path], cause: error)
    }
    defer { try? manager.removeItem(at: work) }
    try run(download, [work.path, package], "download '\(package)'")
    try run(unpack, [work.path], "unpack '\(package)'")
    let sounds = work.appending(path: "root/usr/share/asterisk/sounds")
    let unpacked = try? manager.contentsOfDirectory(at: sounds, includingPropertiesForKeys: nil)
    guard let first = unpacked?.first else {
      throw GraftError(.damaged, "the package '\(package)' holds no sounds")
    }
    let copyright = work.appending(path: "root/usr/share/doc/\(package)/copyright")
    try? manager.copyItem(at: copyright, to: first.appending(path: "copyright"))
    do {
      try manager.moveItem(at: first, to: URL(fileURLWithPath: folder(language)))
    } catch {
      throw GraftError(
        .inputOutput, "the voices cannot be put in place", at: [folder(language)], cause: error)
    }
  }

  /// On a fresh machine there are no package lists yet.
  private static let download = """
    cd "$0" && { apt-get -qq download "$1" || { apt-get -qq update; apt-get -qq download "$1"; }; }
    """
  private static let unpack = "cd \"$0\" && dpkg-deb -x ./*.deb root"

  private static func run(_ script: String, _ arguments: [String], _ purpose: String) throws {
    let ending = try ChildProcess("sh", ["-c", script] + arguments).run()
    guard ending.status == 0 else {
      throw GraftError(
        .externalProgram,
        "apt-get and dpkg-deb could not \(purpose)"
          + (ending.messages.last.map { ": \($0)" } ?? ""),
        fix: "Check the network and Debian's package sources, or give recordings of your own")
    }
  }
}
