import Foundation
import GraftDiagnostics
import GraftGraph
import GraftLearning
import Synchronization

/// Updates a model with examples, in the background.
///
///     let task = try UpdateTask(contentsOf: url, examples: examples, handlers: handlers)
///     task.resume()
///     let model = try await task.result()
///
/// A task is suspended until `resume` is called. It then learns what the model's update section says, or
/// adds the examples to an index of nearest neighbours. What was learned is in the completion's
/// model, also when the task was cancelled or failed on the way. Any model that is updatable is
/// taken, whatever its format.
public final class UpdateTask: Sendable {
  public enum State: String, Sendable {
    /// Not begun.
    case suspended
    case running
    /// It ends after the present mini-batch.
    case cancelling
    /// Ended by `cancel`; what was learned is kept.
    case cancelled
    case completed
    case failed
  }

  private struct Progress {
    var state = State.suspended
    var numbers: UpdateNumbers
    /// Changes that hold from the next mini-batch on.
    var pending: [String: Double] = [:]
    var error: (any Error)?
    /// At the last event that was told, or at the end.
    var last: (metrics: UpdateMetrics, model: Model)?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let model: Model
  let examples: UpdateExamples
  let configuration: UpdateConfiguration
  private let handlers: UpdateHandlers
  /// Numbers that may be set beside those of the update section.
  private let otherNumbers: [String]
  private let progress: Mutex<Progress>

  /// - Throws: `invalidArgument` when the model is not updatable, or a parameter is not known or not
  ///   allowed.
  public init(
    _ model: Model, examples: UpdateExamples,
    configuration: UpdateConfiguration = UpdateConfiguration(),
    handlers: UpdateHandlers = UpdateHandlers()
  ) throws {
    self.model = model
    self.examples = examples
    self.configuration = configuration
    self.handlers = handlers
    let section = try UpdateNumbers.section(of: model)
    otherNumbers = [
      "weightDecay", "l1", "clipNorm", "clipValue", "accumulation", "momentum", "dampening",
      "beta1", "beta2", "eps", "epsilon",
    ]
    var numbers = UpdateNumbers(section)
    try numbers.set(configuration.parameters, others: otherNumbers)
    progress = Mutex(Progress(numbers: numbers))
  }

  /// - Throws: as `Model(contentsOf:)` and `init(_:examples:configuration:handlers:)`.
  public convenience init(
    contentsOf url: URL, examples: UpdateExamples,
    configuration: UpdateConfiguration = UpdateConfiguration(),
    handlers: UpdateHandlers = UpdateHandlers()
  ) throws {
    try self.init(
      try Model(contentsOf: url), examples: examples, configuration: configuration,
      handlers: handlers)
  }

  public var state: State { progress.withLock { $0.state } }

  /// Why the task failed, or that it was cancelled; nil otherwise.
  public var error: (any Error)? { progress.withLock { $0.error } }

  /// The numbers in force, or from the next mini-batch on.
  public var parameters: [String: Double] { progress.withLock { $0.numbers.values } }

  /// Begins a suspended task; without effect on others.
  public func resume() {
    let begins = progress.withLock { progress in
      guard progress.state == .suspended else { return false }
      progress.state = .running
      return true
    }
    if begins { Task.detached { self.run() } }
  }

  /// Changes parameters, such as the learning rate from a handler, and begins a suspended task.
  ///
  /// The change holds from the next mini-batch on; that of the size of mini-batches, of the number of
  /// epochs, of shuffling or of the seed from the next epoch on.
  ///
  /// - Throws: `invalidArgument` for an unknown parameter or a value that is not allowed; nothing has
  ///   changed then.
  public func resume(parameters: [String: Double]) throws {
    try progress.withLock { progress in
      try progress.numbers.set(parameters, others: otherNumbers)
      progress.pending.merge(parameters) { $1 }
    }
    resume()
  }

  /// Ends the task after the present mini-batch. What was learned is kept.
  public func cancel() {
    let ends = progress.withLock { progress in
      switch progress.state {
      case .suspended:
        progress.state = .cancelling
        return true
      case .running:
        progress.state = .cancelling
        return false
      default: return false
      }
    }
    if ends { end(context(nil, UpdateMetrics(), model), nil) }
  }

  /// Waits for the end of a task that was begun.
  ///
  /// - Returns: what the completion handler is given.
  public func completion() async -> UpdateContext {
    while true {
      if let last = progress.withLock({ $0.state.isEnd ? $0.last : nil }) {
        return context(nil, last.metrics, last.model)
      }
      await withCheckedContinuation { continuation in
        let isOver = progress.withLock { progress in
          guard !progress.state.isEnd else { return true }
          progress.waiting.append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    }
  }

  /// Waits for the end of a task that was begun, and gives the updated model.
  ///
  /// - Throws: why it failed; `cancelled`.
  public func result() async throws -> Model {
    let context = await completion()
    if let error { throw error }
    return context.model
  }

  // MARK: The work

  private func run() {
    do {
      let context =
        model.coreML?.neighbors == nil
        ? try UpdateTraining(self).run() : try NeighborUpdate(self).run()
      end(context, nil)
    } catch {
      let last = progress.withLock { $0.last }
      end(context(nil, last?.metrics ?? UpdateMetrics(), last?.model ?? model), error)
    }
  }

  /// What the model was at the last event, for the end of a task that fails.
  func keep(_ metrics: UpdateMetrics, _ model: Model) {
    progress.withLock { $0.last = (metrics, model) }
  }

  var isCancelling: Bool { state == .cancelling }

  var numbers: UpdateNumbers { progress.withLock { $0.numbers } }

  func takePending() -> [String: Double] {
    progress.withLock { progress in
      defer { progress.pending = [:] }
      return progress.pending
    }
  }

  /// Tells the handler of an event, when it wants to know.
  func tell(_ event: UpdateEvent, _ metrics: UpdateMetrics, _ model: () -> Model) {
    guard handlers.events.contains(event) else { return }
    handlers.progress(context(event, metrics, model()))
  }

  func context(_ event: UpdateEvent?, _ metrics: UpdateMetrics, _ model: Model) -> UpdateContext {
    UpdateContext(
      task: self, event: event, metrics: metrics, parameters: parameters, model: model)
  }

  private func end(_ context: UpdateContext, _ error: (any Error)?) {
    let waiting = progress.withLock { progress in
      let isCancelled = progress.state == .cancelling && error == nil
      progress.state = error != nil ? .failed : isCancelled ? .cancelled : .completed
      progress.error =
        error
        ?? (isCancelled
          ? GraftError(.cancelled, "the update was cancelled; what was learned so far is kept")
          : nil)
      progress.last = (context.metrics, context.model)
      defer { progress.waiting = [] }
      return progress.waiting
    }
    handlers.completion(context)
    for continuation in waiting { continuation.resume() }
  }
}

extension UpdateTask.State {
  fileprivate var isEnd: Bool { [.cancelled, .completed, .failed].contains(self) }
}

extension UpdateNumbers {
  /// The update section of a model; that of an index of nearest neighbours has k only.
  ///
  /// - Throws: `invalidArgument` when the model is not updatable.
  static func section(of model: Model) throws -> UpdateSection {
    if let neighbors = model.coreML?.neighbors {
      return UpdateSection(
        layers: [], losses: [], optimizer: nil, parameters: [neighbors.neighborCount], shuffles: nil
      )
    }
    guard let section = model.update, !section.layers.isEmpty, !section.losses.isEmpty else {
      throw GraftError(
        .invalidArgument,
        model.update == nil
          ? "the model is not updatable"
          : "the model's update section names no \(model.update?.layers.isEmpty == true ? "layer" : "loss")",
        fix: "Choose the layers to update with 'makeUpdatable(layers:)', and the loss")
    }
    return section
  }
}
