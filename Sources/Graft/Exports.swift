// What `import Graft` brings along: tensors, models, training, recordings and errors.
@_exported import GraftDiagnostics
@_exported import GraftGraph
@_exported import GraftLearning
@_exported import GraftMedia
@_exported import GraftTensor

@_exported import struct GraftFormats.BrokenUpdateRule
@_exported import struct GraftFormats.CoreMLArray
@_exported import struct GraftFormats.CoreMLDescription
@_exported import enum GraftFormats.CoreMLEncoding
@_exported import struct GraftFormats.CoreMLFeature
@_exported import enum GraftFormats.CoreMLFeatureType
@_exported import struct GraftFormats.CoreMLImage
@_exported import enum GraftFormats.CoreMLLabels
@_exported import struct GraftFormats.CoreMLSizeRange
@_exported import struct GraftFormats.NeighborSection
@_exported import enum GraftFormats.TFLiteArithmetic
@_exported import struct GraftFormats.TFLiteMetadata
@_exported import enum GraftFormats.TFLiteWeights
@_exported import struct GraftFormats.UpdatableLayer
@_exported import struct GraftFormats.UpdateLoss
@_exported import struct GraftFormats.UpdateParameter
@_exported import struct GraftFormats.UpdateSection
