import Foundation
import Graft
import GraftFormats

/// `graft run`: a model's outputs for given inputs.
enum RunCommand: Command {
  static let specification = CommandSpecification(
    name: "run", summary: "Run a model on tensors from a file",
    positionals: "MODEL", positionalCount: 1...1,
    options: [
      .value("--inputs", "FILE", "safetensors file with one tensor per input"),
      .value("--outputs", "FILE", "file to write, .safetensors"),
      .repeated("--output", "NAME", "a value to compute; all outputs by default"),
      .value("--threads", "N", "threads; all cores by default"),
      ArithmeticOption.specification,
    ],
    example: "graft run model.onnx --inputs in.safetensors --outputs out.safetensors")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let inputs = try arguments.required("--inputs")
    let outputs = try arguments.required("--outputs")
    let names = arguments.all("--output")
    let path = arguments.positionals[0]
    let threads = try arguments.threads()
    var files = CallFiles()
    try files.read(path, "the model")
    try files.read(inputs, "'--inputs'")
    try files.write(outputs, "--outputs", .tensors)
    let session = try locating(path) {
      try InferenceSession(
        try Model(contentsOf: URL(fileURLWithPath: path), arithmetic: arguments.arithmetic),
        outputs: names.isEmpty ? nil : names, threads: threads)
    }
    let tensors = try SafetensorsFile(path: inputs).tensors
    let results = try locating(path) {
      try session.run(Dictionary(uniqueKeysWithValues: tensors.map { ($0, $1) }))
    }
    try SafetensorsFile.write(
      OrderedTable(session.outputs.compactMap { name in results[name].map { (name, $0) } }),
      to: outputs)
    console.print("wrote \(outputs)")
  }
}
