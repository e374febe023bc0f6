import COneDNN
import GraftGraph
import GraftTensor

/// Concat of values that already lie in a layout of oneDNN's; for others the portable kernel is as
/// good.
struct Concatenation: OneDNNKernel {
  let operators = ["Concat"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    guard request.followers.isEmpty else { throw KernelDeclined("it stands alone") }
    let y = try request.requiredOutput(0)
    let values = try request.inputs.indices.map { try request.required($0) }
    guard values.contains(where: { $0.layout != nil }) else { throw KernelDeclined("row-major") }
    let layouts = try values.map { try $0.currentLayout() }
    let axis = try y.shape.axis(try request.node.int("axis"))
    let primitive = try Primitive { result in
      let handles = layouts.map { Optional($0.handle) }
      return graft_concat_create(handles, Int32(handles.count), Int32(axis), result)
    }
    var kernel = try primitive.planned(
      layouts.enumerated().map { index, layout in
        (PlannedKernel.Operand(index, layout: layout.planned), .sources(index))
      },
      outputs: [.destination])
    // With one picture, blocks of channels lie one behind the other as whole channels do.
    let result = try primitive.layout(.destination)
    kernel.isJoin =
      axis == 1 && y.shape[0] == 1
      && (layouts + [result]).allSatisfy { $0.isDense && $0.order == result.order }
    return kernel
  }
}
