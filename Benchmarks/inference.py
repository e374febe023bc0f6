"""Inference of one model in Graft and in ONNX Runtime."""
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from environment import GRAFT, PEERS, full_size, inference_python, minilm_int8
from pairing import Block, Effort, Row, alternate
from processes import run

PEER = "ONNX Runtime"


@dataclass(frozen=True)
class Inference:
    """One model with its inputs' shapes; `output` alone is computed, or all outputs if None."""

    name: str
    model: Callable[[], Path]
    shapes: dict[str, tuple[int, ...]]
    output: str | None = None
    is_light: bool = True

    def options(self, threads: int, runs: int, warmup: int) -> list[str]:
        """What `graft bench` and peers/run_onnxruntime.py understand alike."""
        words = ["--threads", str(threads), "--runs", str(runs), "--warmup", str(warmup)]
        for name, shape in self.shapes.items():
            words += ["--shape", f"{name}={','.join(map(str, shape))}"]
        return words + (["--output", self.output] if self.output else [])


def picture(name: str) -> Inference:
    return Inference(
        f"{name}, 1 x 3 x 224 x 224", lambda: full_size(name), {"input": (1, 3, 224, 224)})


def audio(seconds: int) -> Inference:
    """wav2vec2-base on a recording of some seconds at 16 kHz; the hidden states do not count."""
    return Inference(
        f"wav2vec2_base, {seconds} s of audio", lambda: full_size("wav2vec2_base"),
        {"input": (1, 16000 * seconds)}, "output", is_light=False)


def text(length: int) -> Inference:
    names = ("input_ids", "attention_mask", "token_type_ids")
    return Inference(
        f"minilm_int8, {length} tokens", minilm_int8, {name: (1, length) for name in names})


WORKLOADS = [
    picture("mobilenet_v2"), picture("squeezenet1_1"), picture("resnet50"), audio(10), text(128)]


def graft_block(workload: Inference, threads: int, runs: int, warmup: int) -> Block:
    done = run([GRAFT, "bench", workload.model(), "--json",
                *workload.options(threads, runs, warmup)])
    report = json.loads(done.output)
    return Block(report["min_ms"], report["median_ms"], runs, done.peak_mb)


def peer_block(workload: Inference, threads: int, runs: int, warmup: int) -> Block:
    done = run([inference_python(), PEERS / "run_onnxruntime.py", workload.model(),
                *workload.options(threads, runs, warmup)])
    report = json.loads(done.output)
    return Block.of(report["times_ms"], done.peak_mb, baseline_mb=report["baseline_mb"])


def measure(workload: Inference, threads: int, rounds: int, runs: int) -> Row:
    warmup = 2 if workload.is_light else 1
    return alternate(
        Row(workload.name, threads, PEER), rounds,
        lambda: graft_block(workload, threads, runs, warmup),
        lambda: peer_block(workload, threads, runs, warmup))


def rows(effort: Effort, threads: list[int]) -> list[Row]:
    return [measure(each, count, effort.rounds, effort.light_runs if each.is_light else effort.runs)
            for each in WORKLOADS for count in threads]
