import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftMedia

struct PicturePreprocessingTests {
  private let scene: Picture

  init() throws { scene = try PictureGoldens.picture("scene") }

  @Test(arguments: PictureGoldens.expected.keys.filter { $0.hasPrefix("resize/") })
  func `a picture in another size is Pillow's, bit by bit`(name: String) throws {
    let expected = try PictureGoldens.picture(name)
    let filter = try #require(
      PictureFilter(rawValue: String(name.split(separator: "/")[1])))
    let resized = try scene.resized(
      toWidth: expected.width, height: expected.height, filter: filter)
    #expect(resized.pixels == expected.pixels)
  }

  @Test func `an impossible size is refused`() {
    for (width, height) in [(0, 4), (4, -1), (Int.max, 4), (1 << 20, 1 << 20)] {
      expectError(.invalidArgument, "") {
        _ = try scene.resized(toWidth: width, height: height)
      }
    }
  }

  @Test(arguments: [32, 33])
  func `the standard input of ImageNet is that of torchvision`(side: Int) throws {
    expectClose(
      try PicturePreprocessing.imageNet(size: side).tensor(scene),
      PictureGoldens.expected["imagenet/\(side)"], Tolerance(absolute: 1e-6, relative: 1e-6),
      "\(side) pixels")
  }

  @Test func `the middle is cut out in any proportions`() throws {
    var preprocessing = PicturePreprocessing(width: 20, height: 30)
    preprocessing.filter = .bicubic
    let expected = try PictureGoldens.picture("crop/bicubic/20x30")
    #expect(try preprocessing.fitted(scene).pixels == expected.pixels)
  }

  @Test(arguments: [(32, 40), (90, 40)])
  func `a letterbox holds the whole picture`(width: Int, height: Int) throws {
    let preprocessing = PicturePreprocessing(
      width: width, height: height, fit: .letterbox(red: 10, green: 20, blue: 30))
    let expected = try PictureGoldens.picture("letterbox/\(width)x\(height)")
    #expect(try preprocessing.fitted(scene).pixels == expected.pixels)
  }

  @Test func `colours can be in the other order and last`() throws {
    var preprocessing = PicturePreprocessing(width: 16, height: 16, fit: .stretch)
    preprocessing.colorOrder = .bgr
    preprocessing.layout = .channelsLast
    expectClose(
      try preprocessing.tensor(scene), PictureGoldens.expected["bgr/16x16"],
      Tolerance(absolute: 1e-7, relative: 0), "blue first")
  }

  @Test func `pictures of any proportions become the input, large ones without their size again`()
    throws
  {
    for (width, height) in [(1, 1), (1, 5000), (5000, 1), (3, 2)] {
      let picture = try Picture(
        width: width, height: height,
        pixels: [UInt8](repeating: 100, count: 3 * width * height))
      for fit in [
        PicturePreprocessing.Fit.stretch, .centerCrop(fraction: 0.875),
        .letterbox(red: 100, green: 100, blue: 100),
      ] {
        let preprocessing = PicturePreprocessing(width: 224, height: 224, fit: fit)
        let fitted = try preprocessing.fitted(picture)
        #expect(fitted.pixels.count == 3 * 224 * 224)
        #expect(fitted.pixels.allSatisfy { $0 == 100 })
      }
    }
  }

  @Test func `numbers that make no sense are refused`() {
    func expectRefused(_ text: String, _ change: (inout PicturePreprocessing) -> Void) {
      var preprocessing = PicturePreprocessing.imageNet(size: 8)
      change(&preprocessing)
      expectError(.invalidArgument, text) { _ = try preprocessing.tensor(scene) }
    }
    expectRefused("0 x 8") { $0.width = 0 }
    expectRefused("8 x 70000") { $0.height = 70_000 }
    expectRefused("the mean is") { $0.mean = [1] }
    expectRefused("the deviation is") { $0.deviation = [1, 0, 1] }
    expectRefused("the scale is") { $0.scale = .nan }
    expectRefused("the fraction") { $0.fit = .centerCrop(fraction: 0) }
    expectRefused("the fraction") { $0.fit = .centerCrop(fraction: .nan) }
  }

  @Test func `it is kept as JSON`() throws {
    let preprocessing = PicturePreprocessing.imageNet()
    let data = try JSONEncoder().encode(preprocessing)
    #expect(try JSONDecoder().decode(PicturePreprocessing.self, from: data) == preprocessing)
  }
}
