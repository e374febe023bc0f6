import GraftGraph
import GraftTensor

/// The tensors that a GRU or RNN reads, as pointers; nil where one is left out.
struct RecurrentInputs<T: FloatingElement> {
  let x: UnsafePointer<T>
  let w: UnsafePointer<T>
  let r: UnsafePointer<T>
  let b: UnsafePointer<T>?
  let initialHidden: UnsafePointer<T>?

  init(_ context: KernelContext) throws {
    x = try context.input(0, as: T.self)
    w = try context.input(1, as: T.self)
    r = try context.input(2, as: T.self)
    b = try context.inputIfPresent(3, as: T.self)
    initialHidden = try context.inputIfPresent(5, as: T.self)
  }
}

/// What a GRU or RNN makes, as pointers; nil where it is not wanted.
struct RecurrentOutputs<T: FloatingElement> {
  var y: UnsafeMutablePointer<T>?
  var hidden: UnsafeMutablePointer<T>?

  /// Writes one step's state.
  func write(
    _ h: UnsafePointer<T>, _ layer: RecurrentLayer, _ time: Int, _ sequence: Int, _ direction: Int
  ) {
    guard let y else { return }
    copy(h, y + layer.outputStart(time, sequence, direction), layer.hiddenSize)
  }

  /// Writes what comes after a sequence's last step; a sequence without steps ends in zeros.
  func finish(_ h: UnsafePointer<T>, _ layer: RecurrentLayer, _ sequence: Int, _ direction: Int) {
    let length = layer.lengths[sequence]
    if let hidden {
      let final = hidden + layer.stateStart(sequence, direction)
      if length > 0 {
        copy(h, final, layer.hiddenSize)
      } else {
        final.update(repeating: 0, count: layer.hiddenSize)
      }
    }
    guard let y else { return }
    for time in length..<layer.steps {
      (y + layer.outputStart(time, sequence, direction)).update(
        repeating: 0, count: layer.hiddenSize)
    }
  }
}
