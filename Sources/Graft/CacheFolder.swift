import Foundation

/// Where downloads are kept: `graft` in the user's cache folder.
enum CacheFolder {
  static var url: URL {
    let environment = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"] ?? ""
    let base =
      environment.isEmpty
      ? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
      : URL(fileURLWithPath: environment)
    return base.appending(path: "graft")
  }
}
