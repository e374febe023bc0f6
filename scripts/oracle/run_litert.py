"""Runs TensorFlow Lite models in LiteRT on the CPU, so that tests can compare.

usage: run_litert.py DIR

Every folder at or below DIR with `model.tflite` and `inputs.safetensors` (inputs by their names in the
model's signature) gets `outputs.safetensors` or, where the model fails, `error.txt`. Inputs with open
sizes are resized to what is given.
"""
import os
import sys
from pathlib import Path

import numpy
from ai_edge_litert.interpreter import Interpreter
from safetensors.numpy import load_file, save_file


def run(model, inputs):
    """Reads the input tensors, returns the output tensors by name."""
    runner = Interpreter(model_path=str(model), num_threads=1).get_signature_runner()
    outputs = runner(**load_file(inputs))
    # Not ascontiguousarray: it makes a vector of a scalar.
    return {name: numpy.array(value, order="C") for name, value in outputs.items()}


def main():
    cases = sorted(
        path.parent for path in Path(sys.argv[1]).rglob("model.tflite")
        if path.with_name("inputs.safetensors").exists())
    if not cases:
        sys.exit(f"no folder with model.tflite and inputs.safetensors in {sys.argv[1]}")
    for case in cases:
        outputs, error = case / "outputs.safetensors", case / "error.txt"
        outputs.unlink(missing_ok=True)
        error.unlink(missing_ok=True)
        # A model that ends the process must not end the others' run.
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            if status:
                error.write_text(f"the process ended with status {status}\n")
            continue
        try:
            save_file(run(case / "model.tflite", case / "inputs.safetensors"), outputs)
        except Exception as exception:  # The interpreter's exceptions share no other base class.
            error.write_text(f"{exception}\n")
        os._exit(0)


if __name__ == "__main__":
    main()
