import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Writes a run's folder while the run goes on.
///
/// What cannot be written, as on a full disk, is told once and tried again later; training is never
/// ended by it. The recorder belongs to one thread or task.
package final class RunRecorder {
  package let folder: RunFolder
  /// Which start of the run this is, counted from 1.
  package let run: Int
  package private(set) var history: RunHistory

  private let lock: RunLock
  private let log: RunLog
  private let report: (RunEvent) -> Void
  /// The files whose last writing failed.
  private var failing: Set<String> = []
  /// Epochs may be shorter than the disk likes.
  private var lastWriting: ContinuousClock.Instant?

  /// Takes over a run's folder, which may be new.
  ///
  /// - Parameter report: is given every event, warnings about files included.
  /// - Throws: `inputOutput` when the folder cannot be made or written or another process writes it.
  package init(_ folder: RunFolder, report: @escaping (RunEvent) -> Void) throws {
    try folder.make()
    self.folder = folder
    self.report = report
    lock = try RunLock(folder)
    folder.removeRemains()
    log = RunLog(folder)
    let replayed = RunHistory(replaying: RunLogReader(folder).newEvents())
    var problem: (any Error)?
    do {
      // The log is written at once, the history now and then.
      let written = try RunHistory(contentsOf: folder)
      history = written.epochs.count > replayed.epochs.count ? written : replayed
    } catch {
      history = replayed
      if (error as? GraftError)?.code != .notFound {
        problem = error
        let aside = folder.url.appending(path: "history.damaged.json")
        try? FileManager.default.removeItem(at: aside)
        try? FileManager.default.moveItem(at: folder.history, to: aside)
      }
    }
    run = (history.runs.last?.run ?? 0) + 1
    if let problem { warn("\(problem)") }
  }

  /// Takes in an event: a line of the log, and at the ends of epochs and of the run history and curves.
  ///
  /// - Throws: `inputOutput` when the folder was moved or removed: the rest of the run would be in another
  ///   place than its beginning.
  package func record(_ event: RunEvent) throws {
    guard lock.isInPlace else {
      throw GraftError(
        .inputOutput, "the folder of the run was moved or removed while it trains",
        at: [folder.path],
        fix: "Go on with '--resume' and its new name as '--run'")
    }
    var event = event
    event.run = run
    write(folder.log) { try log.append(event) }
    history.observe(event)
    switch event.event {
    case .begin, .end: writeHistory()
    case .epoch where lastWriting.map { .now - $0 > .seconds(1) } ?? true: writeHistory()
    case .batch, .epoch, .checkpoint, .file, .warning: break
    }
    report(event)
  }

  /// Tells of something that went wrong and does not end the run.
  package func warn(_ message: String) {
    var event = RunEvent(.warning, run: run)
    event.message = message
    try? log.append(event)
    report(event)
  }

  /// Removes the files of a run that has finished no epoch and has no checkpoint; of what else lies in the
  /// folder nothing is touched.
  package func forgetUnlessLearned() {
    let manager = FileManager.default
    guard lock.isInPlace, history.epochs.isEmpty,
      (try? manager.contentsOfDirectory(atPath: folder.checkpoints.path))?.isEmpty ?? true
    else { return }
    for file in [folder.configuration, folder.history, folder.log, folder.curves] {
      try? manager.removeItem(at: file)
    }
  }

  private func writeHistory() {
    lastWriting = .now
    write(folder.history) { try history.write(to: folder) }
    // A head that was not trained by gradients has no epochs.
    guard !history.epochs.isEmpty else { return }
    write(folder.curves) { try RunFile.write(Data(RunCurves.svg(history).utf8), to: folder.curves) }
  }

  /// Does `body`, which writes `file`; a failure is told the first time in a row.
  private func write(_ file: URL, _ body: () throws -> Void) {
    do {
      try body()
      failing.remove(file.path)
    } catch {
      guard failing.insert(file.path).inserted else { return }
      warn("\(error) Training goes on.")
    }
  }
}
