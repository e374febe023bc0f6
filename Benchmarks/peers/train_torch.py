"""Trains all parameters of a network in PyTorch and prints one JSON object.

usage: train_torch.py MODEL EXAMPLES --threads N --runs N --warmup N --learning-rate RATE

The network is built from the ONNX file that Graft trains: the same structure and the same weights. A step
takes all the examples (safetensors: `input`, `target`): forward, cross entropy, backward, SGD. Times are
milliseconds; baseline_mb is the process's peak memory before the model is opened, in megabytes (1e6
bytes).
"""
import argparse
import json
import resource
import time

import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file
from torch.nn import functional

Attributes = dict[str, object]


def convolution(x, weight, bias, a: Attributes) -> torch.Tensor:
    top, left, bottom, right = a.get("pads", [0, 0, 0, 0])
    if (top, left) != (bottom, right):
        raise NotImplementedError(f"a convolution with padding {a['pads']}")
    return functional.conv2d(x, weight, bias, a.get("strides", 1), (top, left),
                             a.get("dilations", 1), a.get("group", 1))


def maximum_pool(x, a: Attributes) -> torch.Tensor:
    return functional.max_pool2d(x, a["kernel_shape"], a["strides"], a["pads"][:2],
                                 ceil_mode=bool(a["ceil_mode"]))


# Activations overwrite their argument, as in torchvision; no node but them reads it there.
OPERATORS = {
    "Add": lambda x, y, a: x + y,
    "Clip": lambda x, low, high, a: functional.hardtanh(x, float(low), float(high), inplace=True),
    "Concat": lambda *xs: torch.cat(xs[:-1], xs[-1]["axis"]),
    "Conv": convolution,
    "Flatten": lambda x, a: torch.flatten(x, a["axis"]),
    "Gemm": lambda x, weight, bias, a: functional.linear(x, weight, bias),
    "GlobalAveragePool": lambda x, a: functional.adaptive_avg_pool2d(x, 1),
    "MaxPool": maximum_pool,
    "Relu": lambda x, a: functional.relu(x, inplace=True),
}


class Network(torch.nn.Module):
    """An ONNX graph of convolutions, activations, pools and one linear layer at the end."""

    def __init__(self, path: str) -> None:
        super().__init__()
        graph = onnx.load(path).graph
        self.weights = torch.nn.ParameterList()
        self.positions: dict[str, int] = {}
        for initializer in graph.initializer:
            self.positions[initializer.name] = len(self.weights)
            value = torch.from_numpy(numpy_helper.to_array(initializer).copy())
            self.weights.append(torch.nn.Parameter(value))
        self.constants: dict[str, torch.Tensor] = {}
        self.nodes: list[tuple[str, list[str], str, Attributes]] = []
        for node in graph.node:
            attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
            if node.op_type == "Constant":
                value = torch.tensor(numpy_helper.to_array(attributes["value"]))
                self.constants[node.output[0]] = value
            else:
                self.nodes.append((node.op_type, list(node.input), node.output[0], attributes))
        self.input, self.output = graph.input[0].name, graph.output[0].name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = dict(self.constants)
        known.update((name, self.weights[at]) for name, at in self.positions.items())
        known[self.input] = x
        for kind, inputs, output, attributes in self.nodes:
            known[output] = OPERATORS[kind](*(known[name] for name in inputs), attributes)
        return known[self.output]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("examples")
    for option in ("--threads", "--runs", "--warmup"):
        parser.add_argument(option, type=int, required=True)
    parser.add_argument("--learning-rate", type=float, required=True)
    arguments = parser.parse_args()
    baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    torch.set_num_threads(arguments.threads)
    network = Network(arguments.model)
    optimizer = torch.optim.SGD(network.parameters(), lr=arguments.learning_rate)
    examples = load_file(arguments.examples)
    times, losses = [], []
    for _ in range(arguments.warmup + arguments.runs):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(examples["input"]), examples["target"])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"times_ms": times[arguments.warmup:], "losses": losses,
                      "baseline_mb": baseline}))


if __name__ == "__main__":
    main()
