import Foundation
import Graft

/// Asks a task about pictures, one after the other, and writes what it says.
struct TaskWork {
  let task: PictureTask
  let report: TaskReport
  let interrupt: Interrupt
  var names: CopyNames

  /// What a camera's video has, whatever comes from the camera.
  private static let cameraRate = 15.0

  // MARK: Pictures

  mutating func picture(_ path: String, writesCopy: Bool) throws {
    let url = URL(fileURLWithPath: path)
    let picture = try Picture(contentsOf: url)
    var memory = PictureMemory()
    let (answer, duration) = try ask(picture, &memory)
    var record = TaskRecord(source: path)
    fill(&record, picture, answer, duration)
    if writesCopy {
      let isJPEG = ["jpg", "jpeg"].contains(url.pathExtension.lowercased())
      let copy = names.copy(of: path, ending: isJPEG ? url.pathExtension : "png")
      try annotated(picture, answer).write(to: copy)
      report.wrote(copy.path)
    }
    try report.add(record, answer)
  }

  private func ask(_ picture: Picture, _ memory: inout PictureMemory) throws -> (
    TaskAnswer, Duration
  ) {
    let start = ContinuousClock.now
    let answer = try task.answer(picture, &memory)
    return (answer, .now - start)
  }

  private func annotated(_ picture: Picture, _ answer: TaskAnswer) throws -> Picture {
    var canvas = PictureCanvas(picture)
    try answer.draw(&canvas)
    return canvas.picture
  }

  private func fill(
    _ record: inout TaskRecord, _ picture: Picture, _ answer: TaskAnswer, _ duration: Duration
  ) {
    (record.width, record.height) = (picture.width, picture.height)
    record.inferenceMilliseconds = duration / .milliseconds(1)
    record.results = answer.results
  }

  // MARK: Videos

  mutating func video(_ video: Video, _ path: String, writesCopy: Bool, framesPerSecond: Double?)
    throws
  {
    let rate = framesPerSecond ?? video.information.framesPerSecond
    let frames = try video.frames(framesPerSecond: rate)
    let seconds = video.information.duration.map { $0 / .seconds(1) }
    let meter = TaskMeter(frames: seconds.map { $0 * rate })
    let ending = URL(fileURLWithPath: path).pathExtension.lowercased()
    let copy =
      writesCopy
      ? names.copy(of: path, ending: VideoWriter.fileExtensions.contains(ending) ? ending : "mp4")
      : nil
    var writer: VideoWriter?
    func append(_ picture: Picture) throws {
      guard let copy else { return }
      if writer == nil {
        writer = try VideoWriter(
          to: copy, width: picture.width, height: picture.height, framesPerSecond: rate,
          sound: video.information.hasSound ? video.url : nil)
      }
      try writer?.append(picture)
    }
    try forEachFrame(
      frames, path, meter, time: { Double($0.index) / rate }, isDone: { false }, take: append)
    try finish(writer, copy)
    report.summary(
      meter.summary(path, task.preprocessing, dropped: 0, isInterrupted: interrupt.isRequested))
  }

  mutating func camera(_ camera: Camera, _ word: String, writesCopy: Bool, seconds: Double?) throws
  {
    let frames = try camera.frames()
    let meter = TaskMeter(frames: nil)
    let copy =
      writesCopy ? names.copy(of: "camera\(camera.number).mp4", ending: "mp4") : nil
    var writer: VideoWriter?
    var written = 0
    let start = ContinuousClock.now
    func elapsed() -> Double { (.now - start) / .seconds(1) }
    func append(_ picture: Picture) throws {
      guard let copy else { return }
      if writer == nil {
        writer = try VideoWriter(
          to: copy, width: picture.width, height: picture.height, framesPerSecond: Self.cameraRate)
      }
      // As often as keeps the video in step with the clock.
      while Double(written) <= elapsed() * Self.cameraRate {
        try writer?.append(picture)
        written += 1
      }
    }
    try forEachFrame(
      frames, word, meter, time: { _ in elapsed() },
      isDone: { seconds.map { elapsed() >= $0 } ?? false }, take: append)
    try finish(writer, copy)
    report.summary(
      meter.summary(word, task.preprocessing, dropped: frames.droppedCount, isInterrupted: false))
  }

  private func finish(_ writer: VideoWriter?, _ copy: URL?) throws {
    guard let writer, let copy else { return }
    try writer.finish()
    report.wrote(copy.path)
  }

  /// Asks about every picture until the end, Ctrl-C, or as long as is wanted.
  ///
  /// - Parameter take: is given every picture with the results drawn in.
  private func forEachFrame(
    _ frames: VideoFrames, _ name: String, _ meter: TaskMeter, time: (VideoFrame) -> Double,
    isDone: () -> Bool, take: (Picture) throws -> Void
  ) throws {
    var memory = PictureMemory()
    while !interrupt.isRequested, !isDone(), let frame = try frames.next() {
      let (answer, duration) = try ask(frame.picture, &memory)
      var record = TaskRecord(source: name, frame: frame.index, time: time(frame))
      fill(&record, frame.picture, answer, duration)
      try take(try annotated(frame.picture, answer))
      meter.add(frame.picture, duration)
      try report.add(record, answer, meter)
    }
  }
}
