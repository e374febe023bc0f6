#!/usr/bin/env python3
"""Makes the checkpoints in this folder, and beside each the tensors that PyTorch reads from it.

Made with Debian 12's python3-torch (1.13): /usr/bin/python3 make.py
"""
import collections
import json
import os
import sys

import torch

folder = os.path.dirname(os.path.abspath(sys.argv[0]))
names = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint8: "U8", torch.bool: "BOOL", torch.complex64: "C64",
}


def flatten(value, name, found):
    """Tensors of nested dictionaries and lists, names joined with dots, in order."""
    if torch.is_tensor(value):
        found[name or "tensor"] = value.detach()
    elif isinstance(value, dict):
        for key, inner in value.items():
            flatten(inner, f"{name}.{key}" if name else str(key), found)
    elif isinstance(value, (list, tuple)):
        for key, inner in enumerate(value):
            flatten(inner, f"{name}.{key}" if name else str(key), found)


def raw(tensor):
    """The elements' bytes in row-major order."""
    flat = tensor.contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).tolist())


def write_expected(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        begin = len(data)
        data += raw(tensor)
        header[name] = {
            "dtype": names[tensor.dtype], "shape": list(tensor.shape),
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + data)


def types():
    """Every element type, and every way to lie in a storage."""
    state = collections.OrderedDict()
    for kind in names:
        values = torch.randn(3, 5) * 10
        state[str(kind)[6:]] = values > 0 if kind is torch.bool else values.to(kind)
    state["transposed"] = torch.randn(4, 6).t()
    state["transposed.bool"] = (torch.randn(4, 6) > 0).t()
    state["transposed.double"] = torch.randn(4, 6, dtype=torch.float64).t()
    state["transposed.half"] = torch.randn(4, 6).half().t()
    state["sliced"] = torch.randn(10, 10)[2:5, 1:9:2]
    state["expanded"] = torch.randn(1, 4).expand(3, 4)
    state["scalar"] = torch.tensor(3.5)
    state["empty"] = torch.zeros(0, 3)
    state["parameter"] = torch.nn.Parameter(torch.randn(2, 2))
    state["channels last"] = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    shared = torch.randn(20)
    state["shared.1"] = shared[3:9]
    state["shared.2"] = shared[10:].view(2, 5)
    return state


def training():
    """What training scripts keep: a model, an optimizer and all kinds of other values."""
    network = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(network.parameters())
    network(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    return {
        "epoch": 3, "lr": 1e-3, "model_state": network.state_dict(),
        "optimizer": optimizer.state_dict(), "name": "\u00e9", "none": None,
        "list": [torch.ones(2), {"x": torch.zeros(1)}], "big": 2**80, "negative": -5,
        "set": {1, 2}, "bytes": b"abc", "size": torch.Size([2, 3]), "type": torch.float32,
        "device": torch.device("cpu"), "infinity": float("inf"), "tuple": (1, 2, 3, 4, 5),
        "truth": [True, False], "frozen": frozenset([1]),
    }


torch.manual_seed(1)
for name, value in [("types", types()), ("training", training())]:
    tensors = {}
    flatten(value, "", tensors)
    write_expected(f"{folder}/{name}.safetensors", tensors)
    for kind, is_zip in [("zip", True), ("legacy", False)]:
        for protocol in [1, 2, 4]:
            torch.save(
                value, f"{folder}/{name}.{kind}{protocol}.pt", pickle_protocol=protocol,
                _use_new_zipfile_serialization=is_zip)
