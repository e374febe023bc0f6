import Foundation
import GraftDiagnostics
import GraftMedia
import GraftTestSupport
import Synchronization
import Testing

struct ChildProcessTests {
  private func output(_ child: ChildProcess) throws -> (Int, String, [String]) {
    var bytes: [UInt8] = []
    let ending = try child.run { bytes.append(contentsOf: $0) }
    return (ending.status, String(decoding: bytes, as: UTF8.self), ending.messages)
  }

  private func shell(_ script: String) -> ChildProcess { ChildProcess("sh", ["-c", script]) }

  @Test func `output, messages and status come back`() throws {
    let (status, text, messages) = try output(
      shell("echo out; echo one >&2; echo; echo two >&2; exit 3"))
    #expect(status == 3)
    #expect(text == "out\n\n")
    #expect(messages == ["one", "two"])
  }

  @Test func `a signal counts as status 128 and its number`() throws {
    #expect(try output(shell("kill -9 $$")).0 == 137)
    #expect(try output(shell("kill -TERM $$")).0 == 143)
  }

  @Test func `arguments are handed over as they are`() throws {
    let arguments = ["a b", "$HOME", "*", "\"", "'", "-n", "", "é"]
    let child = ChildProcess("printf", ["%s|"] + arguments)
    #expect(try output(child).1 == arguments.map { $0 + "|" }.joined())
  }

  @Test func `variables are added to this process's`() throws {
    var child = shell("echo \"$GRAFT_TEST $PATH\"")
    child.environment = ["GRAFT_TEST": "a=b"]
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    #expect(try output(child).1 == "a=b \(path)\n")
  }

  @Test func `much on both channels blocks nothing`() throws {
    let script =
      "for i in 1 2 3 4; do head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; done"
    let (status, text, _) = try output(shell(script))
    #expect(status == 0)
    #expect(text.utf8.count == 4_000_000)
  }

  @Test func `of many messages the last are kept`() throws {
    let messages = try output(shell("seq 1 100000 >&2")).2
    #expect(messages.last == "100000")
    #expect(messages.count < 10_000)
  }

  @Test func `there is nothing to read from`() throws {
    #expect(try output(shell("cat; echo end")).1 == "end\n")
  }

  @Test func `a missing program is an error with its remedy`() throws {
    let child = ChildProcess("no-such-program", [], installation: "Install it: apt-get install x")
    expectError(.externalProgram, "the program 'no-such-program' is not installed. Install it") {
      _ = try child.run()
    }
    expectError(.externalProgram, "cannot be started") {
      _ = try ChildProcess("/etc/passwd", []).run()
    }
  }

  @Test func `time runs out, also for programs that the program started`() throws {
    let folder = try TemporaryFolder()
    let mark = folder.url.appending(path: "mark")
    var child = shell("(sleep 2; touch '\(mark.path)') & sleep 30")
    child.timeLimit = .seconds(0.3)
    let start = ContinuousClock.now
    expectError(.externalProgram, "did not finish within 0.3 seconds") { _ = try child.run() }
    #expect(ContinuousClock.now - start < .seconds(2))
    Thread.sleep(forTimeInterval: 2.5)
    #expect(!FileManager.default.fileExists(atPath: mark.path))
  }

  @Test func `a program left in the background is not waited for`() throws {
    let start = ContinuousClock.now
    #expect(try output(shell("sleep 30 & echo done")).1 == "done\n")
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `an error while reading ends the program`() throws {
    let start = ContinuousClock.now
    expectError(.badData, "enough") {
      _ = try ChildProcess("yes", []).run { _ in throw GraftError(.badData, "enough") }
    }
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `cancelling the task ends the program`() async throws {
    let task = Task.detached { try ChildProcess("sleep", ["600"]).run().status }
    try await Task.sleep(for: .seconds(0.3))
    let start = ContinuousClock.now
    task.cancel()
    let result = await task.result
    #expect(ContinuousClock.now - start < .seconds(5))
    expectError(.cancelled, "was cancelled") { _ = try result.get() }
  }

  @Test func `no finished program and no open file is left behind`() throws {
    func openFiles() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    let before = try openFiles()
    for _ in 0..<50 {
      _ = try output(shell("echo x"))
      _ = try? ChildProcess("no-such-program", []).run()
    }
    // Other tests open files at the same time, but not a hundred.
    #expect(try openFiles() < before + 90)
    var children: [UInt8] = []
    _ = try ChildProcess("ps", ["-o", "stat=", "--ppid", "\(getpid())"]).run {
      children.append(contentsOf: $0)
    }
    let zombies = String(decoding: children, as: UTF8.self).split(separator: "\n")
      .filter { $0.hasPrefix("Z") }
    #expect(zombies.count < 5)
  }

  @Test func `many threads run programs at a time`() throws {
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 64) { index in
      let child = ChildProcess("sh", ["-c", "head -c \(index * 1000) /dev/zero; exit \(index)"])
      var count = 0
      let ending = try? child.run { count += $0.count }
      if ending?.status != index || count != index * 1000 { wrong.withLock { $0 += 1 } }
    }
    #expect(wrong.withLock { $0 } == 0)
  }
}
