import Foundation
import Graft
import GraftLearning

/// `graft gestures add`: adds pictures to a gesture, which may be new.
enum GesturesAddCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures add", summary: "Add pictures of a gesture, which may be new",
    positionals: "DATA LABEL PICTURE...", positionalCount: 3...Int.max,
    options: [.flag("--test", "to the pictures that test, not to those that train")],
    example: "graft gestures add gestures rock a.jpg b.jpg",
    notes: "Files are copied to DATA/train/LABEL or DATA/test/LABEL. 'camera' or 'camera:N' as\n"
      + "PICTURE takes one with a camera. A picture that cannot be decoded is not added.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    let label = try arguments.label(arguments.positionals[1])
    let folder = project.part(arguments.has("--test")).appending(path: label)
    var count = 0
    for word in arguments.positionals.dropFirst(2) {
      if let camera = try Camera(named: word) {
        try GesturePictures.take(with: camera, into: folder)
      } else {
        try GesturePictures.copy(URL(fileURLWithPath: word), into: folder)
      }
      count += 1
    }
    console.print("added \(count) to \(folder.path)")
  }
}

/// `graft gestures import`: adds the pictures of a folder with one folder for each label.
enum GesturesImportCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures import", summary: "Add the pictures of a folder with one folder per gesture",
    positionals: "DATA FOLDER", positionalCount: 2...2,
    options: [.flag("--test", "to the pictures that test, not to those that train")],
    example: "graft gestures import gestures downloads/hands",
    notes: "FOLDER has one folder for each label, or 'train' and 'test' with such folders.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    let source = URL(fileURLWithPath: arguments.positionals[1], isDirectory: true)
    let pair = try LabeledFolder.pair(source, media: .pictures)
    var count = try add(pair.training, to: project.part(arguments.has("--test")))
    if let testing = pair.testing { count += try add(testing, to: project.part(true)) }
    console.print("added \(count) to \(project.data.path)")
  }

  private static func add(_ folder: LabeledFolder, to part: URL) throws -> Int {
    for file in folder.files {
      try GesturePictures.copy(
        file.url, into: part.appending(path: folder.labels[file.label]))
    }
    return folder.files.count
  }
}

/// `graft gestures remove`: removes a gesture, or some of its pictures.
enum GesturesRemoveCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures remove", summary: "Remove a gesture, or some of its pictures",
    positionals: "DATA LABEL [PICTURE...]", positionalCount: 2...Int.max,
    options: [.flag("--test", "of the pictures that test, not of those that train")],
    example: "graft gestures remove gestures rock a.jpg",
    notes: "PICTURE is the name of a file in DATA/train/LABEL or DATA/test/LABEL. Without one all\n"
      + "pictures of the gesture are removed, those that train and those that test.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    let label = try arguments.label(arguments.positionals[1])
    let names = arguments.positionals.dropFirst(2)
    let manager = FileManager.default
    let isTest = arguments.has("--test")
    let targets =
      names.isEmpty
      ? (isTest ? [true] : [false, true]).map { project.part($0).appending(path: label) }
      : names.map { project.part(isTest).appending(path: label).appending(path: $0) }
    let present = targets.filter { manager.fileExists(atPath: $0.path) }
    for name in names where name.contains("/") || name.hasPrefix(".") {
      throw UsageError("'\(name)' is no name of a picture", fix: "Give the name without its folder")
    }
    guard names.isEmpty ? !present.isEmpty : present.count == targets.count else {
      let missing = targets.first { !present.contains($0) } ?? project.data
      throw GraftError(
        .notFound, "there is no such gesture or picture", at: [missing.path],
        fix: "Look at the names in \(project.data.path)")
    }
    for url in present {
      do { try manager.removeItem(at: url) } catch {
        throw GraftError(
          .inputOutput, "it cannot be removed: \(error.reason)", at: [url.path],
          fix: "Check the permissions")
      }
    }
    console.print("removed \(present.map(\.path).joined(separator: ", "))")
  }
}

/// Puts pictures into the folder of a gesture.
enum GesturePictures {
  /// - Throws: what decoding throws; nothing is copied then.
  static func copy(_ url: URL, into folder: URL) throws {
    _ = try Picture(contentsOf: url)
    try place(in: folder, like: url.lastPathComponent) { target in
      try FileManager.default.copyItem(at: url, to: target)
    }
  }

  static func take(with camera: Camera, into folder: URL) throws {
    guard let picture = try camera.frames().next()?.picture else {
      throw GraftError(.externalProgram, "the camera gives no picture", at: [camera.device])
    }
    try place(in: folder, like: "camera.png") { try picture.write(to: $0) }
  }

  /// Calls `body` with a name that is free.
  private static func place(in folder: URL, like name: String, _ body: (URL) throws -> Void) throws
  {
    let manager = FileManager.default
    let (stem, ending) = (
      (name as NSString).deletingPathExtension, (name as NSString).pathExtension
    )
    do {
      try manager.createDirectory(at: folder, withIntermediateDirectories: true)
      var target = folder.appending(path: name)
      var number = 2
      while manager.fileExists(atPath: target.path) {
        target = folder.appending(path: "\(stem)-\(number).\(ending)")
        number += 1
      }
      try body(target)
    } catch let error as GraftError {
      throw error
    } catch {
      throw GraftError(
        .inputOutput, "the picture cannot be written: \(error.reason)",
        at: [folder.path], fix: "Check that the folder is writable and that the disk has space")
    }
  }
}
