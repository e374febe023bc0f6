"""Inference of TensorFlow Lite models in Graft and in LiteRT."""
import json
from pathlib import Path

from environment import GRAFT, PEERS, litert_python, shared_tflite
from pairing import Block, Effort, Row, alternate
from processes import run

PEER = "LiteRT"
# Smaller files finish before the time can be told from that of a call.
SMALLEST_BYTE_COUNT = 1_000_000
# Its first operator cannot be prepared by anyone.
LEFT_OUT = {"model_invoking_error"}


def options(model: Path, threads: int, runs: int, warmup: int) -> list[str | Path]:
    return [model, "--threads", str(threads), "--runs", str(runs), "--warmup", str(warmup)]


def graft_block(model: Path, threads: int, runs: int, warmup: int) -> Block:
    done = run([GRAFT, "bench", "--json", *options(model, threads, runs, warmup)])
    report = json.loads(done.output)
    return Block(report["min_ms"], report["median_ms"], runs, done.peak_mb)


def peer_block(model: Path, threads: int, runs: int, warmup: int) -> Block:
    done = run([litert_python(), PEERS / "run_litert.py", *options(model, threads, runs, warmup)])
    report = json.loads(done.output)
    return Block.of(report["times_ms"], done.peak_mb, baseline_mb=report["baseline_mb"])


def rows(effort: Effort, threads: list[int]) -> list[Row]:
    models = [path for path in sorted(shared_tflite().glob("*.tflite"))
              if path.stem not in LEFT_OUT and path.stat().st_size > SMALLEST_BYTE_COUNT]
    return [measure(model, count, effort) for model in models for count in threads]


def measure(model: Path, threads: int, effort: Effort) -> Row:
    arguments = (model, threads, effort.light_runs, 3)
    return alternate(Row(model.stem, threads, PEER), effort.rounds,
                     lambda: graft_block(*arguments), lambda: peer_block(*arguments))
