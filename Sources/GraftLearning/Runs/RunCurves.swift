import Foundation

/// The curves of a run's history as a picture: `curves.svg`.
package enum RunCurves {
  /// Writes the curves to a file, replacing it.
  package static func write(_ history: RunHistory, to url: URL) throws {
    try RunFile.write(Data(svg(history).utf8), to: url)
  }

  /// Loss of training and validation, and below it the validation's accuracy or error.
  package static func svg(_ history: RunHistory) -> String {
    let epochs = history.epochs
    func series(_ name: String, _ colour: Int, _ value: (RunHistory.Epoch) -> Double?)
      -> CurvePlot.Series?
    {
      let points = epochs.compactMap { epoch in value(epoch).map { (Double(epoch.epoch), $0) } }
      return points.isEmpty ? nil : CurvePlot.Series(name: name, points: points, colour: colour)
    }
    var panels = [
      CurvePlot.Panel(
        title: "Loss", unit: "",
        series: [
          series("training", 0) { $0.loss }, series("validation", 1) { $0.validationLoss },
        ].compactMap { $0 })
    ]
    if let accuracy = series("validation", 1, { $0.accuracy.map { $0 * 100 } }) {
      panels.append(
        CurvePlot.Panel(title: "Accuracy", unit: "%", series: [accuracy], range: 0...100))
    }
    if let error = series("validation", 1, { $0.rootMeanSquaredError }) {
      panels.append(
        CurvePlot.Panel(title: "Root mean squared error", unit: "", series: [error]))
    }
    // Where the run was stopped and went on.
    let starts = zip(epochs, epochs.dropFirst()).filter { $0.run != $1.run }
    return CurvePlot(
      title: "Training", horizontalAxis: "epoch", panels: panels,
      marks: starts.map { Double($0.0.epoch) + 0.5 }
    ).svg()
  }
}
