import Foundation
import GraftTestSupport
import Testing

@testable import GraftMedia

@Suite(.enabled(if: SoundFiles.isInstalled, SoundFiles.reason))
struct PictureWritingTests {
  private let folder: TemporaryFolder
  private let scene: Picture

  init() throws {
    folder = try TemporaryFolder()
    scene = try PictureGoldens.picture("scene")
  }

  private func url(_ name: String) -> URL { folder.url.appending(path: name) }

  @Test func `PNG keeps every pixel`() throws {
    for picture in [scene, try scene.cropped(x: 3, y: 2, width: 1, height: 1)] {
      try picture.write(to: url("a.png"))
      #expect(try Picture(contentsOf: url("a.png")).pixels == picture.pixels)
    }
  }

  @Test(arguments: ["a.jpg", "a.JPEG"])
  func `JPEG keeps the picture nearly`(name: String) throws {
    let smooth = try scene.resized(toWidth: 200, height: 160)
    try smooth.write(to: url(name))
    let read = try Picture(contentsOf: url(name))
    #expect(read.width == 200 && read.height == 160)
    let differences = zip(read.pixels, smooth.pixels).map { abs(Int($0) - Int($1)) }
    #expect(differences.reduce(0, +) < 4 * differences.count)
  }

  @Test func `a file that cannot be written loses nothing`() throws {
    try Data("old".utf8).write(to: url("a.bmp"))
    expectError(.invalidArgument, "written as PNG or JPEG, not as '.bmp'") {
      try scene.write(to: url("a.bmp"))
    }
    #expect(try Data(contentsOf: url("a.bmp")) == Data("old".utf8))
    expectError(.inputOutput, "cannot be made") { try scene.write(to: url("none/a.png")) }
    try scene.write(to: url("a.png"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
  }

  @Test func `a large picture goes through`() throws {
    let large = try scene.resized(toWidth: 3000, height: 2000)
    try large.write(to: url("large.png"))
    #expect(try Picture(contentsOf: url("large.png")) == large.named(url("large.png").path))
  }
}

extension Picture {
  fileprivate func named(_ name: String) throws -> Picture {
    try Picture(width: width, height: height, pixels: pixels, name: name)
  }
}

struct FedProcessTests {
  private func run(_ program: String, _ arguments: [String], _ bytes: [UInt8]) throws -> (
    ChildProcess.Ending, [UInt8]
  ) {
    var output: [UInt8] = []
    let ending = try bytes.withUnsafeBytes { bytes in
      try ChildProcess(program, arguments).run(input: bytes) { output.append(contentsOf: $0) }
    }
    return (ending, output)
  }

  @Test func `a program gets all that it is fed while it answers`() throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let (ending, output) = try run("cat", [], bytes)
    #expect(ending.status == 0)
    #expect(output == bytes)
    #expect(try run("cat", [], []).1.isEmpty)
  }

  @Test func `a program that ends too early is an error with its words`() throws {
    let bytes = [UInt8](repeating: 1, count: 5_000_000)
    expectError(.externalProgram, "'sh' ended too early: enough") {
      _ = try run("sh", ["-c", "head -c 10 >/dev/null; echo enough >&2; exit 3"], bytes)
    }
    expectError(.externalProgram, "'no-such-program' is not installed") {
      _ = try run("no-such-program", [], bytes)
    }
  }

  @Test func `letting go of a program ends it`() throws {
    let start = ContinuousClock.now
    do { _ = try FedProcess(ChildProcess("sleep", ["60"])) }
    #expect(.now - start < .seconds(5))
  }

  @Test func `a program that does not end is ended`() throws {
    let process = try FedProcess(ChildProcess("sleep", ["60"]))
    expectError(.externalProgram, "did not finish within") {
      try process.finish(timeLimit: .milliseconds(100))
    }
  }
}
