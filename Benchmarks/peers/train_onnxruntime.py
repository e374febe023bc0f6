"""Trains single parameters of a model in ONNX Runtime's training build; prints one JSON object.

usage: train_onnxruntime.py prepare MODEL ARTIFACTS PARAMETER...
       train_onnxruntime.py steps ARTIFACTS EXAMPLES --batch N --threads N --runs N --warmup N

`prepare` writes the training graph for cross entropy on the first output and AdamW, so that its time and
memory do not count. `steps` goes through the examples (safetensors: `input`, `target`) in their order; a
step is forward, backward, update and gradient reset. Times are milliseconds; baseline_mb is the
process's peak memory before the graph is opened, in megabytes (1e6 bytes).
"""
import argparse
import json
import resource
import sys
import time
import types
from pathlib import Path

import onnx
import onnxruntime
from safetensors.numpy import load_file

# The package's own __init__ imports PyTorch, which the parts used here never call.
package = types.ModuleType("onnxruntime.training")
package.__path__ = [f"{onnxruntime.__path__[0]}/training"]
sys.modules[package.__name__] = package
from onnxruntime.training import artifacts, onnxblock  # noqa: E402
from onnxruntime.training.api import CheckpointState, Module, Optimizer  # noqa: E402


class FirstOutputLoss(onnxblock.Block):
    """Cross entropy of the graph's first output; the others do not count."""

    def __init__(self) -> None:
        super().__init__()
        self.loss = onnxblock.loss.CrossEntropyLoss()

    def build(self, first: str, *others: str) -> str:
        return self.loss(first)


def prepare(path: Path, folder: Path, trained: list[str]) -> None:
    model = onnx.load(str(path))
    # A layer normalization has a gradient here only when its optional outputs have names.
    for node in model.graph.node:
        if node.op_type == "LayerNormalization" and len(node.output) == 1:
            node.output.extend(f"{node.output[0]}.{what}" for what in ("mean", "deviation"))
    frozen = [each.name for each in model.graph.initializer
              if each.data_type == onnx.TensorProto.FLOAT and each.dims and each.name not in trained]
    folder.mkdir(parents=True, exist_ok=True)
    artifacts.generate_artifacts(
        model, requires_grad=trained, frozen_params=frozen, loss=FirstOutputLoss(),
        optimizer=artifacts.OptimType.AdamW, artifact_directory=str(folder))


def steps(folder: Path, examples: Path, batch: int, threads: int, runs: int, warmup: int) -> dict:
    baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    state = CheckpointState.load_checkpoint(str(folder / "checkpoint"))
    module = Module(str(folder / "training_model.onnx"), state, session_options=options)
    optimizer = Optimizer(str(folder / "optimizer_model.onnx"), module)
    optimizer.set_learning_rate(1e-3)
    tensors = load_file(str(examples))
    inputs, targets = tensors["input"], tensors["target"]
    times, losses = [], []
    for step in range(warmup + runs):
        first = step * batch % (len(targets) - batch + 1)
        rows = slice(first, first + batch)
        start = time.perf_counter()
        losses.append(float(module(inputs[rows], targets[rows])))
        optimizer.step()
        module.lazy_reset_grad()
        times.append((time.perf_counter() - start) * 1e3)
    return {"times_ms": times[warmup:], "losses": losses, "baseline_mb": baseline}


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("prepare")
    command.add_argument("model", type=Path)
    command.add_argument("artifacts", type=Path)
    command.add_argument("parameters", nargs="+")
    command = commands.add_parser("steps")
    command.add_argument("artifacts", type=Path)
    command.add_argument("examples", type=Path)
    for option in ("--batch", "--threads", "--runs", "--warmup"):
        command.add_argument(option, type=int, required=True)
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    if arguments.command == "prepare":
        prepare(arguments.model, arguments.artifacts, arguments.parameters)
    else:
        print(json.dumps(steps(arguments.artifacts, arguments.examples, arguments.batch,
                               arguments.threads, arguments.runs, arguments.warmup)))


if __name__ == "__main__":
    main()
