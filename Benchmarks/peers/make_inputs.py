"""Makes what the benchmarks read: examples to train on, and a network whose picture size is open.

usage: make_inputs.py recordings FILE OWN OTHERS EPOCHS SECONDS
       make_inputs.py pictures FILE COUNT SIZE
       make_inputs.py open-size MODEL FILE

All values are seeded. Recordings are noise at 16 kHz in the order in which the tutorial trains on them; all
others also go to a file of their own, FILE-others.
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


def recordings(path: str, own: int, others: int, epochs: int, seconds: int) -> None:
    """Every epoch pairs each own recording with another one, of the others shuffled anew."""
    random = np.random.default_rng(2)
    mine = random.standard_normal((own, 16000 * seconds), np.float32)
    theirs = random.standard_normal((others, 16000 * seconds), np.float32)
    pairs = [(mine[index], theirs[other]) for _ in range(epochs)
             for index, other in enumerate(random.permutation(others)[:own])]
    targets = np.tile([1, 0], len(pairs))
    save(path.replace(".safetensors", "-others.safetensors"), theirs, np.zeros(others))
    save(path, np.concatenate([np.stack(pair) for pair in pairs]), targets)


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
        path, *numbers = arguments
        {"recordings": recordings, "pictures": pictures}[command](path, *map(int, numbers))


if __name__ == "__main__":
    main()
