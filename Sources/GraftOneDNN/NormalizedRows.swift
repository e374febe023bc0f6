import COneDNN
import GraftGraph
import GraftTensor

/// The rows over which a layer normalization takes its statistics.
struct NormalizedRows {
  let count: Int
  /// Elements of a row.
  let size: Int
  let epsilon: Float
  private let axis: Int

  /// - Parameter shape: of the node's data.
  init(_ node: Node, _ shape: Shape) throws {
    axis = try shape.axis(try node.int("axis", default: -1))
    count = shape.elementCount(in: 0..<axis)
    size = shape.elementCount(in: axis..<shape.rank)
    epsilon = try node.float("epsilon", default: 1e-5)
  }

  /// Checks that a parameter has one element for each of a row's, the same in all rows.
  func requireParameter(_ parameter: PlannedValue, of shape: Shape) throws {
    let own = parameter.type.shape
    let normalized = Array(shape[axis...].drop { $0 == 1 })
    guard own.elementCount == size, Array(own.drop { $0 == 1 }) == normalized else {
      throw KernelDeclined("scale or bias of shape \(own) is not that of a row")
    }
  }

  func primitive(
    _ create: (UnsafePointer<graft_normalization>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
    _ describe: (inout graft_normalization) -> Void
  ) throws -> Primitive {
    let layout = try OneDNNLayout([count, size])
    return try Primitive { result in
      var description = graft_normalization()
      description.layout = layout.handle
      description.epsilon = epsilon
      describe(&description)
      return create(&description, result)
    }
  }
}
