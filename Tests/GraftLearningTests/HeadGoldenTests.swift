import Foundation
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

/// Heads compared with scikit-learn; `Tests/HeadGoldens/make.py` made the files.
struct HeadGoldenTests {
  static let names = ["tall", "wide", "binary"]

  private func golden(_ name: String) throws -> GoldenFile {
    try GoldenFile(
      stem: SharedData.project.appending(path: "Tests/HeadGoldens/\(name)").path)
  }

  private func fitted<T: FeatureClassifier>(_ classifier: T, _ golden: GoldenFile) throws -> T {
    var classifier = classifier
    let labels = try #require(golden.tensors["y"]).values(as: Int64.self).map { Int($0) }
    try classifier.fit(try #require(golden.tensors["x"]), labels: labels)
    return classifier
  }

  private func expect(_ actual: [Double], _ expected: Tensor?, _ tolerance: Double, _ what: String)
    throws
  {
    let expected = try #require(expected, "\(what)").values(as: Double.self)
    #expect(actual.count == expected.count, "\(what)")
    for (index, (a, b)) in zip(actual, expected).enumerated()
    where (a - b).magnitude > tolerance * max(1, b.magnitude) {
      Issue.record("\(what), element \(index): \(a) instead of \(b)")
    }
  }

  /// Rows of weights: with two classes the difference of both, as scikit-learn has it.
  private func rows(_ weight: Tensor?, of golden: Tensor?) throws -> [Double] {
    let weight = try #require(weight)
    let values = try weight.values(as: Float.self).map(Double.init)
    guard try #require(golden).shape[0] == 1 else { return values }
    let size = values.count / 2
    return (0..<size).map { values[size + $0] - values[$0] }
  }

  @Test(arguments: names) func `logistic regression has scikit-learn's coefficients`(name: String)
    throws
  {
    let golden = try golden(name)
    for c in [0.1, 10] {
      for scaling in FeatureScaling.allCases {
        let head = try fitted(LogisticRegression(c: c, scaling: scaling), golden)
        let stem = "logistic.\(c).\(scaling)"
        let weight = golden.tensors["\(stem).weight"]
        let bias = golden.tensors["\(stem).bias"]
        try expect(try rows(head.weight, of: weight), weight, 1e-4, "\(name) \(stem) weight")
        try expect(try rows(head.bias, of: bias), bias, 1e-4, "\(name) \(stem) bias")
        let scores = try head.scores(try #require(golden.tensors["test"])).flatMap { $0 }
        try expect(scores, golden.tensors["\(stem).scores"], 1e-4, "\(name) \(stem) scores")
      }
    }
  }

  @Test(arguments: names) func `least squares has the weights of scikit-learn's Ridge`(name: String)
    throws
  {
    let golden = try golden(name)
    for alpha in [0.5, 20] {
      let head = try fitted(LinearClassifier(.leastSquares(l2: alpha)), golden)
      let weight = try #require(head.weight).values(as: Float.self).map(Double.init)
      try expect(weight, golden.tensors["ridge.\(alpha).weight"], 1e-5, "\(name) \(alpha)")
      let bias = try #require(head.bias).values(as: Float.self).map(Double.init)
      try expect(bias, golden.tensors["ridge.\(alpha).bias"], 1e-5, "\(name) \(alpha) bias")
    }
  }

  @Test(arguments: names) func `nearest neighbours have scikit-learn's scores`(name: String) throws
  {
    let golden = try golden(name)
    for k in [1, 3, 5] {
      for weighting in NearestNeighbors.Weighting.allCases {
        for distance in FeatureDistance.allCases {
          let head = try fitted(
            NearestNeighbors(k: k, weighting: weighting, distance: distance), golden)
          let word = weighting == .uniform ? "uniform" : "distance"
          let scores = try head.scores(try #require(golden.tensors["test"])).flatMap { $0 }
          let stem = "neighbors.\(k).\(word).\(distance)"
          try expect(scores, golden.tensors["\(stem).scores"], 1e-6, "\(name) \(stem)")
        }
      }
    }
  }

  @Test(arguments: names) func `nearest means choose scikit-learn's classes`(name: String) throws {
    let golden = try golden(name)
    let head = try fitted(NearestMean(), golden)
    let expected = try #require(golden.tensors["mean.classes"]).values(as: Int64.self)
    let found = try head.predict(try #require(golden.tensors["test"]))
    #expect(found == expected.map { .integer(Int($0)) })
  }
}
