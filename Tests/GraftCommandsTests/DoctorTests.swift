import GraftLearning
import Testing

@testable import GraftCommands

@Test func `doctor names the library that accelerates kernels, or how to get it`() async {
  let recorder = Recorder()
  #expect(await CommandLineTool.run(["doctor"], recorder.console) == 0)
  let expected =
    accelerationLibrary.map { "ok       \($0): accelerated kernels" }
    ?? "missing  oneDNN: accelerated kernels"
  #expect(recorder.output.contains(expected), "\(recorder.output)")
  #if canImport(GraftOneDNN)
    #expect(recorder.output.contains(#/oneDNN [23]\.\d+\.\d+, \w+ instructions/#))
  #endif
}
