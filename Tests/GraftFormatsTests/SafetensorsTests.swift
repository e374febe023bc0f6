import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

struct SafetensorsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.url.appending(path: "tensors.safetensors").path }

  /// Writes a file of a header and some bytes.
  private func write(_ header: String, length: UInt64? = nil, data: [UInt8] = []) throws {
    var bytes = Data()
    let length = length ?? UInt64(header.utf8.count)
    withUnsafeBytes(of: length.littleEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: header.utf8)
    bytes.append(contentsOf: data)
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  private func tensor(_ type: ElementType, _ shape: Shape, seed: UInt64) throws -> Tensor {
    let tensor = try Tensor(uninitialized: shape, type)
    var generator = SeededGenerator(seed: seed)
    for index in 0..<tensor.byteCount {
      let byte = UInt8.random(in: type == .bool ? 0...1 : 0...255, using: &generator)
      tensor.mutableBytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
    }
    return tensor
  }

  private static let types: [ElementType] = [
    .float64, .float32, .float16, .bfloat16, .int64, .int32, .int16, .int8, .uint64, .uint32,
    .uint16, .uint8, .bool, .complex64, .float8e4m3fn, .float8e4m3fnuz, .float8e5m2,
    .float8e5m2fnuz, .float4e2m1,
  ]

  @Test func `every element type is written and read back`() throws {
    var tensors = OrderedTable<Tensor>()
    for (index, type) in Self.types.reversed().enumerated() {
      tensors["\(type)"] = try tensor(type, [3, 2], seed: UInt64(index))
    }
    try SafetensorsFile.write(tensors, to: path)
    let read = try SafetensorsFile(path: path).tensors
    #expect(Set(read.keys) == Set(tensors.keys))
    for (name, tensor) in tensors {
      #expect(read[name]?.elementType == tensor.elementType, "\(name)")
      #expect(read[name]?.shape == tensor.shape, "\(name)")
      #expect(read[name]?.data == tensor.data, "\(name)")
    }
  }

  @Test func `tensors of mixed types all lie aligned in the file`() throws {
    let tensors = try OrderedTable([
      ("a", tensor(.uint8, [3], seed: 1)), ("b", tensor(.float64, [2], seed: 2)),
      ("c", tensor(.float16, [1], seed: 3)), ("d", tensor(.int64, [1], seed: 4)),
    ])
    try SafetensorsFile.write(tensors, to: path)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let length = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    #expect(length % 8 == 0)
    let read = try SafetensorsFile(path: path).tensors
    #expect(read.keys == ["b", "d", "c", "a"])
    for (name, tensor) in read {
      let alignment = tensor.elementType.alignment
      #expect(Int(bitPattern: tensor.bytes) % alignment == 0, "\(name)")
    }
  }

  @Test func `tensors of one type keep their order`() throws {
    let names = ["z", "a", "é", "m/n", "quote\"d", "日本"]
    let tensors = try OrderedTable(names.map { ($0, try tensor(.float32, [2], seed: 1)) })
    try SafetensorsFile.write(tensors, to: path)
    #expect(try SafetensorsFile(path: path).tensors.keys == names)
  }

  @Test func `equal tensors give equal bytes`() throws {
    let tensors = try OrderedTable(
      (0..<20).map { ("t\($0)", try tensor(.float32, [2], seed: $0)) })
    let metadata = ["b": "2", "a": "1", "c": "3"]
    try SafetensorsFile.write(tensors, metadata: metadata, to: path)
    let first = try Data(contentsOf: URL(fileURLWithPath: path))
    try SafetensorsFile.write(tensors, metadata: metadata, to: path)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == first)
  }

  @Test func `metadata, empty tensors and scalars come back`() throws {
    let metadata = ["format": "pt", "a \"b\"\n": "line\u{0}é"]
    let tensors = try OrderedTable([
      ("empty", Tensor(zeros: [0, 4])), ("scalar", Tensor(scalar: Float(2.5))),
    ])
    try SafetensorsFile.write(tensors, metadata: metadata, to: path)
    let file = try SafetensorsFile(path: path)
    #expect(file.metadata == metadata)
    #expect(file.tensors["empty"]?.shape == [0, 4])
    #expect(file.tensors["scalar"]?.shape == [])
    #expect(try file.tensors["scalar"]?.values(as: Float.self) == [2.5])
  }

  @Test func `a file without tensors is a file`() throws {
    try SafetensorsFile.write(OrderedTable(), to: path)
    #expect(try SafetensorsFile(path: path).tensors.isEmpty)
  }

  @Test func `tensors come in the order of their bytes, with gaps and overlaps`() throws {
    try write(
      """
      {"late":{"dtype":"U8","shape":[2],"data_offsets":[6,8]},
       "early":{"dtype":"U8","shape":[3],"data_offsets":[1,4]},
       "over":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}
      """, data: [0, 1, 2, 3, 4, 5, 6, 7])
    let tensors = try SafetensorsFile(path: path).tensors
    #expect(tensors.keys == ["early", "over", "late"])
    #expect(try tensors["early"]?.values(as: UInt8.self) == [1, 2, 3])
    #expect(try tensors["over"]?.values(as: UInt8.self) == [2, 3])
    #expect(try tensors["late"]?.values(as: UInt8.self) == [6, 7])
  }

  @Test func `an unaligned tensor is read`() throws {
    let values: [Float] = [1.5, -2]
    let data: [UInt8] =
      [7]
      + values.flatMap { value -> [UInt8] in
        withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init)
      }
    try write(#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}}"#, data: data)
    #expect(try SafetensorsFile(path: path).tensors["x"]?.values(as: Float.self) == values)
  }

  @Test func `truth values other than 0 and 1 are true`() throws {
    try write(
      #"{"x":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}}"#, data: [0, 1, 2, 255])
    let tensor = try #require(try SafetensorsFile(path: path).tensors["x"])
    #expect(tensor.data == Data([0, 1, 1, 1]))
  }

  @Test func `a file that is too short is damaged`() throws {
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
    expectError(.damaged, "at least 8 bytes") { _ = try SafetensorsFile(path: path) }
    try Data().write(to: URL(fileURLWithPath: path))
    expectError(.damaged, "at least 8 bytes") { _ = try SafetensorsFile(path: path) }
  }

  @Test(arguments: [
    (UInt64.max, "is announced"), (100_000_001, "is announced"), (1000, "the file at byte"),
    (0, "is not that of a safetensors file"), (1, "is not that of a safetensors file"),
  ])
  func `an impossible header length is damage`(length: UInt64, text: String) throws {
    try write("{}", length: length)
    expectError(.damaged, text) { _ = try SafetensorsFile(path: path) }
  }

  @Test(arguments: [
    ("[]", "is not that"), ("{\"x\":1}", "'x'"), ("{\"x\":{}}", "there is no 'dtype'"),
    (#"{"x":{"dtype":"F32","shape":[1]}}"#, "there is no 'data_offsets'"),
    (#"{"x":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}}"#, "'shape'"),
    (#"{"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}"#, "no 64-bit integer"),
    (
      #"{"x":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}}"#,
      "no 64-bit integer"
    ),
    (#"{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#, "cannot have the shape [-1]"),
    (
      #"{"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}"#,
      "cannot have the shape"
    ),
    (
      #"{"x":{"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,4]}}"#,
      "cannot have the shape"
    ),
    (#"{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#, "takes 8 bytes, and there are 4"),
    (#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#, "no range of bytes"),
    (#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}"#, "no range of bytes"),
    (#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}}"#, "no range of bytes"),
    (#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}}"#, "no range of bytes"),
    (#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}}"#, "outside the 8 bytes"),
    (
      #"{"x":{"dtype":"F32","shape":[1],"data_offsets":[9223372036854775803,9223372036854775807]}}"#,
      "outside the 8 bytes"
    ),
    (#"{"__metadata__":{"a":1}}"#, "__metadata__"), (#"{"__metadata__":[]}"#, "__metadata__"),
  ])
  func `a header that breaks the format is damage`(header: String, text: String) throws {
    try write(header, data: [UInt8](repeating: 0, count: 8))
    expectError(.damaged, text) { _ = try SafetensorsFile(path: path) }
  }

  @Test func `an unknown element type is not supported, and the file is named`() throws {
    try write(#"{"x":{"dtype":"F23","shape":[1],"data_offsets":[0,4]}}"#, data: [0, 0, 0, 0])
    expectError(.unsupported, "\(path): tensor 'x': the element type 'F23' is not known") {
      _ = try SafetensorsFile(path: path)
    }
  }

  @Test func `a header nested without end is damage`() throws {
    try write(String(repeating: "[", count: 100_000))
    expectError(.damaged, "is not that") { _ = try SafetensorsFile(path: path) }
    try write(String(repeating: #"{"a":"#, count: 100_000))
    expectError(.damaged, "is not that") { _ = try SafetensorsFile(path: path) }
  }

  @Test func `a missing file and a folder are errors`() throws {
    expectError(.notFound, "no such file") { _ = try SafetensorsFile(path: path) }
    expectError(.inputOutput, "no regular file") {
      _ = try SafetensorsFile(path: folder.url.path)
    }
  }

  @Test func `what the format lacks is refused, and the old file stays`() throws {
    try SafetensorsFile.write(OrderedTable([("x", try Tensor([Float(1)]))]), to: path)
    let old = try Data(contentsOf: URL(fileURLWithPath: path))
    let small = try OrderedTable([("x", tensor(.int4, [2], seed: 1))])
    expectError(.unsupported, "no element type int4") {
      try SafetensorsFile.write(small, to: path)
    }
    let reserved = try OrderedTable([("__metadata__", Tensor([Float(1)]))])
    expectError(.invalidArgument, "__metadata__") {
      try SafetensorsFile.write(reserved, to: path)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == old)
  }

  @Test func `a file may be replaced while its tensors are in use`() throws {
    try SafetensorsFile.write(OrderedTable([("x", try Tensor([Float(1), 2]))]), to: path)
    let tensors = try SafetensorsFile(path: path).tensors
    try SafetensorsFile.write(tensors, to: path)
    #expect(try tensors["x"]?.values(as: Float.self) == [1, 2])
    #expect(try SafetensorsFile(path: path).tensors["x"]?.values(as: Float.self) == [1, 2])
  }

  @Test func `damaged copies never trap`() throws {
    let tensors = try OrderedTable(
      (0..<30).map { ("layer.\($0).weight", try tensor(Self.types[$0 % 13], [3, 5], seed: 7)) })
    try SafetensorsFile.write(tensors, metadata: ["format": "pt"], to: path)
    try DamagedFile(path, copy: folder.url.appending(path: "copy"), regions: [0..<16, 0..<2000])
      .expectErrorsOnly(count: SharedData.isLong ? 5000 : 500, seed: 1) { path in
        for (_, tensor) in try SafetensorsFile(path: path).tensors { tensor.touch() }
      }
  }
}
