import Foundation
import GraftDiagnostics
import GraftTestSupport
import Testing

@testable import GraftMedia

@Suite(.enabled(if: SoundFiles.isInstalled, SoundFiles.reason))
struct VideoTests {
  private let files: SoundFiles

  init() throws { files = try SoundFiles() }

  /// Two seconds in which a whole picture is red, then green.
  private func twoColors(_ name: String = "two.mp4", sound: Bool = false) throws -> URL {
    try files.make(
      name,
      [
        "-f", "lavfi", "-i", "color=red:size=64x48:rate=10:duration=1",
        "-f", "lavfi", "-i", "color=green:size=64x48:rate=10:duration=1",
      ] + (sound ? ["-f", "lavfi", "-i", "sine=duration=2"] : []) + [
        "-filter_complex", "[0:v][1:v]concat=n=2:v=1:a=0[v]", "-map", "[v]",
      ] + (sound ? ["-map", "2:a"] : []) + ["-pix_fmt", "yuv420p"])
  }

  private func all(_ frames: VideoFrames) throws -> [VideoFrame] {
    var all: [VideoFrame] = []
    while let frame = try frames.next() { all.append(frame) }
    return all
  }

  private func isRed(_ picture: Picture) -> Bool {
    picture.pixels[0] > 150 && picture.pixels[1] < 80
  }

  @Test func `a video tells its sides, rate, length and sound`() throws {
    let silent = try VideoInformation(contentsOf: twoColors())
    #expect(silent.width == 64 && silent.height == 48)
    #expect(silent.framesPerSecond == 10)
    #expect(silent.duration == .seconds(2))
    #expect(!silent.hasSound)
    #expect(try VideoInformation(contentsOf: twoColors("s.mkv", sound: true)).hasSound)
  }

  @Test func `all pictures come in order`() throws {
    let frames = try all(Video(contentsOf: twoColors()).frames())
    #expect(frames.map(\.index) == Array(0..<20))
    #expect(frames.allSatisfy { $0.picture.width == 64 && $0.picture.height == 48 })
    #expect(frames.map { isRed($0.picture) } == (0..<20).map { $0 < 10 })
  }

  @Test(arguments: [(5.0, 10), (20, 40), (2.5, 5)])
  func `another rate leaves out or repeats pictures`(rate: Double, count: Int) throws {
    let frames = try all(Video(contentsOf: twoColors()).frames(framesPerSecond: rate))
    #expect(abs(frames.count - count) <= 1)
    #expect(abs(frames.count(where: { isRed($0.picture) }) - count / 2) <= 1)
    expectError(.invalidArgument, "no frame rate") {
      _ = try Video(contentsOf: twoColors()).frames(framesPerSecond: 0)
    }
  }

  @Test func `a turned video is upright`() throws {
    let stored = try twoColors()
    let turned = try files.make(
      "turned.mp4",
      ["-i", stored.path, "-c", "copy", "-metadata:s:v:0", "rotate=90"])
    let frame = try #require(try Video(contentsOf: turned).frames().next())
    #expect(frame.picture.width == 48 && frame.picture.height == 64)
  }

  @Test func `letting go of a video early ends its program`() throws {
    let video = try files.make(
      "long.mp4",
      ["-f", "lavfi", "-i", "testsrc=duration=60:size=64x64:rate=25", "-pix_fmt", "yuv420p"])
    for _ in 0..<3 {
      let frames = try Video(contentsOf: video).frames()
      #expect(try frames.next()?.index == 0)
    }
  }

  @Test func `files that are no videos are errors`() throws {
    try Data("nothing".utf8).write(to: files.url("text.mp4"))
    expectError(.badData, "cannot be read as a video") {
      _ = try Video(contentsOf: files.url("text.mp4"))
    }
    expectError(.badData, "holds no moving pictures") {
      _ = try Video(contentsOf: files.make("tone.m4a", SoundFiles.tone))
    }
    expectError(.notFound, "no such file") { _ = try Video(contentsOf: files.url("none.mp4")) }
    let whole = try Data(contentsOf: twoColors("whole.mkv"))
    try whole.prefix(whole.count / 2).write(to: files.url("half.mkv"))
    // What is there of a video that is cut off is shown.
    #expect(throws: Never.self) { _ = try all(Video(contentsOf: files.url("half.mkv")).frames()) }
  }

  // MARK: Writing

  @Test(arguments: ["out.mp4", "out.mkv", "out.mov"])
  func `pictures become a video`(name: String) throws {
    let url = files.url(name)
    // Odd sides become even ones.
    let writer = try VideoWriter(to: url, width: 63, height: 47, framesPerSecond: 12.5)
    for index in 0..<25 {
      let color: [UInt8] = index < 10 ? [220, 20, 20] : [20, 20, 220]
      try writer.append(
        try Picture(
          width: 63, height: 47, pixels: (0..<63 * 47).flatMap { _ in color }))
    }
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try writer.finish()
    try writer.finish()
    let video = try Video(contentsOf: url)
    #expect(video.information.width == 64 && video.information.height == 48)
    #expect(abs(video.information.framesPerSecond - 12.5) < 0.1)
    let frames = try all(video.frames())
    #expect(frames.count == 25)
    #expect(frames.map { isRed($0.picture) } == (0..<25).map { $0 < 10 })
    #expect(try FileManager.default.contentsOfDirectory(atPath: files.folder.url.path) == [name])
  }

  @Test func `sound is taken along as long as the pictures last`() throws {
    let source = try twoColors("sound.mp4", sound: true)
    let url = files.url("copy.mp4")
    let writer = try VideoWriter(
      to: url, width: 64, height: 48, framesPerSecond: 10, sound: source)
    let video = try Video(contentsOf: source)
    for frame in try all(video.frames()).prefix(12) { try writer.append(frame.picture) }
    try writer.finish()
    let copy = try VideoInformation(contentsOf: url)
    #expect(copy.hasSound)
    #expect(try #require(copy.duration) < .seconds(1.6))
  }

  @Test func `what cannot become a video is an error, and nothing is left`() throws {
    expectError(.invalidArgument, "not as '.gif'") {
      _ = try VideoWriter(to: files.url("a.gif"), width: 4, height: 4, framesPerSecond: 10)
    }
    expectError(.invalidArgument, "0 x 4 pixels") {
      _ = try VideoWriter(to: files.url("a.mp4"), width: 0, height: 4, framesPerSecond: 10)
    }
    let picture = try Picture(width: 4, height: 4, pixels: [UInt8](repeating: 0, count: 48))
    do {
      let writer = try VideoWriter(
        to: files.url("a.mp4"), width: 4, height: 6, framesPerSecond: 10)
      expectError(.shapeMismatch, "4 x 4 does not fit into a video of 4 x 6") {
        try writer.append(picture)
      }
    }
    #expect(throws: GraftError.self) {
      let writer = try VideoWriter(
        to: files.url("none/a.mp4"), width: 4, height: 4, framesPerSecond: 10)
      for _ in 0..<1000 { try writer.append(picture) }
      try writer.finish()
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: files.folder.url.path).isEmpty)
  }

  // MARK: Live

  @Test func `pictures of a live source are dropped while nobody fetches them`() throws {
    let frames = VideoFrames(
      input: ["-re", "-f", "lavfi", "-i", "testsrc=duration=1:size=32x32:rate=50"],
      framesPerSecond: nil, isLive: true, name: "test")
    var indices: [Int] = []
    while let frame = try frames.next() {
      indices.append(frame.index)
      Thread.sleep(forTimeInterval: 0.1)
    }
    #expect(indices == indices.sorted() && Set(indices).count == indices.count)
    #expect(indices.count < 25)
    #expect(frames.droppedCount + indices.count == 50)
  }

  @Test func `a camera that is not there is named`() throws {
    var camera = Camera(number: 7)
    camera.devices = files.folder.url.path
    expectError(.notFound, "there is no camera: the system has no") { _ = try camera.frames() }
    for name in ["video0", "video12"] {
      try Data().write(to: files.url(name))
    }
    expectError(.notFound, "Choose one of: camera:0, camera:12") { _ = try camera.frames() }
    // A file in a camera's place is refused by the driver.
    camera = Camera(number: 12)
    camera.devices = files.folder.url.path
    expectError(.externalProgram, "the camera cannot be read") { _ = try camera.frames().next() }
  }

  @Test func `cameras have names`() throws {
    #expect(try Camera(named: "camera")?.device == "/dev/video0")
    #expect(try Camera(named: "camera:3")?.number == 3)
    #expect(try Camera(named: "camera.mp4") == nil)
    expectError(.invalidArgument, "'camera:x' names no camera") {
      _ = try Camera(named: "camera:x")
    }
  }
}
