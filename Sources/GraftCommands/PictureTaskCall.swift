import Foundation
import Graft

/// One call of a command that asks a model about pictures, videos and cameras.
struct PictureTaskCall {
  let arguments: PictureTaskArguments
  let console: Console
  private let sources: [PictureSource]
  private let names: CopyNames

  /// - Parameter mark: what the names of copies end in, such as `_detected`.
  init(_ given: Arguments, _ console: Console, mark: String, threshold: Double?) throws {
    arguments = try PictureTaskArguments(given, threshold: threshold)
    self.console = console
    sources = try PictureSource.sources(given.positionals, mark: mark)
    names = try CopyNames(folder: arguments.folder, mark: mark)
  }

  func run(_ task: PictureTask) throws {
    let report = try TaskReport(
      console, columns: task.columns, printsJSON: arguments.printsJSON, table: arguments.table,
      inputs: [arguments.model] + sources.map(\.name))
    let interrupt = Interrupt {}
    var work = TaskWork(task: task, report: report, interrupt: interrupt, names: names)
    var firstError: GraftError?
    for (index, source) in sources.enumerated() where !interrupt.isRequested {
      do {
        if sources.count > 1 {
          console.progress(Double(index) / Double(sources.count), source.name)
        }
        try run(source, &work)
      } catch let error as GraftError where error.code != .cancelled {
        let error = error.places.isEmpty ? error.at(source.name) : error
        firstError = firstError ?? error
        console.note("graft: \(error)")
        try report.add(TaskRecord(source: source.name, error: error.description), nil)
      }
    }
    report.finish()
    // The answers that could be given are printed; the call failed all the same.
    if let firstError { throw ReportedFailure(code: firstError.code) }
  }

  private func run(_ source: PictureSource, _ work: inout TaskWork) throws {
    switch source {
    case .picture(let path): try work.picture(path, writesCopy: arguments.writesCopies)
    case .video(let path):
      let video = try Video(contentsOf: URL(fileURLWithPath: path))
      try work.video(
        video, path, writesCopy: arguments.writesCopies, framesPerSecond: arguments.framesPerSecond)
    case .camera(var camera, let word):
      camera.framesPerSecond = arguments.framesPerSecond
      try work.camera(
        camera, word, writesCopy: arguments.folder != nil, seconds: arguments.seconds)
    }
  }
}
