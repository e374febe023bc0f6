import Foundation
import GraftDiagnostics
import GraftFormats

/// The names of a model's classes, by their numbers.
public struct ClassLabels: Sendable, Hashable, ExpressibleByArrayLiteral {
  public let names: [String]
  /// What a file says about the model's outputs: the output's name by its role, in the words of
  /// AutoML's `tflite_metadata.json`. Empty for others.
  let outputNames: [String: String]

  public init(_ names: [String]) { self.init(names, outputNames: [:]) }

  public init(arrayLiteral elements: String...) { self.init(elements) }

  private init(_ names: [String], outputNames: [String: String]) {
    self.names = names
    self.outputNames = outputNames
  }

  /// Reads a file: a line for each class, perhaps each beginning with the class's number; a JSON
  /// array; or AutoML's `tflite_metadata.json`, with the labels inside or in `dict.txt` beside it.
  ///
  /// - Throws: `notFound`, `inputOutput`; `badData` when the file holds no labels.
  public init(contentsOf url: URL) throws {
    self = try locating(url.path) {
      let text = try Self.text(of: url)
      let start = text.first { !$0.isWhitespace }
      return start == "[" || start == "{"
        ? try Self(json: Data(text.utf8), beside: url) : try Self(lines: text)
    }
  }

  private static func text(of url: URL) throws -> String {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw GraftError(.notFound, "there is no such file", fix: "Check the path")
    }
    let data: Data
    do { data = try Data(contentsOf: url) } catch {
      throw GraftError(
        .inputOutput, "the file cannot be read: \(error.reason)",
        fix: "Check that it is a file and its permissions")
    }
    guard let text = String(data: data, encoding: .utf8), !text.contains("\0") else {
      throw GraftError(
        .badData, "the file holds no text in UTF-8", fix: "Give a text file with a label per line")
    }
    return text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
  }

  private init(lines text: String) throws {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    while lines.last?.isEmpty == true { lines.removeLast() }
    guard !lines.isEmpty else {
      throw GraftError(.badData, "the file holds no labels", fix: "Write a label per line")
    }
    self.init(Self.numbered(lines) ?? lines)
  }

  /// The labels of lines such as `3  car`; nil when one does not begin with a number, or the numbers
  /// do not rise.
  private static func numbered(_ lines: [String]) -> [String]? {
    var names: [String] = []
    for line in lines {
      let parts = line.split(maxSplits: 1) { $0 == " " || $0 == "\t" || $0 == ":" }
      guard parts.count == 2, let number = Int(parts[0]), number >= names.count, number < 1 << 20
      else { return nil }
      names += [String](repeating: Self.unnamed, count: number - names.count)
      names.append(parts[1].trimmingCharacters(in: .whitespaces))
    }
    return names
  }

  /// AutoML's description of a model.
  private struct Description: Decodable {
    var labels: [String]?
    var outputTensors: [String]?
    var outputTensorRepresentation: [String]?
  }

  private init(json data: Data, beside url: URL) throws {
    if let names = try? JSONDecoder().decode([String].self, from: data), !names.isEmpty {
      self.init(names)
      return
    }
    guard let description = try? JSONDecoder().decode(Description.self, from: data) else {
      throw GraftError(
        .badData, "the file is neither a list of labels nor AutoML's description of a model",
        fix: "Give a text file with a label per line, or a JSON array of labels")
    }
    let outputs = zip(
      description.outputTensorRepresentation ?? [], description.outputTensors ?? [])
    let names: [String]
    if let inside = description.labels, !inside.isEmpty {
      names = inside
    } else {
      let file = url.deletingLastPathComponent().appending(path: "dict.txt")
      guard FileManager.default.fileExists(atPath: file.path) else {
        throw GraftError(
          .notFound, "the labels are not in this file and there is no 'dict.txt' beside it",
          fix: "Put AutoML's 'dict.txt' beside it")
      }
      names = try Self(contentsOf: file).names
    }
    self.init(names, outputNames: Dictionary(outputs.map { ($0, $1) }) { first, _ in first })
  }

  // MARK: Fitting

  private static let unnamed = "???"

  /// Whether a line stands for what is no class: `???` or `background`.
  private static func isBackground(_ label: String) -> Bool {
    label == unnamed || label.lowercased() == "background"
  }

  /// The labels for a model with this number of classes. A first line for the background, which the
  /// model does not count, is left out.
  ///
  /// - Throws: `badData` with both numbers when they do not match.
  func fitted(toClassCount count: Int) throws -> [String] {
    if names.count == count { return names }
    if names.count == count + 1, let first = names.first, Self.isBackground(first) {
      return Array(names.dropFirst())
    }
    throw GraftError(
      .badData, "there are \(names.count) labels for a model of \(count) classes",
      fix: "Give the labels that belong to the model, one for each class")
  }

  /// The labels for a model that does not say how many classes it has.
  var withoutBackground: [String] {
    names.first.map(Self.isBackground) == true ? Array(names.dropFirst()) : names
  }
}
