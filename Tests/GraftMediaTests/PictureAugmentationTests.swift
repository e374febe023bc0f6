import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor
import GraftTestSupport
import Synchronization
import Testing

@testable import GraftMedia

struct PictureAugmentationTests {
  private let scene: Picture

  init() throws { scene = try PictureGoldens.picture("scene") }

  private func expect(
    _ picture: Picture, _ name: String, within most: Int, border: Int = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let expected = try PictureGoldens.picture(name)
    func inner(_ picture: Picture) throws -> Picture {
      try picture.cropped(
        x: border, y: border, width: picture.width - 2 * border,
        height: picture.height - 2 * border)
    }
    let difference = try #require(
      try inner(picture).largestDifference(from: inner(expected)),
      sourceLocation: sourceLocation)
    #expect(difference <= most, "\(name)", sourceLocation: sourceLocation)
  }

  // MARK: Single changes

  @Test func `light, saturation and hue follow their formulas`() throws {
    for stops in [-1.5, 0.5] {
      try expect(try scene.exposed(stops: stops), "expose/\(stops)", within: 1)
    }
    try expect(try scene.saturated(by: 0), "saturate/0", within: 1)
    for factor in [0.5, 1.7] {
      try expect(try scene.saturated(by: factor), "saturate/\(factor)", within: 1)
    }
    for degrees in [40, -120] {
      try expect(
        try scene.turningHue(degrees: Double(degrees)), "hue/\(degrees)", within: 1)
    }
  }

  @Test func `a blur is a Gaussian one, with the border repeated`() throws {
    for deviation in [0.7, 2.5] {
      try expect(try scene.blurred(deviation: deviation), "blur/\(deviation)", within: 1)
    }
  }

  @Test func `turning is counterclockwise about the middle`() throws {
    // Pillow has black outside: only the middle, into which no corner turns, is compared.
    let expected = try PictureGoldens.picture("rotate/20")
    let turned = try scene.turned(degrees: 20, zoom: 1)
    let (x, y, width, height) = (20, 12, 20, 18)
    let difference = try turned.cropped(x: x, y: y, width: width, height: height)
      .largestDifference(from: expected.cropped(x: x, y: y, width: width, height: height))
    #expect(try #require(difference) <= 1)
  }

  @Test func `a zoom of 2 shows the middle quarter`() throws {
    let picture = try scene.cropped(x: 0, y: 0, width: 60, height: 40)
    let zoomed = try picture.turned(degrees: 0, zoom: 2)
    let resized = try picture.cropped(x: 15, y: 10, width: 30, height: 20)
      .resized(toWidth: 60, height: 40)
    func inner(_ picture: Picture) throws -> Picture {
      try picture.cropped(x: 2, y: 2, width: 56, height: 36)
    }
    #expect(try #require(try inner(zoomed).largestDifference(from: inner(resized))) <= 1)
  }

  @Test func `mirrors exchange the sides`() throws {
    let picture = try Picture(
      width: 2, height: 2, pixels: [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    #expect(try picture.mirrored().pixels == [2, 2, 2, 1, 1, 1, 4, 4, 4, 3, 3, 3])
    #expect(try picture.mirroredVertically().pixels == [3, 3, 3, 4, 4, 4, 1, 1, 1, 2, 2, 2])
  }

  @Test func `noise has the deviation asked for`() throws {
    let grey = try Picture(
      width: 100, height: 100, pixels: [UInt8](repeating: 128, count: 30_000))
    var generator = SeededGenerator(seed: 3)
    let noisy = try grey.noisy(deviation: 0.05, using: &generator)
    let errors = noisy.pixels.map { Double($0) - 128 }
    let deviation = (errors.reduce(0) { $0 + $1 * $1 } / 30_000).squareRoot()
    #expect(abs(deviation / 255 - 0.05) < 0.001)
  }

  // MARK: All together

  private func varied(_ augmentation: PictureAugmentation, seed: UInt64) throws -> Picture {
    var generator = SeededGenerator(seed: seed)
    return try augmentation.applied(to: scene, using: &generator)
  }

  @Test func `nothing changes by default`() throws {
    for seed in 0..<20 {
      #expect(try varied(PictureAugmentation(), seed: UInt64(seed)) == scene)
    }
  }

  @Test func `a seed gives the same bytes on any thread, another seed others`() throws {
    let expected = try (0..<8).map { try varied(.photographs, seed: $0).pixels }
    #expect(Set(expected).count == 8)
    let made = Mutex([[UInt8]](repeating: [], count: 8))
    parallelLoop(8, threads: 8) { range in
      for index in range {
        let pixels = (try? varied(.photographs, seed: UInt64(index)))?.pixels ?? []
        made.withLock { $0[index] = pixels }
      }
    }
    #expect(made.withLock { $0 } == expected)
  }

  @Test func `half of the pictures are mirrored`() throws {
    var augmentation = PictureAugmentation()
    augmentation.horizontalFlip = true
    let mirrored = try scene.mirrored()
    let pictures = try (0..<200).map { try varied(augmentation, seed: $0) }
    let count = pictures.count { $0 == mirrored }
    #expect((70...130).contains(count))
    #expect(pictures.allSatisfy { $0 == mirrored || $0 == scene })
  }

  @Test func `switching a change on leaves the numbers of the others alone`() throws {
    var crop = PictureAugmentation()
    crop.crop = 0.5
    var both = crop
    both.hue = 30
    for seed in 0..<10 {
      let (one, two) = (
        try varied(crop, seed: UInt64(seed)), try varied(both, seed: UInt64(seed))
      )
      #expect(one.width == two.width && one.height == two.height)
    }
  }

  @Test func `a crop keeps the part asked for`() throws {
    var augmentation = PictureAugmentation()
    augmentation.crop = 0.5
    for seed in 0..<50 {
      let picture = try varied(augmentation, seed: UInt64(seed))
      #expect((31...61).contains(picture.width) && (22...43).contains(picture.height))
    }
  }

  @Test func `a picture of one pixel can be changed in every way`() throws {
    let pixel = try Picture(width: 1, height: 1, pixels: [10, 20, 30])
    var augmentation = PictureAugmentation.photographs
    augmentation.hue = 180
    augmentation.zoom = 0.1...10
    augmentation.verticalFlip = true
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<20 {
      let changed = try augmentation.applied(to: pixel, using: &generator)
      #expect(changed.width == 1 && changed.height == 1)
    }
  }

  @Test func `numbers out of range are refused`() {
    func expectRefused(_ text: String, _ change: (inout PictureAugmentation) -> Void) {
      var augmentation = PictureAugmentation()
      change(&augmentation)
      expectError(.invalidArgument, text) { _ = try varied(augmentation, seed: 0) }
    }
    expectRefused("crop") { $0.crop = 0 }
    expectRefused("rotation") { $0.rotation = .nan }
    expectRefused("rotation") { $0.rotation = 181 }
    expectRefused("zoom") { $0.zoom = 0...1 }
    expectRefused("zoom") { $0.zoom = 1...11 }
    expectRefused("exposure") { $0.exposure = -1 }
    expectRefused("saturation") { $0.saturation = -1...1 }
    expectRefused("hue") { $0.hue = 200 }
    expectRefused("blur") { $0.blur = 0.1 }
    expectRefused("noise") { $0.noise = 1 }
  }
}
