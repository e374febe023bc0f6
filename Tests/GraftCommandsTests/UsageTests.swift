import Foundation
import Testing

@testable import GraftCommands

struct UsageTests {
  @Test(arguments: [
    (["inspekt", "a.onnx"], "Did you mean 'inspect'?"),
    (["inspect"], "'graft inspect' needs MODEL"),
    (["inspect", "a", "b"], "'b' is one argument too many"),
    (["inspect", "a", "--jsno"], "Did you mean '--json'?"),
    (["voice"], "Choose one of: voice train, voice identify, voice record"),
    (["voice", "trian"], "Did you mean 'voice train'?"),
    (["train", "a"], "the option '--data' is missing"),
    (["train"], "'graft train' needs MODEL"),
    (["train", "a", "--examples", "b", "--data", "c"], "exclude each other"),
    (
      [
        "train", "a", "--data", "b", "--trainable", ".*", "--run", "r", "--checkpoint-every", "1.5",
      ],
      "Give a number of updates, as in 100, or of seconds, as in 30s"
    ),
    (["evaluate", "a"], "the option '--data' is missing"),
    (
      ["evaluate", "a", "--data", "b", "--predictions", "p.txt"],
      "writes .csv or .json, not '.txt'"
    ),
    (
      ["train", "a", "--examples", "b", "--loss", "mes"],
      "Choose one of: cross-entropy, mse, bce, l1"
    ),
    (["train", "a", "--examples", "b"], "nothing is chosen for training"),
    (
      ["train", "a", "--examples", "b", "--trainable", ".*", "--epochs", "0"],
      "'0' is no value for '--epochs'"
    ),
    (
      [
        "train", "a", "--examples", "b", "--trainable", ".*", "--optimizer", "sgd", "--beta1",
        "0.5",
      ],
      "belongs to the optimizer adamw"
    ),
    (["bench", "a", "--shape", "x:1"], "is no shape"),
    (["bench", "a", "--shape", "x=1", "--shape", "x=2"], "'x' is given twice"),
    (
      ["bench", "a", "--shape", "x=1", "--batch", "2"], "'--shape' and '--batch' exclude each other"
    ),
    (["bench", "a", "--runs", "\(Int.max)"], "Give a whole number, 1 to 1000000"),
    (["bench", "a", "--threads", "\(Int.max)"], "Give a whole number, 1 to 1024"),
    (["voice", "identify", "--model", "a"], "needs at least one FILE."),
    (
      ["voice", "train", "--me", "a", "--person", "me=b", "--out", "a.onnx"],
      "the person 'me' is given twice"
    ),
    (["voice", "train", "--out", "a.onnx"], "nobody is to be recognised"),
    (["voice", "identify", "a.wav"], "the option '--model' is missing"),
    (["run", "a", "--inputs"], "the option '--inputs' needs a value"),
  ])
  func `wrong usage exits with 64 and says what to do`(words: [String], text: String) async {
    let console = Recorder()
    let code = await CommandLineTool.run(words, console.console)
    #expect(code == 64)
    #expect(console.diagnostics.contains(text), "\(console.diagnostics)")
  }

  @Test func `a missing model exits with 65 and names the file`() async {
    let console = Recorder()
    #expect(await CommandLineTool.run(["inspect", "/nowhere/model.onnx"], console.console) == 65)
    #expect(console.diagnostics.contains("/nowhere/model.onnx: there is no such file"))
  }

  @Test func `a place that cannot be written is found before the work`() async {
    for (out, code) in [("/nowhere/model.onnx", Int32(1)), ("/tmp/model.txt", 64)] {
      let console = Recorder()
      let words = ["voice", "train", "--me", "/nowhere", "--out", out]
      #expect(await CommandLineTool.run(words, console.console) == code)
      #expect(console.diagnostics.contains("graft: \(out): "), "\(console.diagnostics)")
    }
  }

  @Test(arguments: CommandLineTool.commands.map { $0.specification.name })
  func `every command has help with an example that parses`(name: String) async throws {
    let words = name.split(separator: " ").map(String.init)
    let console = Recorder()
    #expect(await CommandLineTool.run(words + ["--help"], console.console) == 0)
    #expect(console.output.contains("example:"))
    let command = try #require(
      CommandLineTool.commands.first { $0.specification.name == name })
    let example = command.specification.example.split(separator: " ").map {
      $0.trimmingCharacters(in: CharacterSet(charactersIn: "'"))
    }
    #expect(Array(example.prefix(words.count + 1)) == ["graft"] + words)
    _ = try Arguments(Array(example.dropFirst(words.count + 1)), for: command.specification)
  }

  @Test func `an option that repeats has three dots in the help`() async {
    let console = Recorder()
    #expect(await CommandLineTool.run(["bench", "--help"], console.console) == 0)
    #expect(console.output.contains("--shape NAME=D,D,...  "), "\(console.output)")
    #expect(!console.output.contains("...."), "\(console.output)")
  }

  @Test func `the overview lists every command`() async {
    let console = Recorder()
    #expect(await CommandLineTool.run(["--help"], console.console) == 0)
    for command in CommandLineTool.commands {
      #expect(console.output.contains(command.specification.name))
    }
  }
}
