import Foundation
import Testing

@testable import GraftCommands

struct InterruptTests {
  @Test func `a program started meanwhile does not ignore Ctrl-C`() throws {
    let first = Interrupt {}
    Thread.sleep(forTimeInterval: 0.1)
    // The second is like the first, which is gone by now.
    withExtendedLifetime(first) {}
    let interrupt = Interrupt {}
    Thread.sleep(forTimeInterval: 0.1)
    let pipe = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/cat")
    process.arguments = ["/proc/self/status"]
    process.standardOutput = pipe
    try process.run()
    let status = String(
      decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(!interrupt.isRequested)
    let line = try #require(status.firstMatch(of: /SigIgn:\s*([0-9a-f]+)/))
    let ignored = try #require(UInt64(line.1, radix: 16))
    #expect(ignored & (1 << (SIGINT - 1)) == 0)
  }
}
