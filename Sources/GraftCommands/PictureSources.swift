import Foundation
import Graft
import GraftFormats

/// What a call is to look at, in order.
enum PictureSource {
  case picture(String)
  case video(String)
  case camera(Camera, String)

  var name: String {
    switch self {
    case .picture(let path), .video(let path): path
    case .camera(_, let word): word
    }
  }

  private static let pictureEndings: Set<String> = [
    "jpg", "jpeg", "png", "gif", "bmp", "webp", "tif", "tiff", "pnm", "ppm", "pgm", "pbm", "pam",
    "heic", "heif", "avif",
  ]

  /// The pictures, videos and cameras that words name; folders are looked into with all folders in
  /// them, and copies of earlier calls there are left out.
  ///
  /// - Parameter mark: what the names of copies end in.
  /// - Throws: `badData` for a folder with nothing of use in it.
  static func sources(_ words: [String], mark: String) throws -> [PictureSource] {
    try words.flatMap { word -> [PictureSource] in
      let isThere = FileManager.default.fileExists(atPath: word)
      if !isThere, let camera = try Camera(named: word) { return [.camera(camera, word)] }
      guard DataArguments.isFolder(word) else { return [file(word)] }
      let files = try files(in: word, mark: mark)
      guard !files.isEmpty else {
        throw GraftError(
          .badData, "there are no pictures or videos in the folder", at: [word],
          fix: "Name another folder")
      }
      return files.map(file)
    }
  }

  private static func file(_ path: String) -> PictureSource {
    Video.fileExtensions.contains(URL(fileURLWithPath: path).pathExtension.lowercased())
      ? .video(path) : .picture(path)
  }

  private static func files(in folder: String, mark: String) throws -> [String] {
    guard
      let entries = FileManager.default.enumerator(
        at: URL(fileURLWithPath: folder), includingPropertiesForKeys: nil,
        options: [.skipsHiddenFiles])
    else { return [] }
    var paths: [String] = []
    for case let url as URL in entries {
      let ending = url.pathExtension.lowercased()
      guard pictureEndings.contains(ending) || Video.fileExtensions.contains(ending),
        !url.deletingPathExtension().lastPathComponent.hasSuffix(mark)
      else { continue }
      paths.append(url.path)
    }
    return paths.sorted()
  }
}

/// The names of copies with results drawn in.
struct CopyNames {
  /// Nil for beside the sources.
  let folder: String?
  /// What the name of a copy beside its source ends in.
  let mark: String
  private var taken: Set<String> = []

  /// - Parameter sources: the files that the call reads.
  init(folder: String?, mark: String, sources: [String]) throws {
    self.folder = folder
    self.mark = mark
    taken = Set(sources.map { Self.identity(URL(fileURLWithPath: $0)) })
    guard let folder else { return }
    do {
      try FileManager.default.createDirectory(
        at: URL(fileURLWithPath: folder), withIntermediateDirectories: true)
    } catch {
      throw GraftError(
        .inputOutput, "the folder cannot be made: \(error.reason)", at: [folder],
        fix: "Choose another folder")
    }
  }

  /// A name that is no source's and that no earlier copy of this call has.
  mutating func copy(of path: String, ending: String) -> URL {
    let source = URL(fileURLWithPath: path)
    let stem = source.deletingPathExtension().lastPathComponent
    let place = folder.map { URL(fileURLWithPath: $0) } ?? source.deletingLastPathComponent()
    let isBeside = Self.identity(place) == Self.identity(source.deletingLastPathComponent())
    let base = isBeside ? stem + mark : stem
    var number = 1
    while true {
      let name = number == 1 ? "\(base).\(ending)" : "\(base)_\(number).\(ending)"
      let url = place.appending(path: name)
      if taken.insert(Self.identity(url)).inserted { return url }
      number += 1
    }
  }

  /// One path for all ways to write it.
  private static func identity(_ url: URL) -> String {
    url.resolvingSymlinksInPath().standardizedFileURL.path
  }
}
