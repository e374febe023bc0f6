"""A full training step in Graft and in PyTorch: all parameters, cross entropy, SGD, eight pictures.

Both train the same ONNX file (batch normalization is folded into the convolutions) on the same pictures,
so their losses are compared too.
"""
import json
from pathlib import Path

from environment import FOLDER, GRAFT, PEERS, full_size, made, torch_python
from pairing import Block, Effort, Row, alternate
from processes import run

PEER = "PyTorch"
NETWORKS = ["mobilenet_v2", "squeezenet1_1", "resnet50"]
BATCH_SIZE, SIZE = 8, 224
LEARNING_RATE = "0.001"


def pictures() -> Path:
    return made(f"pictures-{BATCH_SIZE}x{SIZE}.safetensors", "pictures", "FILE", BATCH_SIZE, SIZE)


def graft_block(network: str, threads: int, runs: int) -> Block:
    """Steps of `graft train`; the first, which also opens the model, does not count."""
    log = FOLDER / "log.jsonl"
    done = run([GRAFT, "train", full_size(network), "--examples", pictures(), "--trainable", ".*",
                "--loss", "cross-entropy", "--optimizer", "sgd", "--learning-rate", LEARNING_RATE,
                "--batch-size", str(BATCH_SIZE), "--steps", str(runs + 1),
                "--threads", str(threads), "--log", log], log)
    losses = [float(json.loads(line)["loss"]) for line in log.read_text().splitlines()]
    ends = done.line_seconds
    steps = [(end - start) * 1e3 for start, end in zip(ends, ends[1:])]
    return Block.of(steps, done.peak_mb, losses=losses)


def peer_block(network: str, threads: int, runs: int) -> Block:
    done = run([torch_python(), PEERS / "train_torch.py", full_size(network), pictures(),
                "--threads", str(threads), "--runs", str(runs), "--warmup", "1",
                "--learning-rate", LEARNING_RATE])
    report = json.loads(done.output)
    return Block.of(report["times_ms"], done.peak_mb, baseline_mb=report["baseline_mb"],
                    losses=report["losses"])


def measure(network: str, threads: int, effort: Effort) -> Row:
    return alternate(
        Row(f"{network}, {BATCH_SIZE} pictures", threads, PEER), effort.rounds,
        lambda: graft_block(network, threads, effort.runs),
        lambda: peer_block(network, threads, effort.runs))


def rows(effort: Effort, threads: list[int]) -> list[Row]:
    return [measure(network, count, effort) for network in NETWORKS for count in threads]
