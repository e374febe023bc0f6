import Foundation
import GraftMedia
import Testing

/// Writes a shell script that can be run as a program.
///
/// Another process writes it: while this one has it open for writing, programs that other tests
/// start inherit it for a moment, and the system then refuses to run it.
package func makeScript(_ text: String, at url: URL) throws {
  let writer = "printf '%s' \"$1\" > \"$0\" && chmod 700 \"$0\""
  let ending = try ChildProcess("sh", ["-c", writer, url.path, text]).run()
  try #require(ending.status == 0, "\(ending.messages)")
}
