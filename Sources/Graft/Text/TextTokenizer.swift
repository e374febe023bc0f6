import GraftDiagnostics
import GraftFormats
import GraftGraph

/// Turns text into the numbers of its words, as a TensorFlow Lite file's metadata says: words are what
/// lies between matches of a regular expression.
struct TextTokenizer: Sendable {
  private let delimiter: String
  private let numbers: [String: Int64]
  private let start: Int64?
  private let unknown: Int64
  private let padding: Int64

  /// - Throws: `unsupported` when the model's file says nothing of words, `badData` when its vocabulary
  ///   is not there or makes no sense.
  init(_ model: Model) throws {
    guard let tokenizer = model.tfliteMetadata?.inputs.first?.tokenizer else {
      throw GraftError(
        .unsupported, "the model does not say how text becomes its input",
        fix: "Choose a TensorFlow Lite model whose metadata has a regular expression for words")
    }
    guard let file = tokenizer.vocabularyFiles.first, let text = model.tfliteFiles[file.name] else {
      throw GraftError(
        .badData, "the vocabulary is not in the model's file",
        fix: "Choose a model whose metadata carries it")
    }
    delimiter = tokenizer.delimiterPattern
    numbers = try locating(file.name) { try Self.numbers(text) }
    start = numbers["<START>"]
    unknown = numbers["<UNKNOWN>"] ?? 0
    padding = numbers["<PAD>"] ?? 0
    _ = try words("")
  }

  /// A line for each word, with its number behind it.
  private static func numbers(_ text: String) throws -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    // Words may hold other characters that end lines, such as U+0085.
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() where !line.isEmpty {
      let parts = line.split(separator: " ")
      guard parts.count == 2, let number = Int64(parts[1]) else {
        throw GraftError(
          .badData, "this is no word with its number", at: ["line \(index + 1)"],
          fix: "Write lines such as 'word 12'")
      }
      numbers[String(parts[0])] = number
    }
    guard !numbers.isEmpty else {
      throw GraftError(.badData, "the vocabulary is empty", fix: "Write lines such as 'word 12'")
    }
    return numbers
  }

  private func words(_ text: String) throws -> [Substring] {
    do {
      return text.split(separator: try Regex(delimiter))
    } catch {
      throw GraftError(
        .badData, "'\(delimiter)' is no regular expression that can be used",
        fix: "Mend the delimiter in the model's metadata")
    }
  }

  /// The numbers of the first words, filled up to `length`.
  func numbers(of text: String, length: Int) throws -> [Int64] {
    let all = (start.map { [$0] } ?? []) + (try words(text)).map { numbers[String($0)] ?? unknown }
    return Array(all.prefix(length))
      + [Int64](repeating: padding, count: max(0, length - all.count))
  }
}
