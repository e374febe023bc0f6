// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Whether oneDNN can be linked; without it all kernels are the portable ones.
let hasOneDNN = FileManager.default.fileExists(atPath: "/usr/include/dnnl.h")

/// A target and the targets it uses. A target may use targets of lower layers only.
struct Module {
  let layer: Int
  let name: String
  let uses: [String]
  var resources: [Resource] = []
  /// The system library that the target is a face of.
  var library: String? = nil
}

let portable = [
  Module(layer: 0, name: "GraftDiagnostics", uses: []),
  Module(layer: 1, name: "GraftTensor", uses: ["GraftDiagnostics"]),
  Module(layer: 2, name: "GraftGraph", uses: ["GraftDiagnostics", "GraftTensor"]),
  Module(
    layer: 3, name: "GraftOperators", uses: ["GraftDiagnostics", "GraftTensor", "GraftGraph"]),
  Module(layer: 0, name: "CGraftMatrix", uses: []),
  Module(
    layer: 4, name: "GraftMatrix",
    uses: ["CGraftMatrix", "GraftDiagnostics", "GraftTensor", "GraftGraph", "GraftOperators"]),
  Module(
    layer: 4, name: "GraftEngine",
    uses: ["GraftDiagnostics", "GraftTensor", "GraftGraph", "GraftOperators"]),
  Module(
    layer: 5, name: "GraftFormats",
    uses: ["GraftDiagnostics", "GraftTensor", "GraftGraph", "GraftOperators"]),
  Module(layer: 5, name: "GraftMedia", uses: ["GraftDiagnostics", "GraftTensor"]),
  Module(
    layer: 6, name: "GraftLearning",
    uses: [
      "GraftDiagnostics", "GraftTensor", "GraftGraph", "GraftOperators", "GraftEngine",
      "GraftMatrix", "GraftFormats",
    ] + (hasOneDNN ? ["GraftOneDNN"] : [])),
  Module(
    layer: 7, name: "Graft",
    uses: [
      "GraftDiagnostics", "GraftTensor", "GraftGraph", "GraftOperators", "GraftEngine",
      "GraftFormats", "GraftMedia", "GraftLearning",
    ]),
  Module(
    layer: 9, name: "GraftCommands",
    uses: [
      "Graft", "GraftTensor", "GraftGraph", "GraftOperators", "GraftEngine", "GraftFormats",
      "GraftMedia", "GraftLearning",
    ]),
]

let accelerated = [
  Module(layer: 0, name: "COneDNN", uses: [], library: "dnnl"),
  Module(
    layer: 4, name: "GraftOneDNN",
    uses: ["COneDNN", "GraftDiagnostics", "GraftTensor", "GraftGraph", "GraftOperators"]),
]

let modules = portable + (hasOneDNN ? accelerated : [])

// The layer rule: the package does not evaluate while a target uses its own layer or a higher one.
for module in modules {
  for use in module.uses {
    guard let used = modules.first(where: { $0.name == use }) else {
      fatalError("\(module.name) uses \(use), which is not in the table of modules")
    }
    guard used.layer < module.layer else {
      fatalError(
        "\(module.name) (layer \(module.layer)) may not use \(use) (layer \(used.layer)): "
          + "a target uses lower layers only")
    }
  }
}

let package = Package(
  name: "Graft",
  products: [
    .library(name: "Graft", targets: ["Graft"]),
    .executable(name: "graft", targets: ["GraftMain"]),
  ],
  targets: modules.map { module in
    .target(
      name: module.name,
      dependencies: module.uses.map { .target(name: $0) },
      resources: module.resources,
      linkerSettings: module.library.map { [.linkedLibrary($0)] })
  } + [
    .executableTarget(name: "GraftMain", dependencies: ["GraftCommands"])
  ]
    + [
      "GraftTensorTests", "GraftGraphTests", "GraftOperatorsTests", "GraftEngineTests",
      "GraftOneDNNTests", "GraftMatrixTests",
      "GraftFormatsTests", "GraftMediaTests", "GraftLearningTests", "GraftTests",
      "GraftCommandsTests",
    ].map { name in
      .testTarget(
        name: name,
        dependencies: modules.map { .target(name: $0.name) } + ["GraftTestSupport"]
          + (name == "GraftOperatorsTests" ? ["CAllocationCounter"] : []))
    } + [
      .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
      .target(
        name: "GraftTestSupport",
        dependencies: modules.map { .target(name: $0.name) },
        path: "Tests/GraftTestSupport"),
    ],
  swiftLanguageModes: [.v6]
)
