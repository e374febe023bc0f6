import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The geometry of DepthToSpace and SpaceToDepth: pictures [N, C * b * b, H, W] whose channels hold
/// b x b blocks of pictures [N, C, H * b, W * b].
struct SpaceBlocks {
  let batch: Int
  /// Channels of the picture with the larger height and width.
  let channels: Int
  /// Height and width of the picture with more channels.
  let height: Int
  let width: Int
  let block: Int
  /// Whether a channel's blocks follow each other (CRD); else the channels of a block do (DCR).
  let keepsChannelsApart: Bool

  /// - Parameter deep: the shape of the picture with more channels.
  init(deep: Shape, _ node: Node) throws {
    (block, keepsChannelsApart) = try Self.attributes(node, deep)
    let area = try productOfSizes(block, block)
    guard deep[1] % area == 0 else {
      throw GraftError(
        .shapeMismatch, "\(deep[1]) channels cannot be spread over blocks of \(area)")
    }
    (batch, channels, height, width) = (deep[0], deep[1] / area, deep[2], deep[3])
    _ = try productOfSizes(height, block)
    _ = try productOfSizes(width, block)
  }

  /// - Parameter wide: the shape of the picture with the larger height and width.
  init(wide: Shape, _ node: Node) throws {
    (block, keepsChannelsApart) = try Self.attributes(node, wide)
    guard wide[2] % block == 0, wide[3] % block == 0 else {
      throw GraftError(
        .shapeMismatch,
        "a picture of \(wide[2]) x \(wide[3]) does not divide into blocks of \(block) x \(block)")
    }
    (batch, channels, height, width) = (wide[0], wide[1], wide[2] / block, wide[3] / block)
    _ = try productOfSizes(channels, try productOfSizes(block, block))
  }

  private static func attributes(_ node: Node, _ shape: Shape) throws -> (Int, Bool) {
    guard shape.rank == 4 else {
      throw GraftError(.shapeMismatch, "the input has shape \(shape); its rank must be 4")
    }
    let block = try node.int("blocksize")
    guard block > 0 else { throw GraftError(.damaged, "blocksize is \(block); it must be above 0") }
    let mode = try node.string("mode", default: "DCR")
    guard mode == "DCR" || mode == "CRD" else {
      throw GraftError(.damaged, "mode is '\(mode)'; it must be DCR or CRD")
    }
    return (block, mode == "CRD")
  }

  var deepShape: Shape { [batch, channels * block * block, height, width] }
  var wideShape: Shape { [batch, channels, height * block, width * block] }

  /// Fills the wide picture from the deep one.
  var toSpace: StridedCopy {
    let plane = height &* width
    let deepStrides =
      keepsChannelsApart
      ? (channel: block &* block &* plane, row: block &* plane, column: plane)
      : (channel: plane, row: block &* channels &* plane, column: channels &* plane)
    return StridedCopy(
      [batch, channels, height, block, width, block],
      [
        channels &* block &* block &* plane, deepStrides.channel, width, deepStrides.row, 1,
        deepStrides.column,
      ])
  }

  /// Fills the deep picture from the wide one.
  var toDepth: StridedCopy {
    let row = width &* block
    let channel = height &* block &* row
    let picture = channels &* channel
    return keepsChannelsApart
      ? StridedCopy(
        [batch, channels, block, block, height, width],
        [picture, channel, row, 1, block &* row, block])
      : StridedCopy(
        [batch, block, block, channels, height, width],
        [picture, row, 1, channel, block &* row, block])
  }
}
