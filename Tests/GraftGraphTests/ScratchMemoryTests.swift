import GraftGraph
import Testing

struct ScratchMemoryTests {
  @Test func `memory is kept once it was given back`() throws {
    let scratch = ScratchMemory()
    #expect(scratch.byteCount == 0)
    let first = try #require(scratch.take(100))
    let second = try #require(scratch.take(1000))
    scratch.giveBack(second, 1000)
    scratch.giveBack(first, 100)
    #expect(scratch.byteCount == 128 + 1024)
    let again = try #require(scratch.take(100))
    let behind = try #require(scratch.take(1000))
    #expect(behind == again + 128)
    scratch.giveBack(behind, 1000)
    scratch.giveBack(again, 100)
    #expect(scratch.byteCount == 128 + 1024)
  }

  @Test func `what does not fit is there all the same`() throws {
    let scratch = ScratchMemory()
    let small = try #require(scratch.take(64))
    scratch.giveBack(small, 64)
    let inside = try #require(scratch.take(10))
    let outside = try #require(scratch.take(500))
    outside.storeBytes(of: 7, toByteOffset: 492, as: Int.self)
    let last = try #require(scratch.take(0))
    scratch.giveBack(last, 0)
    scratch.giveBack(outside, 500)
    scratch.giveBack(inside, 10)
    #expect(scratch.byteCount == 64 + 512 + 64)
  }

  @Test func `more than the limit is not kept`() throws {
    let scratch = ScratchMemory(largestKept: 256)
    for (size, kept) in [(200, 256), (1000, 256), (100, 256)] {
      let memory = try #require(scratch.take(size))
      #expect(Int(bitPattern: memory) % 64 == 0)
      scratch.giveBack(memory, size)
      #expect(scratch.byteCount == kept)
    }
  }

  @Test func `impossible sizes are refused`() {
    #expect(ScratchMemory().take(.max / 16) == nil)
  }
}
