/// Finds a step along a direction in which a function falls, by the strong Wolfe conditions.
///
/// Source: Nocedal and Wright, Numerical Optimization, 2006, algorithms 3.5 and 3.6, with the
/// approximate condition of Hager and Zhang, 2005, where the function's values differ by rounding only.
struct LineSearch {
  /// The function and its slope at one step.
  struct Trial {
    var step: Double
    var value: Double
    var slope: Double
  }

  var sufficientDecrease = 1e-4
  var curvature = 0.9
  var maximumTrials = 40

  /// - Parameters:
  ///   - start: the function at step 0; its slope is negative.
  ///   - firstStep: the step tried first.
  ///   - evaluate: the function at a step; the last call is at the step returned.
  /// - Returns: nil when no step lowers the function.
  func search(
    from start: Trial, firstStep: Double, evaluate: (_ step: Double) -> Trial
  ) -> Trial? {
    var previous = start
    var step = firstStep
    for index in 0..<maximumTrials {
      let trial = evaluate(step)
      if fits(trial, start) { return trial }
      if !trial.value.isFinite || !falls(trial, start)
        || (index > 0 && trial.value >= previous.value)
      {
        return narrow(low: previous, high: trial, start, evaluate)
      }
      if trial.slope >= 0 { return narrow(low: trial, high: previous, start, evaluate) }
      step = min(
        max(minimum(previous, trial), trial.step + 0.1 * (trial.step - previous.step)),
        trial.step + 9 * (trial.step - previous.step))
      previous = trial
    }
    return previous.step > 0 ? evaluate(previous.step) : nil
  }

  /// Narrows an interval that holds a fitting step; `low` has the lower value.
  private func narrow(
    low: Trial, high: Trial, _ start: Trial, _ evaluate: (Double) -> Trial
  ) -> Trial? {
    var (low, high) = (low, high)
    for _ in 0..<maximumTrials {
      let width = high.step - low.step
      if width.magnitude <= 1e-16 * max(low.step, high.step) { break }
      var step = high.value.isFinite ? minimum(low, high) : low.step + 0.1 * width
      // Steps close to the ends would narrow the interval too slowly.
      let margin = 0.1 * width.magnitude
      step = min(max(step, min(low.step, high.step) + margin), max(low.step, high.step) - margin)
      let trial = evaluate(step)
      if fits(trial, start) { return trial }
      if !trial.value.isFinite || !falls(trial, start) || trial.value >= low.value {
        high = trial
      } else {
        if trial.slope * width >= 0 { high = low }
        low = trial
      }
    }
    return low.step > 0 && low.value < start.value ? evaluate(low.step) : nil
  }

  private func falls(_ trial: Trial, _ start: Trial) -> Bool {
    trial.value <= start.value + sufficientDecrease * trial.step * start.slope
  }

  private func fits(_ trial: Trial, _ start: Trial) -> Bool {
    guard trial.value.isFinite else { return false }
    if falls(trial, start), trial.slope.magnitude <= -curvature * start.slope { return true }
    let rounding = 1e-14 * start.value.magnitude
    return trial.value <= start.value + rounding && trial.slope >= curvature * start.slope
      && trial.slope <= (2 * sufficientDecrease - 1) * start.slope
  }

  /// Where the cubic through both trials has its minimum; the middle when it has none.
  private func minimum(_ a: Trial, _ b: Trial) -> Double {
    let width = b.step - a.step
    guard width != 0, a.value.isFinite, b.value.isFinite else { return (a.step + b.step) / 2 }
    let first = a.slope + b.slope - 3 * (b.value - a.value) / width
    let square = first * first - a.slope * b.slope
    guard square >= 0 else { return (a.step + b.step) / 2 }
    let second = width > 0 ? square.squareRoot() : -square.squareRoot()
    let step = b.step - width * (b.slope + second - first) / (b.slope - a.slope + 2 * second)
    return step.isFinite ? step : (a.step + b.step) / 2
  }
}
