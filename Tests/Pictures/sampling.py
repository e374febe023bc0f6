"""Makes sampling.safetensors: the picture `scene` of expected.safetensors in other sizes, each new pixel between the
four nearest old ones, in float64 with numpy 2.4.6. TensorFlow's bilinear resizing with half-pixel centres is the same.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 safetensors==0.8.0 && venv/bin/python sampling.py
"""

import pathlib

import numpy as np
from safetensors.numpy import load_file, save_file

folder = pathlib.Path(__file__).parent
scene = load_file(folder / "expected.safetensors")["scene"].astype(np.float64)


def along(values, axis, size):
    """The values at `size` places along an axis."""
    count = values.shape[axis]
    place = np.clip((np.arange(size) + 0.5) * count / size - 0.5, 0, count - 1)
    low = np.floor(place).astype(int)
    shape = [1, 1, 1]
    shape[axis] = size
    part = (place - low).reshape(shape)
    high = np.minimum(low + 1, count - 1)
    return values.take(low, axis) * (1 - part) + values.take(high, axis) * part


made = {}
for width, height in [(20, 14), (90, 70), (61, 10), (7, 3), (1, 1), (61, 43), (150, 29)]:
    pixels = along(along(scene, 1, width), 0, height)
    made[f"{width}x{height}"] = np.floor(pixels + 0.5).astype(np.uint8)
save_file(made, folder / "sampling.safetensors")
