"""Evaluates Core ML models, so that tests can compare.

usage: run_coreml.py DIR TOOLS

Every folder at or below DIR with `model.mlmodel` or `model.mlpackage` and `inputs.safetensors` gets
`outputs.safetensors` or, where the model fails, `error.txt`. coremltools parses each file, and checks the
types and arguments of a program's operations; coreml_ref.py and coreml_mil.py of the folder TOOLS compute
in float64. Probabilities by class become a vector in the order of the classes. A folder with
`train.safetensors` (inputs, and `target`) gets the losses of its batches of 8, as `loss`.
"""
import math
import sys
import traceback
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path.insert(0, sys.argv[2])
import coreml_mil
import coreml_ref


def windows(x, kernel_sizes, strides, pad, fill):
    (kh, kw), (sh, sw) = kernel_sizes, strides
    x = np.pad(x, ((0, 0), (0, 0), (pad[0], pad[1]), (pad[2], pad[3])), constant_values=fill)
    h, w = (x.shape[2] - kh) // sh + 1, (x.shape[3] - kw) // sw + 1
    return np.stack([
        x[:, :, i:i + sh * (h - 1) + 1:sh, j:j + sw * (w - 1) + 1:sw]
        for i in range(kh) for j in range(kw)])


def max_pool(x, kernel_sizes, strides, pad_type, pad, ceil_mode):
    return windows(x, kernel_sizes, strides, pad, -np.inf).max(0)


def avg_pool(x, kernel_sizes, strides, pad_type, pad, exclude_padding_from_average, ceil_mode):
    sums = windows(x, kernel_sizes, strides, pad, 0).sum(0)
    if not exclude_padding_from_average:
        return sums / np.prod(kernel_sizes)
    return sums / windows(np.ones_like(x), kernel_sizes, strides, pad, 0).sum(0)


# Operations that coreml_mil.py does not have, from the documentation of coremltools.
MORE = {
    "max_pool": max_pool, "avg_pool": avg_pool,
    "abs": lambda x: np.abs(x), "erf": lambda x: np.vectorize(math.erf)(x),
    "leaky_relu": lambda x, alpha: np.where(x >= 0, x, alpha * x),
    "elu": lambda x, alpha: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "sigmoid_hard": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    "softplus": lambda x: np.logaddexp(0, x), "softsign": lambda x: x / (1 + np.abs(x)),
    "instance_norm": lambda x, gamma, beta, epsilon: coreml_mil.batch_norm(
        (x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + epsilon),
        np.zeros(x.shape[1]), np.ones(x.shape[1]), gamma, beta, 0),
    "gather": lambda x, indices, axis: np.take(x, np.asarray(indices, int), int(axis)),
    "tile": lambda x, reps: np.tile(x, [int(n) for n in reps]),
    "select": lambda cond, a, b: np.where(cond, a, b),
}
for name, function in MORE.items():
    coreml_mil.OPS.setdefault(name, function)


def plain(outputs):
    """Arrays, and dictionaries as vectors; labels are left out."""
    result = {}
    for name, value in outputs.items():
        if isinstance(value, dict):
            value = list(value.values())
        if not isinstance(value, (str, int)):
            result[name] = np.array(value, np.float32, order="C")
    return result


def check_program(spec, package):
    from coremltools.converters.mil.frontend.milproto.load import load
    load(spec, specification_version=spec.specificationVersion, file_weights_dir=str(
        package / "Data" / "com.apple.CoreML" / "weights"))


def with_five_axes(spec, inputs):
    """Older networks take [sequence, batch, channels, height, width]."""
    network = coreml_ref.network(spec)
    if network is None and spec.WhichOneof("Type") == "pipelineClassifier":
        network = coreml_ref.network(spec.pipelineClassifier.pipeline.models[0])
    if network is None or network.arrayInputShapeMapping == 1:
        return inputs
    images = {f.name for f in spec.description.input if f.type.WhichOneof("Type") == "imageType"}
    return {
        name: value if name in images
        else value.reshape((1,) + value.shape + (1,) * (4 - value.ndim))
        for name, value in inputs.items()}


def losses(spec, data):
    trainer = coreml_ref.Trainer(spec)
    target = data.pop("target")
    result = []
    for start in range(0, len(target) - 7, 8):
        feeds = {name: value[start:start + 8] for name, value in data.items()}
        loss, _ = trainer.step(feeds, target[start:start + 8])
        result.append(loss)
    return np.array(result, np.float32)


def run(case):
    import coremltools
    inputs = load_file(case / "inputs.safetensors")
    package = case / "model.mlpackage"
    if package.exists():
        coremltools.models.MLModel(str(package), skip_model_load=True)
        spec, _ = coreml_mil.spec_and_weights(str(package))
        check_program(spec, package)
        return plain(coreml_mil.run(str(package), inputs))
    spec = coremltools.utils.load_spec(str(case / "model.mlmodel"))
    outputs = plain(coreml_ref.predict(spec, with_five_axes(spec, inputs)))
    train = case / "train.safetensors"
    if train.exists():
        outputs["loss"] = losses(spec, load_file(train))
    return outputs


def main():
    cases = sorted(path.parent for path in Path(sys.argv[1]).rglob("inputs.safetensors"))
    if not cases:
        sys.exit(f"no folder with a model and inputs.safetensors in {sys.argv[1]}")
    for case in cases:
        outputs, error = case / "outputs.safetensors", case / "error.txt"
        outputs.unlink(missing_ok=True)
        error.unlink(missing_ok=True)
        try:
            save_file(run(case), outputs)
        except Exception:
            error.write_text(traceback.format_exc())


if __name__ == "__main__":
    main()
