"""Makes what the benchmarks read: examples to train on, and a network whose picture size is open.

usage: make_inputs.py recordings FILE COUNT SECONDS
       make_inputs.py pictures FILE COUNT SIZE
       make_inputs.py open-size MODEL FILE

All values are seeded. Recordings are noise at 16 kHz, those of class 1 and 0 in turn as long as both last:
5 of class 1, all others of class 0. The others also go to a file of their own, FILE-others.
"""
import sys
from pathlib import Path

import numpy as np
import onnx
from safetensors.numpy import save_file


def save(path: str, inputs: np.ndarray, targets: np.ndarray) -> None:
    partial = Path(f"{path}.partial")
    save_file({"input": inputs, "target": targets.astype(np.int64)}, partial)
    partial.rename(path)


def recordings(path: str, count: int, seconds: int) -> None:
    values = np.random.default_rng(2).standard_normal((count, 16000 * seconds), np.float32)
    targets = np.array([index % 2 == 0 and index < 10 for index in range(count)])
    save(path.replace(".safetensors", "-others.safetensors"), values[~targets], targets[~targets])
    save(path, values, targets)


def pictures(path: str, count: int, size: int) -> None:
    random = np.random.default_rng(3)
    values = random.standard_normal((count, 3, size, size), np.float32)
    save(path, values, random.integers(0, 1000, count))


def open_size(source: str, path: str) -> None:
    model = onnx.load(source)
    sizes = model.graph.input[0].type.tensor_type.shape.dim
    sizes[2].dim_param, sizes[3].dim_param = "height", "width"
    partial = Path(f"{path}.partial")
    onnx.save(model, partial)
    partial.rename(path)


def main() -> None:
    command, *arguments = sys.argv[1:]
    if command == "open-size":
        open_size(*arguments)
    else:
        path, count, size = arguments
        {"recordings": recordings, "pictures": pictures}[command](path, int(count), int(size))


if __name__ == "__main__":
    main()
