import Foundation
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftMedia

/// Sizes by the four nearest pixels, and where pixels lie in a model's input.
struct PictureSamplingTests {
  /// Made by `Tests/Pictures/sampling.py`.
  private static let expected =
    (try? SafetensorsFile(
      path: PictureGoldens.folder.appending(path: "sampling.safetensors").path
    ).tensors) ?? OrderedTable()

  @Test(arguments: expected.keys)
  func `a picture in another size is that of numpy, bit by bit`(name: String) throws {
    let scene = try PictureGoldens.picture("scene")
    let expected = try #require(Self.expected[name])
    let resized = try scene.resized(
      toWidth: expected.shape[1], height: expected.shape[0], filter: .plainBilinear)
    #expect(resized.pixels == (try expected.values(as: UInt8.self)))
  }

  @Test func `there are goldens`() { #expect(Self.expected.keys.count == 7) }

  @Test func `a part of a picture is cut from the whole`() throws {
    let scene = try PictureGoldens.picture("scene")
    var preprocessing = PicturePreprocessing(width: 20, height: 30)
    preprocessing.filter = .plainBilinear
    let placement = try preprocessing.placement(ofWidth: scene.width, height: scene.height)
    let whole = try scene.resized(
      toWidth: placement.width, height: placement.height, filter: .plainBilinear)
    let part = try whole.cropped(x: -placement.left, y: -placement.top, width: 20, height: 30)
    #expect(try preprocessing.fitted(scene).pixels == part.pixels)
  }

  @Test(arguments: [
    PicturePreprocessing.Fit.stretch, .letterbox(), .centerCrop(), .centerCrop(fraction: 0.8),
  ])
  func `a bright pixel is found again where it was`(fit: PicturePreprocessing.Fit) throws {
    let (width, height) = (120, 80)
    for (x, y) in [(60, 40), (40, 30), (75, 55)] {
      var pixels = [UInt8](repeating: 0, count: 3 * width * height)
      for dy in -3...3 {
        for dx in -3...3 { pixels[3 * ((y + dy) * width + x + dx)] = 255 }
      }
      var preprocessing = PicturePreprocessing(width: 64, height: 64, fit: fit)
      preprocessing.filter = .plainBilinear
      let picture = try Picture(width: width, height: height, pixels: pixels)
      let fitted = try preprocessing.fitted(picture)
      // The middle of what is bright in the input.
      var (sum, sumX, sumY) = (0.0, 0.0, 0.0)
      for row in 0..<64 {
        for column in 0..<64 {
          let value = Double(fitted.pixels[3 * (row * 64 + column)])
          (sum, sumX, sumY) = (
            sum + value, sumX + value * (Double(column) + 0.5), sumY + value * (Double(row) + 0.5)
          )
        }
      }
      let placement = try preprocessing.placement(ofWidth: width, height: height)
      let place = preprocessing.pictureLocation(
        x: sumX / sum / 64, y: sumY / sum / 64, in: placement, of: (width, height))
      #expect(abs(place.x - Double(x) - 0.5) < 0.8, "\(fit) \(place) \(x)")
      #expect(abs(place.y - Double(y) - 0.5) < 0.8, "\(fit) \(place) \(y)")
    }
  }

  @Test func `the smallest and the longest pictures have a place`() throws {
    for fit in [PicturePreprocessing.Fit.stretch, .letterbox(), .centerCrop()] {
      var preprocessing = PicturePreprocessing(width: 32, height: 24, fit: fit)
      preprocessing.filter = .plainBilinear
      for (width, height) in [(1, 1), (1, 500), (900, 1)] {
        let picture = try Picture(
          width: width, height: height,
          pixels: [UInt8](repeating: 9, count: 3 * width * height))
        let fitted = try preprocessing.fitted(picture)
        #expect(fitted.width == 32 && fitted.height == 24)
      }
    }
  }
}
