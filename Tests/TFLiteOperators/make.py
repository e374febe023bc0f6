#!/usr/bin/env python3
"""Makes operators.safetensors: small TensorFlow Lite models, their inputs, and what LiteRT's reference kernels give.

    python3 -m venv venv && venv/bin/pip install ai-edge-litert==2.3.0 flatbuffers numpy
    venv/bin/python make.py

NAME.model holds the bytes of a file with one operator, NAME.in0 ... its inputs, NAME.out0 ... the outputs.
"""
import json, os, struct
import numpy as np
import flatbuffers
from flatbuffers import flexbuffers
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9}
random = np.random.RandomState(7)
store = {}


class Value:
    """An input, constant or output of the operator. quant: (scales, zero points, axis)."""

    def __init__(self, data=None, shape=None, dtype=None, quant=None, constant=False, variable=False, open=()):
        self.data = None if data is None else np.asarray(data)
        self.shape = list(self.data.shape) if self.data is not None else list(shape)
        self.dtype = str(self.data.dtype) if self.data is not None else dtype
        self.quant, self.constant, self.variable, self.open = quant, constant, variable, open


def f(*shape): return Value(random.randn(*shape).astype(np.float32))
def positive(*shape): return Value((random.rand(*shape) + 0.1).astype(np.float32))
def c(data, dtype=np.float32, quant=None): return Value(np.asarray(data, dtype), quant=quant, constant=True)
def ci(data): return c(data, np.int32)
def cf(*shape): return c(random.randn(*shape))
def ints(data, dtype=np.int32): return Value(np.asarray(data, dtype))
def out(*shape, dtype="float32", quant=None): return Value(shape=shape, dtype=dtype, quant=quant)
def variable(*shape): return Value(shape=shape, dtype="float32", variable=True)


def q(shape, dtype, scale, zero):
    limits = np.iinfo(dtype)
    return Value(random.randint(limits.min, limits.max + 1, shape).astype(dtype), quant=([scale], [zero], 0))


def model(op, inputs, outputs, options, custom=None, version=1):
    m = s.ModelT()
    m.version = 3
    m.description = "one operator"
    code = s.OperatorCodeT()
    if custom is None:
        code.builtinCode = getattr(s.BuiltinOperator, op)
        code.deprecatedBuiltinCode = min(127, code.builtinCode)
    else:
        code.builtinCode = code.deprecatedBuiltinCode = s.BuiltinOperator.CUSTOM
        code.customCode = op
    code.version = version
    m.operatorCodes = [code]
    m.buffers = [s.BufferT()]
    g = s.SubGraphT()
    g.name, g.tensors, g.inputs, g.outputs = "main", [], [], []
    operation = s.OperatorT()
    operation.inputs, operation.outputs = [], []
    for kind, values in (("x", inputs), ("y", outputs)):
        for index, value in enumerate(values):
            numbers = operation.inputs if kind == "x" else operation.outputs
            if value is None:
                numbers.append(-1)
                continue
            t = s.TensorT()
            t.name = f"{kind}{index}"
            t.shape, t.type, t.isVariable, t.hasRank = value.shape, TYPES[value.dtype], value.variable, True
            if value.open:
                t.shapeSignature = [-1 if axis in value.open else size for axis, size in enumerate(value.shape)]
            if value.quant:
                t.quantization = s.QuantizationParametersT()
                t.quantization.scale, t.quantization.zeroPoint, t.quantization.quantizedDimension = value.quant
            if value.constant:
                b = s.BufferT()
                b.data = np.frombuffer(value.data.tobytes(), np.uint8)
                m.buffers.append(b)
                t.buffer = len(m.buffers) - 1
            number = len(g.tensors)
            g.tensors.append(t)
            numbers.append(number)
            if kind == "y": g.outputs.append(number)
            elif not value.constant and not value.variable: g.inputs.append(number)
    if options:
        name, fields = options
        operation.builtinOptionsType = getattr(s.BuiltinOptions, name)
        operation.builtinOptions = getattr(s, name + "T")()
        for field, value in fields.items():
            assert hasattr(operation.builtinOptions, field), (name, field, vars(operation.builtinOptions))
            setattr(operation.builtinOptions, field, value)
    if custom is not None:
        operation.customOptions = np.frombuffer(custom, np.uint8)
    g.operators = [operation]
    m.subgraphs = [g]
    builder = flatbuffers.Builder(1024)
    builder.Finish(m.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def load(make):
    """Reference kernels where there are some, and the first version of the operator that is known."""
    for kernels in (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
        for version in range(1, 8):
            blob = make(version)
            try: return blob, Interpreter(model_content=blob, experimental_op_resolver_type=kernels)
            except ValueError as error: last = error
    raise last


def case(name, op, inputs, outputs, options=None, custom=None, resize=None):
    outputs = outputs if isinstance(outputs, list) else [outputs]
    blob, interpreter = load(lambda version: model(op, inputs, outputs, options, custom, version))
    fed = [v.data for v in inputs if v is not None and not v.constant and not v.variable]
    if resize is not None:
        fed = resize
        for detail, data in zip(interpreter.get_input_details(), fed):
            interpreter.resize_tensor_input(detail["index"], data.shape)
    try: interpreter.allocate_tensors()
    except (RuntimeError, ValueError) as error: raise SystemExit(f"{name}: {error}")
    for detail, data in zip(interpreter.get_input_details(), fed): interpreter.set_tensor(detail["index"], data)
    interpreter.invoke()
    store[f"{name}.model"] = np.frombuffer(blob, np.uint8)
    for index, data in enumerate(fed): store[f"{name}.in{index}"] = data
    for index, detail in enumerate(interpreter.get_output_details()):
        store[f"{name}.out{index}"] = np.asarray(interpreter.get_tensor(detail["index"]))


SAME, VALID = 0, 1


def unary(op, value=None, name=None, options=None):
    value = value or f(2, 3, 5)
    case(name or op.lower(), op, [value], out(*value.shape, dtype=value.dtype), options)


for op in "ABS CEIL COS EXP FLOOR LOGISTIC NEG RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 ROUND SIN TANH ELU HARD_SWISH SQUARE SIGN".split():
    unary(op, Value((random.randn(2, 3, 5) * 3).astype(np.float32)))
for op in "LOG SQRT RSQRT".split(): unary(op, positive(2, 5))
unary("ROUND", Value(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], np.float32)), "round halves")
unary("LOGICAL_NOT", Value(np.array([True, False])))
unary("ABS", ints([-3, 4]), "abs int32")
unary("GELU", options=("GeluOptions", {"approximate": False}))
unary("GELU", name="gelu approximate", options=("GeluOptions", {"approximate": True}))
unary("LEAKY_RELU", options=("LeakyReluOptions", {"alpha": 0.3}))
unary("SOFTMAX", f(3, 7), options=("SoftmaxOptions", {"beta": 0.5}))
unary("LOG_SOFTMAX", f(3, 7), options=("LogSoftmaxOptions", {}))
unary("L2_NORMALIZATION", f(3, 7), options=("L2NormOptions", {}))
unary("ZEROS_LIKE", options=("ZerosLikeOptions", {}))
unary("LOCAL_RESPONSE_NORMALIZATION", f(1, 3, 2, 8), options=("LocalResponseNormalizationOptions", {"radius": 2, "bias": 1.0, "alpha": 0.3, "beta": 0.7}))
case("prelu", "PRELU", [f(1, 2, 3, 4), c(random.randn(1, 1, 4))], out(1, 2, 3, 4))
for target in "int32 uint8 bool int64".split():
    case(f"cast to {target}", "CAST", [Value(np.array([0, 1.7, 2.2, 100.9], np.float32))], out(4, dtype=target))
case("cast from bool", "CAST", [Value(np.array([True, False]))], out(2))

for op, options in [("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"), ("DIV", "DivOptions")]:
    case(op.lower(), op, [f(2, 3, 4), f(3, 1)], out(2, 3, 4), (options, {}))
    case(f"{op.lower()} int32", op, [ints([7, -7, 9]), ints([2, 2, -4])], out(3, dtype="int32"), (options, {}))
case("add relu6", "ADD", [f(2, 3), f(2, 3)], out(2, 3), ("AddOptions", {"fusedActivationFunction": 3}))
case("sub tanh or none", "SUB", [f(2, 3), f(2, 3)], out(2, 3), ("SubOptions", {"fusedActivationFunction": 1}))
case("mul -1 to 1", "MUL", [f(2, 3), f(2, 3)], out(2, 3), ("MulOptions", {"fusedActivationFunction": 2}))
for op in ["MAXIMUM", "MINIMUM"]:
    case(op.lower(), op, [f(2, 3), f(3)], out(2, 3), ("MaximumMinimumOptions", {}))
case("pow", "POW", [positive(2, 3), f(3)], out(2, 3), ("PowOptions", {}))
case("squared difference", "SQUARED_DIFFERENCE", [f(2, 3), f(3)], out(2, 3), ("SquaredDifferenceOptions", {}))
case("add n", "ADD_N", [f(2, 3), f(2, 3), f(2, 3)], out(2, 3), ("AddNOptions", {}))
for op, options in [("FLOOR_DIV", "FloorDivOptions"), ("FLOOR_MOD", "FloorModOptions")]:
    case(op.lower(), op, [Value(np.array([7.5, -7.5, 7.5, -7.5], np.float32)), Value(np.array([2, 2, -2, -2], np.float32))], out(4), (options, {}))
    case(f"{op.lower()} int32", op, [ints([7, -7, 7, -7]), ints([2, 2, -2, -2])], out(4, dtype="int32"), (options, {}))
for op in "EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL".split():
    name = "".join(part.capitalize() for part in op.split("_")) + "Options"
    case(op.lower(), op, [Value(np.array([1, 2, 3], np.float32)), Value(np.array([2, 2, 2], np.float32))], out(3, dtype="bool"), (name, {}))
case("equal int32", "EQUAL", [ints([1, 2]), ints([1, 3])], out(2, dtype="bool"), ("EqualOptions", {}))
for op in ["LOGICAL_AND", "LOGICAL_OR"]:
    name = "".join(part.capitalize() for part in op.split("_")) + "Options"
    case(op.lower(), op, [Value(np.array([True, True, False])), Value(np.array([True, False, False]))], out(3, dtype="bool"), (name, {}))
case("atan2", "ATAN2", [Value(np.array([1, 1, -1, -1, 0, 0, 2], np.float32)), Value(np.array([1, -1, 1, -1, -1, 0, 0], np.float32))], out(7), ("ATan2Options", {}))
case("select rows", "SELECT", [Value(np.array([True, False])), f(2, 3), f(2, 3)], out(2, 3), ("SelectOptions", {}))
case("select v2", "SELECT_V2", [Value(np.array([[True], [False]])), f(2, 3), f(3)], out(2, 3), ("SelectV2Options", {}))

for op in "MEAN SUM REDUCE_PROD REDUCE_MAX REDUCE_MIN".split():
    case(op.lower(), op, [f(2, 3, 4), ci([1, -1])], out(2), ("ReducerOptions", {"keepDims": False}))
    case(f"{op.lower()} kept", op, [f(2, 3, 4), ci([0])], out(1, 3, 4), ("ReducerOptions", {"keepDims": True}))
case("sum int32", "SUM", [ints([[1, 2], [3, 4]]), ci([0])], out(2, dtype="int32"), ("ReducerOptions", {"keepDims": False}))
for op in ["REDUCE_ANY", "REDUCE_ALL"]:
    case(op.lower(), op, [Value(np.array([[True, False], [False, False], [True, True]])), ci([1])], out(3, dtype="bool"), ("ReducerOptions", {"keepDims": False}))
case("arg max", "ARG_MAX", [Value(np.array([[1, 5, 5], [2, 0, 1]], np.float32)), ci([1])], out(2, dtype="int32"), ("ArgMaxOptions", {"outputType": 2}))
case("arg min int64", "ARG_MIN", [f(3, 4), ci([0])], out(4, dtype="int64"), ("ArgMinOptions", {"outputType": 4}))
for exclusive in (False, True):
    for reverse in (False, True):
        case(f"cumsum {exclusive} {reverse}", "CUMSUM", [f(2, 5), ci(1)], out(2, 5), ("CumsumOptions", {"exclusive": exclusive, "reverse": reverse}))

case("reshape", "RESHAPE", [f(2, 6), ci([3, -1])], out(3, 4), ("ReshapeOptions", {}))
case("reshape by options", "RESHAPE", [f(2, 6)], out(4, 3), ("ReshapeOptions", {"newShape": [4, 3]}))
case("squeeze", "SQUEEZE", [f(1, 3, 1)], out(3, 1), ("SqueezeOptions" if hasattr(s, "SqueezeOptionsT") else "SqueezeOptions", {"squeezeDims": [0]}))
case("expand dims", "EXPAND_DIMS", [f(2, 3), ci([-1])], out(2, 3, 1), ("ExpandDimsOptions", {}))
case("transpose", "TRANSPOSE", [f(2, 3, 4), ci([2, 0, 1])], out(4, 2, 3), ("TransposeOptions", {}))
case("shape", "SHAPE", [f(2, 3)], out(2, dtype="int32"), ("ShapeOptions", {"outType": 2}))
case("rank", "RANK", [f(2, 3)], out(dtype="int32"), ("RankOptions", {}))
case("broadcast to", "BROADCAST_TO", [f(1, 3), ci([2, 2, 3])], out(2, 2, 3), ("BroadcastToOptions", {}))
case("fill", "FILL", [ci([2, 3]), Value(np.float32(1.5))], out(2, 3), ("FillOptions", {}))
case("tile", "TILE", [f(2, 3), ci([2, 1])], out(4, 3), ("TileOptions", {}))
case("range", "RANGE", [c(1, np.int32), c(9, np.int32), c(3, np.int32)], out(3, dtype="int32"), ("RangeOptions", {}))
case("concatenation", "CONCATENATION", [f(2, 3), f(2, 2)], out(2, 5), ("ConcatenationOptions", {"axis": -1}))
case("pack", "PACK", [f(2, 3), f(2, 3)], out(2, 2, 3), ("PackOptions", {"valuesCount": 2, "axis": 1}))
case("unpack", "UNPACK", [f(2, 3)], [out(2), out(2), out(2)], ("UnpackOptions", {"num": 3, "axis": 1}))
case("split", "SPLIT", [ci(1), f(2, 4)], [out(2, 2), out(2, 2)], ("SplitOptions", {"numSplits": 2}))
case("split v", "SPLIT_V", [f(5, 2), ci([1, -1]), ci(0)], [out(1, 2), out(4, 2)], ("SplitVOptions", {"numSplits": 2}))
case("pad", "PAD", [f(1, 2, 3, 2), ci([[0, 0], [1, 2], [0, 1], [0, 0]])], out(1, 5, 4, 2), ("PadOptions", {}))
case("pad v2", "PADV2", [f(2, 3), ci([[0, 1], [2, 0]]), c(1.5)], out(3, 5), ("PadV2Options", {}))
case("pad computed", "PAD", [f(2, 3), ints([[0, 1], [2, 0]])], out(3, 5), ("PadOptions", {}))
for mode, name in enumerate(["reflect", "symmetric"]):
    case(f"mirror pad {name}", "MIRROR_PAD", [f(3, 4), ci([[1, 2], [2, 1]])], out(6, 7), ("MirrorPadOptions", {"mode": mode}))
case("slice", "SLICE", [f(4, 5), ci([1, 2]), ci([2, -1])], out(2, 3), ("SliceOptions", {}))
case("slice computed", "SLICE", [f(4, 5), ints([1, 2]), ints([2, -1])], out(2, 3), ("SliceOptions", {}))
masks = ["beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask"]
for name, shape, begin, end, stride, values, target in [
    ("plain", (4, 5, 3), [1, 0, 0], [3, 5, 3], [1, 2, 1], [0, 0, 0, 0, 0], (2, 3, 3)),
    ("open", (4, 5), [3, 2], [1, 1], [1, 1], [1, 2, 0, 0, 0], (1, 3)),
    ("backwards", (4, 5), [-1, 4], [0, 0], [-1, -2], [0, 3, 0, 0, 0], (4, 3)),
    ("shrunk", (4, 5, 3), [-1, 0, 2], [0, 5, 3], [1, 1, 1], [0, 0, 0, 0, 5], (5,)),
    ("ellipsis", (2, 3, 4), [0, 1], [0, 2], [1, 1], [0, 0, 1, 0, 2], (2, 3)),
    ("new axis", (2, 3), [0, 0, 1], [0, 2, 3], [1, 1, 1], [0, 0, 0, 1, 0], (1, 2, 2)),
]:
    options = ("StridedSliceOptions", dict(zip(masks, values)))
    case(f"strided slice {name}", "STRIDED_SLICE", [f(*shape), ci(begin), ci(end), ci(stride)], out(*target), options)
case("strided slice computed", "STRIDED_SLICE", [f(4, 5, 3), ints([-1, 1, 1]), ints([0, 4, 0]), ci([1, 2, 1])], out(2, 2), ("StridedSliceOptions", {"endMask": 4, "shrinkAxisMask": 1}))
case("reverse", "REVERSE_V2", [f(2, 3, 4), ci([1, 2])], out(2, 3, 4), ("ReverseV2Options", {}))
case("reverse sequence", "REVERSE_SEQUENCE", [f(2, 5, 3), ints([2, 4])], out(2, 5, 3), ("ReverseSequenceOptions", {"seqDim": 1, "batchDim": 0}))
case("gather", "GATHER", [f(4, 3, 2), ints([2, 0])], out(4, 2, 2), ("GatherOptions", {"axis": 1}))
case("gather batch", "GATHER", [f(2, 4, 3), ints([[1, 3], [0, 2]])], out(2, 2, 3), ("GatherOptions", {"axis": 1, "batchDims": 1}))
case("gather nd", "GATHER_ND", [f(3, 4, 2), ints([[0, 1], [2, 3]])], out(2, 2), ("GatherNdOptions", {}))
case("embedding lookup", "EMBEDDING_LOOKUP", [ints([2, 0]), cf(3, 4)], out(2, 4))
case("scatter nd", "SCATTER_ND", [ints([[1], [3], [1]]), f(3, 2), ci([5, 2])], out(5, 2), ("ScatterNdOptions", {}))
case("segment sum", "UNSORTED_SEGMENT_SUM", [f(4, 3), ints([1, 0, 1, 2]), c(3, np.int32)], out(3, 3), ("UnsortedSegmentSumOptions", {}))
case("segment product", "UNSORTED_SEGMENT_PROD", [f(4, 3), ints([1, 0, 1, 2]), c(3, np.int32)], out(3, 3), ("UnsortedSegmentProdOptions", {}))
case("broadcast args", "BROADCAST_ARGS", [ints([1, 3]), ints([2, 2, 1])], out(3, dtype="int32"))
case("top k", "TOPK_V2", [f(2, 6), c(3, np.int32)], [out(2, 3), out(2, 3, dtype="int32")], ("TopKV2Options", {}))
case("one hot", "ONE_HOT", [ints([0, 2, 5]), c(3, np.int32), c(2.0), c(-1.0)], out(3, 3), ("OneHotOptions", {"axis": -1}))
case("where", "WHERE", [Value(np.array([[True, False], [True, True]]))], out(3, 2, dtype="int64"), ("WhereOptions", {}))

for padding in (SAME, VALID):
    case(f"conv {padding}", "CONV_2D", [f(2, 7, 6, 3), cf(4, 3, 2, 3), cf(4)], out(2, 3 + (padding == SAME), 3, 4), ("Conv2DOptions", {"padding": padding, "strideW": 2, "strideH": 2, "fusedActivationFunction": 1}))
    case(f"depthwise {padding}", "DEPTHWISE_CONV_2D", [f(1, 7, 6, 3), cf(1, 3, 3, 6), cf(6)], out(1, 4 - (padding == VALID), 3 - (padding == VALID), 6), ("DepthwiseConv2DOptions", {"padding": padding, "strideW": 2, "strideH": 2, "depthMultiplier": 2}))
    for op in ["MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D"]:
        case(f"{op.lower()} {padding}", op, [f(1, 7, 6, 3)], out(1, 4 - (padding == VALID), 3 - (padding == VALID), 3), ("Pool2DOptions", {"padding": padding, "strideW": 2, "strideH": 2, "filterWidth": 3, "filterHeight": 3}))
case("conv dilated", "CONV_2D", [f(1, 9, 9, 2), cf(3, 3, 3, 2), cf(3)], out(1, 9, 9, 3), ("Conv2DOptions", {"padding": SAME, "strideW": 1, "strideH": 1, "dilationWFactor": 2, "dilationHFactor": 3}))
case("conv of groups", "CONV_2D", [f(1, 5, 5, 4), cf(6, 3, 3, 2), cf(6)], out(1, 3, 3, 6), ("Conv2DOptions", {"padding": VALID, "strideW": 1, "strideH": 1}))
open_input = Value(random.randn(1, 6, 6, 2).astype(np.float32), open=(0, 1, 2))
case("conv open", "CONV_2D", [open_input, cf(3, 3, 3, 2), cf(3)], Value(shape=(1, 3, 3, 3), dtype="float32", open=(0, 1, 2)), ("Conv2DOptions", {"padding": SAME, "strideW": 2, "strideH": 2}), resize=[random.randn(2, 9, 7, 2).astype(np.float32)])
case("transpose conv same", "TRANSPOSE_CONV", [ci([1, 8, 6, 2]), cf(2, 3, 3, 4), f(1, 4, 3, 4)], out(1, 8, 6, 2), ("TransposeConvOptions", {"padding": SAME, "strideW": 2, "strideH": 2}))
case("transpose conv valid", "TRANSPOSE_CONV", [ci([1, 9, 7, 2]), cf(2, 3, 3, 4), f(1, 4, 3, 4), cf(2)], out(1, 9, 7, 2), ("TransposeConvOptions", {"padding": VALID, "strideW": 2, "strideH": 2}))
case("fully connected", "FULLY_CONNECTED", [f(2, 3, 4), cf(5, 4), cf(5)], out(6, 5), ("FullyConnectedOptions", {"fusedActivationFunction": 1}))
case("fully connected kept", "FULLY_CONNECTED", [f(2, 3, 4), cf(5, 4), None], out(2, 3, 5), ("FullyConnectedOptions", {"keepNumDims": True}))
case("batch matmul", "BATCH_MATMUL", [f(2, 3, 4), f(2, 5, 4)], out(2, 3, 5), ("BatchMatMulOptions", {"adjY": True}))
case("batch matmul first", "BATCH_MATMUL", [f(2, 4, 3), f(4, 5)], out(2, 3, 5), ("BatchMatMulOptions", {"adjX": True}))

for align, half in [(False, False), (True, False), (False, True)]:
    for name, op, options in [("bilinear", "RESIZE_BILINEAR", "ResizeBilinearOptions"), ("nearest", "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")]:
        for size in [(7, 5), (2, 3)]:
            case(f"{name} {align} {half} {size[0]}", op, [f(1, 4, 3, 2), ci(size)], out(1, *size, 2), (options, {"alignCorners": align, "halfPixelCenters": half}))
case("depth to space", "DEPTH_TO_SPACE", [f(1, 2, 3, 8)], out(1, 4, 6, 2), ("DepthToSpaceOptions", {"blockSize": 2}))
case("space to depth", "SPACE_TO_DEPTH", [f(1, 4, 6, 2)], out(1, 2, 3, 8), ("SpaceToDepthOptions", {"blockSize": 2}))
case("space to batch", "SPACE_TO_BATCH_ND", [f(2, 4, 5, 3), ci([2, 3]), ci([[0, 0], [1, 0]])], out(12, 2, 2, 3), ("SpaceToBatchNDOptions", {}))
case("space to batch of lines", "SPACE_TO_BATCH_ND", [f(2, 4, 3), ci([2]), ci([[1, 1]])], out(4, 3, 3), ("SpaceToBatchNDOptions", {}))
case("batch to space", "BATCH_TO_SPACE_ND", [f(12, 2, 2, 3), ci([2, 3]), ci([[0, 0], [1, 0]])], out(2, 4, 5, 3), ("BatchToSpaceNDOptions", {}))
case("batch to space of lines", "BATCH_TO_SPACE_ND", [f(4, 3, 3), ci([2]), ci([[1, 1]])], out(2, 4, 3), ("BatchToSpaceNDOptions", {}))


def lstm(name, peepholes=False, time_major=False):
    weights = [cf(3, 4) for _ in range(4)] + [cf(3, 3) for _ in range(4)]
    holes = [cf(3), cf(3), cf(3)] if peepholes else [None] * 3
    state = [variable(2, 3), variable(2, 3)]
    x = f(5, 2, 4) if time_major else f(2, 5, 4)
    inputs = [x] + weights + holes + [cf(3) for _ in range(4)] + [None, None] + state + [None] * 4
    case(name, "UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, out(*x.shape[:2], 3), ("UnidirectionalSequenceLSTMOptions", {"fusedActivationFunction": 4, "timeMajor": time_major}))


lstm("lstm")
lstm("lstm with peepholes", peepholes=True)
lstm("lstm, time first", time_major=True)
for activation, name in [(1, "relu"), (4, "tanh")]:
    case(f"rnn {name}", "UNIDIRECTIONAL_SEQUENCE_RNN", [f(2, 5, 4), cf(3, 4), cf(3, 3), cf(3), variable(2, 3)], out(2, 5, 3), ("SequenceRNNOptions", {"fusedActivationFunction": activation}))


def both_directions(name, merge):
    direction = lambda: [cf(3, 4) for _ in range(4)] + [cf(3, 3) for _ in range(4)] + [None] * 3 + [cf(3) for _ in range(4)] + [None, None]
    inputs = [f(2, 5, 4)] + direction() + direction() + [variable(2, 3) for _ in range(4)] + [None] * 9
    outputs = [out(2, 5, 6)] if merge else [out(2, 5, 3), out(2, 5, 3)]
    case(name, "BIDIRECTIONAL_SEQUENCE_LSTM", inputs, outputs, ("BidirectionalSequenceLSTMOptions", {"fusedActivationFunction": 4, "mergeOutputs": merge, "timeMajor": False}))


both_directions("lstm of both directions", False)
both_directions("lstm of both directions, joined", True)
case("rnn of both directions", "BIDIRECTIONAL_SEQUENCE_RNN", [f(2, 5, 4), cf(3, 4), cf(3, 3), cf(3), variable(2, 3), cf(3, 4), cf(3, 3), cf(3), variable(2, 3), None, None, None], [out(2, 5, 3), out(2, 5, 3)], ("BidirectionalSequenceRNNOptions", {"fusedActivationFunction": 4}))


# Quantized operators.
def scales(count): return [float(x) for x in (0.01 + 0.02 * random.rand(count)).astype(np.float32)]


for dtype in ["uint8", "int8"]:
    zero = 120 if dtype == "uint8" else -5
    o = lambda *shape: out(*shape, dtype=dtype, quant=([0.05], [zero], 0))
    x = lambda *shape: q(shape, dtype, 0.02, zero + 3)
    for op, options in [("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")]:
        case(f"{dtype} {op.lower()}", op, [x(2, 3, 4), q((4,), dtype, 0.04, zero - 3)], o(2, 3, 4), (options, {"fusedActivationFunction": 1}))
    case(f"{dtype} concatenation", "CONCATENATION", [x(2, 3), q((2, 2), dtype, 0.05, zero)], o(2, 5), ("ConcatenationOptions", {"axis": 1})) if dtype == "uint8" else None
    same = dict(dtype=dtype, quant=([0.02], [zero + 3], 0))
    case(f"{dtype} max pool", "MAX_POOL_2D", [x(1, 4, 4, 2)], out(1, 2, 2, 2, **same), ("Pool2DOptions", {"padding": SAME, "strideW": 2, "strideH": 2, "filterWidth": 3, "filterHeight": 3}))
    case(f"{dtype} average pool", "AVERAGE_POOL_2D", [x(1, 4, 4, 2)], out(1, 2, 2, 2, **same), ("Pool2DOptions", {"padding": SAME, "strideW": 2, "strideH": 2, "filterWidth": 3, "filterHeight": 3}))
    case(f"{dtype} pad", "PAD", [x(2, 3), ci([[1, 0], [0, 2]])], out(3, 5, **same), ("PadOptions", {}))
    case(f"{dtype} reshape", "RESHAPE", [x(2, 3), ci([3, 2])], out(3, 2, **same), ("ReshapeOptions", {}))
    case(f"{dtype} mean", "MEAN", [x(1, 4, 4, 2), ci([1, 2])], o(1, 2), ("ReducerOptions", {"keepDims": False}))
    case(f"{dtype} softmax", "SOFTMAX", [x(2, 5)], out(2, 5, dtype=dtype, quant=([1 / 256], [0 if dtype == "uint8" else -128], 0)), ("SoftmaxOptions", {"beta": 1.0}))
    case(f"{dtype} logistic", "LOGISTIC", [x(2, 5)], out(2, 5, dtype=dtype, quant=([1 / 256], [0 if dtype == "uint8" else -128], 0)))
    case(f"{dtype} dequantize", "DEQUANTIZE", [x(2, 5)], out(2, 5), ("DequantizeOptions", {}))
    case(f"{dtype} quantize", "QUANTIZE", [f(2, 5)], o(2, 5), ("QuantizeOptions", {}))
    case(f"{dtype} leaky relu", "LEAKY_RELU", [x(2, 5)], o(2, 5), ("LeakyReluOptions", {"alpha": 0.3}))
    case(f"{dtype} arg max", "ARG_MAX", [x(2, 5), ci([1])], out(2, dtype="int32"), ("ArgMaxOptions", {"outputType": 2}))
case("int8 to uint8", "QUANTIZE", [q((2, 5), "int8", 0.02, -5)], out(2, 5, dtype="uint8", quant=([0.03], [100], 0)), ("QuantizeOptions", {}))

weights = Value(random.randint(0, 256, (4, 3, 3, 2)).astype(np.uint8), quant=([0.01], [131], 0), constant=True)
bias = c(random.randint(-500, 500, 4), np.int32, ([0.02 * 0.01], [0], 0))
case("uint8 conv", "CONV_2D", [q((1, 6, 6, 2), "uint8", 0.02, 120), weights, bias], out(1, 3, 3, 4, dtype="uint8", quant=([0.1], [110], 0)), ("Conv2DOptions", {"padding": SAME, "strideW": 2, "strideH": 2, "fusedActivationFunction": 1}))
channel = scales(4)
weights = Value(random.randint(-127, 128, (4, 3, 3, 2)).astype(np.int8), quant=(channel, [0] * 4, 0), constant=True)
bias = c(random.randint(-500, 500, 4), np.int32, ([0.02 * x for x in channel], [0] * 4, 0))
case("int8 conv of each channel", "CONV_2D", [q((1, 6, 6, 2), "int8", 0.02, -8), weights, bias], out(1, 3, 3, 4, dtype="int8", quant=([0.2], [-10], 0)), ("Conv2DOptions", {"padding": SAME, "strideW": 2, "strideH": 2, "fusedActivationFunction": 3}))
channel = scales(6)
weights = Value(random.randint(-127, 128, (1, 3, 3, 6)).astype(np.int8), quant=(channel, [0] * 6, 3), constant=True)
bias = c(random.randint(-500, 500, 6), np.int32, ([0.02 * x for x in channel], [0] * 6, 0))
case("int8 depthwise of each channel", "DEPTHWISE_CONV_2D", [q((1, 6, 6, 6), "int8", 0.02, -8), weights, bias], out(1, 4, 4, 6, dtype="int8", quant=([0.1], [-10], 0)), ("DepthwiseConv2DOptions", {"padding": VALID, "strideW": 1, "strideH": 1, "depthMultiplier": 1}))
weights = Value(random.randint(-127, 128, (5, 8)).astype(np.int8), quant=([0.01], [0], 0), constant=True)
bias = c(random.randint(-500, 500, 5), np.int32, ([0.02 * 0.01], [0], 0))
case("int8 fully connected", "FULLY_CONNECTED", [q((3, 8), "int8", 0.02, -8), weights, bias], out(3, 5, dtype="int8", quant=([0.1], [-10], 0)), ("FullyConnectedOptions", {}))

options = {"max_detections": 6, "max_classes_per_detection": 2, "detections_per_class": 3, "num_classes": 3, "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0, "nms_score_threshold": 0.2, "nms_iou_threshold": 0.4}
grid = np.array([[0.1 + 0.2 * y, 0.1 + 0.2 * x, 0.35, 0.35] for y in range(5) for x in range(5)], np.float32)
for regular in (False, True):
    blob = bytes(flexbuffers.Dumps({**options, "use_regular_nms": regular}))
    boxes, scores = f(1, 25, 4), positive(1, 25, 4)
    case(f"detections {'of each class' if regular else 'fast'}", "TFLite_Detection_PostProcess", [boxes, scores, c(grid)], [out(1, 12, 4), out(1, 12), out(1, 12), out(1)], custom=blob)


def stateful():
    """y = variable + x, and the variable becomes y; it begins as 1, 2."""
    m = s.ModelT()
    m.version, m.buffers, m.operatorCodes = 3, [s.BufferT(), s.BufferT()], []
    m.buffers[1].data = np.frombuffer(np.array([1, 2], np.float32).tobytes(), np.uint8)
    for op in ["VAR_HANDLE", "READ_VARIABLE", "ADD", "ASSIGN_VARIABLE", "CALL_ONCE"]:
        code = s.OperatorCodeT()
        code.builtinCode = getattr(s.BuiltinOperator, op)
        code.deprecatedBuiltinCode = min(127, code.builtinCode)
        m.operatorCodes.append(code)

    def tensor(name, shape, kind=0, buffer=0):
        t = s.TensorT()
        t.name, t.shape, t.type, t.buffer, t.hasRank = name, shape, kind, buffer, True
        return t

    def operation(code, inputs, outputs, options=None, **fields):
        o = s.OperatorT()
        o.opcodeIndex, o.inputs, o.outputs = code, inputs, outputs
        if options:
            o.builtinOptionsType = getattr(s.BuiltinOptions, options)
            o.builtinOptions = getattr(s, options + "T")()
            for field, value in fields.items(): setattr(o.builtinOptions, field, value)
        return o

    def graph(name, tensors, inputs, outputs, operators):
        g = s.SubGraphT()
        g.name, g.tensors, g.inputs, g.outputs, g.operators = name, tensors, inputs, outputs, operators
        return g

    handle = lambda output: operation(0, [], [output], "VarHandleOptions", sharedName="total", container="")
    m.subgraphs = [
        graph("main", [tensor("x", [2]), tensor("handle", [], 13), tensor("old", [2]), tensor("y", [2])], [0], [3], [
            operation(4, [], [], "CallOnceOptions", initSubgraphIndex=1), handle(1), operation(1, [1], [2], "ReadVariableOptions"),
            operation(2, [2, 0], [3], "AddOptions"), operation(3, [1, 3], [], "AssignVariableOptions")]),
        graph("start", [tensor("handle", [], 13), tensor("first", [2], 0, 1)], [], [], [handle(0), operation(3, [0, 1], [], "AssignVariableOptions")]),
    ]
    builder = flatbuffers.Builder(1024)
    builder.Finish(m.Pack(builder), b"TFL3")
    return bytes(builder.Output())


blob = stateful()
interpreter = Interpreter(model_content=blob)
interpreter.allocate_tensors()
store["stateful model"] = np.frombuffer(blob, np.uint8)
for run in range(3):
    data = random.randn(2).astype(np.float32)
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], data)
    interpreter.invoke()
    store[f"stateful x{run}"], store[f"stateful y{run}"] = data, interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

header, position, blobs = {}, 0, []
NAMES = {"float32": "F32", "int32": "I32", "uint8": "U8", "int64": "I64", "bool": "BOOL", "int8": "I8", "int16": "I16"}
for name in sorted(store):
    data = np.ascontiguousarray(store[name])
    blob = data.tobytes()
    header[name] = {"dtype": NAMES[str(data.dtype)], "shape": list(store[name].shape), "data_offsets": [position, position + len(blob)]}
    position += len(blob)
    blobs.append(blob)
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
print(len([n for n in store if n.endswith(".model")]), "models,", position + len(text), "bytes")
