import Foundation
import GraftDiagnostics

/// Pictures or recordings in one folder for each label.
///
/// - The folders directly inside are the labels, sorted by name.
/// - A label's files are those in its folder and in folders within, sorted by path.
/// - Symbolic links are followed; a folder that is reached twice is read once.
/// - Hidden files and folders, files that are no media by their ending, files beside the label
///   folders and label folders without media are left out; `notes` says so.
public struct LabeledFolder: Sendable {
  /// What is looked for.
  public enum Media: String, Sendable, CaseIterable {
    case pictures
    case recordings

    /// The endings of files, in small letters.
    var endings: Set<String> {
      switch self {
      case .pictures:
        [
          "jpg", "jpeg", "jpe", "jfif", "png", "gif", "bmp", "webp", "tif", "tiff", "ppm", "pgm",
          "pbm", "pnm", "heic", "heif", "avif",
        ]
      case .recordings:
        [
          "wav", "flac", "mp3", "ogg", "oga", "opus", "m4a", "aac", "aif", "aiff", "au", "caf",
          "wma", "mka", "g722", "mp4", "mov", "mkv", "webm",
        ]
      }
    }
  }

  /// A file and the place of its label.
  public struct File: Sendable, Equatable {
    public let url: URL
    public let label: Int
  }

  public let url: URL
  public let media: Media
  /// The names of the classes, sorted.
  public let labels: [String]
  /// Label by label, each sorted by path.
  public private(set) var files: [File]
  /// What was left out, one sentence each; empty when nothing was.
  public private(set) var notes: [String]

  /// Looks through a folder; nothing is decoded.
  ///
  /// - Parameter labels: the labels and their order when they are known, for examples to test with:
  ///   a folder of another name is an error, and a label may be without files. Those found when nil;
  ///   there must be two then.
  /// - Throws: `notFound`, `inputOutput`; `badData` when there is no labelled file, only one label, or
  ///   a label that is not in `labels`.
  public init(_ url: URL, media: Media, labels known: [String]? = nil) throws {
    var scan = FolderScan(endings: media.endings)
    let found = try locating(url.path) { try scan.labels(in: url) }
    let names = known ?? found.map(\.name)
    let files = try locating(url.path) {
      try found.flatMap { label in
        guard let number = names.firstIndex(of: label.name) else {
          throw GraftError(
            .badData, "there is no label '\(label.name)'",
            fix: "Use the labels of the training examples: \(names.joined(separator: ", "))")
        }
        return label.files.map { File(url: $0, label: number) }
      }
    }
    guard !files.isEmpty else {
      throw GraftError(
        .badData, "there are no \(media.rawValue) in folders named by their labels",
        at: [url.path],
        fix: "Make one folder for each label, and put its \(media.rawValue) in")
    }
    guard known != nil || names.count > 1 else {
      throw GraftError(
        .badData, "'\(names[0])' is the only label", at: [url.path],
        fix: "Add a folder with \(media.rawValue) of something else")
    }
    self.url = url
    self.media = media
    self.labels = names
    self.files = files
    notes = scan.notes
  }

  /// Examples to train on and to test with: the folders `train` and `test` inside `url`, or `training`
  /// and `testing`, `Training Data` and `Testing Data`, in any case. Without such a pair, `url` itself
  /// to train on and nothing to test with.
  ///
  /// Both have the labels of the training folder.
  ///
  /// - Throws: as `init`; `badData` when only one of both is there beside no other folder.
  public static func pair(_ url: URL, media: Media) throws -> (
    training: LabeledFolder, testing: LabeledFolder?
  ) {
    let folders = try locating(url.path) { try FolderScan.folders(in: url) }
    func folder(_ names: [String]) -> URL? {
      folders.first { names.contains($0.lastPathComponent.lowercased()) }
    }
    let train = folder(["train", "training", "training data"])
    let test = folder(["test", "testing", "testing data"])
    guard let train, let test else {
      guard let one = train ?? test, folders.count == 1 else {
        return (try LabeledFolder(url, media: media), nil)
      }
      throw GraftError(
        .badData, "there is a folder '\(one.lastPathComponent)' and none beside it",
        at: [url.path],
        fix: "Name that folder itself, or put 'train' and 'test' beside each other")
    }
    let training = try LabeledFolder(train, media: media)
    return (training, try LabeledFolder(test, media: media, labels: training.labels))
  }

  /// How many files each label has.
  public var counts: [Int] {
    files.reduce(into: [Int](repeating: 0, count: labels.count)) { $0[$1.label] += 1 }
  }

  /// The same without some files.
  ///
  /// - Parameter reasons: why, by the file's place in `files`.
  /// - Throws: `badData` when nothing is left.
  func leavingOut(_ reasons: [Int: any Error]) throws -> LabeledFolder {
    var rest = self
    rest.files = files.indices.filter { reasons[$0] == nil }.map { files[$0] }
    rest.notes += reasons.sorted { $0.key < $1.key }.map { "left out: \($0.value)" }
    guard !rest.files.isEmpty else {
      throw GraftError(
        .badData, "none of the \(files.count) files can be used", at: [url.path],
        cause: reasons.min { $0.key < $1.key }?.value)
    }
    return rest
  }
}
