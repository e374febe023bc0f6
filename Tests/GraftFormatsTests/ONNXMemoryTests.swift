#if os(Linux)
  import Foundation
  import GraftFormats
  import GraftGraph
  import GraftTensor
  import GraftTestSupport
  import Testing

  /// How much of a model's file stays in memory: none of the weights but those in use.
  struct ONNXMemoryTests {
    private static let weightCount = 64
    private static let weightByteCount = 1 << 20
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.url.appending(path: "model.onnx").path
      var graph = Graph()
      for index in 0..<Self.weightCount {
        // Names of different lengths leave most weights unaligned.
        graph.initializers["w\(String(repeating: "x", count: index % 7))\(index)"] = try Tensor(
          zeros: [Self.weightByteCount / 4])
      }
      try ONNXWriter.write(Model(graph: graph), to: path)
    }

    /// Bytes of the model's file that lie in this process's memory; nil when it is not mapped.
    private func residentByteCount() throws -> Int? {
      // The system hands out this file in pieces: read until nothing comes any more.
      let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
      var text = Data()
      while let piece = try file.read(upToCount: 1 << 16), !piece.isEmpty { text += piece }
      var isModel = false
      for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
        if line.hasSuffix(path) {
          isModel = true
        } else if isModel, line.hasPrefix("Rss:") {
          let kilobytes = line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
          return kilobytes.map { $0 << 10 }
        }
      }
      return nil
    }

    @Test func `opening keeps little of the file in memory`() throws {
      let model = try ONNXReader.read(path: path)
      #expect(try #require(try residentByteCount()) <= 20 << 20)
      #expect(model.graph.initializers.count == Self.weightCount)
    }

    @Test func `a file that its group may write is mapped too, one that all may write is read`()
      throws
    {
      for (mode, isMapped) in [(0o664, true), (0o646, false)] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let model = try ONNXReader.read(path: path)
        #expect((try residentByteCount() != nil) == isMapped)
        #expect(model.graph.initializers.count == Self.weightCount)
      }
    }

    @Test func `a weight that was copied to be aligned leaves the file's pages`() throws {
      let model = try ONNXReader.read(path: path)
      var sum: Float = 0
      for (_, tensor) in model.graph.initializers {
        sum += try tensor.values(as: Float.self).reduce(0, +)
      }
      #expect(sum == 0)
      #expect(try #require(try residentByteCount()) <= (20 + Self.weightCount / 2) << 20)
      #expect(model.graph.initializers.count == Self.weightCount)
    }
  }
#endif
