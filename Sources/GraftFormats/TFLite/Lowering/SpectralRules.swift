import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let spectralRules: [String: Rule] = [
    "RFFT2D": realTransform,
    "COMPLEX_ABS": { context, operation in
      let parts = try parts(context, operation)
      let squares = [parts.real, parts.imaginary].map { context.add("Mul", [$0, $0]) }
      context.bind(
        context.add("Sqrt", [context.add("Add", squares)]),
        to: try context.output(0, of: operation))
    },
    "REAL": { context, operation in
      context.bind(
        try parts(context, operation).real, to: try context.output(0, of: operation))
    },
    "IMAG": { context, operation in
      context.bind(
        try parts(context, operation).imaginary, to: try context.output(0, of: operation))
    },
  ]

  private static func parts(_ context: LoweringContext, _ operation: TFLiteOperator) throws -> (
    real: String, imaginary: String
  ) {
    try context.complexParts[try context.input(0, of: operation).index].orThrow {
      GraftError(.unsupported, "complex numbers that RFFT2D did not make")
    }
  }

  /// The longest transform that becomes a product with a matrix.
  private static let longestTransform = 4096

  /// The discrete Fourier transform of rows, as products with cosines and sines. Complex values are a
  /// pair of real ones, so only operators that take it apart may read the result.
  private static let realTransform: Rule = { context, operation in
    let lengths = try context.requiredInts(1, of: operation)
    let output = try context.output(0, of: operation)
    guard lengths.count == 2, lengths[0] == 1, (1...longestTransform).contains(lengths[1]) else {
      throw GraftError(.unsupported, "a transform of \(lengths) points")
    }
    let takesApart: Set<String> = ["COMPLEX_ABS", "REAL", "IMAG"]
    let readers = context.subgraph.operators.filter { $0.inputs.contains(output.index) }
    guard readers.allSatisfy({ takesApart.contains($0.name) }),
      !context.subgraph.outputs.contains(output.index)
    else { throw GraftError(.unsupported, "complex numbers as a result") }
    let length = lengths[1]
    let input = try context.input(0, of: operation)
    guard let sizes = input.shape, sizes.count >= 2, sizes[sizes.count - 2] == 1,
      sizes[sizes.count - 1] == length
    else {
      throw GraftError(.unsupported, "rows of another length than the transform's \(length) points")
    }
    let value = try context.float(input)
    let bins = length / 2 + 1
    func product(_ name: String, _ function: (Double) -> Double) throws -> String {
      let matrix = (0..<length).flatMap { point in
        (0..<bins).map { bin in
          Float(function(2 * Double.pi * Double(point * bin % length) / Double(length)))
        }
      }
      let factor = context.initializer(
        try Tensor(matrix, shape: [length, bins]), named: "transform/\(name)")
      return context.add("MatMul", [value, factor], named: "transform/\(name)/parts")
    }
    context.complexParts[output.index] = (
      try product("cosines", cos), try product("sines") { -sin($0) }
    )
  }
}
