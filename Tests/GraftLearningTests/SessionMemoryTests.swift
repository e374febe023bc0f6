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
      "runs by itself, with shared data"), .serialized)
  struct SessionMemoryTests {
    /// The most memory that the process has had, in bytes.
    private func peak() throws -> Int {
      let file = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
      let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
      return try #require(kilobytes.flatMap { Int($0) }) << 10
    }

    /// Lets the peak begin anew.
    private func resetPeak() throws {
      let file = try #require(FileHandle(forWritingAtPath: "/proc/self/clear_refs"))
      try file.write(contentsOf: Data("5".utf8))
    }

    /// Checks that sessions after the third raise the peak by 2 % at most.
    private func expectFlat(_ count: Int, _ name: String, session: () async throws -> Void)
      async throws
    {
      try resetPeak()
      for _ in 0..<3 { try await session() }
      let early = try peak()
      for _ in 3..<count { try await session() }
      let late = try peak()
      print("\(name): \(early >> 20) MiB after 3 sessions, \(late >> 20) MiB after \(count)")
      #expect(Double(late) <= 1.02 * Double(early), "\(name): \(early) bytes, then \(late)")
    }

    /// Trains on pictures of noise.
    private func train(
      _ model: Model, sides: Int, _ selection: ParameterSelection, epochs: Int, batch: Int,
      _ generator: inout SeededGenerator
    ) async throws {
      let input = try #require(model.inputs.first?.name)
      let shape: Shape = [8, 3, sides, sides]
      let pictures = try Tensor(
        (0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
      let set = try ExampleSet(
        inputs: [input: pictures], targets: try Tensor((0..<8).map { Int64($0 % 2) }))
      let session = try TrainingSession(
        model, trainable: selection, loss: .crossEntropy, optimizer: .adamW(learningRate: 1e-4))
      for try await _ in try session.fit([set], epochs: epochs, batchSize: batch) {}
    }

    @Test func `sessions after the third take no more memory`() async throws {
      let model = try ONNXReader.read(path: SharedData.path("onnx/models/resnet_mini.onnx"))
      var generator = SeededGenerator(seed: 1)
      try await expectFlat(SharedData.isLong ? 200 : 20, "resnet_mini") {
        try await train(
          model, sides: 16, .matching(".*weight"), epochs: 2, batch: 4, &generator)
      }
    }

    private static let fullSize = SharedData.cache.appending(path: "full-size")

    @Test(
      .enabled(if: SharedData.isLong, "takes minutes"),
      arguments: ["mobilenet_v2", "squeezenet1_1", "resnet50"])
    func `sessions on full-size networks take no more memory`(name: String) async throws {
      let path = Self.fullSize.appending(path: "\(name).onnx").path
      try #require(FileManager.default.fileExists(atPath: path))
      var generator = SeededGenerator(seed: 1)
      try await expectFlat(100, name) {
        try await train(
          try ONNXReader.read(path: path), sides: 224, .all, epochs: 1, batch: 8, &generator)
      }
    }

    @Test(.enabled(if: SharedData.isLong, "takes minutes"))
    func `sessions on the last layer of a speech network take no more memory`() async throws {
      let path = Self.fullSize.appending(path: "wav2vec2_base.onnx").path
      try #require(FileManager.default.fileExists(atPath: path))
      var generator = SeededGenerator(seed: 1)
      try await expectFlat(100, "wav2vec2_base") {
        let sound = try Tensor(
          (0..<2 * 16_000).map { _ in Float(generator.normal()) }, shape: [2, 16_000])
        let session = try TrainingSession(
          try ONNXReader.read(path: path), trainable: .matching("classifier.*"),
          loss: .crossEntropy, optimizer: .adamW(learningRate: 1e-3))
        let set = try ExampleSet(
          inputs: ["input": sound], targets: try Tensor([0, 1] as [Int64]))
        for try await _ in try session.fit([set], epochs: 3, batchSize: 2) {}
      }
    }
  }
#endif
