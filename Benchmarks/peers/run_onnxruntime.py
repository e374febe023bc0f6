"""Times inference in ONNX Runtime on the CPU and prints one JSON object.

usage: run_onnxruntime.py MODEL --threads N --runs N --warmup N [--shape NAME=D,D,...] [--output NAME]

Inputs are seeded and distributed like those of `graft bench`: floats between -1 and 1, integers 0 or 1.
Times are milliseconds; baseline_mb is the process's peak memory before the model is opened, in
megabytes (1e6 bytes).
"""
import argparse
import json
import resource
import time

import numpy as np
import onnxruntime


def peak_mb() -> float:
    """The most memory this process has had, in megabytes (1e6 bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def values(kind: str, shape: list[int], random: np.random.Generator) -> np.ndarray:
    if "int" in kind:
        return random.integers(0, 2, shape).astype(np.int64 if "64" in kind else np.int32)
    return random.uniform(-1, 1, shape).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--output")
    arguments = parser.parse_args()
    shapes = {name: [int(size) for size in sizes.split(",")]
              for name, sizes in (text.split("=") for text in arguments.shape)}
    baseline = peak_mb()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = arguments.threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        arguments.model, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    feeds = {each.name: values(each.type, shapes.get(each.name, each.shape), random)
             for each in session.get_inputs()}
    outputs = [arguments.output] if arguments.output else None
    times = []
    for _ in range(arguments.warmup + arguments.runs):
        start = time.perf_counter()
        session.run(outputs, feeds)
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"times_ms": times[arguments.warmup:], "baseline_mb": baseline}))


if __name__ == "__main__":
    main()
