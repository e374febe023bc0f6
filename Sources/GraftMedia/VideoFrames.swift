import Foundation
import GraftDiagnostics

/// One picture of a video or camera.
public struct VideoFrame: Sendable {
  public let picture: Picture
  /// How many came before it, those that were dropped too.
  public let index: Int
}

/// The pictures of a video or camera, one after the other.
///
/// A thread reads them from the ffmpeg program and keeps one ready. A file waits until it is fetched;
/// of a camera the newest is kept and older ones that nobody fetched are dropped. So memory holds two
/// pictures at any time. One thread at a time may call `next`; letting go of it ends the program.
public final class VideoFrames {
  private let slot: FrameSlot

  /// - Parameters:
  ///   - input: the input's options of ffmpeg and the input itself.
  ///   - framesPerSecond: how many to deliver; as many as come when nil.
  ///   - isLive: whether pictures are dropped while nobody fetches them.
  ///   - name: the file or device, for messages.
  package init(
    input: [String], framesPerSecond: Double?, isLive: Bool, name: String,
    program: String = "ffmpeg"
  ) {
    let slot = FrameSlot(isLive: isLive)
    self.slot = slot
    let filter = framesPerSecond.map { ["-vf", "fps=\($0)"] } ?? []
    var child = ChildProcess(
      program,
      [
        "-nostdin", "-hide_banner", "-loglevel", "error", "-max_alloc", "\(1 << 30)",
        "-max_pixels", "\(Self.largestFrame)",
      ] + input + ["-map", "0:v:0"] + filter
        + ["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"],
      installation: FFmpeg.installation)
    child.timeLimit = .seconds(365 * 86_400)
    let program = child
    Thread.detachNewThread { slot.fill(from: program, named: name, input: input.last) }
  }

  deinit { slot.stop() }

  private static let largestFrame = 100_000_000

  /// The next picture; nil at the end.
  ///
  /// - Throws: `badData` when the video cannot be decoded further, `externalProgram` when the camera
  ///   cannot be read or ffmpeg is missing, `cancelled`.
  public func next() throws -> VideoFrame? {
    while true {
      guard !Task.isCancelled else {
        throw GraftError(.cancelled, "the work was cancelled")
      }
      if let answer = slot.take(waiting: 0.1) { return try answer.get() }
    }
  }

  /// How many pictures were dropped so far because nobody fetched them.
  public var droppedCount: Int { slot.droppedCount }
}

/// Place for one picture between the thread that reads and the one that works.
private final class FrameSlot: @unchecked Sendable {
  private let condition = NSCondition()
  private let isLive: Bool
  private var frame: VideoFrame?
  private var count = 0
  private var dropped = 0
  private var isStopped = false
  /// How it ended: nil before, without an error at the end of the pictures.
  private var end: Result<Void, any Error>?

  init(isLive: Bool) { self.isLive = isLive }

  var droppedCount: Int { locked { dropped } }

  private func locked<R>(_ body: () -> R) -> R {
    condition.lock()
    defer { condition.unlock() }
    return body()
  }

  /// The next picture or the end; nil when neither came in time.
  func take(waiting seconds: Double) -> Result<VideoFrame?, any Error>? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    return locked {
      while frame == nil, end == nil {
        guard condition.wait(until: deadline) else { return nil }
      }
      defer {
        frame = nil
        condition.broadcast()
      }
      return frame.map { .success($0) } ?? end?.map { nil }
    }
  }

  func stop() {
    locked {
      isStopped = true
      condition.broadcast()
    }
  }

  /// Leaves a picture; of a file it waits until there is room.
  private func put(_ picture: Picture) throws {
    try locked { () -> Result<Void, any Error> in
      while frame != nil, !isLive, !isStopped { condition.wait() }
      guard !isStopped else { return .failure(Stopped()) }
      if frame != nil { dropped += 1 }
      frame = VideoFrame(picture: picture, index: count)
      count += 1
      condition.broadcast()
      return .success(())
    }.get()
  }

  private struct Stopped: Error {}

  /// Runs the program to its end.
  func fill(from program: ChildProcess, named name: String, input: String?) {
    let result = Result {
      var parser = FrameParser(name: name)
      let ending = try program.run { bytes in
        guard !locked({ isStopped }) else { throw Stopped() }
        try parser.append(bytes) { try put($0) }
      }
      guard ending.status == 0 else {
        let reason = ending.messages.last.map { FFmpeg.plain($0, input: input) }
        throw GraftError(
          isLive ? .externalProgram : .badData,
          (isLive ? "the camera cannot be read" : "the video cannot be decoded")
            + ": \(reason ?? "status \(ending.status)")", at: [name])
      }
    }
    locked {
      end = result
      condition.broadcast()
    }
  }
}

/// Cuts a stream of PPM pictures into pieces.
private struct FrameParser {
  let name: String
  private var header: [UInt8] = []
  private var pixels: [UInt8] = []
  private var sides: (width: Int, height: Int)?
  private var missing = 0

  init(name: String) { self.name = name }

  mutating func append(_ bytes: UnsafeRawBufferPointer, _ body: (Picture) throws -> Void) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let sides else {
        if let byte = rest.popFirst() { header.append(byte) }
        try readHeader()
        continue
      }
      let piece = rest.prefix(missing)
      pixels.append(contentsOf: piece)
      missing -= piece.count
      rest = rest.dropFirst(piece.count)
      guard missing == 0 else { continue }
      let picture = Picture(sides.width, sides.height, checked: pixels, name)
      (header, pixels, self.sides) = ([], [], nil)
      try body(picture)
    }
  }

  /// `P6`, the sides and 255, each on a line or behind a blank.
  private mutating func readHeader() throws {
    guard header.last == 0x0A, header.count(where: { $0 == 0x0A }) == 3 else {
      guard header.count < 64 else { throw wrong() }
      return
    }
    let words = header.split { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 4, words[0] == "P6", let width = Int(words[1]), let height = Int(words[2]),
      words[3] == "255"
    else { throw wrong() }
    missing = try Picture.byteCount(width, height)
    sides = (width, height)
    pixels.reserveCapacity(missing)
  }

  private func wrong() -> GraftError {
    GraftError(.externalProgram, "ffmpeg gave something else than pictures", at: [name])
  }
}
