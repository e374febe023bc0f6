import Foundation
import Graft
import GraftLearning

/// The run that a call of `graft train` begins or goes on with.
struct RunChoice {
  /// Nil when the call keeps no run.
  let folder: RunFolder?
  /// What the run was begun with, when it goes on.
  let former: RunConfiguration?

  /// - Throws: `UsageError` when the run is there and is not resumed; `notFound`; `damaged`.
  init(_ arguments: Arguments) throws {
    let resumes = arguments.has("--resume")
    guard let word = arguments.string("--run") else {
      guard !resumes else {
        throw UsageError("'--resume' does not say which run goes on", fix: "Add '--run NAME'")
      }
      former = nil
      let keepsResult = ["--export", "--parameters-out"].contains { arguments.string($0) != nil }
      guard !arguments.all("--data").isEmpty, !keepsResult, let model = arguments.positionals.first
      else {
        folder = nil
        return
      }
      let stem = URL(fileURLWithPath: model).deletingPathExtension().lastPathComponent
      folder = RunFolder.unused(stem)
      return
    }
    guard !word.isEmpty else { throw UsageError("'' is no name for a run") }
    let folder = RunFolder(named: word)
    self.folder = folder
    guard resumes else {
      guard !folder.isRun else {
        throw UsageError(
          "\(folder.path): there is a run already",
          fix: "Add '--resume' to go on with it, or choose another name")
      }
      former = nil
      return
    }
    if folder.isRun {
      former = try RunConfiguration(contentsOf: folder)
    } else {
      // A script can make the same call however often it was interrupted.
      if arguments.positionals.isEmpty { try folder.requireRun() }
      former = nil
    }
  }

  /// The call with what the run was begun with, where it says nothing else.
  func merged(_ arguments: Arguments) throws -> Arguments {
    guard let folder, let former else { return arguments }
    return try RunArguments.merging(arguments, with: former, folder)
  }

  /// - Throws: `UsageError` when neither the call nor a run that goes on says what is trained.
  func requireModel(_ arguments: Arguments) throws {
    guard arguments.positionals.isEmpty, former == nil else { return }
    throw UsageError("'graft train' needs MODEL", fix: "See 'graft train --help'")
  }

  /// The model that is trained: of the call, or of the run that goes on.
  func model(_ arguments: Arguments) throws -> ModelArgument {
    try requireModel(arguments)
    return try ModelArgument(arguments.positionals.first ?? former?.model.path ?? "")
  }

  /// Where the run goes on: at its newest checkpoint that is whole; nil for a run that begins.
  func checkpoint() throws -> TrainingCheckpoint? {
    guard let folder, former != nil else { return nil }
    return try TrainingCheckpoint.newest(in: folder.checkpoints)
  }
}
