"""Makes the golden files of heads on feature matrices with scikit-learn.

usage: make.py     (needs numpy, safetensors and scikit-learn; writes beside itself)

NAME.safetensors holds x [N, D], y [N], test [M, D] and what scikit-learn makes of them:
  logistic.C.SCALING.weight|bias|scores     LogisticRegression(C), tol 1e-10
  ridge.ALPHA.weight|bias                   Ridge(alpha) on one-hot targets, standardised
  neighbors.K.WEIGHTS.METRIC.scores         KNeighborsClassifier, brute force
  mean.classes                              NearestCentroid, Euclidean
Weights are for the features as they are: a scaler's means and deviations are folded in.
"""
import json
from pathlib import Path

import numpy
import sklearn
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.preprocessing import StandardScaler


def blobs(seed, count, dimension, classes, spread):
    random = numpy.random.default_rng(seed)
    centres = random.normal(size=(classes, dimension)) * spread
    scales = numpy.exp(random.normal(size=dimension))
    labels = numpy.arange(count) % classes
    x = (centres[labels] + random.normal(size=(count, dimension))) * scales + 3 * scales
    return x.astype(numpy.float32), labels.astype(numpy.int64)


def folded(weight, bias, scaler):
    weight = weight / scaler.scale_
    return weight, bias - weight @ scaler.mean_


def logistic(x, y, test, c, scaled):
    scaler = StandardScaler(with_mean=scaled, with_std=scaled).fit(x)
    scaler.mean_ = scaler.mean_ if scaled else numpy.zeros(x.shape[1])
    scaler.scale_ = scaler.scale_ if scaled else numpy.ones(x.shape[1])
    model = LogisticRegression(C=c, tol=1e-10, max_iter=100000).fit(scaler.transform(x), y)
    weight, bias = folded(model.coef_, model.intercept_, scaler)
    return {"weight": weight, "bias": bias, "scores": model.predict_proba(scaler.transform(test))}


def goldens(x, y, test):
    wide, wide_test = x.astype(numpy.float64), test.astype(numpy.float64)
    result = {"x": x, "y": y, "test": test}
    for c in (0.1, 10.0):
        for scaling in ("standard", "none"):
            made = logistic(wide, y, wide_test, c, scaling == "standard")
            for name, value in made.items():
                result[f"logistic.{c}.{scaling}.{name}"] = value
    scaler = StandardScaler().fit(wide)
    targets = numpy.eye(y.max() + 1)[y]
    for alpha in (0.5, 20.0):
        ridge = Ridge(alpha=alpha, solver="svd").fit(scaler.transform(wide), targets)
        weight, bias = folded(ridge.coef_, ridge.intercept_, scaler)
        result[f"ridge.{alpha}.weight"] = weight
        result[f"ridge.{alpha}.bias"] = bias
    for k in (1, 3, 5):
        for weights in ("uniform", "distance"):
            for metric in ("euclidean", "cosine"):
                model = KNeighborsClassifier(k, weights=weights, metric=metric, algorithm="brute")
                scores = model.fit(wide, y).predict_proba(wide_test)
                result[f"neighbors.{k}.{weights}.{metric}.scores"] = scores
    result["mean.classes"] = NearestCentroid().fit(wide, y).predict(wide_test)
    return result


def write(name, tensors):
    folder = Path(__file__).parent
    save_file({k: numpy.ascontiguousarray(v) for k, v in tensors.items()},
              folder / f"{name}.safetensors")
    manifest = {"scikit-learn": sklearn.__version__, "numpy": numpy.__version__}
    (folder / f"{name}.json").write_text(json.dumps(manifest, indent=1) + "\n")


def main():
    for name, seed, count, dimension, classes, spread in (
            ("tall", 1, 60, 6, 3, 0.7), ("wide", 2, 15, 40, 3, 0.5), ("binary", 3, 40, 5, 2, 0.6)):
        x, y = blobs(seed, count, dimension, classes, spread)
        held, _ = blobs(seed, count + 9, dimension, classes, spread)
        # Some of the test rows are training rows, at distance 0.
        test = numpy.concatenate([held[count:], x[:2]])
        write(name, goldens(x, y, test))


if __name__ == "__main__":
    main()
