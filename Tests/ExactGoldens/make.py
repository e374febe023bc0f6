#!/usr/bin/env python3
"""Makes small TensorFlow Lite models of one quantized operator each, and what LiteRT's reference kernels
(BUILTIN_REF) compute with them: goldens.safetensors with NAME.model, the file's bytes, NAME.in<i> and
NAME.out<i>.

Made with ai-edge-litert 2.3.0 (x86-64), numpy and safetensors: python3 make.py

Inputs, weights and scales are random numbers from a fixed seed; zero points and scales are unlike each
other, so that every rescaling is seen.
"""
import math
import os

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as fb
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from safetensors.numpy import save_file

FOLDER = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.default_rng(17)
CODES = {np.dtype(t): getattr(fb.TensorType, n) for t, n in [
    (np.uint8, "UINT8"), (np.int8, "INT8"), (np.int16, "INT16"), (np.int32, "INT32"),
    (np.int64, "INT64"), (np.bool_, "BOOL"), (np.float32, "FLOAT32")]}
goldens = {}


class Value:
    """A tensor: fed or computed without data."""

    def __init__(self, dtype, shape, scale=None, zero=0, data=None, axis=0, variable=False):
        self.dtype, self.shape, self.data = np.dtype(dtype), list(shape), data
        self.scale = None if scale is None else np.atleast_1d(np.float32(scale))
        self.zero, self.axis, self.variable = zero, axis, variable


def const(data, scale=None, zero=0, axis=0):
    data = np.asarray(data)
    return Value(data.dtype, data.shape, scale, zero, data, axis)


def numbers(dtype, shape, low=None, high=None):
    info = np.iinfo(dtype)
    return RNG.integers(info.min if low is None else low, (info.max if high is None else high) + 1,
                        shape, dtype=dtype)


def options(kind, **fields):
    value = getattr(fb, kind + "T")()
    for key, field in fields.items():
        setattr(value, key, field)
    return getattr(fb.BuiltinOptions, kind), value


def build(op, version, inputs, outputs, opts=None, intermediates=()):
    model = fb.ModelT()
    model.version, model.description = 3, b"one operator"
    code = fb.OperatorCodeT()
    number = getattr(fb.BuiltinOperator, op)
    code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), version
    model.operatorCodes = [code]
    model.buffers = [fb.BufferT()]
    graph = fb.SubGraphT()
    graph.name, graph.tensors = b"main", []
    index = {}

    def add(value):
        if value is None:
            return -1
        if id(value) in index:
            return index[id(value)]
        tensor = fb.TensorT()
        tensor.name = b"t%d" % len(graph.tensors)
        tensor.shape, tensor.type, tensor.buffer = value.shape, CODES[value.dtype], 0
        tensor.isVariable = value.variable
        if value.data is not None:
            buffer = fb.BufferT()
            buffer.data = np.frombuffer(value.data.tobytes(), np.uint8)
            model.buffers.append(buffer)
            tensor.buffer = len(model.buffers) - 1
        if value.scale is not None:
            q = fb.QuantizationParametersT()
            q.scale = value.scale
            q.zeroPoint = np.full(len(value.scale), value.zero, np.int64)
            q.quantizedDimension = value.axis
            tensor.quantization = q
        graph.tensors.append(tensor)
        index[id(value)] = len(graph.tensors) - 1
        return index[id(value)]

    operation = fb.OperatorT()
    operation.opcodeIndex = 0
    operation.inputs = [add(v) for v in inputs]
    operation.outputs = [add(v) for v in outputs]
    if intermediates:
        operation.intermediates = [add(v) for v in intermediates]
    if opts:
        operation.builtinOptionsType, operation.builtinOptions = opts
    graph.operators = [operation]
    fed = [v for v in inputs if v is not None and v.data is None and not v.variable]
    unique = list(dict.fromkeys(id(v) for v in fed))
    graph.inputs = [index[i] for i in unique]
    graph.outputs = [index[id(v)] for v in outputs]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(4096)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def case(name, op, version, inputs, outputs, opts=None, feeds=None, intermediates=()):
    """Builds a model, runs it and keeps both."""
    blob = build(op, version, inputs, outputs, opts, intermediates)
    interpreter = Interpreter(model_content=blob,
                              experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for i, detail in enumerate(interpreter.get_input_details()):
        dtype, shape = detail["dtype"], detail["shape"]
        if feeds is not None:
            data = feeds[i]
        elif dtype == np.float32:
            data = RNG.normal(0, 3, shape).astype(np.float32)
        else:
            data = numbers(dtype, shape)
        interpreter.set_tensor(detail["index"], data)
        goldens[f"{name}.in{i}"] = np.ascontiguousarray(data)
    interpreter.invoke()
    for i, detail in enumerate(interpreter.get_output_details()):
        goldens[f"{name}.out{i}"] = np.ascontiguousarray(interpreter.get_tensor(detail["index"]))
    goldens[f"{name}.model"] = np.frombuffer(blob, np.uint8)


SAME, VALID = fb.Padding.SAME, fb.Padding.VALID
NONE, RELU, RELU6 = (fb.ActivationFunctionType.NONE, fb.ActivationFunctionType.RELU,
                     fb.ActivationFunctionType.RELU6)
BYTES = [("uint8", np.uint8, 121), ("int8", np.int8, -7)]


def weights(dtype, shape, channels, axis, per_channel):
    scale = RNG.uniform(0.002, 0.02, channels if per_channel else 1).astype(np.float32)
    if dtype == np.uint8:
        return const(numbers(np.uint8, shape), scale, 119, axis)
    return const(numbers(np.int8, shape, -127), scale, 0, axis)


def bias(x, w, channels, dtype=np.int32):
    scale = x.scale[0] * w.scale
    return const(RNG.integers(-3000, 3000, channels).astype(dtype), scale)


# Sums of products

for label, dtype, zero in BYTES + [("int16", np.int16, 0)]:
    wtype = np.uint8 if dtype == np.uint8 else np.int8
    per_channel = dtype != np.uint8
    btype = np.int64 if dtype == np.int16 else np.int32
    yscale = 3e-4 if dtype == np.int16 else 0.09
    xscale = 2e-4 if dtype == np.int16 else 0.0177
    version = 4 if dtype == np.int16 else 3
    for kind, fields in [
        ("same_relu6", dict(padding=SAME, strideW=2, strideH=2, dilationWFactor=1,
                            dilationHFactor=1, fusedActivationFunction=RELU6)),
        ("valid_dilated", dict(padding=VALID, strideW=1, strideH=1, dilationWFactor=2,
                               dilationHFactor=1, fusedActivationFunction=NONE)),
    ]:
        x = Value(dtype, [2, 7, 8, 5], xscale, zero)
        w = weights(wtype, [6, 3, 3, 5], 6, 0, per_channel)
        out = [2, 4, 4, 6] if "same" in kind else [2, 5, 4, 6]
        y = Value(dtype, out, yscale, zero)
        case(f"conv_{label}_{kind}", "CONV_2D", version, [x, w, bias(x, w, 6, btype)], [y],
             options("Conv2DOptions", **fields))
        for multiple in (1, 2):
            x = Value(dtype, [1, 7, 8, 4], xscale, zero)
            w = weights(wtype, [1, 3, 3, 4 * multiple], 4 * multiple, 3, per_channel)
            y = Value(dtype, [1] + out[1:3] + [4 * multiple], yscale, zero)
            case(f"depthwise{multiple}_{label}_{kind}", "DEPTHWISE_CONV_2D",
                 version if dtype == np.int16 else 3, [x, w, bias(x, w, 4 * multiple, btype)], [y],
                 options("DepthwiseConv2DOptions", depthMultiplier=multiple, **fields))
    x = Value(dtype, [3, 40], xscale, zero)
    for kind, per in [("", False), ("_channels", True)]:
        if per and dtype == np.uint8:
            continue
        w = weights(wtype, [7, 40], 7, 0, per)
        case(f"fully_connected_{label}{kind}", "FULLY_CONNECTED", 4 if not per else 12,
             [x, w, bias(x, w, 7, btype)], [Value(dtype, [3, 7], yscale, zero)],
             options("FullyConnectedOptions", fusedActivationFunction=NONE))
    if dtype != np.int16:
        w = weights(wtype, [7, 40], 7, 0, False)
        case(f"fully_connected_{label}_no_bias", "FULLY_CONNECTED", 4, [x, w, None],
             [Value(dtype, [3, 7], yscale, zero)],
             options("FullyConnectedOptions", fusedActivationFunction=RELU))
    for kind, padding, size in [("same", SAME, [8, 6]), ("valid", VALID, [9, 7])]:
        x = Value(dtype, [1, 4, 3, 5], xscale, zero)
        w = weights(wtype, [4, 3, 3, 5], 4, 0, per_channel)
        case(f"transpose_conv_{label}_{kind}", "TRANSPOSE_CONV", 3,
             [const(np.array([1] + size + [4], np.int32)), w, x, bias(x, w, 4, btype)],
             [Value(dtype, [1] + size + [4], yscale, zero)],
             options("TransposeConvOptions", padding=padding, strideW=2, strideH=2))

# Two inputs

for label, dtype, zero in BYTES + [("int16", np.int16, 0)]:
    small = 1e-3 if dtype == np.int16 else 1
    for op, kind in [("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")]:
        for shape, suffix in [([2, 3, 4, 5], ""), ([5], "_broadcast")]:
            a = Value(dtype, [2, 3, 4, 5], 0.031 * small, zero)
            b = Value(dtype, shape, 0.0097 * small, 0 if zero == 0 else zero + 11)
            scale = {"MUL": 0.04 * small * small * (3 if dtype == np.int16 else 1)}.get(op, 0.04 * small)
            y = Value(dtype, [2, 3, 4, 5], scale, 0 if zero == 0 else zero - 3)
            extra = dict(potScaleInt16=False) if op != "MUL" else {}
            case(f"{op.lower()}_{label}{suffix}", op, 2 if dtype != np.int16 or op == "MUL" else 4 if op == "ADD" else 5,
                 [a, b], [y], options(kind, fusedActivationFunction=RELU if suffix else NONE, **extra))
for op, kind in [("ADD", "AddOptions"), ("SUB", "SubOptions")]:
    for first, second in [(2.0**-15, 2.0**-13), (2.0**-13, 2.0**-15)]:
        a, b = Value(np.int16, [40], first), Value(np.int16, [40], second)
        case(f"{op.lower()}_int16_powers{1 if first < second else 2}", op, 2, [a, b],
             [Value(np.int16, [40], 2.0**-13)], options(kind, potScaleInt16=True))
a, b = Value(np.int8, [3, 20], 0.031, 4), Value(np.int8, [20], 0.02, -9)
case("squared_difference_int8", "SQUARED_DIFFERENCE", 2, [a, b], [Value(np.int8, [3, 20], 0.3, -100)],
     options("SquaredDifferenceOptions"))
for label, dtype, zero in BYTES:
    x = Value(dtype, [2, 3, 4, 5], 0.031, zero)
    slope = const(numbers(dtype, [1, 1, 5]), 0.011, zero + 4)
    case(f"prelu_{label}", "PRELU", 1, [x, slope], [Value(dtype, [2, 3, 4, 5], 0.04, zero - 20)])
    same = [Value(dtype, [3, 20], 0.031, zero) for _ in range(3)]
    case(f"maximum_{label}", "MAXIMUM", 2, same[:2], same[2:], options("MaximumMinimumOptions"))
    case(f"minimum_{label}", "MINIMUM", 2, same[:2], same[2:], options("MaximumMinimumOptions"))

    for op in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"):
        a, b = Value(dtype, [20, 20], 0.031, zero), Value(dtype, [20], 0.02, zero + 9)
        kind = {"NOT_EQUAL": "NotEqual"}.get(op, op.title().replace("_", "")) + "Options"
        case(f"{op.lower()}_{label}", op, 2, [a, b], [Value(np.bool_, [20, 20])], options(kind))
for label, dtype, zero in [("int8", np.int8, -7), ("int16", np.int16, 0)]:
    scale = 0.02 if dtype == np.int8 else 3e-4
    for first, second, shapes in [(False, False, ([2, 3, 8], [2, 8, 5])), (False, True, ([2, 3, 8], [2, 5, 8])),
                                  (True, False, ([2, 8, 3], [2, 8, 5]))]:
        a, b = Value(dtype, shapes[0], scale, zero), Value(dtype, shapes[1], scale * 1.7, zero and 4)
        case(f"batch_matmul_{label}_{int(first)}{int(second)}", "BATCH_MATMUL", 4 if dtype == np.int8 else 3, [a, b],
             [Value(dtype, [2, 3, 5], 0.2 if dtype == np.int8 else 0.01, zero and -20)],
             options("BatchMatMulOptions", adjX=first, adjY=second))

# Windows, means and sums

for label, dtype, zero in BYTES + [("int16", np.int16, 0)]:
    for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for kind, padding, out in [("same", SAME, [4, 3]), ("valid", VALID, [3, 2])]:
            x = Value(dtype, [2, 7, 6, 5], 0.05 if dtype != np.int16 else 2e-4, zero)
            y = Value(dtype, [2] + out + [5], x.scale[0], zero)
            case(f"{op.lower()}_{label}_{kind}", op, 3 if dtype == np.int16 else 2, [x], [y],
                 options("Pool2DOptions", padding=padding, strideW=2, strideH=2, filterWidth=3,
                         filterHeight=3, fusedActivationFunction=RELU6 if kind == "valid" else NONE))
    small = 1e-3 if dtype == np.int16 else 1
    for axes, keep, out in [([1, 2], True, [2, 1, 1, 7]), ([3], False, [2, 5, 6])]:
        x = Value(dtype, [2, 5, 6, 7], 0.043 * small, zero)
        y = Value(dtype, out, 0.017 * small, 0 if zero == 0 else zero + 5)
        case(f"mean_{label}_{len(axes)}", "MEAN", 3 if dtype == np.int16 else 2,
             [x, const(np.array(axes, np.int32))], [y], options("ReducerOptions", keepDims=keep))
        if dtype != np.int16:
            y = Value(dtype, out, 0.4, zero + 5)
            case(f"sum_{label}_{len(axes)}", "SUM", 2, [x, const(np.array(axes, np.int32))], [y],
                 options("ReducerOptions", keepDims=keep))

# Functions of one number

for label, dtype, zero in BYTES:
    every = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype).reshape(16, 16)
    low = np.iinfo(dtype).min

    def unary(name, op, version, xscale, yscale, yzero, opts=None):
        case(f"{name}_{label}", op, version, [Value(dtype, [16, 16], xscale, zero)],
             [Value(dtype, [16, 16], yscale, yzero)], opts, [every])

    unary("logistic", "LOGISTIC", 2, 0.061, 1 / 256, low)
    unary("tanh", "TANH", 2, 0.023, 1 / 128, 128 + low)
    unary("relu", "RELU", 2, 0.031, 0.025, zero + 9)
    unary("relu6", "RELU6", 2, 0.061, 0.03, low)
    unary("relu_n1_to_1", "RELU_N1_TO_1", 1, 0.031, 0.01, zero + 5)
    unary("leaky_relu", "LEAKY_RELU", 2, 0.031, 0.021, zero - 3, options("LeakyReluOptions", alpha=0.17))
    unary("hard_swish", "HARD_SWISH", 1, 0.053, 0.041, zero + 3)
    unary("hard_swish_wide", "HARD_SWISH", 1, 0.23, 0.3, zero + 3)
    if dtype == np.int8:
        unary("exp", "EXP", 2, 0.021, 0.04, -128)
        unary("gelu", "GELU", 2, 0.031, 0.02, -110, options("GeluOptions", approximate=False))
        unary("gelu_approximate", "GELU", 2, 0.031, 0.02, -110, options("GeluOptions", approximate=True))
        unary("log", "LOG", 2, 0.05, 0.03, 20)
    for name, scale, beta in [("", 0.11, 1.0), ("_small", 0.004, 1.0), ("_beta", 0.9, 1.7)]:
        case(f"softmax_{label}{name}", "SOFTMAX", 2, [Value(dtype, [6, 33], scale, zero)],
             [Value(dtype, [6, 33], 1 / 256, low)], options("SoftmaxOptions", beta=beta))
for name, scale in [("", 3.1e-4), ("_power", 2.0**-12), ("_double", 2.0**-11)]:
    spread = np.linspace(-32768, 32767, 300).astype(np.int16)
    for op in ("LOGISTIC", "TANH"):
        case(f"{op.lower()}_int16{name}", op, 3, [Value(np.int16, [300], scale)],
             [Value(np.int16, [300], 2.0**-15)], None, [spread])
for name, scale in [("", 1e-3), ("_small", 1e-5)]:
    case(f"softmax_int16{name}", "SOFTMAX", 3, [Value(np.int16, [4, 50], scale)],
         [Value(np.int16, [4, 50], 2.0**-15)], options("SoftmaxOptions", beta=1.0))
for op in ("RELU", "RELU6"):
    case(f"{op.lower()}_int16", op, 3 if op == "RELU6" else 3, [Value(np.int16, [100], 4e-4)],
         [Value(np.int16, [100], 3e-4)])

# Conversions

TYPES = [("uint8", np.uint8, 121, 0.03), ("int8", np.int8, -7, 0.021), ("int16", np.int16, 0, 3e-4)]
for label, dtype, zero, scale in TYPES:
    case(f"quantize_float_{label}", "QUANTIZE", 2, [Value(np.float32, [200])],
         [Value(dtype, [200], scale, zero)], options("QuantizeOptions"),
         [np.concatenate([RNG.normal(0, 3, 150), (np.arange(50) - 25.5) * scale]).astype(np.float32)])
    case(f"dequantize_{label}", "DEQUANTIZE", 3, [Value(dtype, [200], scale, zero)],
         [Value(np.float32, [200])], options("DequantizeOptions"))
    for other, odtype, ozero, oscale in TYPES:
        if (label, other) in [("uint8", "int16"), ("int16", "uint8")]:
            continue
        case(f"quantize_{label}_{other}", "QUANTIZE", 2, [Value(dtype, [200], scale, zero)],
             [Value(odtype, [200], oscale * 1.3, ozero + (3 if ozero else 0))], options("QuantizeOptions"))
parts = [Value(np.uint8, [2, 3, 4], 0.03, 121), Value(np.uint8, [2, 2, 4], 0.05, 100),
         Value(np.uint8, [2, 1, 4], 0.02, 30)]
case("concatenation_uint8", "CONCATENATION", 2, parts, [Value(np.uint8, [2, 6, 4], 0.05, 100)],
     options("ConcatenationOptions", axis=1))

# Resizing

for label, dtype, zero in BYTES + [("int16", np.int16, 0)]:
    for name, corners, half in [("", False, False), ("_corners", True, False), ("_half", False, True)]:
        for size in ([7, 9], [2, 3]):
            x = Value(dtype, [2, 4, 5, 3], 0.1, zero)
            y = Value(dtype, [2] + size + [3], 0.1, zero)
            inputs = [x, const(np.array(size, np.int32))]
            case(f"resize_bilinear_{label}{name}_{size[0]}", "RESIZE_BILINEAR", 4 if dtype == np.int16 else 3,
                 inputs, [y], options("ResizeBilinearOptions", alignCorners=corners, halfPixelCenters=half))
            case(f"resize_nearest_{label}{name}_{size[0]}", "RESIZE_NEAREST_NEIGHBOR",
                 4 if dtype == np.int16 else 3, inputs, [y],
                 options("ResizeNearestNeighborOptions", alignCorners=corners, halfPixelCenters=half))

# Recurrent

for name, coupled, time_major, clip in [("", False, False, 10.0), ("_coupled", True, True, 0.0),
                                        ("_clip", False, False, 0.4)]:
    cells, inputs, steps = 6, 5, 9
    x = Value(np.int8, [steps, 2, inputs] if time_major else [2, steps, inputs], 0.0157, -3)
    w = [const(numbers(np.int8, [cells, inputs], -127), RNG.uniform(0.003, 0.009)) for _ in range(4)]
    r = [const(numbers(np.int8, [cells, cells], -127), RNG.uniform(0.003, 0.009)) for _ in range(4)]
    b = [const(RNG.integers(-9000, 9000, cells).astype(np.int32), x.scale[0] * m.scale[0]) for m in w]
    if coupled:
        w[0] = r[0] = b[0] = None
    h = Value(np.int8, [2, cells], 0.0078, -1, variable=True)
    c = Value(np.int16, [2, cells], 2.0**-12, variable=True)
    y = Value(np.int8, [steps, 2, cells] if time_major else [2, steps, cells], 0.0078, -1)
    inner = [Value(np.int16, [0], 2.0**-12) for _ in range(4)] + [Value(np.int8, [0], 0.0078, -1)]
    case(f"lstm{name}", "UNIDIRECTIONAL_SEQUENCE_LSTM", 3,
         [x] + w + r + [None] * 3 + b + [None] * 2 + [h, c] + [None] * 4, [y],
         options("UnidirectionalSequenceLSTMOptions", fusedActivationFunction=fb.ActivationFunctionType.TANH,
                 cellClip=clip, projClip=0.0, timeMajor=time_major), intermediates=inner)

save_file(goldens, os.path.join(FOLDER, "goldens.safetensors"))
print(len([k for k in goldens if k.endswith("out0")]), "models")
