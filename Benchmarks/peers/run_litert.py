"""Times inference in LiteRT on the CPU and prints one JSON object.

usage: run_litert.py MODEL --threads N --runs N --warmup N

XNNPACK is used, as applications get it. Inputs are seeded: floats between -1 and 1, integers of the whole
range of their type. Times are milliseconds; baseline_mb is the process's peak memory before the model
is opened, in megabytes (1e6 bytes).
"""
import argparse
import json
import resource
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter


def peak_mb() -> float:
    """The most memory this process has had, in megabytes (1e6 bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def values(kind: type, shape: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if np.issubdtype(kind, np.integer):
        limits = np.iinfo(kind)
        return random.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)
    return random.uniform(-1, 1, shape).astype(kind)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    arguments = parser.parse_args()
    baseline = peak_mb()
    interpreter = Interpreter(arguments.model, num_threads=arguments.threads)
    interpreter.allocate_tensors()
    random = np.random.default_rng(1)
    for each in interpreter.get_input_details():
        interpreter.set_tensor(each["index"], values(each["dtype"], each["shape"], random))
    times = []
    for _ in range(arguments.warmup + arguments.runs):
        start = time.perf_counter()
        interpreter.invoke()
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"times_ms": times[arguments.warmup:], "baseline_mb": baseline}))


if __name__ == "__main__":
    main()
