/// How the learning rate changes with the optimizer's steps.
public enum LearningRateSchedule: Sendable {
  case constant
  /// Rises linearly over the first `steps` updates: update t, counted from 1, uses t / steps of the
  /// rate; from then on the whole rate.
  case linearWarmUp(steps: Int)

  /// The factor for an update, counted from 1.
  public func factor(step: Int) -> Float {
    switch self {
    case .constant: 1
    case .linearWarmUp(let steps): steps > 0 ? min(1, Float(step) / Float(steps)) : 1
    }
  }
}
