import GraftGraph
import GraftTensor

/// Distances to points as nodes of a graph, in double precision: what `PointSet` computes.
extension GraphBuilder {
  /// Ranks [N, points] of `features` [N, dimension], float32: distances, squared for Euclidean ones.
  mutating func addRanks(
    of features: String, to points: PointSet, _ distance: FeatureDistance
  ) throws -> String {
    let x = addDouble(features)
    let constant = initializer(try points.tensor, named: "points")
    let squares = add(
      "ReduceSum", [add("Mul", [x, x]), try ints([1])], ["keepdims": .int(1)])
    let norms = initializer(
      try Tensor(points.squaredNorms, shape: [1, points.count]), named: "squaredNorms")
    let products = add(
      "MatMul", [x, addDouble(add("Transpose", [constant], ["perm": .ints([1, 0])]))])
    let isEuclidean = distance == .euclidean
    let raw: String
    let limit: String
    if isEuclidean {
      let sums = add("Add", [squares, norms])
      raw = add("Sub", [sums, add("Mul", [products, try double(2)])])
      limit = add("Mul", [sums, try double(PointSet.equality)])
    } else {
      let lengths = add("Sqrt", [add("Mul", [squares, norms])])
      // A vector without length has product 0 with all: any divisor gives 0 then.
      let divisors = add("Max", [lengths, try double(.leastNormalMagnitude)])
      raw = add("Sub", [try double(1), add("Div", [products, divisors])])
      limit = try double(PointSet.equality)
    }
    return add("Where", [add("LessOrEqual", [raw, limit]), try double(0), raw])
  }

  /// For ranks [N, n] the weights of each line, adding up to 1.
  mutating func addShares(ofRanks ranks: String, _ distance: FeatureDistance) throws -> String {
    let isZero = add("LessOrEqual", [ranks, try double(0)])
    let zeros = addDouble(isZero)
    let distances = distance == .euclidean ? add("Sqrt", [ranks]) : ranks
    let inverses = add(
      "Div", [try double(1), add("Where", [isZero, try double(1), distances])])
    let axis = try ints([1])
    let hasZero = add(
      "Greater", [add("ReduceMax", [zeros, axis], ["keepdims": .int(1)]), try double(0)])
    let weights = add("Where", [hasZero, zeros, inverses])
    return add("Div", [weights, add("ReduceSum", [weights, axis], ["keepdims": .int(1)])])
  }

  mutating func addDouble(_ value: String) -> String {
    add("Cast", [value], ["to": .int(ElementType.float64.rawValue)])
  }

  mutating func addFloat(_ value: String, named name: String) -> String {
    add("Cast", [value], ["to": .int(ElementType.float32.rawValue)], named: name)
  }

  private mutating func double(_ value: Double) throws -> String {
    initializer(try Tensor(scalar: value), named: "number")
  }
}
