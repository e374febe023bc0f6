/// Names for a message: the first few, and how many more there are.
public func listing(_ names: some Collection<String>, first count: Int = 8) -> String {
  let shown = names.prefix(count).joined(separator: ", ")
  return names.count > count ? "\(shown) and \(names.count - count) more" : shown
}
