import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

/// Checkpoints put together byte by byte: what is refused, and what is read all the same.
struct PyTorchHostileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func read(_ data: Data) throws -> OrderedTable<Tensor> {
    let url = folder.url.appending(path: "checkpoint.pt")
    try data.write(to: url)
    return try PyTorchCheckpoint.read(path: url.path)
  }

  private func read(_ program: PickleProgram, _ storages: [String: [UInt8]] = [:]) throws
    -> OrderedTable<Tensor>
  {
    try read(program.archive(storages).data)
  }

  private static let floats = PickleProgram.storage("torch FloatStorage", "0", count: 6)
  private static let bytes = (0..<6).flatMap { value -> [UInt8] in
    withUnsafeBytes(of: Float(value).bitPattern.littleEndian, Array.init)
  }

  // MARK: Calls

  @Test(
    arguments: [
      .global("os", "system") + .tuple(.text("true")) + .letters("R"),
      .text("os") + .text("system") + .raw(0x93) + .tuple(.text("true")) + .letters("R"),
      .letters("(") + .text("true") + .letters("ios\nsystem\n"),
      .letters("(") + .global("os", "system") + .text("true") + .letters("o"),
      .global("os", "system") + .tuple(.text("true")) + .raw(0x81),
      .global("os", "system") + .tuple() + .letters("}") + .raw(0x92),
    ] as [PickleProgram])
  func `a call of anything else is refused by name`(program: PickleProgram) throws {
    let text = "the checkpoint wants to call 'os.system', which Graft never does"
    expectError(.unsupported, text) { _ = try read(program) }
    expectError(.unsupported, text) { _ = try read(program.legacy([])) }
  }

  @Test(arguments: [
    ("builtins", "eval"), ("builtins", "getattr"), ("torch", "load"), ("torch", "system"),
    ("torch._utils", "_rebuild_qtensor"), ("collections", "deque"), ("torch.storage", "Size"),
    ("torch.nn.modules.linear", "Linear"), ("", ""), ("torch", "EvilStorage"),
  ])
  func `a name that is not on the list is refused`(module: String, name: String) throws {
    expectError(.unsupported, "'\(module).\(name)'") { _ = try read(.global(module, name)) }
  }

  @Test func `values of numpy and sets are passed over`() throws {
    let number =
      .global("numpy.core.multiarray", "scalar")
      + .tuple(
        .global("numpy", "dtype") + .tuple(.text("f8")) + .letters("R"),
        .global("_codecs", "encode") + .tuple(.text("x"), .text("latin1")) + .letters("R"))
      + .letters("R") as PickleProgram
    let tensor = PickleProgram.tensor(Self.floats, shape: [6], strides: [1])
    let program = PickleProgram.dictionary([
      ("best", number), ("seen", .raw(0x8f) + .letters("(") + .integer(1) + .raw(0x90)),
      ("w", tensor),
    ])
    #expect(try read(program, ["0": Self.bytes]).keys == ["w"])
  }

  // MARK: Programs that break the rules

  @Test(
    arguments: [
      .raw(), .letters("0"), .letters("1"), .letters("t"), .letters("u"), .letters("(s"),
      .letters("N(0000"), .letters("R"), .letters("NNR"), .letters("N)R"), .letters("h\u{5}"),
      .letters("g99\n"), .letters("gx\n"), .letters("g-1\n"), .letters("p-1\n"), .letters("Np"),
      .letters("Na"), .letters("NNa"), .letters("NNNs"), .letters("}(Nu"), .letters("]NNs"),
      .letters("NQ"), .letters("))Q"), .letters("2"), .letters("b"), .letters("(b"),
      .letters("cos"),
      .letters("cos\nsystem"), .letters("X"), .letters("Xabcdefgh"), .raw(0x8d, 255, 255, 255),
      .raw(0x8d, 255, 255, 255, 255, 255, 255, 255, 255),
      .raw(0x8e, 255, 255, 255, 255, 255, 255, 255, 127), .raw(0x8b, 255, 255, 255, 255),
      .raw(0x8b, 255, 255, 255, 127), .raw(0x8a, 200), .letters("T\u{7f}\u{7f}\u{7f}\u{7f}"),
      .raw(0xff), .raw(0x82, 1), .raw(0x97), .letters("Px\n"), .raw(0x93),
      .letters("NN") + .raw(0x93),
      .letters("(i"), .letters("(o"), .letters("o"), .raw(0x85), .raw(0x90), .raw(0x91), .raw(0x94),
    ] as [PickleProgram])
  func `a program that breaks the rules is an error`(program: PickleProgram) throws {
    expectError(nil, "") { _ = try read(program) }
    expectError(nil, "") { _ = try read(program.legacy([])) }
  }

  @Test func `integers of any length are read`() throws {
    let program = PickleProgram.dictionary([
      ("a", .raw(0x8a, 0)), ("b", .raw(0x8a, 1, 0x80)), ("c", .letters("L-5L\n")),
      ("d", .letters("L123456789012345678901234567890L\n")), ("e", .letters("Ix\n")),
      ("f", .letters("L" + String(repeating: "9", count: 10_000) + "L\n")),
      ("g", .raw(0x8b, 9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)),
      ("w", .tensor(Self.floats, shape: [6], strides: [1])),
    ])
    #expect(try read(program, ["0": Self.bytes]).keys == ["w"])
  }

  @Test func `endless programs and nesting are errors, not crashes`() throws {
    expectError(.unsupported, "operations") {
      _ = try read(.letters(String(repeating: "N", count: 6_000_000)))
    }
    let nested = PickleProgram.letters(
      String(repeating: "]", count: 1_000_000) + String(repeating: "a", count: 999_999))
    expectError(.unsupported, "nested") { _ = try read(nested) }
    let tuples = (0..<100_000).reduce(into: [UInt8(ascii: "N")]) { bytes, _ in bytes.append(0x85) }
    expectError(.unsupported, "nested") {
      _ = try read(PickleProgram(bytes: tuples))
    }
  }

  @Test func `a list that holds itself is an error`() throws {
    expectError(.unsupported, "nested") { _ = try read(.letters("]q\u{0}h\u{0}a")) }
  }

  @Test func `a dictionary that multiplies itself is an error, soon`() throws {
    // Each of 40 lists holds the one before twice: 2^40 places.
    var program = PickleProgram.letters("]q\u{0}")
    for _ in 0..<40 {
      program = program + .letters("h\u{0}h\u{0}") + .raw(0x86) + .letters("q\u{0}")
    }
    expectError(.unsupported, "hold too much") { _ = try read(program) }
  }

  @Test func `two tensors of one name are an error`() throws {
    let tensor = PickleProgram.tensor(Self.floats, shape: [6], strides: [1])
    let program = PickleProgram.dictionary([("a.b", tensor), ("a", .dictionary([("b", tensor)]))])
    expectError(.unsupported, "'a.b'") { _ = try read(program, ["0": Self.bytes]) }
  }

  // MARK: Tensors

  @Test(arguments: [
    (0, [7], [1]), (1, [6], [1]), (-1, [2], [1]), (0, [2], [-1]), (0, [2, 3], [3]), (0, [2], []),
    (0, [3], [3]), (Int.max, [1], [1]), (0, [Int.max], [0]), (0, [2], [Int.max]),
    (0, [-2, -3], [1, 1]), (0, [1 << 31, 1 << 31], [0, 0]), (6, [], []),
    (0, [2, 2], [Int.max, 1]),
    (0, [1 << 40], [0]), (Int.max - 1, [2], [1]),
  ])
  func `a tensor outside its storage is an error`(offset: Int, shape: [Int], strides: [Int]) throws
  {
    let tensor = PickleProgram.tensor(Self.floats, offset: offset, shape: shape, strides: strides)
    expectError(nil, "") { _ = try read(.dictionary([("w", tensor)]), ["0": Self.bytes]) }
    let legacy = PickleProgram.dictionary([("w", tensor)])
      .legacy([(key: "0", count: 6, data: Self.bytes)])
    expectError(nil, "") { _ = try read(legacy) }
  }

  @Test(arguments: [
    (0, [2, 3], [3, 1], [0, 1, 2, 3, 4, 5]), (0, [3, 2], [1, 3], [0, 3, 1, 4, 2, 5]),
    (5, [1], [100], [5]), (2, [], [], [2]), (1, [2, 2], [0, 2], [1, 3, 1, 3]),
    (0, [0, 9], [1, 1], []), (0, [2, 1, 3], [3, 77, 1], [0, 1, 2, 3, 4, 5]),
    (0, [2, 2], [2, 1], [0, 1, 2, 3]), (1, [2, 1, 2], [3, 1, 1], [1, 2, 4, 5]),
  ])
  func `elements lie where offset and strides say`(
    offset: Int, shape: [Int], strides: [Int], expected: [Float]
  ) throws {
    let tensor = PickleProgram.tensor(Self.floats, offset: offset, shape: shape, strides: strides)
    let result = try read(.dictionary([("w", tensor)]), ["0": Self.bytes])["w"]
    #expect(result?.shape == Shape(shape))
    #expect(try result?.values(as: Float.self) == expected)
  }

  @Test func `repeated elements cannot fill the memory`() throws {
    let one = PickleProgram.tensor(Self.floats, shape: [30 << 20], strides: [0])
    let program = PickleProgram.tuple(
      (0..<10).reduce(PickleProgram.letters("("), { sum, _ in sum + one }) + .letters("t"))
    expectError(.unsupported, "far larger than the file") {
      _ = try read(program, ["0": Self.bytes])
    }
  }

  @Test func `untyped storages take the tensor's type`() throws {
    let storage = PickleProgram.storage("torch.storage UntypedStorage", "0", count: 24)
    func tensor(_ type: String, _ count: Int) -> PickleProgram {
      .tensor(
        storage, shape: [count], strides: [1],
        more: [.letters("I00\n"), .letters("N"), .global("torch", type)], version: "_v3")
    }
    let program = PickleProgram.dictionary([
      ("a", tensor("uint16", 12)), ("b", tensor("float8_e4m3fn", 24)), ("c", tensor("float32", 6)),
    ])
    let tensors = try read(program, ["0": Self.bytes])
    #expect(tensors["a"]?.elementType == .uint16)
    #expect(tensors["b"]?.elementType == .float8e4m3fn)
    #expect(try tensors["c"]?.values(as: Float.self) == [0, 1, 2, 3, 4, 5])
    expectError(.damaged, "element 13") {
      _ = try read(.dictionary([("a", tensor("uint16", 13))]), ["0": Self.bytes])
    }
  }

  @Test func `a conjugated tensor is refused`() throws {
    let tensor = PickleProgram.tensor(
      .storage("torch ComplexFloatStorage", "0", count: 3), shape: [3], strides: [1],
      more: [.letters("I00\n"), .letters("N"), .dictionary([("conj", .raw(0x88))])])
    expectError(.unsupported, "resolve_conj") { _ = try read(tensor, ["0": Self.bytes]) }
  }

  @Test func `a view of a storage in the older format counts from where it begins`() throws {
    let view = PickleProgram.tuple(.text("v"), .integer(2), .integer(3))
    let storage =
      .tuple(
        .text("storage"), .global("torch", "FloatStorage"), .text("0"), .text("cpu"), .integer(6),
        view) + .letters("Q") as PickleProgram
    let program = PickleProgram.dictionary([("w", .tensor(storage, shape: [3], strides: [1]))])
    let tensors = try read(program.legacy([(key: "0", count: 6, data: Self.bytes)]))
    #expect(try tensors["w"]?.values(as: Float.self) == [2, 3, 4])
    let long = PickleProgram.dictionary([("w", .tensor(storage, shape: [4], strides: [1]))])
    expectError(.damaged, "element 4") {
      _ = try read(long.legacy([(key: "0", count: 6, data: Self.bytes)]))
    }
  }

  @Test func `a storage that is missing, short or of another length is damage`() throws {
    let program = PickleProgram.dictionary([
      ("w", .tensor(Self.floats, shape: [6], strides: [1]))
    ])
    expectError(.damaged, "storage '0' is not in the archive") { _ = try read(program) }
    expectError(.damaged, "element 6") {
      _ = try read(program, ["0": Array(Self.bytes.dropLast())])
    }
    expectError(.damaged, "storage '0' is not in the file") { _ = try read(program.legacy([])) }
    expectError(.damaged, "should hold 6") {
      _ = try read(program.legacy([(key: "0", count: 5, data: Self.bytes)]))
    }
    expectError(.damaged, "makes no sense") {
      _ = try read(program.legacy([(key: "0", count: -1, data: Self.bytes)]))
    }
    expectError(.damaged, "that no tensor uses") {
      _ = try read(program.legacy([(key: "1", count: 6, data: Self.bytes)]))
    }
  }

  @Test func `big-endian checkpoints are refused`() throws {
    let program = PickleProgram.letters("}")
    expectError(.unsupported, "big-endian") {
      _ = try read(program.archive(byteOrder: "big").data)
    }
    #expect(try read(program.archive(byteOrder: "little").data).isEmpty)
    expectError(.unsupported, "big-endian") {
      _ = try read(program.legacy([], isLittleEndian: false))
    }
  }
}
