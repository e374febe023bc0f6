import COneDNN
import GraftGraph

extension Primitive {
  /// A copy from one layout into another.
  convenience init(from source: OneDNNLayout, to destination: OneDNNLayout) throws {
    try self.init(allowingPlainLoops: true) {
      graft_reorder_create(source.handle, destination.handle, $0)
    }
  }
}

extension KernelSequence {
  /// Adds a copy from one layout into another.
  mutating func reorder(
    _ source: Place, from: OneDNNLayout, into result: Place, to: OneDNNLayout
  ) throws {
    try run(Primitive(from: from, to: to), [(.source, source), (.destination, result)])
  }
}
