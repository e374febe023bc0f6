import GraftGraph
import GraftTensor

/// An element-wise function made ready to work on blocks of float32 numbers, as one link of a chain.
///
/// The block that it fills overlaps none that it reads: only then do loops become vector
/// instructions.
package struct BlockFunction {
  /// A rough number of simple steps for an element.
  package let cost: Int
  package let work: Work

  package enum Work {
    /// Of the values, the block to fill, and their length.
    case alone((UnsafePointer<Float>, UnsafeMutablePointer<Float>, Int) -> Void)
    /// Of the values, another operand, the step to its next element (0 or 1), the block to fill, and
    /// its length.
    case pair(
      (UnsafePointer<Float>, UnsafePointer<Float>, Int, UnsafeMutablePointer<Float>, Int) -> Void)
  }

  package init(cost: Int, _ work: Work) {
    self.cost = cost
    self.work = work
  }
}

/// An operator whose nodes can be links of a chain.
package protocol BlockOperator: Operator {
  /// The node's function of a block of its input `position`; nil when there is none for this node.
  ///
  /// A pair's other operand is the other one of the node's two inputs. The results are those of the
  /// operator's own kernel, bit for bit.
  ///
  /// - Parameter inputs: what is known of the node's inputs; that at `position` is not looked at.
  func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
}

extension BlockFunction {
  /// A function of two numbers, the other operand's coming first when the block is of input 1.
  @inline(__always)
  static func pair<F: PairFunction>(_ function: F, position: Int, cost: Int = 1) -> BlockFunction
  where F.First == Float, F.Second == Float, F.Result == Float {
    guard position == 0 else {
      return BlockFunction(
        cost: cost,
        .pair { x, other, step, y, count in
          if step == 1 {
            for i in 0..<count { y[i] = function(other[i], x[i]) }
          } else {
            let other = other[0]
            for i in 0..<count { y[i] = function(other, x[i]) }
          }
        })
    }
    return BlockFunction(
      cost: cost,
      .pair { x, other, step, y, count in
        if step == 1 {
          for i in 0..<count { y[i] = function(x[i], other[i]) }
        } else {
          let other = other[0]
          for i in 0..<count { y[i] = function(x[i], other) }
        }
      })
  }
}
