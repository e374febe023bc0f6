"""Makes ONNX Runtime training artifacts of a model, so that tests can open them.

usage: make_artifacts.py MODEL FOLDER --loss LOSS [--clip NORM] --train PARAMETER...

LOSS is a class of onnxruntime.training.onnxblock.loss, such as BCEWithLogitsLoss; it compares the model's
first output with the targets. With --clip the gradients' norm is limited. The optimizer is AdamW, and
all other parameters are frozen.
"""
import argparse
import contextlib
import os
import sys
import types
from pathlib import Path

import onnx
import onnxruntime

# onnxruntime.training itself imports PyTorch; its package for devices does not need that.
package = types.ModuleType("onnxruntime.training")
package.__path__ = [str(Path(onnxruntime.__file__).parent / "training")]
sys.modules[package.__name__] = package

from onnxruntime.training import artifacts, onnxblock  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--loss", required=True)
    parser.add_argument("--clip", type=float)
    parser.add_argument("--train", nargs="+", required=True)
    arguments = parser.parse_args()
    model = onnx.load(str(arguments.model))
    frozen = [
        each.name for each in model.graph.initializer
        if each.data_type == onnx.TensorProto.FLOAT and each.name not in arguments.train]
    loss = getattr(onnxblock.loss, arguments.loss)()
    clip = onnxblock.optim.ClipGradNorm(arguments.clip) if arguments.clip else None
    # What the native code reports while it builds gradients is of no use here.
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        artifacts.generate_artifacts(
            model, requires_grad=arguments.train, frozen_params=frozen, loss=loss,
            optimizer=onnxblock.optim.AdamW(clip_grad=clip), artifact_directory=str(arguments.folder))


if __name__ == "__main__":
    main()
