import Foundation
import GraftDiagnostics

/// A picture: red, green and blue of every pixel, 8 bits each.
public struct Picture: Sendable, Equatable {
  public let width: Int
  public let height: Int
  /// Red, green, blue of the first pixel, then of the next to its right; rows from top to bottom.
  public let pixels: [UInt8]
  /// The file it comes from, for messages.
  public let name: String

  /// - Parameter pixels: 3 * width * height values.
  /// - Throws: `invalidArgument` when a side is below 1 or the number of values is another.
  public init(width: Int, height: Int, pixels: [UInt8], name: String = "picture") throws {
    let count = try Self.byteCount(width, height)
    guard pixels.count == count else {
      throw GraftError(
        .invalidArgument, "\(pixels.count) values do not make \(width) x \(height) pixels",
        at: [name], fix: "Give \(count) values: red, green and blue of every pixel")
    }
    self.init(width, height, checked: pixels, name)
  }

  /// For those who made the pixels for these sides.
  init(_ width: Int, _ height: Int, checked pixels: [UInt8], _ name: String) {
    self.width = width
    self.height = height
    self.pixels = pixels
    self.name = name
  }

  /// Decodes a file: JPEG, PNG, GIF (its first picture), BMP, WebP, TIFF, PNM, HEIC or AVIF.
  ///
  /// - Throws: as `PictureDecoder.decode`.
  public init(contentsOf url: URL) throws {
    self = try PictureDecoder().decode(url)
  }

  /// The bytes of a picture with these sides.
  ///
  /// - Throws: `invalidArgument` when a side is below 1 or the picture would be larger than any
  ///   memory.
  static func byteCount(_ width: Int, _ height: Int) throws -> Int {
    guard width > 0, height > 0 else {
      throw GraftError(
        .invalidArgument, "a picture cannot have \(width) x \(height) pixels",
        fix: "Choose sides of 1 or more")
    }
    let (count, overflow) = width.multipliedReportingOverflow(by: height)
    guard !overflow, count <= 1 << 30 else {
      throw GraftError(
        .invalidArgument, "a picture of \(width) x \(height) pixels is too large",
        fix: "Choose smaller sides")
    }
    return 3 * count
  }

  /// A picture of the same name whose pixels `fill` writes.
  ///
  /// - Throws: as `byteCount`.
  func making(
    _ width: Int, _ height: Int,
    _ fill: (_ pixels: UnsafeMutableBufferPointer<UInt8>, _ source: UnsafeBufferPointer<UInt8>)
      -> Void
  ) throws -> Picture {
    let count = try Self.byteCount(width, height)
    let made = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      buffer.initialize(repeating: 0)
      pixels.withUnsafeBufferPointer { fill(buffer, $0) }
      initialized = count
    }
    return Picture(width, height, checked: made, name)
  }
}
