import Foundation

/// Decides when the checkpoints of a run are written, and keeps as many as wanted.
struct CheckpointWriter {
  private let options: CheckpointOptions
  private let folder: CheckpointFolder
  private var lastStep: Int
  private var lastTime = ContinuousClock.now
  private var isEpochOver = false
  private var isBest = false

  /// - Parameter step: the updates before the run begins or goes on.
  init(_ options: CheckpointOptions, from step: Int) {
    self.options = options
    folder = CheckpointFolder(url: options.folder)
    lastStep = step
  }

  mutating func begin() {
    folder.make()
    folder.removeRemains()
    lastTime = .now
  }

  mutating func epochIsOver(isBest: Bool) {
    isEpochOver = options.everyEpoch
    self.isBest = isBest && options.keepBest
  }

  /// The file that is to be written now; nil when it is not time. After a change of the state it is
  /// asked until it gives nil.
  mutating func dueFile(step: Int) -> URL? {
    if isBest {
      isBest = false
      return folder.best
    }
    let isStepDue = options.everySteps.map { step > lastStep && step.isMultiple(of: $0) } ?? false
    // Without a step in between there is nothing new to write, however short the time is.
    let isTimeDue =
      options.everySeconds.map { step > lastStep && .now - lastTime >= .seconds($0) } ?? false
    guard isStepDue || isTimeDue || isEpochOver else { return nil }
    return file(step: step)
  }

  /// The file for the state after so many updates, which then counts as written.
  mutating func file(step: Int) -> URL? {
    isEpochOver = false
    lastStep = step
    lastTime = .now
    return folder.file(step: step)
  }

  func write(_ checkpoint: TrainingCheckpoint, to file: URL) throws {
    try folder.write(checkpoint, to: file)
    folder.prune(keeping: options.keepLast, upTo: checkpoint.step)
  }
}
