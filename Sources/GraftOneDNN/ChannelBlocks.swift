import COneDNN
import GraftGraph

extension OneDNNLayout {
  /// How many channels lie together when the value is stored in blocks of channels [N, C / block,
  /// spatial, block]; nil for other layouts.
  var channelBlock: Int? {
    let dimensions = dimensions
    return [8, 16, 4].first { block in
      guard let blocked = try? OneDNNLayout.blocked(dimensions, block: block) else { return false }
      return graft_layout_equal(handle, blocked.handle) != 0
    }
  }

  /// Channels, the second dimension, in blocks innermost.
  static func blocked(_ dimensions: [Int], block: Int) throws -> OneDNNLayout {
    var handle: OpaquePointer?
    let status = graft_layout_create_blocked(
      Int32(clamping: dimensions.count), dimensions.map(Int64.init), Int32(clamping: block),
      &handle)
    return try OneDNNLayout(checked(handle, status))
  }
}
