"""Goes on training from a checkpoint in ONNX Runtime, so that tests can compare.

usage: resume_checkpoint.py ARTIFACTS CHECKPOINT BATCHES OUTPUT --rate RATE --first N --last N

ARTIFACTS is a folder with training_model.onnx, eval_model.onnx and optimizer_model.onnx. BATCHES is a
safetensors file with `batchK.in.<input>` and `batchK.target`; step s uses batch (s - 1) mod the number
of batches. OUTPUT gets `losses` of the steps, `param.<name>` of all parameters after the last,
`learning_rate` as it is after loading, and its metadata the checkpoint's properties. With --last below
--first the checkpoint is only loaded. With --pytorch-form AdamW has PyTorch's form (adam_mode 0) with a weight
decay of 0.1, and ARTIFACTS/optimizer_model.onnx is changed accordingly.
"""
import argparse
import sys
import types
from pathlib import Path

import numpy
import onnx
import onnxruntime

# onnxruntime.training itself imports PyTorch; its package for devices does not need that.
package = types.ModuleType("onnxruntime.training")
package.__path__ = [str(Path(onnxruntime.__file__).parent / "training")]
sys.modules[package.__name__] = package

from onnxruntime.training.api import CheckpointState, Module, Optimizer  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402


def use_pytorch_form(path):
    model = onnx.load(str(path))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "adam_mode":
                attribute.i = 0
            elif attribute.name == "weight_decay":
                attribute.f = 0.1
    onnx.save(model, str(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("artifacts", "checkpoint", "batches", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--last", type=int, required=True)
    parser.add_argument("--pytorch-form", action="store_true")
    arguments = parser.parse_args()
    if arguments.pytorch_form:
        use_pytorch_form(arguments.artifacts / "optimizer_model.onnx")
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    folder = arguments.artifacts
    state = CheckpointState.load_checkpoint(str(arguments.checkpoint))
    module = Module(
        str(folder / "training_model.onnx"), state, str(folder / "eval_model.onnx"),
        session_options=options)
    optimizer = Optimizer(str(folder / "optimizer_model.onnx"), module)
    loaded_rate = optimizer.get_learning_rate()
    optimizer.set_learning_rate(arguments.rate)
    batches = load_file(arguments.batches)
    count = sum(name.endswith(".target") for name in batches)
    losses = []
    for step in range(arguments.first, arguments.last + 1):
        prefix = f"batch{(step - 1) % count}."
        feeds = [
            batches.get(f"{prefix}in.{name}", batches[f"{prefix}target"])
            for name in module.input_names()]
        losses.append(float(module(*feeds)))
        optimizer.step()
        module.lazy_reset_grad()
    tensors = {f"param.{name}": parameter.data.copy() for name, parameter in state.parameters}
    tensors["losses"] = numpy.array(losses, numpy.float32)
    tensors["learning_rate"] = numpy.array(loaded_rate, numpy.float32)
    properties = {name: repr(value) for name, value in state.properties}
    save_file(tensors, arguments.output, metadata=properties or None)


if __name__ == "__main__":
    main()
