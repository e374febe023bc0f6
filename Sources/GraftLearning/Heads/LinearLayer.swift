import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = W x + b.
struct LinearLayer: Sendable {
  /// [outputs, inputs], float32.
  let weight: Tensor
  /// [outputs], float32.
  let bias: Tensor

  var outputCount: Int { weight.shape[0] }
  var inputCount: Int { weight.shape[1] }

  init(weight: Tensor, bias: Tensor) {
    self.weight = weight
    self.bias = bias
  }

  init(weight: DenseMatrix, bias: [Double]) throws {
    self.init(
      weight: try Tensor(weight.values.map(Float.init), shape: [weight.rows, weight.columns]),
      bias: try Tensor(bias.map(Float.init)))
    guard self.weight.isFinite, self.bias.isFinite else {
      throw GraftError(
        .badData, "a weight of the classifier is not finite", fix: "Check the features' sizes")
    }
  }

  /// The layer that takes inputs as they are, from one that takes (x - means) / deviations.
  init(weight: DenseMatrix, bias: [Double], means: [Double], deviations: [Double]) throws {
    var scaled = weight
    var bias = bias
    for row in 0..<weight.rows {
      for column in 0..<weight.columns {
        scaled[row, column] /= deviations[column]
        bias[row] -= scaled[row, column] * means[column]
      }
    }
    try self.init(weight: scaled, bias: bias)
  }

  /// The outputs of each example, added up in double precision.
  func callAsFunction(_ rows: DenseMatrix) throws -> DenseMatrix {
    let weights = DenseMatrix(
      rows: outputCount, columns: inputCount,
      values: try weight.values(as: Float.self).map(Double.init))
    let biases = try bias.values(as: Float.self).map(Double.init)
    var outputs = rows.timesTransposed(weights)
    for row in 0..<outputs.rows {
      for column in 0..<outputs.columns { outputs[row, column] += biases[column] }
    }
    return outputs
  }
}

extension LinearLayer {
  /// - Throws: `damaged` when the tensors `NAME.weight` and `NAME.bias` do not make a layer.
  init(_ contents: ClassifierContents, _ name: String, outputs: Int? = nil, inputs: Int? = nil)
    throws
  {
    weight = try contents.tensor("\(name).weight", shape: [outputs, inputs])
    guard weight.elementCount > 0 else {
      throw GraftError(.damaged, "the tensor '\(name).weight' has shape \(weight.shape)")
    }
    bias = try contents.tensor("\(name).bias", shape: [weight.shape[0]])
  }

  func tensors(_ name: String) -> [(String, Tensor)] {
    [("\(name).weight", weight), ("\(name).bias", bias)]
  }

  /// Adds the layer behind `input` and gives its output's name.
  func add(to builder: inout GraphBuilder, _ input: String, named name: String) -> String {
    let weight = builder.initializer(weight, named: "\(name).weight")
    let bias = builder.initializer(bias, named: "\(name).bias")
    return builder.add("Gemm", [input, weight, bias], ["transB": .int(1)], named: name)
  }
}

extension Model {
  /// The model of a classifier: `add` puts nodes behind the features and gives the name of the scores.
  init(
    classifying dimension: Int, classes: Int,
    add: (_ builder: inout GraphBuilder, _ features: String) throws -> String
  ) throws {
    var builder = GraphBuilder()
    func type(_ size: Int) -> FeatureType {
      .tensor(.float32, shape: [.named("N"), .fixed(size)])
    }
    let features = builder.input(Feature(name: "features", type: type(dimension)))
    builder.output(try add(&builder, features), type(classes))
    self.init(graph: builder.graph)
  }
}
