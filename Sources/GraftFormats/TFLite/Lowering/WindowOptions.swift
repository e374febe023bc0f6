import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How a window moves over a picture: what convolutions and poolings have in common.
struct WindowOptions {
  enum Padding: Int {
    case same = 0
    case valid = 1
  }

  var padding: Padding
  /// Of height and width.
  var kernel: [Int]
  var strides: [Int]
  var dilations = [1, 1]

  init(padding: Int, kernel: [Int], strides: [Int], dilations: [Int] = [1, 1]) throws {
    guard let known = Padding(rawValue: padding) else {
      throw GraftError(.damaged, "there is no padding number \(padding)")
    }
    self.padding = known
    self.kernel = kernel
    self.strides = strides
    self.dilations = dilations
    guard (kernel + strides + dilations).allSatisfy({ 1...65_536 ~= $0 }) else {
      throw GraftError(
        .damaged,
        "a window of \(kernel) moves in strides of \(strides), dilated by \(dilations)")
    }
  }

  /// How far a window reaches.
  var extents: [Int] { zip(kernel, dilations).map { ($0 - 1) * $1 + 1 } }

  /// The attributes of ONNX's operator: pads that are numbers where the picture's size is known.
  func attributes(over sizes: [Int?], isPooling: Bool = false) -> [String: Attribute] {
    var attributes: [String: Attribute] = [
      "kernel_shape": .ints(kernel), "strides": .ints(strides),
    ]
    if !isPooling { attributes["dilations"] = .ints(dilations) }
    guard padding == .same else { return attributes }
    guard let height = sizes[0], let width = sizes[1] else {
      attributes["auto_pad"] = .string("SAME_UPPER")
      return attributes
    }
    let totals = [height, width].indices.map { axis in
      let size = [height, width][axis]
      let outputs = (size + strides[axis] - 1) / strides[axis]
      return max(0, (outputs - 1) * strides[axis] + extents[axis] - size)
    }
    let begins = totals.map { $0 / 2 }
    attributes["pads"] = .ints(begins + zip(totals, begins).map { $0 - $1 })
    return attributes
  }
}
