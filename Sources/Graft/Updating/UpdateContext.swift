import GraftGraph
import GraftLearning

/// What an update task tells its handlers.
public enum UpdateEvent: String, Sendable, Codable, CaseIterable {
  /// Everything is ready; no example has been learned from.
  case trainingBegin
  case miniBatchEnd
  case epochEnd
}

/// How an update stands.
public struct UpdateMetrics: Sendable, Hashable {
  /// Counted from 0.
  public var epochIndex = 0
  /// In its epoch, counted from 0.
  public var miniBatchIndex = 0
  /// Of the mini-batch before its step; at the end of an epoch the mean over it. NaN before the first.
  public var loss = Double.nan
  /// At the end of an epoch, when there are examples to validate with.
  public var validationLoss: Double?
  /// Of the examples to validate with, 0 to 1; nil unless the loss is one of classes.
  public var validationAccuracy: Double?
}

/// An update at one of its events or at its end.
public struct UpdateContext: Sendable {
  public let task: UpdateTask
  /// Nil at the end.
  public let event: UpdateEvent?
  public let metrics: UpdateMetrics
  /// The numbers in force.
  public let parameters: [String: Double]
  /// The model as trained so far.
  public let model: Model
}

/// What is called while an update goes on, from its own thread: training waits meanwhile.
public struct UpdateHandlers: Sendable {
  /// The events that are told.
  public var events: Set<UpdateEvent>
  public var progress: @Sendable (UpdateContext) -> Void
  /// Called once, however the task ends; `task.state` and `task.error` say how.
  public var completion: @Sendable (UpdateContext) -> Void

  public init(
    events: Set<UpdateEvent> = Set(UpdateEvent.allCases),
    progress: @escaping @Sendable (UpdateContext) -> Void = { _ in },
    completion: @escaping @Sendable (UpdateContext) -> Void = { _ in }
  ) {
    self.events = events
    self.progress = progress
    self.completion = completion
  }
}
