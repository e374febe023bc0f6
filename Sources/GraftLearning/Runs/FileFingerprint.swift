import Foundation
import GraftDiagnostics
import GraftTensor

extension Fingerprint {
  /// The fingerprint of a file's bytes, or of all files in a folder with their names.
  ///
  /// Files whose names begin with a dot are left out.
  ///
  /// - Throws: `notFound` or `inputOutput`, with the file as place.
  package static func text(ofFilesAt path: String) throws -> String {
    var fingerprint = Fingerprint()
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else {
      fingerprint.add(try FileMapping(path: path).bytes)
      return fingerprint.text
    }
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    for name in names.sorted()
    where !name.split(separator: "/").contains(where: { $0.first == "." }) {
      let file = path + "/" + name
      guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder),
        !isFolder.boolValue
      else { continue }
      fingerprint.add(name)
      fingerprint.add(try FileMapping(path: file).bytes)
    }
    return fingerprint.text
  }
}
