// What `import Graft` brings along: tensors, models, training, recordings and errors.
@_exported import GraftDiagnostics
@_exported import GraftGraph
@_exported import GraftLearning
@_exported import GraftMedia
@_exported import GraftTensor

@_exported import enum GraftFormats.TFLiteArithmetic
@_exported import struct GraftFormats.TFLiteMetadata
@_exported import enum GraftFormats.TFLiteWeights
