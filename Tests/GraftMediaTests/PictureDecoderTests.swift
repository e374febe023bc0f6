import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftMedia

/// The small pictures of `Tests/Pictures`, made with what they should become by `make.py` there.
enum PictureGoldens {
  static let folder = SharedData.project.appending(path: "Tests/Pictures")
  static let expected =
    (try? SafetensorsFile(path: folder.appending(path: "expected.safetensors").path).tensors)
    ?? OrderedTable()
  static let files = expected.keys.filter { $0.hasPrefix("file/") }.map { String($0.dropFirst(5)) }

  /// [height, width, 3] as a picture.
  static func picture(_ name: String) throws -> Picture {
    let tensor = try #require(expected[name])
    return try Picture(
      width: tensor.shape[1], height: tensor.shape[0], pixels: tensor.values(), name: name)
  }
}

extension Picture {
  /// The largest difference of any value; nil when the sides differ.
  func largestDifference(from other: Picture) -> Int? {
    guard width == other.width, height == other.height else { return nil }
    return zip(pixels, other.pixels).map { abs(Int($0) - Int($1)) }.max()
  }
}

@Suite(.enabled(if: SoundFiles.isInstalled, SoundFiles.reason))
struct PictureDecoderTests {
  @Test(arguments: PictureGoldens.files)
  func `a picture has the pixels that Pillow gives it`(name: String) throws {
    let picture = try Picture(contentsOf: PictureGoldens.folder.appending(path: name))
    let expected = try PictureGoldens.picture("file/" + name)
    // Lossless formats are exact; a JPEG's transform, and 16 bits to 8, are rounded differently.
    let most = name.hasSuffix(".jpg") ? 3 : name == "bits16.png" ? 1 : 0
    let difference = try #require(picture.largestDifference(from: expected))
    #expect(difference <= most)
  }

  @Test func `there are goldens of every kind`() {
    #expect(PictureGoldens.files.count > 35)
  }

  @Test(.enabled(if: SharedData.isPresent, SharedData.reason))
  func `real pictures have the sides, means and pixels that are known of them`() throws {
    let facts = try PictureFacts.all()
    #expect(facts.count > 100)
    let names = facts.keys.sorted()
    let urls = names.map { URL(fileURLWithPath: SharedData.path("data/" + $0)) }
    for (name, result) in zip(names, PictureDecoder().decode(urls)) {
      let fact = try #require(facts[name])
      #expect(fact.difference(from: try result.get()) == nil, "\(name)")
    }
  }

  // MARK: Files that cannot be used

  private func expectRefused(
    _ code: GraftError.Code, _ text: String, _ url: URL, _ decoder: PictureDecoder = .init(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectError(code, text, sourceLocation: sourceLocation) {
      do { _ = try decoder.decode(url) } catch let error as GraftError {
        #expect(error.places.first == url.path, sourceLocation: sourceLocation)
        throw error
      }
    }
  }

  @Test func `a missing file, a folder, an empty file and a text are errors`() throws {
    let folder = try TemporaryFolder()
    func file(_ name: String, _ text: String) throws -> URL {
      let url = folder.url.appending(path: name)
      try Data(text.utf8).write(to: url)
      return url
    }
    expectRefused(.notFound, "there is no such file", folder.url.appending(path: "none.png"))
    expectRefused(.badData, "this is a folder, not a picture", folder.url)
    expectRefused(.badData, "the file is empty", try file("empty.jpg", ""))
    expectRefused(.badData, "no picture of a known format", try file("a.jpg", "not a picture\n"))
    expectRefused(
      .badData, "no picture of a known format",
      try file("b.jpg", "ffconcat version 1.0\nfile /etc/hostname\n"))
  }

  @Test(arguments: ["color420.jpg", "progressive.jpg", "alpha.png", "color.bmp", "color.tiff"])
  func `a picture that is cut off is an error`(name: String) throws {
    let folder = try TemporaryFolder()
    let bytes = try Data(contentsOf: PictureGoldens.folder.appending(path: name))
    for share in [0.3, 0.6, 0.8] {
      let url = folder.url.appending(path: "cut \(share) " + name)
      try bytes.prefix(Int(Double(bytes.count) * share)).write(to: url)
      expectRefused(.badData, "cannot be decoded whole", url)
    }
  }

  @Test func `damaged pictures never trap`() throws {
    let folder = try TemporaryFolder()
    for (name, count) in [("turned6.jpg", 30), ("turned6.png", 20), ("turned6.webp", 20)] {
      let original = PictureGoldens.folder.appending(path: name)
      let damaged = try DamagedFile(original.path, copy: folder.url.appending(path: name))
      try damaged.expectErrorsOnly(count: count, seed: 1) {
        _ = try Picture(contentsOf: URL(fileURLWithPath: $0))
      }
    }
  }

  @Test(arguments: ["color.bmp", "color420.jpg", "palette.png"])
  func `too many pixels are refused`(name: String) {
    var decoder = PictureDecoder()
    decoder.maximumPixelCount = 24 * 40 - 1
    expectRefused(
      .badData, "more than 959 pixels", PictureGoldens.folder.appending(path: name), decoder)
    decoder.maximumPixelCount = 24 * 40
    #expect(throws: Never.self) {
      try decoder.decode(PictureGoldens.folder.appending(path: name))
    }
  }

  @Test func `a large picture is decoded`() throws {
    let files = try SoundFiles()
    let url = try files.make(
      "large.png", ["-f", "lavfi", "-i", "color=red:size=6000x4000", "-frames:v", "1"])
    let picture = try Picture(contentsOf: url)
    #expect(picture.width == 6000 && picture.height == 4000)
    #expect(picture.pixels.suffix(3).first ?? 0 > 250)
  }

  @Test func `without the program the error tells how to get it`() {
    var decoder = PictureDecoder()
    decoder.program = "no-such-program"
    expectRefused(
      .externalProgram, "not installed", PictureGoldens.folder.appending(path: "one.png"), decoder)
  }

  @Test func `many files keep their order, and one that is broken spoils no other`() throws {
    let names = ["one.png", "none.png", "color.bmp", "column.png"]
    let results = PictureDecoder().decode(
      names.map { PictureGoldens.folder.appending(path: $0) })
    #expect(try results[0].get().width == 1)
    #expect(throws: GraftError.self) { try results[1].get() }
    #expect(try results[2].get().width == 40)
    #expect(try results[3].get().height == 24)
    #expect(PictureDecoder().decode([]).isEmpty)
  }

  @Test func `pixels must fill the picture`() {
    expectError(.invalidArgument, "3 values do not make 2 x 2 pixels") {
      _ = try Picture(width: 2, height: 2, pixels: [1, 2, 3])
    }
    expectError(.invalidArgument, "cannot have 0 x 2 pixels") {
      _ = try Picture(width: 0, height: 2, pixels: [])
    }
    expectError(.invalidArgument, "is too large") {
      _ = try Picture(width: Int.max, height: 2, pixels: [])
    }
  }
}

/// What `decoded.json` knows of a picture.
private struct PictureFacts: Decodable {
  let format: String
  let width: Int
  let height: Int
  let meanRGB: [Double]
  let pixels: [Pixel]

  enum CodingKeys: String, CodingKey {
    case format, width, height, pixels
    case meanRGB = "mean_rgb"
  }

  struct Pixel: Decodable {
    let x: Int
    let y: Int
    let color: [Int]

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      x = try values.decode(Int.self)
      y = try values.decode(Int.self)
      color = try values.decode([Int].self)
    }
  }

  private struct File: Decodable { let pictures: [String: PictureFacts] }

  static func all() throws -> [String: PictureFacts] {
    let data = try Data(contentsOf: URL(fileURLWithPath: SharedData.path("data/decoded.json")))
    return try JSONDecoder().decode(File.self, from: data).pictures
  }

  /// The first difference; nil when there is none.
  func difference(from picture: Picture) -> String? {
    guard picture.width == width, picture.height == height else {
      return "\(picture.width) x \(picture.height), not \(width) x \(height)"
    }
    let (most, mostMean) = format == "JPEG" ? (3, 0.1) : (0, 0.001)
    for channel in 0..<3 {
      let values = stride(from: channel, to: picture.pixels.count, by: 3)
      let mean = Double(values.reduce(0) { $0 + Int(picture.pixels[$1]) }) / Double(width * height)
      if abs(mean - meanRGB[channel]) > mostMean {
        return "the mean of channel \(channel) is \(mean), not \(meanRGB[channel])"
      }
      for pixel in pixels {
        let value = Int(picture.pixels[3 * (pixel.y * width + pixel.x) + channel])
        if abs(value - pixel.color[channel]) > most {
          return "(\(pixel.x), \(pixel.y)) is \(value), not \(pixel.color[channel])"
        }
      }
    }
    return nil
  }
}
