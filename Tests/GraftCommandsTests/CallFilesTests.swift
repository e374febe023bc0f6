import Foundation
import GraftTestSupport
import Testing

@testable import GraftCommands

/// What calls do with the files they are given, before they work.
struct CallFilesTests {
  private let folder: TemporaryFolder
  private static let files = [
    "m.onnx", "m.onnx.data", "in.safetensors", "self.wav", "me/1.wav", "me/v.onnx",
  ]

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.folder("me")
    for name in Self.files { try Data(name.utf8).write(to: folder.url.appending(path: name)) }
    let manager = FileManager.default
    try manager.createSymbolicLink(
      atPath: path("soft.safetensors"), withDestinationPath: path("in.safetensors"))
    try manager.linkItem(atPath: path("in.safetensors"), toPath: path("hard.safetensors"))
    try manager.createSymbolicLink(
      atPath: path("dev.safetensors"), withDestinationPath: "/dev/full")
  }

  private func path(_ name: String) -> String { folder.url.path + "/" + name }

  /// Runs a call in whose words `@` stands for the folder.
  private func run(_ words: String) async -> (code: Int32, diagnostics: String) {
    let console = Recorder()
    let words = words.split(separator: " ").map {
      String($0).replacing("@", with: folder.url.path + "/")
    }
    let code = await CommandLineTool.run(words, console.console)
    return (code, console.diagnostics)
  }

  private static let train = "train @m.onnx --examples @in.safetensors --trainable .*"

  @Test(arguments: [
    ("run @m.onnx --inputs @in.safetensors --outputs @in.safetensors", "overwrite '--inputs'"),
    ("run @m.onnx --inputs @in.safetensors --outputs @./in.safetensors", "overwrite '--inputs'"),
    ("run @m.onnx --inputs @in.safetensors --outputs @soft.safetensors", "overwrite '--inputs'"),
    ("run @m.onnx --inputs @soft.safetensors --outputs @hard.safetensors", "overwrite '--inputs'"),
    ("\(train) --parameters-out @in.safetensors", "overwrite '--examples'"),
    ("\(train) --export @m.onnx", "overwrite the model"),
    ("\(train) --export @me/../m.onnx", "overwrite the model"),
    ("\(train) --log @m.onnx", "overwrite the model"),
    ("\(train) --log @m.onnx.data", "overwrite the model"),
    ("\(train) --log @soft.safetensors", "overwrite '--examples'"),
    ("\(train) --export @e.onnx --log @e.onnx", "'--export' and '--log' name the same file"),
    ("\(train) --export @e.onnx --log @me/../e.onnx", "'--export' and '--log' name the same file"),
    ("\(train) --parameters-out @p.safetensors --log @p.safetensors", "name the same file"),
    ("voice record --device @self.wav --out @self.wav", "overwrite '--device'"),
    ("voice train --trunk @m.onnx --me @me --out @m.onnx", "overwrite '--trunk'"),
    ("voice train --me @me --out @me/v.onnx", "overwrite a recording"),
  ])
  func `an output never replaces an input or another output`(words: String, text: String)
    async throws
  {
    let (code, diagnostics) = await run(words)
    #expect(code == 64)
    #expect(diagnostics.contains(text), "\(diagnostics)")
    for name in Self.files {
      #expect(try String(contentsOfFile: path(name), encoding: .utf8) == name)
    }
  }

  @Test(arguments: [
    "run @m.onnx --inputs @in.safetensors --outputs @o.txt",
    "\(train) --parameters-out @p.bin",
    "\(train) --export @e.txt",
    "voice train --me @me --out @v.txt",
    "voice record --out @a.mp3",
    "demo --out @demo",
  ])
  func `an output's name must end as its contents demand`(words: String) async {
    let (code, diagnostics) = await run(words)
    #expect(code == 64)
    #expect(diagnostics.contains("Choose a name that ends in ."), "\(diagnostics)")
  }

  @Test(arguments: [
    "run @m.onnx --inputs @in.safetensors --outputs @none/o.safetensors",
    "\(train) --parameters-out @none/p.safetensors",
    "\(train) --export @none/e.onnx",
    "\(train) --log @none/log.jsonl",
    "voice train --me @me --out @none/v.onnx",
    "voice record --out @none/a.wav",
  ])
  func `a missing folder is found before the work`(words: String) async {
    let (code, diagnostics) = await run(words)
    #expect(code == 1)
    #expect(diagnostics.contains("none' is not there or cannot be written"), "\(diagnostics)")
  }

  @Test func `a device is not replaced by a file`() async throws {
    let (code, diagnostics) = await run(
      "run @m.onnx --inputs @in.safetensors --outputs @dev.safetensors")
    #expect(code == 1)
    #expect(diagnostics.contains("this is a device or a pipe, not a file"), "\(diagnostics)")
    let attributes = try FileManager.default.attributesOfItem(atPath: "/dev/full")
    #expect(attributes[.type] as? FileAttributeType == .typeCharacterSpecial)
  }

  @Test(arguments: [
    "inspect @me", "bench @me", "run @me --inputs @in.safetensors --outputs @o.safetensors",
    "run @m.onnx --inputs @me --outputs @o.safetensors",
    "train @m.onnx --examples @me --trainable .*", "voice identify --model @me @self.wav",
    "voice train --trunk @me --me @me --out @v.onnx",
  ])
  func `a folder in place of a file exits with 65`(words: String) async {
    let (code, diagnostics) = await run(words)
    #expect(code == 65)
    #expect(diagnostics.contains("me: this is a folder, not a file"), "\(diagnostics)")
  }

  @Test func `a recording that is there is kept`() async throws {
    let (code, diagnostics) = await run("voice record --device nothing --out @me/1.wav")
    #expect(code == 64)
    #expect(diagnostics.contains("this file is there already"), "\(diagnostics)")
    #expect(try String(contentsOfFile: path("me/1.wav"), encoding: .utf8) == "me/1.wav")
  }

  @Test(arguments: [
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "a PNG picture"),
    ([0xFF, 0xD8, 0xFF, 0xE0, 0, 16], "a JPEG picture"),
    (Array("A letter in Grüßen.\n".utf8), "text"),
  ])
  func `a file that is no model is called what it is`(bytes: [UInt8], text: String) async throws {
    try Data(bytes).write(to: folder.url.appending(path: "other.onnx"))
    let (code, diagnostics) = await run("inspect @other.onnx")
    #expect(code == 65)
    #expect(diagnostics.contains("this is no ONNX model"), "\(diagnostics)")
    #expect(diagnostics.contains(text), "\(diagnostics)")
  }
}
