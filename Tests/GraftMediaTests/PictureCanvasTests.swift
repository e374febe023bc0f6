import Foundation
import GraftTestSupport
import Testing

@testable import GraftMedia

struct PictureCanvasTests {
  private func canvas(_ width: Int, _ height: Int, _ value: UInt8 = 0) throws -> PictureCanvas {
    PictureCanvas(
      try Picture(
        width: width, height: height,
        pixels: [UInt8](repeating: value, count: 3 * width * height)))
  }

  private func color(_ canvas: PictureCanvas, _ x: Int, _ y: Int) -> PictureColor {
    let place = 3 * (y * canvas.width + x)
    return PictureColor(
      red: canvas.pixels[place], green: canvas.pixels[place + 1], blue: canvas.pixels[place + 2])
  }

  /// The pixels that are not black, a line for each row.
  private func drawing(_ canvas: PictureCanvas) -> String {
    (0..<canvas.height).map { y in
      (0..<canvas.width).map { color(canvas, $0, y) == .black ? "." : "#" }.joined()
    }.joined(separator: "\n")
  }

  // MARK: Colours

  @Test func `the colours of classes are what they were and differ from each other`() {
    #expect(PictureColor.ofClass(0) == PictureColor(red: 255, green: 38, blue: 38))
    #expect(PictureColor.ofClass(1) == PictureColor(red: 38, green: 101, blue: 255))
    #expect(PictureColor.ofClass(.min) == .ofClass(.min))
    let colors = (0..<400).map(PictureColor.ofClass)
    #expect(Set(colors).count == 400)
    for first in 0..<100 {
      for second in first + 1..<100 {
        let (a, b) = (colors[first], colors[second])
        let difference = zip([a.red, a.green, a.blue], [b.red, b.green, b.blue])
          .map { abs(Int($0) - Int($1)) }.max()
        #expect((difference ?? 0) >= 5, "\(first) and \(second)")
      }
    }
  }

  @Test func `letters can be read on every colour`() {
    for index in 0..<400 {
      let color = PictureColor.ofClass(index)
      func luma(_ color: PictureColor) -> Double {
        0.299 * Double(color.red) + 0.587 * Double(color.green) + 0.114 * Double(color.blue)
      }
      #expect(abs(luma(color) - luma(color.readable)) > 100)
    }
  }

  // MARK: Shapes

  @Test func `a box has a border inwards from its sides`() throws {
    var canvas = try canvas(8, 6)
    canvas.outline(PictureRectangle(x: 1, y: 1, width: 5, height: 4), .white)
    #expect(drawing(canvas) == "........\n.#####..\n.#...#..\n.#...#..\n.#####..\n........")
  }

  @Test func `what reaches over the border is cut off, also far away`() throws {
    var canvas = try canvas(6, 4)
    canvas.outline(PictureRectangle(x: -3, y: 1, width: 6, height: 1e30), .white)
    #expect(drawing(canvas) == "......\n###...\n..#...\n..#...")
    for rectangle in [
      PictureRectangle(x: .nan, y: 0, width: 1, height: 1),
      PictureRectangle(x: 0, y: 0, width: -5, height: 2),
      PictureRectangle(x: 1e300, y: 0, width: 1, height: 1),
      PictureRectangle(x: -1e300, y: -1e300, width: 1, height: 1),
    ] {
      let before = canvas.pixels
      canvas.outline(rectangle, .white)
      #expect(canvas.pixels == before)
    }
  }

  @Test func `lines grow with the picture`() throws {
    #expect(try canvas(40, 30).lineWidth == 1)
    #expect(try canvas(1200, 600).lineWidth == 3)
    #expect(try canvas(10, 10).textScale == 1)
    #expect(try canvas(1200, 600).textScale == 2)
  }

  @Test func `lines and discs are drawn and cut off`() throws {
    var canvas = try canvas(7, 5)
    canvas.line(
      from: PicturePoint(x: 1.5, y: 2.5), to: PicturePoint(x: 1e9, y: 2.5), .white, lineWidth: 1)
    #expect(drawing(canvas) == ".......\n.......\n.######\n.......\n.......")
    canvas.disc(at: PicturePoint(x: 3.5, y: 2.5), radius: 1.5, .white)
    #expect(drawing(canvas) == ".......\n..###..\n.######\n..###..\n.......")
    let before = canvas.pixels
    canvas.disc(at: PicturePoint(x: .infinity, y: 0), radius: 3, .white)
    canvas.line(from: PicturePoint(x: .nan, y: 0), to: PicturePoint(x: 1, y: 1), .white)
    #expect(canvas.pixels == before)
  }

  @Test func `classes tint their pixels`() throws {
    var canvas = try canvas(2, 1, 100)
    try canvas.tint([0, 3], [3: PictureColor(red: 200, green: 0, blue: 100)], opacity: 0.5)
    #expect(color(canvas, 0, 0) == PictureColor(red: 100, green: 100, blue: 100))
    #expect(color(canvas, 1, 0) == PictureColor(red: 150, green: 50, blue: 100))
    expectError(.shapeMismatch, "3 classes do not fill 2 x 1 pixels") {
      try canvas.tint([0, 1, 2], [:])
    }
  }

  // MARK: Text

  @Test func `letters have their shapes`() throws {
    var canvas = try canvas(17, 9)
    canvas.text("Ag1", x: 0, y: 0, .white)
    #expect(
      drawing(canvas) == """
        .###..........#..
        #...#........##..
        #...#..####...#..
        #####.#...#...#..
        #...#.#...#...#..
        #...#.#...#...#..
        #...#..####..###.
        ..........#......
        .......###.......
        """)
  }

  @Test func `every character has a shape of its own, unknown ones are a box`() {
    let shapes = (32...126).map { BitmapFont.rows(of: Character(UnicodeScalar(UInt8($0)))) }
    #expect(Set(shapes).count == 95)
    #expect(shapes.allSatisfy { (7...9).contains($0.count) && $0.allSatisfy { $0 < 32 } })
    for character in ["ä", "é", "\u{7F}", "\n", "猫", "👩‍👩‍👧"] as [Character] {
      #expect(BitmapFont.rows(of: character) == [31, 17, 17, 17, 17, 17, 31])
    }
  }

  @Test func `letters grow by whole pixels`() throws {
    var (small, large) = (try canvas(6, 9), try canvas(18, 27))
    small.text("g", x: 0, y: 0, .white, scale: 1)
    large.text("g", x: 0, y: 0, .white, scale: 3)
    for y in 0..<27 {
      for x in 0..<18 { #expect(color(large, x, y) == color(small, x / 3, y / 3)) }
    }
    #expect(large.textSize("abc", scale: 2).width == 34)
  }

  @Test(arguments: [(0.0, 0.0), (50, 3), (30, 15), (1e9, 1e9), (-5, -5), (.nan, .infinity)])
  func `a label lies inside of the picture wherever it is put`(x: Double, y: Double) throws {
    var canvas = try canvas(60, 20)
    canvas.label("cat", at: PicturePoint(x: x, y: y), PictureColor(red: 9, green: 9, blue: 9))
    let background = canvas.pixels.count(where: { $0 == 9 })
    let letters = canvas.pixels.count(where: { $0 == 255 })
    #expect(background + letters == 3 * 21 * 11)
  }

  @Test func `a label that is too large is cut off`() throws {
    for (width, height) in [(1, 1), (5, 3), (3, 40)] {
      var canvas = try canvas(width, height)
      canvas.label("a long label", at: PicturePoint(x: 0, y: 0), .white)
      #expect(canvas.picture.width == width)
      canvas.text("x", x: .max, y: .min, .white)
    }
  }
}
