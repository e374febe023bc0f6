"""Runs ONNX models in ONNX Runtime on the CPU, so that tests can compare.

usage: run_models.py [--optimized] [--threads N] DIR

Every folder at or below DIR with `model.onnx` and `inputs.safetensors` (graph inputs by name) gets
`outputs.safetensors` (graph outputs by name) or, where the model fails, `error.txt`. Graph
optimisations are off unless --optimized.
"""
import argparse
import sys
from pathlib import Path

import numpy
import onnxruntime
from safetensors.numpy import load_file, save_file


def run(model, inputs, optimized=False, threads=1):
    """Reads the input tensors, returns the output tensors by name."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"])
    outputs = {}
    for output, value in zip(session.get_outputs(), session.run(None, load_file(inputs)), strict=True):
        if not output.type.startswith("tensor("):
            raise TypeError(f"output {output.name} is {output.type}: only tensors can be stored")
        # Not ascontiguousarray: it makes a vector of a scalar.
        outputs[output.name] = numpy.asarray(value, order="C")
    return outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--optimized", action="store_true", help="with graph optimisations")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    cases = sorted(
        path.parent for path in arguments.folder.rglob("model.onnx")
        if path.with_name("inputs.safetensors").exists())
    if not cases:
        sys.exit(f"no folder with model.onnx and inputs.safetensors in {arguments.folder}")
    failures = 0
    for case in cases:
        outputs, error = case / "outputs.safetensors", case / "error.txt"
        outputs.unlink(missing_ok=True)
        error.unlink(missing_ok=True)
        try:
            save_file(
                run(case / "model.onnx", case / "inputs.safetensors",
                    arguments.optimized, arguments.threads),
                outputs)
        except Exception as exception:  # The exceptions of ONNX Runtime share no other base class.
            error.write_text(f"{exception}\n")
            failures += 1
    print(f"ONNX Runtime {onnxruntime.__version__}: {len(cases)} models, {failures} failed")


if __name__ == "__main__":
    main()
