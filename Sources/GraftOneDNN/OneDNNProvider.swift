import COneDNN
import Foundation
import GraftGraph
import GraftTensor

/// Kernels of oneDNN, in float32.
package struct OneDNNProvider: KernelProvider {
  package let name = "oneDNN"
  /// OpenMP keeps a pool of workers for every thread that calls it.
  package let needsEngineThread = true
  /// Element-wise functions for which it has faster kernels than the portable ones.
  package static let functions = Set(Elementwise.functions)
  /// The library's version and the instructions that it generates code for.
  package static var library: String {
    "oneDNN \(String(cString: graft_dnn_version())), \(String(cString: graft_dnn_isa())) instructions"
  }
  private let table: [String: any OneDNNKernel]

  package init() {
    table = Dictionary(
      Self.kernels.flatMap { kernel in kernel.operators.map { ($0, kernel) } }
    ) { first, _ in first }
  }

  /// One for each file in this folder that makes kernels.
  private static let kernels: [any OneDNNKernel] = [
    BatchNormalization(), BatchNormalizationGradient(), Concatenation(), Convolution(),
    ConvolutionBiasGradient(), ConvolutionGradient(), Elementwise(), ElementwiseGradient(),
    LayerNormalizationGradient(), MatrixProduct(), MatrixProductGradient(), Pooling(),
    PoolingGradient(), Recurrent(), RecurrentGradient(), Resampling(), Softmax(), SoftmaxGradient(),
    SpatialReduction(), TransposedConvolution(),
  ]

  package func kernel(for request: KernelRequest) throws -> PlannedKernel {
    guard let kernel = table[request.node.qualifiedOp] else {
      throw KernelDeclined("no kernel for \(request.node.qualifiedOp)")
    }
    let values = request.inputs.compactMap { $0?.type } + request.outputs.compactMap { $0 }
    guard values.allSatisfy({ !$0.elementType.isFloatingPoint || $0.elementType == .float32 }),
      request.outputs.compactMap({ $0 }).allSatisfy({ $0.elementType == .float32 })
    else { throw KernelDeclined("only float32") }
    guard values.allSatisfy({ !$0.shape.contains(0) }) else { throw KernelDeclined("empty") }
    // To wake other threads costs more than a small node's work.
    let threads = values.allSatisfy { $0.shape.elementCount < 4096 } ? 1 : request.threads
    graft_dnn_set_threads(Int32(clamping: threads))
    var request = request
    while true {
      do {
        return try kernel.kernel(for: request).on(threads: threads)
      } catch let declined as KernelDeclined {
        // Some followers do not go together with some kernels.
        guard request.followers.popLast() != nil else { throw declined }
      }
    }
  }

  package func conversion(
    of type: TensorType, from source: (any ValueLayout)?, to target: (any ValueLayout)?
  ) throws -> PlannedKernel {
    guard type.elementType == .float32 else { throw KernelDeclined("only float32") }
    let dimensions =
      (source as? OneDNNLayout)?.dimensions ?? (target as? OneDNNLayout)?.dimensions
      ?? type.shape.dimensions
    let strides = (target as? OneDNNLayout)?.transposedStrides
    let from = try source.map(own) ?? OneDNNLayout(dimensions, strides: strides)
    let to = try target.map(own) ?? OneDNNLayout(dimensions)
    return try Primitive(from: from, to: to).planned(
      [(PlannedKernel.Operand(0, layout: source), .source)], outputs: [.destination])
  }

  private func own(_ layout: any ValueLayout) throws -> OneDNNLayout {
    try (layout as? OneDNNLayout).orThrow { KernelDeclined("the layout is not oneDNN's") }
  }
}

/// What makes kernels for some operators.
protocol OneDNNKernel: Sendable {
  /// The names of the operators.
  var operators: [String] { get }
  func kernel(for request: KernelRequest) throws -> PlannedKernel
}

extension KernelRequest {
  /// A required input.
  func required(_ index: Int) throws -> PlannedValue {
    try input(index).orThrow { KernelDeclined("input \(index) is missing") }
  }

  func requiredOutput(_ index: Int) throws -> TensorType {
    guard index < outputs.count, let type = outputs[index] else {
      throw KernelDeclined("output \(index) is missing")
    }
    return type
  }
}

extension PlannedKernel {
  /// With the followers that the epilogue does.
  mutating func absorb(_ epilogue: Epilogue, skipped: Int = 0) {
    absorbedCount = skipped + epilogue.count
    guard var operand = epilogue.accumulated else { return }
    operand.layout = outputLayouts[0]
    accumulated = operands.count
    operands.append(operand)
  }
}

extension PlannedKernel {
  /// The kernel, run by as many threads as it was made for.
  fileprivate func on(threads: Int) -> PlannedKernel {
    var kernel = self
    kernel.run = { [run] memory in
      graft_dnn_set_threads(Int32(clamping: threads))
      try run(memory)
    }
    return kernel
  }
}
