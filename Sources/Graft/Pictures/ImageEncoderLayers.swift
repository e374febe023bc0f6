import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Builds the image encoder's layers from a checkpoint's tensors.
struct ImageEncoderLayers {
  private var builder = GraphBuilder(Graph(name: "image-encoder"))
  private let weights: OrderedTable<Tensor>
  /// The bounds of ReLU6.
  private let bounds: [String]

  init(_ weights: OrderedTable<Tensor>) throws {
    self.weights = weights
    bounds = [
      builder.initializer(try Tensor(scalar: Float(0)), named: "relu6.minimum"),
      builder.initializer(try Tensor(scalar: Float(6)), named: "relu6.maximum"),
    ]
  }

  var graph: Graph { builder.graph }

  mutating func input(_ feature: Feature) -> String { builder.input(feature) }

  mutating func output(_ value: String, _ size: Int) {
    builder.output(value, .tensor(.float32, shape: [.named("batch"), .fixed(size)]))
  }

  /// (x - 127) / 128
  mutating func normalized(_ image: String) throws -> String {
    let centred = builder.add(
      "Sub", [image, builder.initializer(try Tensor(scalar: Float(127)), named: "image.mean")],
      named: "image/centred")
    return builder.add(
      "Mul",
      [centred, builder.initializer(try Tensor(scalar: Float(1) / 128), named: "image.scale")],
      named: "image/normalized")
  }

  /// A convolution without bias and the batch normalization behind it.
  struct Convolution {
    let weight: Tensor
    let stride: Int
    let groups: Int
    /// Scale, bias, mean and variance.
    let normalization: [Tensor]
  }

  /// - Parameter shape: of the weight, [outputs, inputs per group, rows, columns].
  func convolution(
    _ name: String, _ normalization: String, _ shape: Shape, stride: Int = 1, groups: Int = 1
  ) throws -> Convolution {
    Convolution(
      weight: try weight(name + ".weight", shape), stride: stride, groups: groups,
      normalization: try ["weight", "bias", "running_mean", "running_var"].map {
        try weight("\(normalization).\($0)", [shape[0]])
      })
  }

  /// - Parameter name: of the result; inner values and parameters begin with it.
  mutating func addConvolution(
    _ value: String, _ layer: Convolution, named name: String, isActivated: Bool
  ) -> String {
    let path = name.replacing("/", with: ".")
    let kernel = layer.weight.shape[2]
    // All sizes are even where the stride is 2: one row and column less is needed in front.
    let padding = kernel - layer.stride
    let (before, after) = (padding / 2, padding - padding / 2)
    let convolved = builder.add(
      "Conv", [value, builder.initializer(layer.weight, named: "\(path).weight")],
      [
        "strides": .ints([layer.stride, layer.stride]),
        "pads": .ints([before, before, after, after]), "group": .int(layer.groups),
        "kernel_shape": .ints([kernel, kernel]),
      ], named: "\(name)/convolution")
    let roles = ["scale", "bias", "mean", "variance"]
    let parameters = zip(roles, layer.normalization).map { role, tensor in
      builder.initializer(tensor, named: "\(path).normalization.\(role)")
    }
    let normalized = builder.add(
      "BatchNormalization", [convolved] + parameters,
      ["epsilon": .float(0.001), "momentum": .float(0.99)],
      named: isActivated ? "\(name)/normalization" : name)
    return isActivated ? builder.add("Clip", [normalized] + bounds, named: name) : normalized
  }

  /// One inverted bottleneck; `block` counts from 0, its value's name from 1.
  mutating func addBlock(
    _ value: String, _ block: Int, kernel: Int, stride: Int, expansion: Int, channels: Int,
    to outputs: Int
  ) throws -> String {
    let name = "block\(block + 1)"
    let wide = channels * expansion
    var result = value
    if expansion != 1 {
      result = addConvolution(
        result,
        try convolution(
          "_blocks.\(block)._expand_conv", "_blocks.\(block)._bn0", [wide, channels, 1, 1]),
        named: "\(name)/expansion", isActivated: true)
    }
    result = addConvolution(
      result,
      try convolution(
        "_blocks.\(block)._depthwise_conv", "_blocks.\(block)._bn1", [wide, 1, kernel, kernel],
        stride: stride, groups: wide), named: "\(name)/depthwise", isActivated: true)
    let hasResidual = stride == 1 && channels == outputs
    let projection = try convolution(
      "_blocks.\(block)._project_conv", "_blocks.\(block)._bn2", [outputs, wide, 1, 1])
    result = addConvolution(
      result, projection, named: "\(name)/projection", isActivated: false)
    return builder.add(
      hasResidual ? "Add" : "Identity", hasResidual ? [result, value] : [result], named: name)
  }

  /// The mean over rows and columns: [batch, channels].
  mutating func addMean(_ value: String, named name: String) -> String {
    builder.add(
      "Flatten", [builder.add("GlobalAveragePool", [value], named: "\(name)/mean")], named: name)
  }

  /// - Parameter shape: of the weight, [classes, inputs].
  mutating func addClassifier(_ value: String, _ shape: Shape, named name: String) throws -> String
  {
    builder.add(
      "Gemm",
      [
        value, builder.initializer(try weight("_fc.weight", shape), named: "classifier.weight"),
        builder.initializer(try weight("_fc.bias", [shape[0]]), named: "classifier.bias"),
      ], ["transB": .int(1)], named: name)
  }

  private func weight(_ name: String, _ shape: Shape) throws -> Tensor {
    let fix = "Use the image encoder's checkpoint: graft models pull image-encoder"
    guard let tensor = weights[name] else {
      throw GraftError(.damaged, "the checkpoint holds no '\(name)'", fix: fix)
    }
    guard tensor.shape == shape, tensor.elementType == .float32 else {
      throw GraftError(
        .damaged, "'\(name)' is \(tensor.elementType) \(tensor.shape), not float32 \(shape)",
        fix: fix)
    }
    return tensor
  }
}
