"""How inference time grows with the batch, the length of a recording and the size of a picture."""
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import inference
from environment import full_size, made
from inference import Inference
from pairing import Effort, Row

THREADS = [1, 2]


@dataclass(frozen=True)
class Growth:
    """One plot: `workload` makes the model and shapes for a size along the x axis."""

    name: str
    title: str
    x_label: str
    sizes: list[int]
    quick_sizes: list[int]
    workload: Callable[[int], Inference]


def batch(count: int) -> Inference:
    return Inference(f"mobilenet_v2, batch {count}", lambda: full_size("mobilenet_v2"),
                     {"input": (count, 3, 224, 224)})


def picture_size(size: int) -> Inference:
    def model() -> Path:
        return made("mobilenet_v2-open-size.onnx", "open-size", full_size("mobilenet_v2"), "FILE")

    return Inference(f"mobilenet_v2, {size} x {size}", model, {"input": (1, 3, size, size)})


GROWTHS = [
    Growth("batch", "mobilenet_v2, 224 x 224", "pictures in a batch", [1, 2, 4, 8, 16], [1, 4, 8],
           batch),
    Growth("audio", "wav2vec2_base, one recording", "seconds of audio", [1, 2, 5, 10, 20, 30],
           [1, 2, 5], inference.audio),
    Growth("picture", "mobilenet_v2, one picture", "width and height in pixels",
           [96, 160, 224, 320, 448], [96, 224, 320], picture_size),
]


@dataclass
class Point:
    """Graft and ONNX Runtime at one size."""

    size: int
    row: Row


def points(growth: Growth, effort: Effort, is_quick: bool) -> list[Point]:
    """All sizes and thread counts of one plot, one run per block after one warm-up."""
    result = []
    for size in growth.quick_sizes if is_quick else growth.sizes:
        workload = replace(growth.workload(size), is_light=False)
        for threads in THREADS:
            row = inference.measure(workload, threads, effort.growth_rounds, 1)
            result.append(Point(size, row))
    return result
