import Foundation
import GraftDiagnostics

/// What a run trains, on what and how: `config.json`.
package struct RunConfiguration: Codable, Sendable, Equatable {
  /// A file or folder that the run reads, and what it held when the run began.
  package struct Source: Codable, Sendable, Equatable {
    /// Absolute.
    package var path: String
    package var fingerprint: String
    /// Of a data set.
    package var exampleCount: Int?
    /// The class names of a data set.
    package var labels: [String]?

    package init(
      path: String, fingerprint: String, exampleCount: Int? = nil, labels: [String]? = nil
    ) {
      self.path = path
      self.fingerprint = fingerprint
      self.exampleCount = exampleCount
      self.labels = labels
    }
  }

  /// What the run was begun with; other versions may give other bits.
  package struct Versions: Codable, Sendable, Equatable {
    package var graft: String
    package var system: String
    package var processors: Int

    package init(graft: String) {
      self.graft = graft
      system = ProcessInfo.processInfo.operatingSystemVersionString
      processors = ProcessInfo.processInfo.activeProcessorCount
    }
  }

  private enum CodingKeys: String, CodingKey {
    case format, created, versions, model, data, validation, hyperParameters, seed, trainable
    case written = "options"
  }

  /// The version of this file's form.
  package var format = 1
  package var created: Date
  package var versions: Versions
  package var model: Source
  package var data: [Source]
  package var validation: [Source]
  /// All options by name with their values, defaults written out; none for a switch.
  package var options: [String: [String]] {
    get { written.mapValues(\.words) }
    set { written = newValue.mapValues(Words.init) }
  }
  private var written: [String: Words]
  /// The numbers that the session trains with.
  package var hyperParameters: [String: String] = [:]
  package var seed: UInt64
  /// The names of the parameters that train.
  package var trainable: [String] = []

  package init(
    created: Date = Date(), versions: Versions, model: Source, data: [Source],
    validation: [Source], options: [String: [String]], seed: UInt64
  ) {
    self.created = created
    self.versions = versions
    self.model = model
    self.data = data
    self.validation = validation
    written = options.mapValues(Words.init)
    self.seed = seed
  }

  /// - Throws: `notFound`, `inputOutput`, or `damaged` with what is wrong.
  package init(contentsOf folder: RunFolder) throws {
    self = try RunFile.read(
      RunConfiguration.self, from: folder.configuration,
      fix: "Correct the file, or begin a new run under another name")
    guard format == 1 else {
      throw GraftError(
        .unsupported, "the run has form \(format) and this version of Graft knows form 1",
        at: [folder.configuration.path], fix: "Use the version of Graft that made the run")
    }
  }

  package func write(to folder: RunFolder) throws {
    try RunFile.write(self, to: folder.configuration)
  }
}

/// An option's values in a file: `true` for a switch, one text, or several.
private struct Words: Codable, Sendable, Equatable {
  let words: [String]

  init(_ words: [String]) { self.words = words }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if (try? container.decode(Bool.self)) == true {
      words = []
    } else if let word = try? container.decode(String.self) {
      words = [word]
    } else {
      words = try container.decode([String].self)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch words.count {
    case 0: try container.encode(true)
    case 1: try container.encode(words[0])
    default: try container.encode(words)
    }
  }
}
