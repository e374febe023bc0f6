import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

/// The pretrained network that turns a recording into a vector in which voices lie apart.
///
/// 40-band mel windows of 1.6 s, three LSTM layers, a linear layer; windows are averaged. The
/// weights are those of Resemblyzer 0.1.4 (Wan and others: Generalized End-to-End Loss for Speaker
/// Verification, 2018); the front end is part of the graph.
enum VoiceEncoder {
  static let sampleRate = 16_000
  /// The input's name: samples [batch, samples] at 16 kHz, -1 to 1.
  static let input = "audio"
  /// The name of the normalised vectors [batch, 256].
  static let output = "embedding"

  private static let window = 400
  private static let hop = 160
  private static let bands = 40
  private static let size = 256
  /// Mel frames of one window of the network, and from one window to the next.
  private static let frames = 160
  private static let frameStep = 77
  /// A last window needs three quarters of its samples; what it lacks is filled up with silence.
  private static let leastSamples = 3 * frames * hop / 4
  /// Recordings below this volume are raised to it: -30 dB of full scale.
  private static let volume: Float = 0.031_622_777

  /// Builds the network with the weights of a checkpoint.
  ///
  /// - Throws: `damaged` when the checkpoint is not one of the voice encoder.
  static func graph(weights: OrderedTable<Tensor>) throws -> Graph {
    var builder = GraphBuilder(Graph(name: "voice-encoder"), scope: "encoder")
    let audio = builder.input(
      Feature(name: input, type: .tensor(.float32, shape: [.named("batch"), .named("samples")])))
    let count = try addWindowCount(&builder, audio)
    let signal = try addPadding(&builder, try addVolume(&builder, audio), audio, count)
    var sequence = try addWindows(&builder, try addMelSpectrogram(&builder, signal), count)
    for layer in 0..<3 {
      sequence = try addLSTM(&builder, sequence, weights, layer)
    }
    let linear = builder.add(
      "Gemm",
      [
        sequence,
        builder.initializer(
          try weight("linear.weight", [size, size], weights), named: "linear.weight"),
        builder.initializer(try weight("linear.bias", [size], weights), named: "linear.bias"),
      ], ["transB": .int(1)], named: "encoder/linear")
    let windows = try addNormalization(&builder, builder.add("Relu", [linear]))
    let shape = builder.add(
      "Concat",
      [builder.add("Unsqueeze", [count, try builder.ints([0])]), try builder.ints([-1, size])],
      ["axis": .int(0)])
    let grouped = builder.add("Reshape", [windows, shape])
    let mean = builder.add(
      "ReduceMean", [grouped, try builder.ints([0])], ["keepdims": .int(0)])
    let embedding = builder.add(
      "Identity", [try addNormalization(&builder, mean)], named: output)
    builder.output(embedding, .tensor(.float32, shape: [.named("batch"), .fixed(size)]))
    return builder.graph
  }

  /// Raises quiet recordings to the common volume.
  private static func addVolume(_ builder: inout GraphBuilder, _ audio: String) throws -> String {
    let power = builder.add(
      "ReduceMean", [builder.add("Mul", [audio, audio]), try builder.ints([1])],
      ["keepdims": .int(1)])
    let level = builder.add("Max", [builder.add("Sqrt", [power]), try builder.float(1e-9)])
    let gain = builder.add(
      "Max", [builder.add("Div", [try builder.float(volume), level]), try builder.float(1)])
    return builder.add("Mul", [audio, gain])
  }

  /// How many windows a recording has, a scalar: max(1, (samples - 6880) / 12320).
  private static func addWindowCount(_ builder: inout GraphBuilder, _ audio: String) throws
    -> String
  {
    let step = frameStep * hop
    let room = builder.add(
      "Sub", [try addLength(&builder, audio), try builder.int(leastSamples - step)])
    let count = builder.add("Div", [room, try builder.int(step)])
    return builder.add("Max", [count, try builder.int(1)])
  }

  /// The number of samples, a scalar.
  private static func addLength(_ builder: inout GraphBuilder, _ audio: String) throws -> String {
    builder.add("Squeeze", [builder.add("Shape", [audio], ["start": .int(1), "end": .int(2)])])
  }

  /// Silence around the signal, so that frames are centred and the last window is whole:
  /// [batch, 1, samples].
  private static func addPadding(
    _ builder: inout GraphBuilder, _ signal: String, _ audio: String, _ count: String
  ) throws -> String {
    let covered = builder.add("Mul", [count, try builder.int(frameStep * hop)])
    let last = (frames - frameStep) * hop
    let needed = builder.add("Add", [covered, try builder.int(last)])
    let lack = builder.add("Sub", [needed, try addLength(&builder, audio)])
    let right = builder.add(
      "Add", [builder.add("Max", [lack, try builder.int(0)]), try builder.int(window / 2)])
    let pads = builder.add(
      "Concat",
      [
        try builder.ints([0, 0, window / 2, 0, 0]),
        builder.add("Unsqueeze", [right, try builder.ints([0])]),
      ], ["axis": .int(0)])
    return builder.add(
      "Pad", [builder.add("Unsqueeze", [signal, try builder.ints([1])]), pads])
  }

  /// The power spectrum as two convolutions with the Fourier transform's windowed cosines and
  /// sines, then mel bands: [frames, batch, bands].
  private static func addMelSpectrogram(_ builder: inout GraphBuilder, _ signal: String) throws
    -> String
  {
    let bins = window / 2 + 1
    func kernels(_ function: (Double) -> Double) throws -> Tensor {
      var values: [Float] = []
      for bin in 0..<bins {
        for sample in 0..<window {
          let hann = 0.5 - 0.5 * cos(2 * Double.pi * Double(sample) / Double(window))
          let phase = 2 * Double.pi * Double(bin * sample % window) / Double(window)
          values.append(Float(hann * function(phase)))
        }
      }
      return try Tensor(values, shape: [bins, 1, window])
    }
    let parts = try [("cosines", cos), ("sines", sin)].map { name, function in
      let kernel = builder.initializer(try kernels(function), named: name)
      let wave = builder.add("Conv", [signal, kernel], ["strides": .ints([hop])])
      return builder.add("Mul", [wave, wave])
    }
    let power = builder.add(
      "Transpose", [builder.add("Add", parts)], ["perm": .ints([2, 0, 1])])
    let filters = try MelFilterBank(
      sampleRate: Double(sampleRate), windowLength: window, bands: bands)
    return builder.add(
      "MatMul", [power, builder.initializer(filters.weights, named: "melFilters")])
  }

  /// Overlapping windows, in the LSTM's layout: [frames, windows * batch, bands].
  private static func addWindows(
    _ builder: inout GraphBuilder, _ mel: String, _ count: String
  ) throws -> String {
    let range = builder.add("Range", [try builder.int(0), count, try builder.int(1)])
    let starts = builder.add("Mul", [range, try builder.int(frameStep)])
    let offsets = builder.initializer(
      try Tensor((0..<frames).map(Int64.init), shape: [frames, 1]), named: "frameOffsets")
    let windows = builder.add("Gather", [mel, builder.add("Add", [offsets, starts])])
    return builder.add("Reshape", [windows, try builder.ints([frames, -1, bands])])
  }

  /// One LSTM layer; the last gives its final state [rows, 256] only.
  private static func addLSTM(
    _ builder: inout GraphBuilder, _ sequence: String, _ weights: OrderedTable<Tensor>, _ layer: Int
  ) throws -> String {
    let inputSize = layer == 0 ? bands : size
    let gates = 4 * size
    let input = try weight("lstm.weight_ih_l\(layer)", [gates, inputSize], weights).gatesReordered()
    let state = try weight("lstm.weight_hh_l\(layer)", [gates, size], weights).gatesReordered()
    let biases = try ["ih", "hh"].map {
      try weight("lstm.bias_\($0)_l\(layer)", [gates], weights).gatesReordered()
    }
    let inputs = try [
      sequence,
      builder.initializer(
        input.reshaped(to: [1, gates, inputSize]), named: "lstm\(layer).inputWeight"),
      builder.initializer(state.reshaped(to: [1, gates, size]), named: "lstm\(layer).stateWeight"),
      builder.initializer(
        Tensor.stacking(biases).reshaped(to: [1, 2 * gates]), named: "lstm\(layer).bias"),
    ]
    let isLast = layer == 2
    let outputs = builder.add(
      "LSTM", inputs, ["hidden_size": .int(size)],
      outputs: isLast ? [nil, "state"] : ["sequence"])
    let axis = try builder.ints([isLast ? 0 : 1])
    return builder.add("Squeeze", [outputs[isLast ? 1 : 0], axis])
  }

  /// Rows scaled to length 1.
  private static func addNormalization(_ builder: inout GraphBuilder, _ rows: String) throws
    -> String
  {
    let squares = builder.add(
      "ReduceSum", [builder.add("Mul", [rows, rows]), try builder.ints([1])],
      ["keepdims": .int(1)])
    let length = builder.add("Max", [builder.add("Sqrt", [squares]), try builder.float(1e-6)])
    return builder.add("Div", [rows, length])
  }

  /// A tensor of the checkpoint, which may lie under `model_state`.
  private static func weight(_ name: String, _ shape: Shape, _ weights: OrderedTable<Tensor>) throws
    -> Tensor
  {
    guard let tensor = weights["model_state.\(name)"] ?? weights[name] else {
      throw GraftError(
        .damaged, "the checkpoint holds no '\(name)'",
        fix: "Use the voice encoder's checkpoint: graft models pull voice-encoder")
    }
    guard tensor.shape == shape, tensor.elementType == .float32 else {
      throw GraftError(
        .damaged,
        "'\(name)' is \(tensor.elementType) \(tensor.shape), not float32 \(shape)",
        fix: "Use the voice encoder's checkpoint: graft models pull voice-encoder")
    }
    return tensor
  }
}

extension Tensor {
  /// The gates' rows from PyTorch's order (input, forget, cell, output) to ONNX's (input, output,
  /// forget, cell).
  fileprivate func gatesReordered() throws -> Tensor {
    let size = (shape.first ?? 0) / 4
    let parts = try [0, 3, 1, 2].map { try rows($0 * size..<($0 + 1) * size) }
    return try Tensor.stacking(parts)
  }
}
