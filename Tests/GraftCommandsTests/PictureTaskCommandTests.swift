import Foundation
import Graft
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft detect`, `classify`, `segment` and `pose` with models whose answers are known.
struct PictureTaskCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try model(
      "detector.onnx",
      [
        ("boxes", try Tensor([0.1, 0.2, 0.5, 0.6, 0, 0, 1, 1] as [Float], shape: [1, 2, 4])),
        ("classes", try Tensor([1, 0] as [Float], shape: [1, 2])),
        ("scores", try Tensor([0.9, 0.4] as [Float], shape: [1, 2])),
        ("number", try Tensor([2] as [Float])),
      ])
    try model("classifier.onnx", [("y", try Tensor([0.2, 0.7, 0.1] as [Float], shape: [1, 3]))])
    try model("segmenter.onnx", [("y", try Tensor([5, 0, 0, 5] as [Float], shape: [1, 1, 2, 2]))])
    try model(
      "pose.onnx",
      [("y", try Tensor([Float](repeating: 0.5, count: 51), shape: [1, 1, 17, 3]))])
    try Data("cat\ndog, large\n".utf8).write(to: folder.url.appending(path: "labels.txt"))
  }

  private func path(_ name: String) -> String { folder.url.path + "/" + name }

  private func model(_ name: String, _ outputs: [(String, Tensor)]) throws {
    var builder = GraphBuilder()
    _ = builder.input(
      Feature(
        name: "image",
        type: .tensor(
          .uint8, shape: [8, 8].reduce([.fixed(1)]) { $0 + [.fixed($1)] } + [.fixed(3)])))
    for (name, tensor) in outputs {
      let value = builder.initializer(tensor, named: "constant")
      builder.output(
        builder.add("Identity", [value], named: name),
        .tensor(tensor.elementType, shape: tensor.shape.dimensions.map { .fixed($0) }))
    }
    try Model(graph: builder.graph).write(to: folder.url.appending(path: name))
  }

  @discardableResult
  private func picture(_ name: String, _ width: Int = 100, _ height: Int = 50) throws -> String {
    let picture = try Picture(
      width: width, height: height,
      pixels: [UInt8](repeating: 90, count: 3 * width * height))
    try picture.write(to: folder.url.appending(path: name))
    return path(name)
  }

  private func video(_ name: String, seconds: Double = 1) throws -> String {
    let writer = try VideoWriter(
      to: folder.url.appending(path: name), width: 64, height: 32, framesPerSecond: 10)
    let picture = try Picture(
      width: 64, height: 32, pixels: [UInt8](repeating: 90, count: 3 * 64 * 32))
    for _ in 0..<Int(10 * seconds) { try writer.append(picture) }
    try writer.finish()
    return path(name)
  }

  private func run(_ words: [String], code: Int32 = 0) async -> Recorder {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(words, recorder.console) == code, "\(recorder.diagnostics)")
    return recorder
  }

  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: path(name))
  }

  private func objects(_ text: String) throws -> [[String: Any]] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
  }

  private var detect: [String] {
    ["detect", "--model", path("detector.onnx"), "--labels", path("labels.txt")]
  }

  // MARK: Pictures

  @Test func `things are found, told and drawn beside the picture`() async throws {
    let picture = try picture("street.png")
    let console = await run(detect + [picture])
    #expect(
      console.output
        == "wrote \(path("street_detected.png"))\n"
        + "\(picture): 1 thing\n  dog, large 0.900 at (20, 5), 40 x 20\n")
    let copy = try Picture(contentsOf: folder.url.appending(path: "street_detected.png"))
    #expect(copy.width == 100 && copy.height == 50)
    #expect(copy.pixels != [UInt8](repeating: 90, count: 15_000))
  }

  @Test func `JSON and a table hold all that is known`() async throws {
    let picture = try picture("street.jpg")
    let console = await run(
      detect + ["--threshold", "0.1", "--json", "--csv", path("t.csv"), "--no-copies", picture])
    let objects = try objects(console.output)
    #expect(objects.count == 1)
    #expect(objects[0]["source"] as? String == picture)
    #expect(objects[0]["width"] as? Int == 100 && objects[0]["frame"] == nil)
    let detections = try #require(objects[0]["detections"] as? [[String: Any]])
    #expect(detections.map { $0["label"] as? String } == ["dog, large", "cat"])
    #expect(detections[0]["color"] as? String == PictureColor.ofClass(1).code)
    let box = try #require(detections[0]["box"] as? [String: Double])
    #expect(abs((box["x"] ?? 0) - 20) < 1e-4 && abs((box["height"] ?? 0) - 20) < 1e-4)
    let table = try String(contentsOfFile: path("t.csv"), encoding: .utf8)
    #expect(
      table == "source,frame,time,label,class,score,x,y,width,height\n"
        + "\(picture),,,\"dog, large\",1,0.9,20,5,40,20\n\(picture),,,cat,0,0.4,0,0,100,50\n")
    #expect(!exists("street_detected.jpg"))
  }

  @Test func `a folder is looked through, and what is broken spoils nothing`() async throws {
    _ = try folder.folder("in/deep")
    try picture("in/a.png")
    try picture("in/deep/b.jpg")
    try picture("in/old_detected.png")
    try Data("nothing".utf8).write(to: folder.url.appending(path: "in/c.png"))
    let console = await run(detect + ["--json", "--out", path("out"), path("in")], code: 65)
    let objects = try objects(console.output)
    #expect(
      objects.map { $0["source"] as? String }
        == [path("in/a.png"), path("in/c.png"), path("in/deep/b.jpg")])
    #expect(objects.map { $0["error"] == nil } == [true, false, true])
    #expect(console.diagnostics.contains("c.png: the file is no picture"))
    #expect(exists("out/a.png") && exists("out/b.jpg") && !exists("out/c.png"))
  }

  @Test func `copies never take the place of a picture or of each other`() async throws {
    _ = try folder.folder("one")
    _ = try folder.folder("two")
    let first = try picture("one/a.png")
    let second = try picture("two/a.png")
    let before = try Data(contentsOf: URL(fileURLWithPath: first))
    _ = await run(detect + ["--out", path("one"), first, second])
    #expect(try Data(contentsOf: URL(fileURLWithPath: first)) == before)
    #expect(exists("one/a_detected.png"))
    _ = await run(detect + ["--out", path("both"), first, second])
    #expect(exists("both/a.png") && exists("both/a_2.png"))
  }

  @Test func `classes, segments and poses are told`() async throws {
    let picture = try picture("street.png")
    let classes = await run(
      ["classify", "--model", path("classifier.onnx"), "--max", "2", picture])
    #expect(classes.output == "\(picture): 1 0.700, 0 0.200\n")
    let segments = await run(
      ["segment", "--model", path("segmenter.onnx"), "--no-copies", picture])
    #expect(segments.output == "\(picture): 0 50.0 %, 1 50.0 %\n")
    let poses = await run(["pose", "--model", path("pose.onnx"), "--json", picture])
    let joints = try #require(
      (try objects(poses.output)[0]["poses"] as? [[String: Any]])?[0]["joints"] as? [[String: Any]])
    #expect(joints.count == 17 && joints[0]["joint"] as? String == "nose")
    #expect(joints[3]["x"] as? Double == 50 && joints[3]["y"] as? Double == 25)
    #expect(!exists("street_classified.png") && exists("street_pose.png"))
  }

  @Test func `recordings are classified where the model takes sound`() async throws {
    var builder = GraphBuilder()
    _ = builder.input(
      Feature(name: "sound", type: .tensor(.float32, shape: [.fixed(1), .fixed(4)])))
    builder.output(
      builder.add("Abs", ["sound"], named: "y"),
      .tensor(.float32, shape: [.fixed(1), .fixed(4)]))
    try Model(graph: builder.graph).write(to: folder.url.appending(path: "sound.onnx"))
    try Recording(samples: [0.5, 0, 0.25, 0, 0, 0, 0.75, 0], sampleRate: 16_000, name: "a")
      .write(to: folder.url.appending(path: "a.wav"))
    let words = ["classify", "--model", path("sound.onnx"), "--max", "2", path("a.wav")]
    #expect(await run(words).output == "\(path("a.wav")): 2 0.500, 0 0.250 (mean of 2 windows)\n")
    let object = try objects(await run(words + ["--json"]).output)[0]
    let windows = try #require(object["windows"] as? [[String: Any]])
    #expect(windows.map { $0["time"] as? Double } == [0, 0.00025])
    let console = await run(words + ["--overlap", "2"], code: 64)
    #expect(console.diagnostics.contains("cannot overlap by 2"))
  }

  // MARK: Videos

  @Test func `a video goes out as a video`() async throws {
    let video = try video("clip.mp4")
    let console = await run(detect + ["--csv", path("t.csv"), video])
    #expect(console.output.contains("clip.mp4: 10 pictures of 64 x 32 in "))
    #expect(console.output.contains("input 8 x 8 stretched"))
    let copy = try Video(contentsOf: folder.url.appending(path: "clip_detected.mp4"))
    #expect(copy.information.width == 64 && copy.information.framesPerSecond == 10)
    let table = try String(contentsOfFile: path("t.csv"), encoding: .utf8)
    let lines = table.split(separator: "\n")
    #expect(lines.count == 11 && lines[10].hasPrefix("\(video),9,0.900,"))
  }

  @Test func `each picture of a video is an object, as many as are asked for`() async throws {
    let console = await run(
      detect + ["--json", "--fps", "5", "--no-copies", try video("clip.mp4")])
    let objects = try objects(console.output)
    #expect(abs(objects.count - 5) <= 1)
    #expect(objects[1]["frame"] as? Int == 1 && objects[1]["time"] as? Double == 0.2)
    #expect(console.diagnostics.contains("in a second"))
  }

  @Test func `a camera that is not there is told`() async throws {
    let console = await run(detect + ["camera:250"], code: 65)
    #expect(console.diagnostics.contains("there is no camera: the system has no /dev/video250"))
  }

  // MARK: Calls

  @Test func `calls that make no sense are refused`() async throws {
    let picture = try picture("a.png")
    for (words, code, text) in [
      (["detect", picture], 64, "'--model' is missing"),
      (detect + ["--fit", "strech", picture], 64, "Did you mean 'stretch'?"),
      (detect + ["--fps", "0", picture], 64, "no value for '--fps'"),
      (detect + ["--no-copies", "--out", "x", picture], 64, "exclude each other"),
      (detect + ["--allow", "horse", picture], 64, "knows no class 'horse'"),
      (detect + ["--csv", path("labels.none/x"), picture], 1, "is not there or cannot be written"),
      (detect + ["--csv", picture, picture], 64, "would overwrite an input"),
      (detect + ["camera:x"], 64, "names no camera"),
      (["pose", "--model", path("detector.onnx"), picture], 65, "no poses of 17 joints"),
      (
        ["classify", "--model", path("classifier.onnx"), "--labels", path("labels.txt"), picture],
        65, "there are 2 labels for a model of 3 classes"
      ),
    ] as [([String], Int32, String)] {
      let console = await run(words, code: code)
      #expect(console.diagnostics.contains(text), "\(words): \(console.diagnostics)")
    }
    _ = try folder.folder("empty")
    let console = await run(detect + [path("empty")], code: 65)
    #expect(console.diagnostics.contains("no pictures or videos in the folder"))
  }

  @Test(.enabled(if: SharedData.isPresent, SharedData.reason))
  func `a text is classified on each line`() async throws {
    let model = SharedData.path("tflite/models/movie_review_with_metadata.tflite")
    try Data("What a waste of my time.\n\nboring boring boring\n".utf8)
      .write(to: folder.url.appending(path: "reviews.txt"))
    try Data([0xFF, 0xFE, 0x41]).write(to: folder.url.appending(path: "damaged.txt"))
    let recorder = Recorder()
    let words = ["classify", "--model", model, "--max", "1"]
    #expect(await CommandLineTool.run(words + [path("reviews.txt")], recorder.console) == 0)
    #expect(recorder.output.contains("reviews.txt:1: Negative 0.813"), "\(recorder.output)")
    #expect(recorder.output.contains("reviews.txt:2: Positive 0.737"), "\(recorder.output)")
    for (name, code, reason) in [
      ("damaged.txt", Int32(65), "no text in UTF-8"), ("absent.txt", 65, "cannot be read"),
    ] {
      let recorder = Recorder()
      #expect(await CommandLineTool.run(words + [path(name)], recorder.console) == code)
      #expect(recorder.diagnostics.contains(reason), "\(recorder.diagnostics)")
    }
  }
}
