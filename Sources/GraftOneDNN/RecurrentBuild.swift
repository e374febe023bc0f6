import COneDNN
import GraftGraph
import GraftTensor

/// The steps around the primitive, and the operands that they read.
struct RecurrentBuild {
  var sequence = KernelSequence()
  private(set) var operands: [PlannedKernel.Operand] = []
  let request: KernelRequest
  let layer: RecurrentLayer

  init(_ request: KernelRequest, _ layer: RecurrentLayer) {
    self.request = request
    self.layer = layer
  }

  /// A row-major input of the node.
  mutating func operand(_ input: Int) -> KernelSequence.Place {
    operands.append(PlannedKernel.Operand(input))
    return .operand(operands.count - 1)
  }

  mutating func output(_ index: Int, _ count: Int) -> KernelSequence.Place {
    sequence.output(index, of: request, byteCount: [Float].byteCount(count))
  }

  /// An initial state; zeros where it is left out.
  mutating func state(_ input: Int) -> KernelSequence.Place {
    if request.input(input) != nil { return operand(input) }
    return zeros(layer.stateCount)
  }

  mutating func zeros(_ count: Int) -> KernelSequence.Place {
    let place = sequence.scratch(byteCount: [Float].byteCount(count))
    sequence.run { try $0.floats(place).update(repeating: 0, count: count) }
    return place
  }

  /// The weights of input `index` as the primitive reads them.
  mutating func weights(_ index: Int, inner: Int, _ target: OneDNNLayout) throws
    -> KernelSequence.Place
  {
    let weights = RecurrentWeights(layer, inner: inner, target: target)
    if let constant = request.input(index)?.constant {
      return .constant(try weights.packed(constant, threads: request.threads))
    }
    let place = sequence.scratch(byteCount: target.byteCount)
    try weights.pack(operand(index), into: place, &sequence)
    return place
  }

  /// The sum of ONNX's two biases, gate by gate.
  mutating func bias() throws -> KernelSequence.Place {
    let (rows, hidden) = (layer.biasRows, layer.hidden)
    guard request.input(3) != nil else { return zeros(layer.directions * rows * hidden) }
    let source = operand(3)
    let target = sequence.scratch(
      byteCount: [Float].byteCount(layer.directions * rows * hidden))
    let layer = layer
    sequence.run { memory in
      let (b, sum) = (try memory.floats(source), try memory.floats(target))
      for direction in 0..<layer.directions {
        let b = b + direction * 2 * layer.gates * hidden
        let sum = sum + direction * rows * hidden
        for (gate, own) in layer.gateOrder.enumerated() {
          let (input, state) = (b + own * hidden, b + (layer.gates + own) * hidden)
          let isApart = layer.kind == GRAFT_RECURRENT_GRU_RESET_AFTER && gate == 2
          for i in 0..<hidden {
            sum[gate * hidden + i] = isApart ? input[i] : input[i] + state[i]
            if isApart { sum[(gate + 1) * hidden + i] = state[i] }
          }
        }
      }
    }
    return target
  }

  /// Gives the gradient of the sum to both biases.
  mutating func unpackBias(_ source: KernelSequence.Place, _ target: KernelSequence.Place) {
    let layer = layer
    sequence.run { memory in
      let (sum, b) = (try memory.floats(source), try memory.floats(target))
      let hidden = layer.hidden
      for direction in 0..<layer.directions {
        let b = b + direction * 2 * layer.gates * hidden
        let sum = sum + direction * layer.biasRows * hidden
        for (gate, own) in layer.gateOrder.enumerated() {
          let isApart = layer.kind == GRAFT_RECURRENT_GRU_RESET_AFTER && gate == 2
          let state = isApart ? gate + 1 : gate
          (b + own * hidden).update(from: sum + gate * hidden, count: hidden)
          (b + (layer.gates + own) * hidden).update(from: sum + state * hidden, count: hidden)
        }
      }
    }
  }

  /// Copies a result in which the directions of a step stand side by side into one where the batch
  /// lies between.
  mutating func split(_ source: KernelSequence.Place, _ target: KernelSequence.Place) {
    let layer = layer
    sequence.run { memory in
      let (source, target) = (try memory.floats(source), try memory.floats(target))
      layer.forEachState { beside, apart in
        (target + apart).update(from: source + beside, count: layer.hidden)
      }
    }
  }

  /// The opposite of `split`.
  mutating func join(_ source: KernelSequence.Place, _ target: KernelSequence.Place) {
    let layer = layer
    sequence.run { memory in
      let (source, target) = (try memory.floats(source), try memory.floats(target))
      layer.forEachState { beside, apart in
        (target + beside).update(from: source + apart, count: layer.hidden)
      }
    }
  }
}

extension RecurrentLayer {
  /// Calls `body` for every hidden state of a result with the element at which it begins when the
  /// directions of a step stand side by side, and when the batch lies between them.
  fileprivate func forEachState(_ body: (_ beside: Int, _ apart: Int) -> Void) {
    for step in 0..<steps {
      for direction in 0..<directions {
        for sequence in 0..<batch {
          body(
            ((step * batch + sequence) * directions + direction) * hidden,
            ((step * directions + direction) * batch + sequence) * hidden)
        }
      }
    }
  }
}
