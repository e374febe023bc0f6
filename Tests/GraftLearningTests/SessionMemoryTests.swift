#if os(Linux)
  import Foundation
  import GraftFormats
  import GraftGraph
  import GraftLearning
  import GraftTensor
  import GraftTestSupport
  import Testing

  /// Memory of many sessions in one process. Other tests would be measured along: `make test` runs
  /// this suite by itself.
  @Suite(
    .enabled(
      if: ProcessInfo.processInfo.environment["GRAFT_ALONE"] != nil && SharedData.isPresent,
      "runs by itself, with shared data"))
  struct SessionMemoryTests {
    /// The most memory that the process has had, in bytes.
    private func peak() throws -> Int {
      let file = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
      let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
      return try #require(kilobytes.flatMap { Int($0) }) << 10
    }

    @Test func `sessions after the third take no more memory`() async throws {
      let model = try ONNXReader.read(path: SharedData.path("onnx/models/resnet_mini.onnx"))
      let input = try #require(model.inputs.first?.name)
      var generator = SeededGenerator(seed: 1)
      func session() async throws {
        let pictures = try Tensor(
          (0..<8 * 3 * 16 * 16).map { _ in Float(generator.normal()) }, shape: [8, 3, 16, 16])
        let set = try ExampleSet(
          inputs: [input: pictures], targets: try Tensor((0..<8).map { Int64($0 % 2) }))
        let session = try TrainingSession(
          model, trainable: .matching(".*weight"), loss: .crossEntropy,
          optimizer: .adamW(learningRate: 1e-4))
        for try await _ in try session.fit([set], epochs: 2, batchSize: 4) {}
      }
      for _ in 0..<3 { try await session() }
      let early = try peak()
      for _ in 3..<(SharedData.isLong ? 100 : 20) { try await session() }
      let late = try peak()
      #expect(Double(late) <= 1.02 * Double(early), "\(early) bytes, then \(late)")
    }
  }
#endif
