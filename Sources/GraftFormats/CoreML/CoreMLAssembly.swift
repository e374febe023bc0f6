import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A model of the file, which may be one of several in a pipeline.
struct CoreMLStage {
  let message: CoreMLMessage
  let description: CoreMLDescription
  let place: String

  init(_ message: CoreMLMessage, named name: String = "") throws {
    self.message = message
    number = message.numbers.last { $0 >= 200 } ?? 0
    let kind = CoreMLStages.kinds[number] ?? ""
    description = try CoreMLDescription(message, kind: kind)
    place = name.isEmpty ? kind : "\(kind) '\(name)'"
  }

  /// The field that holds the parameters of its kind.
  let number: Int

  var kind: String { description.kind }

  func parameters() throws -> CoreMLMessage { try message.message(number) }

  /// The stages of a pipeline; nil for other models.
  func stages() throws -> [CoreMLStage]? {
    let pipeline: CoreMLMessage
    switch number {
    case 200, 201: pipeline = try parameters().message(1)
    case 202: pipeline = try parameters()
    default: return nil
    }
    let names = try pipeline.strings(2)
    return try pipeline.messages(1).enumerated().map { index, message in
      try CoreMLStage(message, named: names.indices.contains(index) ? names[index] : "")
    }
  }

  /// The models that a pipeline comes down to; the model itself for other kinds.
  func leaves() throws -> [CoreMLStage] {
    try stages().map { try $0.flatMap { try $0.leaves() } } ?? [self]
  }
}

/// The graph that a model becomes, with what is found on the way.
struct CoreMLAssembly {
  var graph: CoreMLGraph
  /// The weights of an ML program; nil for other files.
  let weightFiles: ProgramWeightFiles?
  /// The features made so far, by name.
  var values: [String: String] = [:]
  /// How features that are no numbers stand in the graph.
  var encodings: [String: CoreMLEncoding] = [:]
  var classLabels: CoreMLLabels?
  var update: UpdateSection?
  var neighbors: NeighborSection?
  var brokenRules: [BrokenUpdateRule] = []

  init(owner: AnyObject, weightFiles: ProgramWeightFiles?) {
    graph = CoreMLGraph(owner: owner)
    self.weightFiles = weightFiles
  }

  /// A feature that an earlier model or the caller gives.
  func value(_ name: String) throws -> String {
    try values[name].orThrow {
      GraftError(
        .damaged, "the input '\(name)' comes from nowhere",
        fix: didYouMean(name, among: values.keys))
    }
  }

  /// Adds a model; one of an unknown kind becomes one node under its own name.
  mutating func lower(_ stage: CoreMLStage) throws {
    try locating(stage.place) {
      if let stages = try stage.stages() {
        for inner in stages { try lower(inner) }
        return
      }
      guard let rule = CoreMLStages.table[stage.kind] else {
        return try keep(stage, because: CoreMLStages.reasons[stage.kind] ?? "")
      }
      do {
        try rule(&self, stage)
      } catch let error as GraftError where error.code == .unsupported {
        try keep(stage, because: error.what)
      }
    }
  }

  private mutating func keep(_ stage: CoreMLStage, because reason: String) throws {
    let inputs = try stage.description.inputs.map { try value($0.name) }
    let names = stage.description.outputs.map(\.name)
    let outputs = graph.add(
      stage.kind, inputs, domain: CoreMLGraph.unknownDomain, outputs: names,
      documentation: reason)
    for (name, output) in zip(names, outputs) { values[name] = output }
  }

  /// Keeps the outputs of a classifier: the probabilities, [batch, classes], and the label's place
  /// among the classes.
  mutating func classify(
    _ stage: CoreMLStage, _ scores: String, _ labels: CoreMLLabels, best: String? = nil
  ) {
    let description = stage.description
    let place =
      best ?? graph.add("ArgMax", [scores], ["axis": .int(-1), "keepdims": .int(0)])
    classLabels = labels
    if !description.predictedProbabilitiesName.isEmpty {
      values[description.predictedProbabilitiesName] = scores
    }
    // Files may declare more outputs for probabilities than the one they name.
    for output in description.outputs where values[output.name] == nil {
      if case .dictionary = output.type { values[output.name] = scores }
    }
    values[description.predictedFeatureName] = place
    encodings[description.predictedFeatureName] = .index(among: labels, takesOthers: false)
  }
}

/// The kinds of models, and how each becomes operators of ONNX.
enum CoreMLStages {
  typealias Rule = @Sendable (inout CoreMLAssembly, CoreMLStage) throws -> Void

  static let table: [String: Rule] = [
    networkStages, linearStages, treeStages, vectorMachineStages, neighborStages,
    transformerStages, programStages,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }

  /// Why models of some kinds cannot run.
  static let reasons: [String: String] = [
    "visionFeaturePrint": appleReason, "audioFeaturePrint": appleReason,
    "textClassifier": appleReason, "wordTagger": appleReason, "gazetteer": appleReason,
    "wordEmbedding": appleReason, "soundAnalysisPreprocessing": appleReason,
    "customModel": "its code is a class of the application that it was made for",
    "linkedModel": "it is a reference to another file",
    "serializedModel": "it is kept in a form that only Apple's system reads",
  ]

  private static let appleReason =
    "its weights or code are a part of Apple's systems, not of the file"

  /// The kinds by the number of the field that holds their parameters.
  static let kinds: [Int: String] = [
    200: "pipelineClassifier", 201: "pipelineRegressor", 202: "pipeline", 300: "glmRegressor",
    301: "supportVectorRegressor", 302: "treeEnsembleRegressor", 303: "neuralNetworkRegressor",
    304: "bayesianProbitRegressor", 400: "glmClassifier", 401: "supportVectorClassifier",
    402: "treeEnsembleClassifier", 403: "neuralNetworkClassifier",
    404: "kNearestNeighborsClassifier", 500: "neuralNetwork", 501: "itemSimilarityRecommender",
    502: "mlProgram", 555: "customModel", 556: "linkedModel", 560: "classConfidenceThresholding",
    600: "oneHotEncoder", 601: "imputer", 602: "featureVectorizer", 603: "dictVectorizer",
    604: "scaler", 606: "categoricalMapping", 607: "normalizer", 609: "arrayFeatureExtractor",
    610: "nonMaximumSuppression", 900: "identity", 2000: "textClassifier", 2001: "wordTagger",
    2002: "visionFeaturePrint", 2003: "soundAnalysisPreprocessing", 2004: "gazetteer",
    2005: "wordEmbedding", 2006: "audioFeaturePrint", 3000: "serializedModel",
  ]
}
