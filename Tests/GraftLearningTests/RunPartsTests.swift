import Foundation
import GraftDiagnostics
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// What the folder of a run is made of.
struct RunPartsTests {
  private func event(_ kind: RunEvent.Kind, epoch: Int, run: Int, loss: Double = 0) -> RunEvent {
    var event = RunEvent(kind, time: Date(timeIntervalSince1970: 1e9), run: run)
    event.epoch = epoch
    event.loss = loss
    return event
  }

  @Test func `epochs behind the last checkpoint are replaced when they are trained again`() {
    var history = RunHistory()
    history.observe(event(.begin, epoch: 0, run: 1))
    for epoch in 1...5 { history.observe(event(.epoch, epoch: epoch, run: 1, loss: Double(epoch))) }
    history.observe(event(.begin, epoch: 3, run: 2))
    #expect(history.epochs.map(\.epoch) == [1, 2, 3])
    history.observe(event(.epoch, epoch: 4, run: 2, loss: 4))
    #expect(history.epochs.map(\.run) == [1, 1, 1, 2])
    #expect(history.outcome == nil)
  }

  @Test func `losses that are no numbers survive the log`() throws {
    var line = event(.epoch, epoch: 1, run: 1, loss: .nan)
    line.learningRate = .infinity
    let folder = try TemporaryFolder()
    let run = RunFolder(folder.url)
    try RunLog(run).append(line)
    let read = try #require(RunLogReader(run).newEvents().first)
    #expect(read.loss?.isNaN == true)
    #expect(read.learningRate == .infinity)
  }

  @Test func `half a line that a killed process left spoils no other`() throws {
    let folder = try TemporaryFolder()
    let run = RunFolder(folder.url)
    let first = event(.epoch, epoch: 1, run: 1)
    try RunLog(run).append(first)
    let handle = try FileHandle(forWritingTo: run.log)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("{\"event\":\"ep".utf8))
    try handle.close()
    let reader = RunLogReader(run)
    #expect(reader.newEvents() == [first])
    let second = event(.epoch, epoch: 2, run: 2)
    try RunLog(run).append(second)
    #expect(reader.newEvents() == [second])
  }

  @Test(arguments: [
    (0.0...1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    (0.013...0.087, [0, 0.02, 0.04, 0.06, 0.08, 0.1]),
    (3.0...97.0, [0, 20, 40, 60, 80, 100]),
    (-1.0...1.0, [-1, -0.5, 0, 0.5, 1]),
    (0.0...0.0, [-1e-6, -5e-7, 0, 5e-7, 1e-6]),
  ])
  func `ticks are round numbers around the data`(range: ClosedRange<Double>, expected: [Double]) {
    let ticks = AxisTicks(over: range, count: 5).values
    #expect(ticks.count == expected.count)
    for (tick, value) in zip(ticks, expected) { #expect(abs(tick - value) < 1e-12) }
  }

  @Test(arguments: [1, 2, 7, 40, 1000])
  func `epochs have whole numbers as ticks`(count: Int) {
    let ticks = AxisTicks(over: 1...Double(max(2, count)), count: 8, isWhole: true)
    #expect(ticks.values.allSatisfy { $0 == $0.rounded() })
    #expect(Set(ticks.values.map(ticks.label)).count == ticks.values.count)
    #expect(ticks.values.count <= 13)
  }

  @Test func `curves of any history are well-formed and hold no number that is none`() throws {
    var history = RunHistory()
    for count in 0..<4 {
      let svg = RunCurves.svg(history)
      expectWellFormed(svg)
      #expect(!svg.lowercased().contains("nan") && !svg.contains("inf"), "\(svg)")
      let loss = [Double.nan, .infinity, 1e300, 0][count]
      var line = event(.epoch, epoch: count + 1, run: count / 2 + 1, loss: loss)
      line.validation = RunScores(loss: 1, accuracy: 0.5)
      history.observe(line)
    }
  }

  @Test func `a folder's fingerprint tells names and contents apart`() throws {
    let folder = try TemporaryFolder()
    let inner = try folder.folder("a")
    let file = inner.appending(path: "x")
    try Data("1".utf8).write(to: file)
    let first = try Fingerprint.text(ofFilesAt: folder.url.path)
    #expect(try Fingerprint.text(ofFilesAt: folder.url.path) == first)
    try FileManager.default.moveItem(at: file, to: inner.appending(path: "y"))
    let second = try Fingerprint.text(ofFilesAt: folder.url.path)
    #expect(second != first)
    try Data("2".utf8).write(to: inner.appending(path: "y"))
    #expect(try Fingerprint.text(ofFilesAt: folder.url.path) != second)
    expectError(.notFound, "there is no such file") {
      _ = try Fingerprint.text(ofFilesAt: "/nowhere/data")
    }
  }
}
