import GraftDiagnostics
import GraftTensor
import Testing

struct ShapeTests {
  @Test(arguments: [
    (Shape([2, 3]), Shape([3]), Shape([2, 3])),
    (Shape([2, 1, 4]), Shape([3, 1]), Shape([2, 3, 4])),
    (Shape([]), Shape([5]), Shape([5])),
    (Shape([0, 2]), Shape([1, 2]), Shape([0, 2])),
  ])
  func `shapes broadcast after numpy's rules`(a: Shape, b: Shape, result: Shape) throws {
    #expect(try a.broadcast(with: b) == result)
    #expect(try b.broadcast(with: a) == result)
  }

  @Test func `shapes that do not broadcast are both named`() {
    #expect {
      try Shape([2, 3]).broadcast(with: [4])
    } throws: {
      "\($0)".contains("[2, 3] and [4]")
    }
  }

  @Test(arguments: [Shape([-1]), Shape([.max, 2]), Shape([1 << 40, 1 << 40])])
  func `impossible shapes are refused`(shape: Shape) {
    #expect(throws: GraftError.self) { try shape.checkedElementCount() }
    #expect(throws: GraftError.self) { try Tensor(zeros: shape) }
  }

  @Test func `axes count from the end when negative`() throws {
    #expect(try Shape([2, 3, 4]).axis(-1) == 2)
    #expect(throws: GraftError.self) { try Shape([2]).axis(1) }
  }
}

struct TensorTests {
  @Test func `values come back as they were given`() throws {
    let tensor = try Tensor([1, 2, 3, 4, 5, 6] as [Int32], shape: [2, 3])
    #expect(try tensor.values(as: Int32.self) == [1, 2, 3, 4, 5, 6])
    #expect(try tensor.rows(1..<2).values(as: Int32.self) == [4, 5, 6])
    #expect(try tensor.reshaped(to: [3, 2]).shape == [3, 2])
  }

  @Test func `a wrong type, count or range is an error`() throws {
    let tensor = try Tensor([1, 2] as [Float])
    #expect(throws: GraftError.self) { try tensor.values(as: Int64.self) }
    #expect(throws: GraftError.self) { try tensor.reshaped(to: [3]) }
    #expect(throws: GraftError.self) { try tensor.rows(1..<3) }
    #expect(throws: GraftError.self) { try Tensor([1, 2] as [Float], shape: [3]) }
  }

  @Test func `borrowed bytes that are not aligned are copied`() throws {
    let owner = OwnedBytes(count: 9)
    owner.bytes.storeBytes(of: 1.5, toByteOffset: 1, as: Double.self)
    let storage = try #require(
      TensorStorage(
        borrowing: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(owner.bytes)[1...]),
        alignment: 8, owner: owner))
    let tensor = Tensor(elementType: .float64, shape: [1], storage: storage, byteOffset: 0)
    #expect(Int(bitPattern: tensor.bytes) % 8 == 0)
    #expect(try tensor.values(as: Double.self) == [1.5])
  }
}

private final class OwnedBytes {
  let bytes: UnsafeMutableRawBufferPointer

  init(count: Int) { bytes = .allocate(byteCount: count, alignment: 8) }
  deinit { bytes.deallocate() }
}

struct SeededGeneratorTests {
  @Test func `numbers are those of SplitMix64`() {
    // The first outputs for seed 1234567 as published with the algorithm.
    var generator = SeededGenerator(seed: 1_234_567)
    #expect(generator.next() == 6_457_827_717_110_365_317)
    #expect(generator.next() == 3_203_168_211_198_807_973)
  }

  @Test func `a generator goes on from its state`() {
    var first = SeededGenerator(seed: 3)
    _ = first.next()
    var second = SeededGenerator(seed: first.state)
    #expect(first.next() == second.next())
  }
}

struct ParallelLoopTests {
  @Test(arguments: [0, 1, 2, 7, 100], [1, 2, 3, 8])
  func `every index is visited once`(count: Int, threads: Int) {
    let visits = UnsafeMutablePointer<Int>.allocate(capacity: max(1, count))
    visits.initialize(repeating: 0, count: max(1, count))
    defer { visits.deallocate() }
    parallelLoop(count, threads: threads) { range in
      for index in range { visits[index] += 1 }
    }
    #expect((0..<count).allSatisfy { visits[$0] == 1 })
  }
}
