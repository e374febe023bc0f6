import Foundation

extension Error {
  /// What the system says went wrong with a file, without a full stop, to stand within a sentence.
  package var reason: String {
    let text = localizedDescription
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
