import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A checkpoint of ONNX Runtime's on-device training: parameters, optimizer state and properties.
///
/// It is one FlatBuffer with the identifier `ODTC`; large ones keep tensors in a second file beside
/// it, whose name ends in `.data`. Source: `ort_training_checkpoint.fbs` and `checkpoint.cc` of ONNX
/// Runtime 1.19.2.
package struct ORTCheckpoint: Sendable {
  package static let identifier = "ODTC"
  /// The versions of the format that are read; the last is written.
  static let versions = 1...2

  package struct Parameter: Sendable {
    package var isTrainable: Bool
    /// Nil in a nominal checkpoint, which holds names only.
    package var value: Tensor?

    package init(isTrainable: Bool, value: Tensor?) {
      self.isTrainable = isTrainable
      self.value = value
    }
  }

  /// The state of an optimizer.
  package struct OptimizerGroup: Sendable {
    package var name: String
    /// How many updates there have been.
    package var step: Int
    package var initialLearningRate: Float
    /// By parameter, then by name: `momentum0` is the first moment, `momentum1` the second.
    package var moments: OrderedTable<OrderedTable<Tensor>>

    package init(
      name: String = "group0", step: Int, initialLearningRate: Float,
      moments: OrderedTable<OrderedTable<Tensor>>
    ) {
      self.name = name
      self.step = step
      self.initialLearningRate = initialLearningRate
      self.moments = moments
    }
  }

  package enum Property: Sendable, Hashable {
    case int(Int)
    case float(Float)
    case string(String)
  }

  package var version = versions.upperBound
  package var parameters = OrderedTable<Parameter>()
  package var groups: [OptimizerGroup] = []
  package var properties = OrderedTable<Property>()

  package init() {}

  /// Whether the file holds the parameters' names without their values.
  package var isNominal: Bool {
    !parameters.isEmpty && parameters.allSatisfy { $0.value.value == nil }
  }

  /// Where the tensors of a large checkpoint lie.
  static func dataPath(_ path: String) -> String { path + ".data" }
}

/// The numbers of the tables' fields.
enum ORTCheckpointField {
  enum Checkpoint { static let version = 0, module = 1, groups = 2, properties = 3 }
  enum Module { static let trainable = 0, frozen = 1, isNominal = 2, hasExternalData = 3 }
  enum Tensor {
    static let name = 0, dimensions = 2, type = 3, bytes = 4, dataOffset = 6
  }
  enum Group { static let name = 0, step = 1, learningRate = 2, states = 3 }
  enum State { static let parameter = 0, moments = 1 }
  enum Properties { static let ints = 0, floats = 1, strings = 2 }
  enum Property { static let name = 0, value = 1 }
}
