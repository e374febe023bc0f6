import GraftDiagnostics

/// One run of the ffmpeg program that turns an input into mono samples.
struct FFmpeg {
  /// The program's name or path.
  var program = "ffmpeg"
  /// The options of the input and the input itself; several are joined one after the other.
  var input: [String]
  /// Samples per second to deliver.
  var sampleRate: Int
  /// At most as much sound as this is delivered.
  var duration: Duration
  /// At most as long as this is waited.
  var timeLimit: Duration

  struct Result {
    let samples: [Float]
    let status: Int
    /// What the program complained about.
    let messages: [String]

    /// The last complaint, for an error's text.
    var reason: String { messages.last ?? "it gave no reason (status \(status))" }
  }

  static let installation = "Install it: apt-get install ffmpeg"
  /// Decoding an hour takes seconds; a file made to be slow is not worth more.
  private static let processorSeconds = 300
  /// In bytes; sound needs far less at a time.
  private static let largestBlock = 256 << 20

  /// Runs the program.
  ///
  /// - Throws: `externalProgram` when the program is missing or takes too long, `cancelled`.
  func run() throws -> Result {
    var child = ChildProcess(
      program,
      [
        "-nostdin", "-hide_banner", "-loglevel", "error",
        "-timelimit", "\(Self.processorSeconds)", "-max_alloc", "\(Self.largestBlock)",
        "-threads", "1",
      ] + input + [] + selection + [
        "-t", "\(duration / .seconds(1))", "-ac", "1", "-ar", "\(sampleRate)",
        "-f", "f32le", "pipe:1",
      ], installation: Self.installation)
    child.timeLimit = timeLimit
    var samples = SampleBuffer()
    let ending = try child.run { samples.append($0) }
    return Result(
      samples: samples.samples, status: ending.status,
      messages: ending.messages.map { Self.plain($0, input: input.last) })
  }

  /// The first sound track of every input, resampled.
  private var selection: [String] {
    // Without the limit, mixing channels of floating-point files would add them up beyond 1.
    let resample = "aresample=rematrix_maxval=1"
    let count = input.count { $0 == "-i" }
    guard count > 1 else { return ["-map", "0:a:0", "-af", resample] }
    let tracks = (0..<count).map { "[\($0):a:0]" }.joined()
    return ["-filter_complex", "\(tracks)concat=n=\(count):v=0:a=1,\(resample)"]
  }

  /// `[mp3 @ 0x55d0c8] Header missing.` without the address, which differs from run to run, the
  /// input, which the error's place names, and the full stop.
  static func plain(_ message: String, input: String?) -> String {
    var text = message.replacing(#/ @ 0x[0-9a-f]+\]/#, with: "]")
    if let name = input { text = text.replacing(name + ": ", with: "") }
    while text.hasSuffix(".") { text.removeLast() }
    return text
  }
}

/// Samples that arrive as bytes in pieces of any length.
private struct SampleBuffer {
  private(set) var samples: [Float] = []
  private var rest: [UInt8] = []

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    while !rest.isEmpty, position < bytes.count {
      rest.append(bytes[position])
      position += 1
      if rest.count == 4 {
        rest.withUnsafeBytes { add($0, 0) }
        rest = []
      }
    }
    samples.reserveCapacity(max(samples.count + bytes.count / 4, samples.capacity))
    while position + 4 <= bytes.count {
      add(bytes, position)
      position += 4
    }
    rest.append(contentsOf: bytes[position...])
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer, _ position: Int) {
    let bits = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
    samples.append(Float(bitPattern: bits))
  }
}
