import Foundation
import Testing

@testable import GraftCommands

struct OutputTests {
  private func run(failing code: Int32) async -> (code: Int32, diagnostics: String) {
    let recorder = Recorder()
    let console = Console(
      output: { _ in throw WriteFailure(code: code) },
      diagnostics: { recorder.console.note($0) }, redraws: false)
    return (await CommandLineTool.run(["--help"], console), recorder.diagnostics)
  }

  @Test func `results that cannot be written fail the call`() async {
    let (code, diagnostics) = await run(failing: ENOSPC)
    #expect(code == 1)
    #expect(diagnostics.contains("graft: the output cannot be written: "), "\(diagnostics)")
  }

  @Test func `a reader that has gone away is no failure`() async {
    let (code, diagnostics) = await run(failing: EPIPE)
    #expect(code == 0)
    #expect(diagnostics.isEmpty)
  }

  @Test func `a write to a full disk tells why it failed`() throws {
    let descriptor = open("/dev/full", O_WRONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect {
      try writeAll(Data("text".utf8), to: descriptor)
    } throws: {
      ($0 as? WriteFailure)?.code == ENOSPC
    }
  }
}
