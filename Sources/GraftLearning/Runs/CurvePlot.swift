import Foundation

/// Lines over a common horizontal axis, in panels one below the other, as SVG.
///
/// The picture paints its own background, dark where the viewer prefers that, so that it can be read
/// everywhere.
struct CurvePlot {
  struct Series {
    let name: String
    /// Points with a value that is no finite number interrupt the line.
    let points: [(x: Double, y: Double)]
    /// Which of the colours it has, 0 or 1.
    let colour: Int
  }

  struct Panel {
    let title: String
    let unit: String
    let series: [Series]
    /// The range that the vertical axis shows at least.
    var range: ClosedRange<Double>?
  }

  let title: String
  let horizontalAxis: String
  let panels: [Panel]
  /// Where thin upright lines are drawn.
  var marks: [Double] = []

  private static let width = 720.0
  private static let panelHeight = 280.0
  private static let left = 72.0
  private static let right = 24.0
  private static let top = 40.0

  func svg() -> String {
    let height = Self.top + Double(panels.count) * Self.panelHeight + 16
    let size = "\(number(Self.width)) \(number(height))"
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(size)\" "
        + "width=\"\(number(Self.width))\" height=\"\(number(height))\" role=\"img\">",
      "<title>\(escaped(title))</title>", Self.style,
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>",
      text(title, Self.left, 26, "title"),
    ]
    let horizontal = AxisTicks(over: horizontalRange, count: 8, isWhole: true)
    for (index, panel) in panels.enumerated() {
      let y = Self.top + Double(index) * Self.panelHeight
      let frame = Frame(
        x: Self.left..<Self.width - Self.right, y: y + 34..<y + Self.panelHeight - 52,
        horizontal: horizontal, vertical: AxisTicks(over: verticalRange(panel), count: 5))
      lines += draw(panel, frame)
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private var horizontalRange: ClosedRange<Double> {
    let values = panels.flatMap(\.series).flatMap(\.points).map(\.x)
    guard let low = values.min(), let high = values.max() else { return 0...1 }
    return min(low, 1)...max(high, low + 1)
  }

  private func verticalRange(_ panel: Panel) -> ClosedRange<Double> {
    var values = panel.series.flatMap(\.points).map(\.y).filter(\.isFinite)
    if let range = panel.range { values += [range.lowerBound, range.upperBound] }
    guard let low = values.min(), let high = values.max() else { return 0...1 }
    return low...high
  }

  // MARK: Drawing

  /// Where a panel lies in the picture and which values its edges have.
  private struct Frame {
    let x: Range<Double>
    let y: Range<Double>
    let horizontal: AxisTicks
    let vertical: AxisTicks

    func place(x value: Double) -> Double {
      let share = (value - horizontal.low) / (horizontal.high - horizontal.low)
      return x.lowerBound + share * (x.upperBound - x.lowerBound)
    }

    func place(y value: Double) -> Double {
      let share = (value - vertical.low) / (vertical.high - vertical.low)
      return y.upperBound - share * (y.upperBound - y.lowerBound)
    }
  }

  private func draw(_ panel: Panel, _ frame: Frame) -> [String] {
    var lines: [String] = []
    for value in frame.vertical.values {
      let y = frame.place(y: value)
      lines.append(line(frame.x.lowerBound, y, frame.x.upperBound, y, "grid"))
      lines.append(text(frame.vertical.label(value), frame.x.lowerBound - 8, y + 4, "tick end"))
    }
    for value in frame.horizontal.values {
      let x = frame.place(x: value)
      lines.append(line(x, frame.y.upperBound, x, frame.y.upperBound + 5, "axis"))
      lines.append(text(frame.horizontal.label(value), x, frame.y.upperBound + 19, "tick middle"))
    }
    for mark in marks {
      let x = frame.place(x: mark)
      lines.append(line(x, frame.y.lowerBound, x, frame.y.upperBound, "mark"))
    }
    lines.append(
      line(frame.x.lowerBound, frame.y.upperBound, frame.x.upperBound, frame.y.upperBound, "axis"))
    let heading = panel.unit.isEmpty ? panel.title : "\(panel.title) (\(panel.unit))"
    lines.append(text(heading, frame.x.lowerBound, frame.y.lowerBound - 14, "name"))
    lines.append(
      text(
        horizontalAxis, (frame.x.lowerBound + frame.x.upperBound) / 2, frame.y.upperBound + 38,
        "tick middle"))
    lines += legend(panel, frame)
    return lines + panel.series.flatMap { draw($0, frame) }
  }

  private func legend(_ panel: Panel, _ frame: Frame) -> [String] {
    var x = frame.x.upperBound
    let y = frame.y.lowerBound - 18
    var lines: [String] = []
    for series in panel.series.reversed() {
      lines.append(text(series.name, x, y + 4, "tick end"))
      x -= Double(series.name.count) * 6.6 + 32
      lines.append(line(x, y, x + 22, y, "line line\(series.colour)"))
      x -= 18
    }
    return lines
  }

  private func draw(_ series: Series, _ frame: Frame) -> [String] {
    let colour = series.colour
    let pieces = series.points.split { !$0.y.isFinite }
    let places = pieces.map { $0.map { (frame.place(x: $0.x), frame.place(y: $0.y)) } }
    var lines = places.filter { $0.count > 1 }.map { piece in
      let points = piece.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
      return "<polyline class=\"line line\(colour)\" points=\"\(points)\"/>"
    }
    let all = places.flatMap { $0 }
    // Few points are shown as such.
    for (x, y) in all.count <= 30 ? all : [] {
      lines.append(
        "<circle class=\"dot\(colour)\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"2.6\"/>")
    }
    return lines
  }

  private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String)
    -> String
  {
    "<line class=\"\(style)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" "
      + "y2=\"\(number(y2))\"/>"
  }

  private func text(_ text: String, _ x: Double, _ y: Double, _ style: String) -> String {
    "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">\(escaped(text))</text>"
  }

  private func number(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  private static let style = """
    <style>
      text { font-family: system-ui, "Helvetica Neue", Arial, sans-serif; fill: #24292f; }
      .title { font-size: 16px; font-weight: 600; }
      .name { font-size: 13px; font-weight: 600; }
      .tick { font-size: 12px; fill: #57606a; }
      .end { text-anchor: end; }
      .middle { text-anchor: middle; }
      .paper { fill: #ffffff; }
      .grid { stroke: #d8dee4; stroke-width: 1; }
      .axis { stroke: #57606a; stroke-width: 1; }
      .mark { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 2 4; }
      .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
      .line0 { stroke: #0969da; }
      .line1 { stroke: #bc4c00; stroke-dasharray: 7 4; }
      .dot0 { fill: #0969da; }
      .dot1 { fill: #bc4c00; }
      @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3; }
        .tick { fill: #9da7b3; }
        .paper { fill: #0d1117; }
        .grid { stroke: #262c34; }
        .axis { stroke: #9da7b3; }
        .line0 { stroke: #58a6ff; }
        .line1 { stroke: #f0883e; }
        .dot0 { fill: #58a6ff; }
        .dot1 { fill: #f0883e; }
      }
    </style>
    """
}
