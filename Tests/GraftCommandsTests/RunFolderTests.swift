import Foundation
import Graft
import GraftFormats
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// The folders of runs, as `graft train` writes and goes on with them.
struct RunFolderTests {
  private let training: SmallTraining
  private let folder: RunFolder

  init() throws {
    training = try SmallTraining()
    folder = RunFolder(URL(fileURLWithPath: training.path("runs/small")))
  }

  private var words: [String] {
    [
      "train", training.model, "--data", training.data, "--validation", training.validation,
      "--trainable", "head.*", "--batch-size", "8", "--run", folder.path,
    ]
  }

  private func run(_ words: [String]) async -> (code: Int32, console: Recorder) {
    let recorder = Recorder()
    return (await CommandLineTool.run(words, recorder.console), recorder)
  }

  private func expectSuccess(_ words: [String]) async throws -> Recorder {
    let (code, console) = await run(words)
    try #require(code == 0, "\(console.diagnostics)")
    return console
  }

  private func expectFailure(_ words: [String], _ code: Int32, _ texts: String...) async {
    let (actual, console) = await run(words)
    #expect(actual == code)
    for text in texts { #expect(console.diagnostics.contains(text), "\(console.diagnostics)") }
  }

  @Test func `a run's folder says what was trained, how, and what became of it`() async throws {
    let console = try await expectSuccess(words + ["--epochs", "3"])
    #expect(console.output.contains("epoch 3: loss "), "\(console.output)")
    #expect(console.output.contains("validation loss "))
    #expect(console.output.contains("wrote \(folder.model.path)\n"))

    let configuration = try RunConfiguration(contentsOf: folder)
    #expect(configuration.options["--epochs"] == ["3"])
    #expect(configuration.options["--accumulate"] == ["1"])
    #expect(configuration.options["--seed"] == ["0"])
    #expect(configuration.options["--run"] == nil)
    #expect(configuration.data.map(\.exampleCount) == [24])
    #expect(configuration.data.map(\.path) == [training.data])
    #expect(configuration.validation.map(\.path) == [training.validation])
    #expect(configuration.model.fingerprint.count == 32)
    #expect(configuration.trainable == ["head.weight", "head.bias"])
    #expect(configuration.versions.graft == CommandLineTool.version)

    let history = try RunHistory(contentsOf: folder)
    #expect(history.epochs.map(\.epoch) == [1, 2, 3])
    #expect(history.epochs.map(\.run) == [1, 1, 1])
    #expect(history.epochs.map(\.step) == [3, 6, 9])
    #expect(history.epochs.allSatisfy { $0.validationLoss != nil && $0.accuracy != nil })
    #expect(history.outcome == .done)

    let events = RunLogReader(folder).newEvents()
    #expect(events.count { $0.event == .batch } == 9)
    #expect(events.first?.event == .begin)
    #expect(events.last?.event == .end)
    #expect(RunHistory(replaying: events) == history)

    let curves = try String(contentsOf: folder.curves, encoding: .utf8)
    #expect(curves.contains("<svg") && curves.contains(">validation<"))
    expectWellFormed(curves)
    #expect(!FileManager.default.fileExists(atPath: folder.lock.path))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(
      names == [
        "checkpoints", "config.json", "curves.svg", "history.json", "log.jsonl", "model.onnx",
      ])
    let model = try Model(contentsOf: folder.model)
    #expect(model.inputs.map(\.name) == ["pictures"])
  }

  @Test func `a run with more epochs goes on, and so does its history`() async throws {
    _ = try await expectSuccess(words + ["--epochs", "2"])
    let console = try await expectSuccess(
      ["train", "--run", folder.path, "--resume", "--epochs", "4"])
    #expect(console.diagnostics.contains("going on after step 6"), "\(console.diagnostics)")
    let history = try RunHistory(contentsOf: folder)
    #expect(history.epochs.map(\.epoch) == [1, 2, 3, 4])
    #expect(history.epochs.map(\.run) == [1, 1, 2, 2])
    #expect(history.runs.map(\.firstStep) == [0, 6])

    let other = RunFolder(URL(fileURLWithPath: training.path("runs/whole")))
    var whole = words
    whole[whole.count - 1] = other.path
    _ = try await expectSuccess(whole + ["--epochs", "4"])
    #expect(try Data(contentsOf: folder.model) == Data(contentsOf: other.model))
    #expect(
      try RunHistory(contentsOf: other).epochs.map(\.loss) == history.epochs.map(\.loss))
  }

  @Test func `the name of a run that is there must be resumed or changed`() async throws {
    _ = try await expectSuccess(words)
    await expectFailure(words, 64, "there is a run already", "Add '--resume'")
    await expectFailure(
      ["train", "--run", training.path("runs/smal"), "--resume"], 65, "there is no run",
      "Did you mean 'small'?")
    await expectFailure(["train", training.model, "--resume"], 64, "Add '--run NAME'")
  }

  @Test func `a run that is not there yet begins when it is resumed`() async throws {
    let console = try await expectSuccess(words + ["--resume"])
    #expect(console.diagnostics.contains("it begins"), "\(console.diagnostics)")
  }

  @Test(arguments: [
    (["--learning-rate", "0.5"], "'--learning-rate' was 0.01 when the run began, and is 0.5 now"),
    (["--momentum", "0.9"], "'--momentum' was not given when the run began, and is 0.9 now"),
    (["--batch-size", "4"], "'--batch-size' was 8"),
    (["--seed", "7"], "'--seed' was 0"),
    (["--accumulate", "2"], "'--accumulate' was 1"),
  ])
  func `a run cannot go on with other options`(options: [String], text: String) async throws {
    _ = try await expectSuccess(words + ["--optimizer", "sgd", "--learning-rate", "0.01"])
    await expectFailure(
      ["train", "--run", folder.path, "--resume"] + options, 65, text, "Leave it out")
    // The same number, written otherwise, is no difference.
    _ = try await expectSuccess(
      ["train", "--run", folder.path, "--resume", "--learning-rate", "1e-2"])
  }

  @Test func `a run cannot go on with other examples or another model`() async throws {
    _ = try await expectSuccess(words)
    try SmallTraining.write(count: 24, seed: 99, to: training.data)
    await expectFailure(
      ["train", "--run", folder.path, "--resume"], 65, training.data,
      "the data has changed since the run began")
    try SmallTraining.write(count: 24, seed: 2, to: training.data)
    _ = try await expectSuccess(["train", "--run", folder.path, "--resume"])
    try SmallTraining.model(seed: 5).write(to: URL(fileURLWithPath: training.model))
    await expectFailure(
      ["train", "--run", folder.path, "--resume"], 65, "the model has changed")
  }

  @Test func `a damaged configuration is named and left as it is`() async throws {
    _ = try await expectSuccess(words)
    let whole = try Data(contentsOf: folder.configuration)
    for damaged in [Data(), Data("{".utf8), whole.prefix(whole.count / 2), Data("{}".utf8)] {
      try damaged.write(to: folder.configuration)
      await expectFailure(
        ["train", "--run", folder.path, "--resume"], 65, folder.configuration.path,
        "the file is damaged")
      #expect(try Data(contentsOf: folder.configuration) == damaged)
    }
  }

  @Test func `a damaged history is made again from the log and kept beside`() async throws {
    _ = try await expectSuccess(words + ["--epochs", "2"])
    let former = try RunHistory(contentsOf: folder)
    try Data("{ no JSON".utf8).write(to: folder.history)
    let console = try await expectSuccess(
      ["train", "--run", folder.path, "--resume", "--epochs", "3"])
    #expect(console.diagnostics.contains("the file is damaged"), "\(console.diagnostics)")
    let history = try RunHistory(contentsOf: folder)
    #expect(Array(history.epochs.prefix(2)) == former.epochs)
    #expect(history.epochs.count == 3)
    let aside = folder.url.appending(path: "history.damaged.json")
    #expect(try Data(contentsOf: aside) == Data("{ no JSON".utf8))
  }

  @Test func `training goes on where its folder cannot be written`() async throws {
    let recorder = Recorder()
    let folder = folder
    let console = Console(
      output: { text in
        recorder.console.print(String(text.dropLast()))
        guard text.hasPrefix("epoch 1:") else { return }
        // Root may write everywhere: so something else is in the files' places.
        let files = FileManager.default
        try files.removeItem(at: folder.checkpoints)
        try Data().write(to: folder.checkpoints)
        for url in [folder.history, folder.curves] {
          try? files.removeItem(at: url)
          try files.createDirectory(at: url, withIntermediateDirectories: false)
        }
      }, diagnostics: { recorder.console.note(String($0.dropLast())) }, redraws: false)
    let code = await CommandLineTool.run(
      words + ["--epochs", "4", "--checkpoint-every", "2"], console)
    #expect(code == 0, "\(recorder.diagnostics)")
    #expect(recorder.output.contains("epoch 4: loss "))
    #expect(recorder.diagnostics.contains("no checkpoint was written"), "\(recorder.diagnostics)")
    #expect(recorder.diagnostics.contains("\(folder.history.path): "))
    #expect(recorder.diagnostics.contains("Training goes on."))
    #expect(FileManager.default.fileExists(atPath: folder.model.path))
  }

  @Test func `a full disk is told once and ends nothing`() async throws {
    try folder.make()
    try FileManager.default.createSymbolicLink(
      at: folder.log, withDestinationURL: URL(fileURLWithPath: "/dev/full"))
    let console = try await expectSuccess(words + ["--epochs", "3"])
    let told = console.diagnostics.components(separatedBy: "No space left on device").count - 1
    #expect(told == 1, "\(console.diagnostics)")
    #expect(try RunHistory(contentsOf: folder).epochs.count == 3)
  }

  @Test func `a place where no run can be is found before the work`() async throws {
    try Data().write(to: URL(fileURLWithPath: training.path("file")))
    var words = words
    words[words.count - 1] = training.path("file/run")
    await expectFailure(words, 1, "the folder of the run cannot be made")
  }

  @Test func `two processes never write one run, and a left lock keeps nobody out`() async throws {
    try folder.make()
    // What a killed process leaves behind.
    try Data("{\"process_identifier\": 1}".utf8).write(to: folder.lock)
    var lock: RunLock? = try RunLock(folder)
    #expect(RunLock.holder(of: folder)?.processIdentifier == getpid())
    await expectFailure(
      words, 1, "another process writes this run: number \(getpid())", "graft runs watch")
    #expect(lock != nil)
    lock = nil
    #expect(RunLock.holder(of: folder) == nil)
    _ = try await expectSuccess(words)
  }

  @Test func `every event is a line of JSON when that is asked for`() async throws {
    let console = try await expectSuccess(words + ["--epochs", "2", "--json"])
    let lines = console.output.split(separator: "\n")
    let events = try lines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    let names = events.map { $0["event"] as? String ?? "" }
    #expect(names.first == "begin" && names.last == "end")
    #expect(names.count { $0 == "epoch" } == 2)
    #expect(names.count { $0 == "batch" } == 6)
    #expect(names.contains("file"))
    let batch = try #require(events.first { $0["event"] as? String == "batch" })
    for key in ["step", "epoch", "loss", "batch_loss", "learning_rate", "batches"] {
      #expect(batch[key] is Double || batch[key] is Int, "\(key)")
    }
    #expect(events.last?["outcome"] as? String == "done")
  }

  @Test func `a run whose folder is moved ends there, and goes on under its new name`() async throws
  {
    let other = RunFolder(URL(fileURLWithPath: training.path("runs/moved")))
    let recorder = Recorder()
    let folder = folder
    let console = Console(
      output: { text in
        recorder.console.print(String(text.dropLast()))
        guard text.hasPrefix("epoch 2:") else { return }
        try FileManager.default.moveItem(at: folder.url, to: other.url)
      }, diagnostics: { recorder.console.note(String($0.dropLast())) }, redraws: false)
    let calls = words + ["--epochs", "4", "--checkpoint-every", "1"]
    #expect(await CommandLineTool.run(calls, console) == 1)
    #expect(recorder.diagnostics.contains("was moved or removed"), "\(recorder.diagnostics)")
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    _ = try await expectSuccess(["train", "--run", other.path, "--resume"])
    #expect(try RunHistory(contentsOf: other).epochs.map(\.epoch) == [1, 2, 3, 4])
    _ = try await expectSuccess(words + ["--epochs", "4"])
    #expect(try Data(contentsOf: other.model) == Data(contentsOf: folder.model))
  }

  @Test func `a run that fails before it has learned anything leaves nothing`() async throws {
    await expectFailure(words + ["--learning-rate", "3e38"], 65, "the loss is no number at step 2")
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    _ = try await expectSuccess(words)
  }

  @Test func `fewer epochs than the run has are told`() async throws {
    _ = try await expectSuccess(words + ["--epochs", "3"])
    let console = try await expectSuccess(
      ["train", "--run", folder.path, "--resume", "--epochs", "2"])
    #expect(
      console.diagnostics.contains("its 2 epochs already, 3 in all"), "\(console.diagnostics)")
  }

  @Test func `a run is named when the call is known to be right`() async throws {
    let console = try await expectSuccess(words)
    #expect(console.diagnostics.contains("the run is \(folder.path)"), "\(console.diagnostics)")
    let (code, other) = await run(
      words.dropLast() + [training.path("runs/b"), "--validation", "2"])
    #expect(code != 0)
    #expect(!other.diagnostics.contains("the run is"), "\(other.diagnostics)")
  }

  @Test func `a model that is not there is looked for among runs and files`() async throws {
    _ = try await expectSuccess(words)
    await expectFailure(
      ["evaluate", training.path("runs/smal"), "--data", training.data], 65, "no run of that name",
      "Did you mean 'small'?")
    await expectFailure(
      ["evaluate", training.path("modle.onnx"), "--data", training.data], 65,
      "Did you mean 'model.onnx'?")
    let lock = try RunLock(folder)
    try FileManager.default.removeItem(at: folder.model)
    await expectFailure(
      ["evaluate", folder.path, "--data", training.data], 65, "Wait for the end of its training")
    withExtendedLifetime(lock) {}
  }
}
