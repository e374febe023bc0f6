import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// How pictures become models' inputs of all kinds.
struct PictureInputTests {
  private func prepare(
    _ feature: Feature, _ picture: Picture, _ options: TaskOptions = TaskOptions(),
    _ change: (inout Model) -> Void = { _ in }
  ) throws -> Tensor {
    var model = try TaskModels.constant([("y", try Tensor(zeros: [1]))], input: feature)
    change(&model)
    return try PictureInput(model, options).prepare(picture).tensor
  }

  @Test func `bytes stay bytes`() throws {
    let picture = try TaskModels.picture(4, 3)
    let tensor = try prepare(TaskModels.input([1, 3, 4, 3], .uint8), picture)
    #expect(tensor.shape == [1, 3, 4, 3])
    #expect(try tensor.values(as: UInt8.self) == picture.pixels)
  }

  @Test func `floats are normalized to -1 to 1 where the model says nothing`() throws {
    let picture = try TaskModels.picture(4, 3)
    let expected = picture.pixels.map { (Float($0) - 127.5) / 127.5 }
    let last = try prepare(TaskModels.input([1, 3, 4, 3]), picture)
    #expect(try last.values(as: Float.self) == expected)
    let first = try prepare(TaskModels.input([nil, 3, 3, 4]), picture)
    #expect(first.shape == [1, 3, 3, 4])
    let values = try first.values(as: Float.self)
    for place in 0..<12 {
      for channel in 0..<3 {
        #expect(values[channel * 12 + place] == expected[3 * place + channel])
      }
    }
  }

  @Test func `signed bytes are the bytes less 128 where the model says nothing`() throws {
    let picture = try TaskModels.picture(4, 3)
    let tensor = try prepare(TaskModels.input([1, 3, 4, 3], .int8), picture)
    #expect(try tensor.values(as: Int8.self) == picture.pixels.map { Int8(Int($0) - 128) })
  }

  @Test func `the model's normalization and grid are taken`() throws {
    let picture = try TaskModels.picture(2, 2)
    var input = TaskModels.input([1, 2, 2, 3], .int8)
    input.normalization = FeatureNormalization(mean: [0], deviation: [255])
    input.quantization = FeatureQuantization(scale: 1 / 128, zeroPoint: -3)
    let tensor = try prepare(input, picture)
    #expect(
      try tensor.values(as: Int8.self)
        == picture.pixels.map { Int8((Float($0) / 255 * 128).rounded() - 3) })
    var floats = TaskModels.input([1, 2, 2, 3])
    floats.normalization = FeatureNormalization(mean: [1, 2, 3], deviation: [4, 5, 6])
    #expect(
      try prepare(floats, picture).values(as: Float.self)
        == picture.pixels.enumerated().map {
          (Float($1) - [1, 2, 3][$0 % 3]) / [4, 5, 6][$0 % 3]
        })
  }

  @Test func `a single channel is grey`() throws {
    let picture = try Picture(width: 2, height: 1, pixels: [10, 10, 10, 255, 0, 0])
    let tensor = try prepare(TaskModels.input([1, 1, 2, 1], .uint8), picture)
    #expect(try tensor.values(as: UInt8.self) == [10, 76])
  }

  @Test func `the preprocessing of a trained model is kept`() throws {
    let picture = try TaskModels.picture(5, 7)
    var preprocessing = PicturePreprocessing.imageNet(size: 4)
    let tensor = try prepare(TaskModels.input([nil, 3, 4, 4]), picture) {
      $0.picturePreprocessing = preprocessing
    }
    expectClose(
      tensor, try preprocessing.tensor(picture), Tolerance(absolute: 0, relative: 0), "input")
    preprocessing.fit = .stretch
    var options = TaskOptions()
    options.fit = .stretch
    let stretched = try prepare(TaskModels.input([nil, 3, 4, 4]), picture, options) {
      $0.picturePreprocessing = .imageNet(size: 4)
    }
    expectClose(
      stretched, try preprocessing.tensor(picture), Tolerance(absolute: 0, relative: 0), "input")
  }

  @Test func `pictures of any size fit`() throws {
    for (width, height) in [(1, 1), (3000, 2), (500, 400)] {
      let tensor = try prepare(
        TaskModels.input([1, 30, 20, 3]), try TaskModels.picture(width, height))
      #expect(tensor.shape == [1, 30, 20, 3])
    }
  }

  @Test func `inputs that are none for pictures are errors`() throws {
    let picture = try TaskModels.picture(2, 2)
    for (feature, code, text) in [
      (TaskModels.input([1, 10]), .badData, "the model takes no pictures"),
      (TaskModels.input([1, 4, 4, 5]), .badData, "none for a picture of 1 or 3 channels"),
      (TaskModels.input([2, 4, 4, 3]), .badData, "none for a picture of 1 or 3 channels"),
      (TaskModels.input([1, 4, 4, 3], .int64), .unsupported, "cannot become the input's type"),
      (TaskModels.input([1, nil, 4, 3]), .invalidArgument, "leaves the size of its pictures open"),
    ] as [(Feature, GraftError.Code, String)] {
      expectError(code, text) { _ = try prepare(feature, picture) }
    }
    var options = TaskOptions()
    options.preprocessing = PicturePreprocessing(width: 8, height: 8)
    expectError(.invalidArgument, "pictures of 8 x 8 do not fit the input") {
      _ = try prepare(TaskModels.input([1, 4, 4, 3]), picture, options)
    }
    let open = try prepare(TaskModels.input([1, nil, nil, 3]), picture, options)
    #expect(open.shape == [1, 8, 8, 3])
  }
}
