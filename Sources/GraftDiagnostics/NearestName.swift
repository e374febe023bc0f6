/// The candidate closest to `name`, or nil when none is close enough to be a likely typing error.
///
/// Closeness is the Levenshtein distance, ignoring case; at most a third of the name may differ.
public func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
  let limit = max(1, name.count / 3)
  let target = Array(name.lowercased().utf8)
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let distance = editDistance(target, Array(candidate.lowercased().utf8))
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.name
}

/// The sentence "Did you mean 'x'" for the nearest candidate, or nil.
public func didYouMean(_ name: String, among candidates: some Sequence<String>) -> String? {
  nearestName(to: name, among: candidates).map { "Did you mean '\($0)'?" }
}

private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  var previous = Array(0...b.count)
  for (i, x) in a.enumerated() {
    var current = [i + 1]
    for (j, y) in b.enumerated() {
      current.append(min(previous[j] + (x == y ? 0 : 1), previous[j + 1] + 1, current[j] + 1))
    }
    previous = current
  }
  return previous[b.count]
}
