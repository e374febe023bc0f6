#if os(Linux)
  import Foundation
  import Graft
  import GraftLearning
  import GraftTensor
  import GraftTestSupport
  import Testing

  /// Memory of many update tasks in one process. Other tests would be measured along: `make test`
  /// runs this suite by itself.
  @Suite(
    .enabled(
      if: ProcessInfo.processInfo.environment["GRAFT_ALONE"] != nil && SharedData.isPresent,
      "runs by itself, with shared data"), .serialized)
  struct UpdateMemoryTests {
    /// The most memory that the process has had, in bytes.
    private func peak() throws -> Int {
      let file = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
      let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
      return try #require(kilobytes.flatMap { Int($0) }) << 10
    }

    @Test func `update tasks after the third take no more memory`() async throws {
      let golden = try CoreMLGolden("gestures_like_nn_adam")
      let images = try #require(golden.tensors["train.image"])
      let targets = try #require(golden.tensors["train.target"])
      let path = try #require(golden.manifest["model"] as? String)
      let url = URL(fileURLWithPath: SharedData.path(path))
      let examples = UpdateExamples(count: targets.shape[0]) { index in
        [
          "image": .tensor(try images.rows(index..<index + 1)),
          "label": .tensor(try targets.rows(index..<index + 1)),
        ]
      }
      let count = SharedData.isLong ? 500 : 30
      var early = 0
      for number in 1...count {
        let task = try UpdateTask(contentsOf: url, examples: examples)
        task.resume()
        _ = try await task.result()
        if number == 3 { early = try peak() }
      }
      let late = try peak()
      print("update tasks: \(early >> 20) MiB after 3, \(late >> 20) MiB after \(count)")
      #expect(Double(late) <= 1.02 * Double(early), "\(early) bytes, then \(late)")
    }
  }
#endif
