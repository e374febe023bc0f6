import CGraftMatrix
import GraftGraph
import GraftTensor

/// LayerNormalization and InstanceNormalization, each with Gelu behind it; InstanceNormalization also
/// with a factor and an addend for each channel.
struct Normalization {
  private let rows: Int
  private let columns: Int
  /// Channels that the rows belong to in turn; 0 when scale and bias belong to the columns.
  private let channels: Int
  private let epsilon: Float
  private let hasBias: Bool
  /// Scale and bias of InstanceNormalization with what follows, when all of them are constant.
  private var merged: (scale: [Float], bias: [Float])?
  private var isGelu = false
  private var absorbedCount = 0

  /// LayerNormalization.
  init(rows request: KernelRequest) throws {
    guard !request.wantsOutput(1), !request.wantsOutput(2) else {
      throw KernelDeclined("mean or deviation are wanted")
    }
    let shape = try request.shape(0)
    let axis = try shape.axis(try request.node.int("axis", default: -1))
    columns = shape[axis...].reduce(1, *)
    rows = shape.elementCount / columns
    channels = 0
    let parameters = Shape(Array(shape[axis...]))
    for input in request.inputs.dropFirst().compactMap({ $0 }) {
      guard Self.trimmed(input.type.shape) == Self.trimmed(parameters) else {
        throw KernelDeclined("a parameter of shape \(input.type.shape)")
      }
    }
    hasBias = request.input(2) != nil
    epsilon = try request.node.float("epsilon", default: 1e-5)
    absorbGelu(request.followers[...])
  }

  /// InstanceNormalization.
  init(channels request: KernelRequest) throws {
    let shape = try request.shape(0)
    channels = shape[1]
    rows = shape[0] * channels
    columns = shape.elementCount / rows
    hasBias = true
    epsilon = try request.node.float("epsilon", default: 1e-5)
    var followers = request.followers[...]
    if var scale = request.numbers(1), var bias = request.numbers(2) {
      while let follower = followers.first, let numbers = parameter(follower, shape) {
        for channel in 0..<channels {
          switch follower.node.op {
          case "Mul":
            scale[channel] *= numbers[channel]
            bias[channel] *= numbers[channel]
          default: bias[channel] += numbers[channel]
          }
        }
        followers = followers.dropFirst()
        absorbedCount += 1
      }
      merged = (scale, bias)
    }
    absorbGelu(followers)
  }

  private static func trimmed(_ shape: Shape) -> [Int] { Array(shape.drop { $0 == 1 }) }

  /// What a Mul or Add does to each channel, when that is always the same.
  private func parameter(_ follower: KernelRequest.Follower, _ shape: Shape) -> [Float]? {
    guard ["Mul", "Add"].contains(follower.node.qualifiedOp),
      let value = follower.inputs.lazy.compactMap({ $0 }).first,
      value.type.shape.elementCount == channels,
      value.type.shape.dropFirst(max(0, value.type.shape.rank - (shape.rank - 1)))
        .elementsEqual([channels] + [Int](repeating: 1, count: shape.rank - 2))
    else { return nil }
    return try? value.constant?.values(as: Float.self)
  }

  private mutating func absorbGelu(_ followers: ArraySlice<KernelRequest.Follower>) {
    guard let follower = followers.first, case .gelu? = Activation(follower.node) else { return }
    isGelu = true
    absorbedCount += 1
  }

  var kernel: PlannedKernel {
    let count = merged == nil ? (hasBias ? 3 : 2) : 1
    var kernel = PlannedKernel(
      name: "matrix avx2", operands: (0..<count).map { PlannedKernel.Operand($0) },
      outputLayouts: [nil], run: run)
    kernel.absorbedCount = absorbedCount
    kernel.overwritten = [0]
    return kernel
  }

  private func run(_ memory: KernelMemory) throws {
    var work = graft_matrix_normalization()
    work.source = try memory.input(0)
    work.result = try memory.output(0)
    work.columns = Int64(columns)
    work.channels = Int64(channels)
    work.epsilon = Double(epsilon)
    work.is_gelu = isGelu ? 1 : 0
    guard let merged else {
      work.scale = try memory.input(1)
      if hasBias { work.bias = try memory.input(2) }
      fill(work, memory.threads)
      return
    }
    merged.scale.withUnsafeBufferPointer { scale in
      merged.bias.withUnsafeBufferPointer { bias in
        work.scale = scale.baseAddress
        work.bias = bias.baseAddress
        fill(work, memory.threads)
      }
    }
  }

  private func fill(_ work: graft_matrix_normalization, _ threads: Int) {
    let threads = rows * columns < Self.smallest ? 1 : threads
    parallelLoop(rows, threads: threads) { range in
      withUnsafePointer(to: work) {
        graft_matrix_normalize($0, Int64(range.lowerBound), Int64(range.upperBound))
      }
    }
  }

  /// Elements for which it pays to wake other threads.
  private static let smallest = 1 << 14
}

extension KernelRequest {
  /// A constant's elements.
  fileprivate func numbers(_ index: Int) -> [Float]? {
    try? input(index)?.constant?.values(as: Float.self)
  }
}
