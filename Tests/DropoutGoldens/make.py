"""What PyTorch's dropout makes of ones, for DropoutTests.swift.

Made with PyTorch 2.13.0 (CPU): python3 make.py. Writes dropout.json beside this file.
"""
import json, pathlib
import torch

cases = []
for ratio in (0.1, 0.3, 0.5, 0.9):
    torch.manual_seed(1)
    x = torch.ones(1000, 1000, requires_grad=True)
    y = torch.nn.functional.dropout(x, ratio, training=True)
    y.sum().backward()
    kept = y != 0
    assert torch.equal(x.grad, y.detach()) and y[kept].unique().numel() == 1
    cases.append({
        "ratio": ratio,
        "kept_value": y[kept][0].item(),
        "kept_share": kept.double().mean().item(),
        "mean": y.double().mean().item(),
        "standard_deviation": y.double().std().item(),
    })
path = pathlib.Path(__file__).with_name("dropout.json")
path.write_text(json.dumps({"torch": torch.__version__, "cases": cases}, indent=1) + "\n")
