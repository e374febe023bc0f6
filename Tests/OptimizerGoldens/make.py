#!/usr/bin/env python3
"""Makes the values that optimizers, schedules and losses are compared with, in this folder:
optimizers.json/.safetensors, schedules.json, losses.json/.safetensors.

Made with PyTorch 2.13.0 (CPU), numpy and safetensors: python3 make.py

Everything is computed in double precision; settings are single-precision numbers, as Graft takes
them. The manifests describe optimizers and schedules in the form that Graft's own types decode.
"""
import json
import os

import numpy
import torch
from safetensors.numpy import save_file

FOLDER = os.path.dirname(os.path.abspath(__file__))
STEPS = 12
torch.manual_seed(5)
torch.set_default_dtype(torch.float64)


def single(value):
    """The double that a single-precision number is."""
    return float(numpy.float32(value))


def write(name, manifest, tensors=None):
    with open(os.path.join(FOLDER, name + ".json"), "w") as file:
        json.dump(manifest, file, indent=1, sort_keys=True)
        file.write("\n")
    if tensors is not None:
        arrays = {k: numpy.array(v.detach().numpy(), order="C") for k, v in tensors.items()}
        save_file(arrays, os.path.join(FOLDER, name + ".safetensors"))


# Optimizers


def sgd(momentum=0.0, dampening=0.0, nesterov=False):
    method = {"sgd": dict(momentum=momentum, dampening=dampening, nesterov=nesterov)}
    return method, torch.optim.SGD, dict(
        momentum=single(momentum), dampening=single(dampening), nesterov=nesterov)


def adam(beta1=0.9, beta2=0.999, epsilon=1e-8):
    method = {"adam": dict(beta1=beta1, beta2=beta2, epsilon=epsilon)}
    return method, torch.optim.Adam, dict(
        betas=(single(beta1), single(beta2)), eps=single(epsilon))


def adamw(beta1=0.9, beta2=0.999, epsilon=1e-8):
    method, _, options = adam(beta1, beta2, epsilon)
    return {"adamW": dict(method["adam"], form="pyTorch")}, torch.optim.AdamW, options


def rmsprop(alpha=0.99, epsilon=1e-8, momentum=0.0, centered=False):
    method = {"rmsProp": dict(alpha=alpha, epsilon=epsilon, momentum=momentum, centered=centered)}
    return method, torch.optim.RMSprop, dict(
        alpha=single(alpha), eps=single(epsilon), momentum=single(momentum), centered=centered)


def adagrad(rate_decay=0.0, initial=0.0, epsilon=1e-10):
    method = {
        "adagrad": dict(rateDecay=rate_decay, initialAccumulator=initial, epsilon=epsilon)}
    return method, torch.optim.Adagrad, dict(
        lr_decay=single(rate_decay), initial_accumulator_value=single(initial),
        eps=single(epsilon))


BIAS_GROUP = [dict(parameters=["b"], learningRateFactor=0.25, weightDecay=0.0)]
RATE_GROUP = [dict(parameters=["w"], learningRateFactor=0.1)]

OPTIMIZERS = {
    "sgd": (sgd(), {}),
    "sgd, weight decay": (sgd(), dict(decay=0.1)),
    "sgd, L1": (sgd(), dict(l1=0.05)),
    "sgd, L1 and weight decay": (sgd(), dict(l1=0.05, decay=0.1)),
    "sgd, momentum": (sgd(0.9), {}),
    "sgd, momentum, dampening, weight decay": (sgd(0.9, 0.3), dict(decay=0.1)),
    "sgd, Nesterov": (sgd(0.9, 0.0, True), {}),
    "sgd, Nesterov, weight decay": (sgd(0.8, 0.0, True), dict(decay=0.1)),
    "sgd, clipped by norm": (sgd(), dict(clip_norm=2.0)),
    "sgd, clipped by value": (sgd(), dict(clip_value=0.5)),
    "sgd, clipped by value and norm": (sgd(0.9), dict(clip_value=1.0, clip_norm=2.0)),
    "sgd, momentum, groups": (sgd(0.9), dict(decay=0.1, groups=BIAS_GROUP)),
    "adam": (adam(), dict(rate=0.001)),
    "adam, options": (adam(0.8, 0.9, 1e-3), dict(decay=0.1)),
    "adam, clipped, L1": (adam(), dict(clip_norm=2.0, l1=0.05)),
    "adam, groups": (adam(), dict(decay=0.1, groups=BIAS_GROUP)),
    "adamw": (adamw(), dict(rate=0.001, decay=0.01)),
    "adamw, options": (adamw(0.8, 0.9, 1e-3), dict(decay=0.5)),
    "adamw, groups": (adamw(), dict(decay=0.5, groups=BIAS_GROUP)),
    "rmsprop": (rmsprop(), {}),
    "rmsprop, options": (rmsprop(0.9, 1e-3), dict(decay=0.1)),
    "rmsprop, momentum": (rmsprop(momentum=0.9), {}),
    "rmsprop, centered": (rmsprop(0.9, centered=True), {}),
    "rmsprop, centered, momentum, weight decay": (
        rmsprop(0.9, 1e-4, 0.5, True), dict(decay=0.1)),
    "rmsprop, groups": (rmsprop(momentum=0.9), dict(groups=RATE_GROUP)),
    "adagrad": (adagrad(), {}),
    "adagrad, options": (adagrad(0.1, 0.5, 1e-6), dict(decay=0.1)),
    "adagrad, groups": (adagrad(), dict(decay=0.1, groups=BIAS_GROUP)),
}


def clip(parameters, value, norm):
    """By value, then by norm: without the 1e-6 that clip_grad_norm_ adds to the norm."""
    if value is not None:
        torch.nn.utils.clip_grad_value_(parameters, single(value))
    if norm is not None:
        total = torch.cat([p.grad.reshape(-1) for p in parameters]).norm()
        expected = [p.grad * min(1.0, single(norm) / float(total)) for p in parameters]
        torch.nn.utils.clip_grad_norm_(parameters, single(norm))
        for parameter, gradient in zip(parameters, expected):
            torch.testing.assert_close(parameter.grad, gradient, rtol=2e-6, atol=0)
            parameter.grad = gradient


def run(case, start, gradients, factors):
    (method, optimizer_class, options), settings = case
    rate = settings.get("rate", 0.01)
    decay = settings.get("decay", 0.0)
    groups = settings.get("groups", [])
    parameters = {name: value.clone().requires_grad_() for name, value in start.items()}
    table = []
    for name, parameter in parameters.items():
        group = next((g for g in groups if name in g["parameters"]), {})
        table.append(dict(
            params=[parameter], weight_decay=single(group.get("weightDecay", decay)),
            factor=numpy.float32(group.get("learningRateFactor", 1.0))))
    optimizer = optimizer_class(table, lr=single(rate), **options)
    results = {name: [] for name in parameters}
    rates = [float(numpy.float32(rate) * numpy.float32(factor)) for factor in factors]
    for step in range(STEPS):
        for name, parameter in parameters.items():
            parameter.grad = gradients[name][step].clone()
        clip(list(parameters.values()), settings.get("clip_value"), settings.get("clip_norm"))
        for parameter in parameters.values():
            parameter.grad += single(settings.get("l1", 0.0)) * parameter.detach().sign()
        for group in optimizer.param_groups:
            group["lr"] = float(numpy.float32(rates[step]) * group["factor"])
        optimizer.step()
        for name, parameter in parameters.items():
            results[name].append(parameter.detach().clone())
    manifest = dict(
        optimizer=dict(
            method=method, learningRate=rate, weightDecay=decay, l1=settings.get("l1", 0.0)),
        groups=groups, rates=rates)
    for key in ("clip_norm", "clip_value"):
        if key in settings:
            manifest[key] = settings[key]
    return manifest, {name: torch.stack(values) for name, values in results.items()}


def make_optimizers():
    shapes = {"w": (3, 4), "b": (5,)}
    start = {name: torch.randn(shape) for name, shape in shapes.items()}
    start["b"][2] = 0
    gradients = {name: torch.randn((STEPS,) + shape) for name, shape in shapes.items()}
    # An element without a gradient, and steps of very different size.
    gradients["w"][:, 1, 2] = 0
    gradients["w"][3] *= 100
    gradients["b"][4] *= 1e-3
    factors = [1.0] * 4 + [0.5] * 4 + [0.1] * 4
    tensors = {}
    for name in shapes:
        tensors["start/" + name] = start[name]
        tensors["gradients/" + name] = gradients[name]
    both = torch.cat([gradients[name].reshape(STEPS, -1) for name in shapes], dim=1)
    tensors["norms"] = both.norm(dim=1)
    cases = []
    for title, case in OPTIMIZERS.items():
        manifest, results = run(case, start, gradients, factors)
        cases.append(dict(manifest, name=title))
        for name, values in results.items():
            tensors[f"{title}/{name}"] = values
    write("optimizers", dict(cases=cases, torch=torch.__version__), tensors)


# Schedules

RATE = 0.1


def schedule_cases():
    s = torch.optim.lr_scheduler

    def warm_up(optimizer, steps, following):
        # LinearLR needs one iteration at least; a warm-up of n updates ends at the whole rate.
        first = s.LinearLR(optimizer, 1 / steps, 1.0, max(1, steps - 1))
        return s.SequentialLR(optimizer, [first, following(optimizer)], [steps])

    return {
        "constant": ({"constant": {}}, lambda o: s.ConstantLR(o, 1.0, 1)),
        "step": ({"step": dict(every=4, factor=0.3)}, lambda o: s.StepLR(o, 4, 0.3)),
        "multi-step": (
            {"multiStep": dict(after=[3, 4, 17], factor=0.5)},
            lambda o: s.MultiStepLR(o, [3, 4, 17], 0.5)),
        "exponential": ({"exponential": dict(factor=0.9)}, lambda o: s.ExponentialLR(o, 0.9)),
        "growing": ({"exponential": dict(factor=1.1)}, lambda o: s.ExponentialLR(o, 1.1)),
        "cosine": (
            {"cosine": dict(steps=29, minimum=0.0)}, lambda o: s.CosineAnnealingLR(o, 29)),
        "cosine with minimum": (
            {"cosine": dict(steps=29, minimum=0.2)},
            lambda o: s.CosineAnnealingLR(o, 29, 0.2 * RATE)),
        "linear": (
            {"linear": dict(steps=20, minimum=0.0)}, lambda o: s.LinearLR(o, 1.0, 0.0, 20)),
        "linear with minimum": (
            {"linear": dict(steps=13, minimum=0.25)}, lambda o: s.LinearLR(o, 1.0, 0.25, 13)),
        "warm-up": (
            {"linearWarmUp": {"steps": 5, "then": {"constant": {}}}},
            lambda o: warm_up(o, 5, lambda o: s.ConstantLR(o, 1.0, 1))),
        "warm-up, linear": (
            {"linearWarmUp": {"steps": 6, "then": {"linear": dict(steps=24, minimum=0.0)}}},
            lambda o: warm_up(o, 6, lambda o: s.LinearLR(o, 1.0, 0.0, 24))),
        "warm-up, cosine": (
            {"linearWarmUp": {"steps": 7, "then": {"cosine": dict(steps=23, minimum=0.1)}}},
            lambda o: warm_up(o, 7, lambda o: s.CosineAnnealingLR(o, 23, 0.1 * RATE))),
        "warm-up, step": (
            {"linearWarmUp": {"steps": 4, "then": {"step": dict(every=5, factor=0.5)}}},
            lambda o: warm_up(o, 4, lambda o: s.StepLR(o, 5, 0.5))),
    }


PLATEAUS = {
    "default": dict(factor=0.1, patience=10, threshold=1e-4, minimum=0.0),
    "impatient": dict(factor=0.5, patience=0, threshold=0.0, minimum=0.0),
    "patient": dict(factor=0.5, patience=2, threshold=0.05, minimum=0.1),
}


def make_schedules():
    cases = []
    for name, (description, make) in schedule_cases().items():
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=RATE)
        scheduler = make(optimizer)
        rates = []
        for _ in range(30):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        cases.append(dict(name=name, schedule=description, rates=rates))
    plateaus = []
    generator = numpy.random.default_rng(3)
    losses = [float(x) for x in 1 / numpy.arange(1, 41) ** 0.3 + 0.1 * generator.random(40)]
    losses[20:] = [0.6 + 0.001 * (i % 3) for i in range(20)]
    for name, options in PLATEAUS.items():
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=RATE)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, factor=options["factor"], patience=options["patience"],
            threshold=options["threshold"], min_lr=options["minimum"] * RATE, eps=0)
        rates = []
        for loss in losses:
            scheduler.step(loss)
            rates.append(optimizer.param_groups[0]["lr"])
        plateaus.append(dict(
            name=name, schedule={"reduceOnPlateau": options}, losses=losses, rates=rates))
    write("schedules", dict(
        rate=RATE, cases=cases, plateaus=plateaus, torch=torch.__version__))


# Losses

WEIGHTS = [0.5, 2.0, 1.25]
CROSS_ENTROPIES = {
    "smoothing": dict(labelSmoothing=0.1),
    "smoothing, weights": dict(labelSmoothing=0.2, classWeights=WEIGHTS),
    "smoothing, ignored": dict(labelSmoothing=0.1, ignoreIndex=2),
    "smoothing, ignored outside the classes": dict(labelSmoothing=0.1, ignoreIndex=-1),
    "smoothing, weights, ignored": dict(
        labelSmoothing=0.3, classWeights=WEIGHTS, ignoreIndex=-100),
    "only smoothing": dict(labelSmoothing=1.0, classWeights=WEIGHTS),
    "no smoothing, weights, ignored": dict(
        labelSmoothing=0.0, classWeights=WEIGHTS, ignoreIndex=0),
}


def make_losses():
    tensors, cases = {}, []
    logits = {"matrix": 2 * torch.randn(6, 3), "picture": 2 * torch.randn(2, 3, 2, 3)}
    for shape, scores in logits.items():
        classes = torch.randint(0, 3, scores[:, 0].shape)
        tensors[f"{shape}/logits"] = scores
        for name, options in CROSS_ENTROPIES.items():
            targets = classes.clone()
            ignored = options.get("ignoreIndex", -100)
            targets.reshape(-1)[1] = ignored if "ignoreIndex" in options else 1
            weights = options.get("classWeights")
            x = scores.clone().requires_grad_()
            loss = torch.nn.functional.cross_entropy(
                x, targets, None if weights is None else torch.tensor(weights),
                ignore_index=ignored, label_smoothing=single(options["labelSmoothing"]))
            loss.backward()
            title = f"{name}, {shape}"
            tensors[f"{title}/target"] = targets
            tensors[f"{title}/loss"] = loss
            tensors[f"{title}/gradient"] = x.grad
            cases.append(dict(options, name=title, logits=shape))
    make_mixed(tensors)
    make_custom(tensors)
    write("losses", dict(cases=cases, torch=torch.__version__), tensors)


def make_mixed(tensors):
    """Two outputs on one layer, each with targets of its own, and a third loss without."""
    x, w1 = torch.randn(4, 2), torch.randn(2, 5)
    w2, w3 = torch.randn(5, 3), torch.randn(5, 1)
    classes, ages = torch.tensor([2, 0, 1, 2]), torch.randn(4)
    shares = torch.tensor([1.0, 0.5, 2.0, 0.0])
    parameters = [w.requires_grad_() for w in (w1, w2, w3)]
    hidden = torch.tanh(x @ w1)
    loss = (
        torch.nn.functional.cross_entropy(hidden @ w2, classes)
        + 0.5 * torch.nn.functional.mse_loss((hidden @ w3)[:, 0], ages)
        + 0.25 * (shares * (hidden ** 2).mean(1)).mean())
    loss.backward()
    tensors.update({
        "mixed/x": x, "mixed/classes": classes, "mixed/ages": ages, "mixed/shares": shares,
        "mixed/loss": loss})
    for name, parameter in zip(("w1", "w2", "w3"), parameters):
        tensors[f"mixed/{name}"] = parameter
        tensors[f"mixed/gradient/{name}"] = parameter.grad


def make_custom(tensors):
    """Losses that PyTorch has and Graft has not: written as formulas there."""
    functional = torch.nn.functional
    y, t = 2 * torch.randn(5, 4), torch.randn(5, 4)
    tensors["custom/output"], tensors["custom/target"] = y, t
    positive = t.abs() / t.abs().sum(1, keepdim=True)
    tensors["custom/distribution"] = positive
    losses = {
        "huber": lambda y: functional.huber_loss(y, t, delta=0.75),
        "smooth": lambda y: functional.smooth_l1_loss(y, t, beta=0.5),
        "divergence": lambda y: functional.kl_div(
            functional.log_softmax(y, 1), positive, reduction="batchmean"),
        "cosine": lambda y: (1 - functional.cosine_similarity(y, t, dim=1)).mean(),
        "poisson": lambda y: functional.poisson_nll_loss(y, positive),
        "margin": lambda y: functional.soft_margin_loss(y, t.sign()),
    }
    for name, function in losses.items():
        x = y.clone().requires_grad_()
        loss = function(x)
        loss.backward()
        tensors[f"custom/{name}/loss"] = loss
        tensors[f"custom/{name}/gradient"] = x.grad


make_optimizers()
make_schedules()
make_losses()
