"""Makes full-size networks with seeded random weights, and what ONNX Runtime computes with them.

usage: make_full_size.py TOOLS FOLDER NAME...

TOOLS is the folder with structure.py, which fills the weights in. FOLDER gets NAME.onnx,
NAME.inputs.safetensors and NAME.outputs.safetensors, for a batch of one.
"""
import sys
from pathlib import Path

import onnx
from safetensors.numpy import save_file

from run_models import run

SAMPLE_COUNT = 16000  # One second.


def open_length(model):
    """The export of wav2vec2 declares 10 s (160000 samples, 499 frames), but no node depends on it."""
    for value in [*model.graph.input, *model.graph.output]:
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_value in (160000, 499):
                dimension.dim_param = {160000: "samples", 499: "frames"}[dimension.dim_value]


def make(name, structure, folder):
    model, inputs, outputs = (
        folder / f"{name}.{kind}" for kind in ("onnx", "inputs.safetensors", "outputs.safetensors"))
    graph = structure.fill(name)
    is_audio = name.startswith("wav2vec2")
    if is_audio:
        open_length(graph)
    onnx.save(graph, model)
    save_file({"input": structure.tone(SAMPLE_COUNT) if is_audio else structure.picture()}, inputs)
    partial = outputs.with_suffix(".partial")
    save_file(run(model, inputs), partial)
    partial.rename(outputs)  # Last: it stands for all three.


def main():
    tools, folder, *names = sys.argv[1:]
    sys.path.append(tools)
    import structure
    for name in names:
        print(f"Making {name}", flush=True)
        make(name, structure, Path(folder))


if __name__ == "__main__":
    main()
