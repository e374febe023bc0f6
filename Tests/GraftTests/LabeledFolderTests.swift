import Foundation
import GraftMedia
import GraftTestSupport
import Testing

@testable import Graft

struct LabeledFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let hasFFmpeg =
    (try? ChildProcess("ffmpeg", ["-version"]).run().status == 0) ?? false

  /// Writes a file, a small picture by default.
  private func put(_ path: String, _ bytes: Data? = nil) throws {
    let url = folder.url.appending(path: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let picture = SharedData.project.appending(path: "Tests/Pictures/color420.jpg")
    try (bytes ?? Data(contentsOf: picture)).write(to: url)
  }

  private func names(_ labeled: LabeledFolder) -> [String] {
    labeled.files.map { file in
      "\(file.label) " + file.url.path.dropFirst(folder.url.path.count + 1)
    }
  }

  // MARK: Folders

  @Test func `labels and files are sorted, folders within count, what is of no use is noted`()
    throws
  {
    for path in [
      "b/2.jpg", "b/1.JPG", "b/deeper/0.png", "a/x.jpeg", "a/.hidden.jpg", ".git/y.jpg",
      "a/read me.txt", "loose.jpg", "none/notes.md",
    ] { try put(path) }
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "empty"), withIntermediateDirectories: true)
    let labeled = try LabeledFolder(folder.url, media: .pictures)
    #expect(labeled.labels == ["a", "b"])
    #expect(names(labeled) == ["0 a/x.jpeg", "1 b/1.JPG", "1 b/2.jpg", "1 b/deeper/0.png"])
    #expect(labeled.counts == [1, 3])
    for word in ["loose.jpg", "read me.txt", "notes.md", "empty", "none: no label", "1 hidden"] {
      #expect(labeled.notes.contains { $0.contains(word) }, "\(word) in \(labeled.notes)")
    }
    #expect(labeled.notes.count == 7)
  }

  @Test func `links are followed, and circles end`() throws {
    try put("a/1.jpg")
    try put("b/1.jpg")
    let files = FileManager.default
    try files.createSymbolicLink(
      at: folder.url.appending(path: "b/2.jpg"),
      withDestinationURL: folder.url.appending(path: "a/1.jpg"))
    try files.createSymbolicLink(
      at: folder.url.appending(path: "b/circle"), withDestinationURL: folder.url)
    try files.createSymbolicLink(
      at: folder.url.appending(path: "a/to b"),
      withDestinationURL: folder.url.appending(path: "b"))
    try put("elsewhere of c/c.jpg")
    try files.moveItem(
      at: folder.url.appending(path: "elsewhere of c"),
      to: folder.url.deletingLastPathComponent().appending(
        path: folder.url.lastPathComponent + "-c"))
    let outside = URL(fileURLWithPath: folder.url.path + "-c")
    defer { try? files.removeItem(at: outside) }
    try files.createSymbolicLink(
      at: folder.url.appending(path: "c"), withDestinationURL: outside)
    let labeled = try LabeledFolder(folder.url, media: .pictures)
    #expect(names(labeled) == ["0 a/1.jpg", "1 b/1.jpg", "1 b/2.jpg", "2 c/c.jpg"])
    #expect(labeled.notes.contains { $0.contains("circle: left out") })
  }

  @Test func `folders that cannot be used are errors`() throws {
    expectError(.badData, "there are no pictures") {
      _ = try LabeledFolder(folder.url, media: .pictures)
    }
    try put("a/1.jpg")
    expectError(.badData, "'a' is the only label") {
      _ = try LabeledFolder(folder.url, media: .pictures)
    }
    expectError(.badData, "there are no recordings") {
      _ = try LabeledFolder(folder.url, media: .recordings)
    }
    expectError(.badData, "this is a file") {
      _ = try LabeledFolder(folder.url.appending(path: "a/1.jpg"), media: .pictures)
    }
    expectError(.notFound, "there is no such folder") {
      _ = try LabeledFolder(folder.url.appending(path: "missing"), media: .pictures)
    }
    expectError(.badData, "there is no label 'a'") {
      _ = try LabeledFolder(folder.url, media: .pictures, labels: ["b", "c"])
    }
    let known = try LabeledFolder(folder.url, media: .pictures, labels: ["0", "a"])
    #expect(known.labels == ["0", "a"] && known.counts == [0, 1])
  }

  @Test(arguments: [("train", "test"), ("Training Data", "Testing Data"), ("TRAINING", "Testing")])
  func `a pair of folders trains and tests`(train: String, test: String) throws {
    for path in ["\(train)/a/1.jpg", "\(train)/b/1.jpg", "\(test)/b/2.jpg"] { try put(path) }
    let (training, testing) = try LabeledFolder.pair(folder.url, media: .pictures)
    #expect(names(training) == ["0 \(train)/a/1.jpg", "1 \(train)/b/1.jpg"])
    #expect(testing.map(names) == ["1 \(test)/b/2.jpg"])
    #expect(testing?.labels == ["a", "b"])
  }

  @Test func `a folder without a pair is the training`() throws {
    for path in ["a/1.jpg", "b/1.jpg"] { try put(path) }
    let (training, testing) = try LabeledFolder.pair(folder.url, media: .pictures)
    #expect(training.labels == ["a", "b"] && testing == nil)
    // 'train' may be a label like any other.
    try put("train/1.jpg")
    #expect(
      try LabeledFolder.pair(folder.url, media: .pictures).training.labels == ["a", "b", "train"])
  }

  @Test func `half of a pair is an error`() throws {
    for path in ["train/a/1.jpg", "train/b/1.jpg"] { try put(path) }
    expectError(.badData, "there is a folder 'train' and none beside it") {
      _ = try LabeledFolder.pair(folder.url, media: .pictures)
    }
  }

  // MARK: Examples

  @Test(.enabled(if: hasFFmpeg))
  func `pictures are decoded when needed, and one that is broken is named or left out`() throws {
    for path in ["a/1.jpg", "a/2.jpg", "b/1.jpg"] { try put(path) }
    try put("b/broken.jpg", Data("not a picture".utf8))
    let labeled = try LabeledFolder(folder.url, media: .pictures)
    let preprocessing = PicturePreprocessing.imageNet(size: 16)
    let set = try labeled.pictureExamples(input: "x", preprocessing: preprocessing)
    #expect(set.labels == ["a", "b"] && set.count == 4)
    #expect(try set.targets.values() == [0, 0, 1, 1] as [Int64])
    #expect(try set.load(rows: [2, 0])["x"]?.shape == [2, 3, 16, 16])
    expectError(.badData, "b/broken.jpg: the file is no picture") { _ = try set.load(row: 3) }
    let whole = try labeled.skippingUnreadable()
    #expect(names(whole) == ["0 a/1.jpg", "0 a/2.jpg", "1 b/1.jpg"])
    #expect(whole.notes.contains { $0.contains("broken.jpg") })
    expectError(.invalidArgument, "read for pictures") {
      _ = try labeled.recordingExamples(input: "x", preprocessing: .init(seconds: 1))
    }
  }

  @Test(.enabled(if: hasFFmpeg))
  func `augmented pictures repeat by variant, and variant 0 is the picture`() throws {
    for path in ["a/1.jpg", "b/1.jpg"] { try put(path) }
    let labeled = try LabeledFolder(folder.url, media: .pictures)
    let preprocessing = PicturePreprocessing(width: 8, height: 8)
    func values(_ seed: UInt64?) throws -> [[Float]] {
      let set = try labeled.pictureExamples(
        input: "x", preprocessing: preprocessing, augmentation: seed == nil ? nil : .photographs,
        variants: try seed.map { try ExampleVariants(seed: $0) })
      return try (0..<3).map { try set.load(row: 1, variant: $0)["x"]?.values() ?? [] }
    }
    let (plain, changed) = (try values(nil), try values(5))
    #expect(plain[0] == plain[2] && changed[0] == plain[0])
    #expect(Set(changed).count == 3)
    #expect(try values(5) == changed)
    #expect(try values(6)[1...] != changed[1...])
  }

  @Test(.enabled(if: SharedData.isPresent && hasFFmpeg, SharedData.reason))
  func `real pictures in a pair of folders`() throws {
    let url = URL(fileURLWithPath: SharedData.path("data/gestures"))
    let (training, testing) = try LabeledFolder.pair(url, media: .pictures)
    #expect(training.labels == ["paper", "rock", "scissors"])
    #expect(training.counts == [10, 10, 10] && testing?.counts == [5, 5, 5])
    #expect(training.notes.isEmpty)
    let set = try training.pictureExamples(input: "x", preprocessing: .imageNet())
    #expect(try set.load(rows: [0, 29])["x"]?.shape == [2, 3, 224, 224])
    let (_, validation) = try set.split(validation: 0.2, seed: 1)
    #expect(try validation.targets.values() == [0, 0, 1, 1, 2, 2] as [Int64])
    let animals = try LabeledFolder(
      URL(fileURLWithPath: SharedData.path("data/animals")), media: .pictures)
    #expect(animals.labels == ["cat", "cow", "dog", "elephant"])
    #expect(animals.counts == [20, 20, 20, 20])
  }

  @Test(.enabled(if: SharedData.isPresent && hasFFmpeg, SharedData.reason))
  func `real recordings become examples of one length`() throws {
    let speech = try LabeledFolder(
      URL(fileURLWithPath: SharedData.path("data/speech")), media: .recordings)
    #expect(speech.labels.count == 8 && speech.counts == [Int](repeating: 10, count: 8))
    let digits = try LabeledFolder(
      URL(fileURLWithPath: SharedData.path("data/digits")), media: .recordings)
    #expect(digits.labels == ["george", "jackson", "nicolas", "yweweler"])
    let set = try digits.recordingExamples(
      input: "x", preprocessing: .init(sampleRate: 8_000, seconds: 1), augmentation: .sounds,
      variants: try ExampleVariants(seed: 1))
    let plain: [Float] = try #require(try set.load(row: 0)["x"]).values()
    #expect(plain.count == 8_000 && plain.suffix(100).allSatisfy { $0 == 0 })
    let changed: [Float] = try #require(try set.load(row: 0, variant: 3)["x"]).values()
    #expect(changed.count == 8_000 && changed != plain)
    #expect(try set.load(row: 0, variant: 3)["x"]?.values() == changed)
    expectError(.invalidArgument, "make no recording") {
      _ = try digits.recordingExamples(input: "x", preprocessing: .init(seconds: 0))
    }
  }
}
