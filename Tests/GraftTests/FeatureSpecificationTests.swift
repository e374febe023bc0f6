import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// Features of any layer of any model: parsing, poolings with values worked out by hand, and errors.
struct FeatureSpecificationTests {
  @Test func `a specification reads back as it was written`() throws {
    let cases: [(String, String, FeatureSpecification.Pooling?)] = [
      ("block12", "block12", nil),
      ("block12:average", "block12", .average),
      ("block12:max", "block12", .maximum),
      ("block12:3x3", "block12", .averageGrid(rows: 3, columns: 3)),
      ("block12:max2x4", "block12", .maximumGrid(rows: 2, columns: 4)),
      ("a/b:0:flatten", "a/b:0", .flatten),
      ("a/b:0", "a/b:0", nil),
    ]
    for (text, layer, pooling) in cases {
      let specification = try FeatureSpecification(text)
      #expect(specification == FeatureSpecification(layer: layer, pooling: pooling), "\(text)")
      #expect(specification.description == text)
      let json = try JSONEncoder().encode([specification])
      #expect(String(decoding: json, as: UTF8.self).replacing("\\/", with: "/") == "[\"\(text)\"]")
      #expect(try JSONDecoder().decode([FeatureSpecification].self, from: json) == [specification])
    }
  }

  @Test func `texts that name no layer or no cells are errors`() {
    for text in ["", ":max", ":3x3"] {
      expectError(.invalidArgument, "names no layer") { _ = try FeatureSpecification(text) }
    }
    for text in ["a:0x3", "a:3x0", "a:max65x1", "a:99999999999999999999x1"] {
      expectError(.invalidArgument, "a grid has 1 to 64 cells") {
        _ = try FeatureSpecification(text)
      }
    }
  }

  /// image [batch, 1, 5, 4] -> doubled [batch, 1, 5, 4] -> row [batch, 20]; frames [batch, 5, 4].
  private func model(rows: FeatureDimension = .fixed(5), batch: FeatureDimension = .named("n"))
    throws -> Model
  {
    var builder = GraphBuilder()
    let image = builder.input(
      Feature(name: "image", type: .tensor(.float32, shape: [batch, .fixed(1), rows, .fixed(4)])))
    let two = try builder.float(2)
    let doubled = builder.add("Mul", [image, two], named: "doubled")
    let frames = builder.add("Squeeze", [doubled, try builder.ints([1])], named: "frames")
    let row = builder.add("Flatten", [frames], named: "row")
    _ = builder.add("Shape", [row], named: "numbers")
    builder.output(row)
    builder.output("numbers")
    return Model(graph: builder.graph)
  }

  /// 0, 1, ... 19 and their negatives.
  private var input: Tensor {
    get throws {
      try Tensor((0..<20).map(Float.init) + (0..<20).map { -Float($0) }, shape: [2, 1, 5, 4])
    }
  }

  @Test func `all specifications of a model are computed in one run`() throws {
    // Rows of the doubled picture: 0 2 4 6 | 8 10 12 14 | 16 18 20 22 | 24 26 28 30 | 32 34 36 38.
    let cases: [(String, [Float])] = [
      ("doubled:average", [19]), ("doubled:max", [38]),
      // Two parts of five rows: three rows each, the middle row in both.
      ("doubled:2x2", [9, 13, 25, 29]), ("doubled:max2x1", [22, 38]),
      ("doubled:1x4", [16, 18, 20, 22]),
      ("doubled:flatten", (0..<20).map { 2 * Float($0) }), ("row", (0..<20).map { 2 * Float($0) }),
      ("frames:average", [16, 18, 20, 22]), ("frames:max", [32, 34, 36, 38]),
      ("frames:2x1", [8, 10, 12, 14, 24, 26, 28, 30]),
      ("frames:max2x1", [16, 18, 20, 22, 32, 34, 36, 38]),
    ]
    let model = try model().features(cases.map { try FeatureSpecification($0.0) })
    #expect(model.outputs.map(\.name) == cases.map(\.0))
    let results = try InferenceSession(model).run(["image": try input])
    for (name, expected) in cases {
      let result = try #require(results[name])
      #expect(result.shape == [2, expected.count], "\(name)")
      #expect(
        model.outputs.first { $0.name == name }?.type
          == .tensor(.float32, shape: [.named("n"), .fixed(expected.count)]), "\(name)")
      #expect(try result.rows(0..<1).values(as: Float.self) == expected, "\(name)")
      if !name.contains("max") {
        #expect(try result.rows(1..<2).values(as: Float.self) == expected.map { -$0 }, "\(name)")
      }
    }
  }

  @Test func `a layer without pooling is averaged, and what comes twice is one output`() throws {
    let texts = ["doubled", "frames", "row", "doubled:average", "row"]
    let model = try model().features(texts.map { try FeatureSpecification($0) })
    #expect(model.outputs.map(\.name) == ["doubled:average", "frames:average", "row"])
  }

  @Test func `a batch that is declared as a number stays so`() throws {
    let model = try model(batch: .fixed(1)).features([try FeatureSpecification("doubled:max")])
    #expect(model.outputs[0].type == .tensor(.float32, shape: [.fixed(1), .fixed(1)]))
  }

  @Test func `open sizes allow whole poolings only`() throws {
    let model = try model(rows: .named("rows"))
    let pooled = try model.features([
      FeatureSpecification("doubled:max"), FeatureSpecification("frames"),
    ])
    let results = try InferenceSession(pooled).run(["image": try input])
    #expect(try results["doubled:max"]?.values(as: Float.self) == [38, 0])
    for text in ["doubled:2x2", "doubled:flatten", "row"] {
      expectError(.invalidArgument, "Pool with 'average' or 'max'") {
        _ = try model.features([FeatureSpecification(text)])
      }
    }
  }

  @Test func `what a model cannot give is an error that says what it can`() throws {
    let model = try model()
    #expect(model.featureLayers == ["doubled", "frames", "row"])
    let cases = [
      ("other", "has no layer 'other'. Choose one of: doubled, frames, row"),
      ("doubld:2x2", "has no layer 'doubld'. Did you mean 'doubled'?"),
      ("doubled:averge", "'averge' is no pooling. Choose one of: average, max, a grid such as"),
      ("numbers", "'numbers' does not hold one row of float32 values per example"),
      ("image", "'image' does not hold one row of float32 values per example"),
      ("row:max", "'row' is [batch, 20]: there is nothing to pool so. Write 'row'"),
      ("doubled:6x1", "a grid of 6 x 1 cells does not fit the 5 x 4 positions"),
      ("frames:2x2", "a grid of 2 x 2 cells does not fit the 5 frames"),
    ]
    for (text, message) in cases {
      expectError(.invalidArgument, message) {
        _ = try model.features([FeatureSpecification(text)])
      }
    }
    expectError(.invalidArgument, "no features are asked for") { _ = try model.features([]) }
  }
}
