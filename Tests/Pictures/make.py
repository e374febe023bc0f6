"""Makes the small pictures of this folder and what they should become, with Pillow 13.0.0 and numpy 2.4.6.

    python3 -m venv venv && venv/bin/pip install pillow==13.0.0 numpy==2.4.6 && venv/bin/python make.py
"""

import json
import pathlib
import struct

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

folder = pathlib.Path(__file__).parent
expected = {}


def scene(width, height):
    """A picture with smooth and sharp parts, different in every corner."""
    y, x = np.mgrid[0:height, 0:width]
    red = 255 * x / max(1, width - 1)
    green = 255 * y / max(1, height - 1)
    blue = 127 + 120 * np.sin(x / 3) * np.cos(y / 4)
    pixels = np.stack([red, green, blue], -1)
    pixels[height // 4 : height // 2, width // 5 : width // 3] = [250, 30, 10]
    pixels[: height // 5, : width // 4] = [5, 240, 250]
    return pixels.round().astype(np.uint8)


def save(name, image, **options):
    image.save(folder / name, **options)
    opened = ImageOps.exif_transpose(Image.open(folder / name))
    if opened.mode.startswith("I;16"):
        expected["file/" + name] = np.repeat((np.asarray(opened) / 257).round()[..., None], 3, 2).astype(np.uint8)
    else:
        expected["file/" + name] = np.asarray(opened.convert("RGB"))


image = Image.fromarray(scene(40, 24))
exif = Image.Exif()
for orientation in range(1, 9):
    exif[0x112] = orientation
    save(f"turned{orientation}.jpg", image, exif=exif, quality=90, subsampling=0)
exif[0x112] = 6
for name, options in [("png", {}), ("webp", {"lossless": True}), ("tiff", {})]:
    save("turned6." + name, image, exif=exif, **options)

for name, subsampling in [("444", 0), ("422", 1), ("420", 2)]:
    save(f"color{name}.jpg", image, quality=90, subsampling=subsampling)
save("odd420.jpg", Image.fromarray(scene(37, 21)), quality=90, subsampling=2)
save("odd422.jpg", Image.fromarray(scene(37, 21)), quality=90, subsampling=1)
save("narrow420.jpg", Image.fromarray(scene(3, 30)), quality=90, subsampling=2)
save("progressive.jpg", image, quality=90, progressive=True)
save("grey.jpg", image.convert("L"), quality=90)
save("cmyk.jpg", image.convert("CMYK"), quality=95)
save("rgb.jpg", image, quality=95, keep_rgb=True)
save("grey.png", image.convert("L"))
save("alpha.png", Image.fromarray(np.dstack([scene(40, 24), scene(40, 24)[..., 0]])))
save("greyalpha.png", Image.fromarray(np.dstack([scene(40, 24)[..., 0], scene(40, 24)[..., 1]])))
save("palette.png", image.convert("P"))
save("palette transparent.png", image.convert("P"), transparency=3)
save("bits1.png", image.convert("1"))
save("bits16.png", Image.fromarray((np.mgrid[0:24, 0:40][1] * 1600).astype(np.uint16)))
save("name %03d.png", image)
save("palette.gif", image.convert("P"))
save("three.gif", image.convert("P"), save_all=True, append_images=[image.rotate(180).convert("P")] * 2)
save("palette.bmp", image.convert("P"))
save("color.bmp", image)
save("color.webp", image, lossless=True)
save("color.tiff", image)
save("color.ppm", image)
save("one.png", image.crop((3, 3, 4, 4)))
save("one.jpg", image.crop((3, 3, 4, 4)))
save("row.png", image.crop((0, 3, 40, 4)))
save("column.png", image.crop((3, 0, 4, 24)))

# Sizes: shrinking, growing, both, one side only, to one pixel.
filters = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
source = Image.fromarray(scene(61, 43))
expected["scene"] = np.asarray(source)
for name, filter in filters.items():
    for size in [(20, 14), (90, 70), (30, 80), (61, 10), (10, 43), (1, 1), (7, 3), (122, 86), (61, 43)]:
        expected[f"resize/{name}/{size[0]}x{size[1]}"] = np.asarray(source.resize(size, filter))


def cropped(image, width, height, fraction, filter):
    """torchvision's Resize(int) and CenterCrop: the side that fits exactly, the other rounded down."""
    resized_width, resized_height = round(width / fraction), round(height / fraction)
    if width / image.width < height / image.height:
        size = (max(width, image.width * resized_height // image.height), resized_height)
    else:
        size = (resized_width, max(height, image.height * resized_width // image.width))
    left, top = round((size[0] - width) / 2), round((size[1] - height) / 2)
    return image.resize(size, filter).crop((left, top, left + width, top + height))


def boxed(image, width, height, color, filter):
    scale = min(width / image.width, height / image.height)
    inner = image.resize((round(image.width * scale), round(image.height * scale)), filter)
    outer = Image.new("RGB", (width, height), color)
    outer.paste(inner, ((width - inner.width) // 2, (height - inner.height) // 2))
    return outer


def normalized(image, mean, deviation):
    pixels = np.asarray(image).astype(np.float32) * np.float32(1 / 255)
    return (pixels - np.array(mean, np.float32)) / np.array(deviation, np.float32)


mean, deviation = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
for side in [32, 33]:
    middle = cropped(source, side, side, 0.875, filters["bilinear"])
    expected[f"imagenet/{side}"] = normalized(middle, mean, deviation).transpose(2, 0, 1)[None].copy()
expected["crop/bicubic/20x30"] = np.asarray(cropped(source, 20, 30, 1, filters["bicubic"]))
expected["letterbox/32x40"] = np.asarray(boxed(source, 32, 40, (10, 20, 30), filters["bilinear"]))
expected["letterbox/90x40"] = np.asarray(boxed(source, 90, 40, (10, 20, 30), filters["bilinear"]))
expected["bgr/16x16"] = normalized(source.resize((16, 16), filters["bilinear"]), [0] * 3, [1] * 3)[None, ..., ::-1].copy()

# Changes.
pixels = np.asarray(source).astype(np.float64)
expected["rotate/20"] = np.asarray(source.rotate(20, filters["bilinear"]))
for factor in [0, 0.5, 1.7]:
    expected[f"saturate/{factor}"] = np.asarray(ImageEnhance.Color(source).enhance(factor))
for stops in [-1.5, 0.5]:
    expected[f"expose/{stops}"] = np.clip(pixels * 2 ** (stops / 2.2), 0, 255).round().astype(np.uint8)
for degrees in [40, -120]:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    matrix = (
        np.array([[0.213, 0.715, 0.072]] * 3)
        + c * np.array([[0.787, -0.715, -0.072], [-0.213, 0.285, -0.072], [-0.213, -0.715, 0.928]])
        + s * np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
    )
    expected[f"hue/{degrees}"] = np.clip(pixels @ matrix.T, 0, 255).round().astype(np.uint8)
for sigma in [0.7, 2.5]:
    reach = int(np.ceil(3 * sigma))
    kernel = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma**2))
    kernel /= kernel.sum()
    blurred = pixels
    for axis in (1, 0):
        padding = [(reach, reach) if a == axis else (0, 0) for a in range(3)]
        padded = np.pad(blurred, padding, mode="edge")
        blurred = sum(
            weight * np.take(padded, range(offset, offset + pixels.shape[axis]), axis)
            for offset, weight in enumerate(kernel)
        )
    expected[f"blur/{sigma}"] = blurred.round().astype(np.uint8)

# A safetensors file, the float tensors first so that all are aligned.
header, data = {}, b""
for name, array in sorted(expected.items(), key=lambda item: item[1].dtype.itemsize, reverse=True):
    array = np.ascontiguousarray(array)
    kind = {"uint8": "U8", "float32": "F32"}[str(array.dtype)]
    header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
    data += array.tobytes()
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
(folder / "expected.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
