"""The voice tutorial's training: wav2vec2-base, whose last layer learns one speaker.

Five recordings of 10 s against twenty others: 3 epochs of 5 steps, each with one own recording and one of the
others, which are shuffled in every epoch; AdamW. ONNX Runtime runs the whole network in every step. Graft
computes the features below the last layer once for each recording that is drawn, then trains on them.
"""
import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from environment import FOLDER, GRAFT, PEERS, full_size, made, training_python
from pairing import Block, Effort, Row, alternate, attempt
from processes import run

PEER = "ONNX Runtime training"
OWN_COUNT, OTHER_COUNT, EPOCHS, SECONDS = 5, 20, 3, 10
STEP_COUNT, BATCH_SIZE = EPOCHS * OWN_COUNT, 2
# Steps, from the second on, whose recordings have not been seen before: nothing of them is kept.
FRESH_STEP_COUNT = OWN_COUNT
TRAINED = ["classifier.weight", "classifier.bias"]
# The option of `graft train` that names a folder of features kept from earlier trainings.
FEATURE_OPTION = "--feature-cache"


def recordings() -> Path:
    numbers = (OWN_COUNT, OTHER_COUNT, EPOCHS, SECONDS)
    return made(f"recordings-{'-'.join(map(str, numbers))}.safetensors", "recordings", "FILE",
                *numbers)


def train(threads: int, *options: str | Path, examples: Path | None = None,
          steps: int = STEP_COUNT) -> tuple[Block, Block]:
    """One training by `graft train`: the whole process, and a step without anything kept."""
    log = FOLDER / "log.jsonl"
    done = run([GRAFT, "train", full_size("wav2vec2_base"), "--examples", examples or recordings(),
                "--trainable", *TRAINED, "--steps", str(steps),
                "--batch-size", str(BATCH_SIZE), "--threads", str(threads), "--log", log, *options],
               log)
    losses = [float(json.loads(line)["loss"]) for line in log.read_text().splitlines()]
    ends = done.line_seconds[:FRESH_STEP_COUNT]
    times = [(end - start) * 1e3 for start, end in zip(ends, ends[1:])]
    return (Block.of([done.seconds * 1e3], done.peak_mb, losses=losses),
            Block.of(times, done.peak_mb, losses=losses))


def keep_features(threads: int, folder: Path) -> None:
    """Leaves the other speakers' features in the folder, as an earlier training does."""
    path = recordings()
    train(threads, FEATURE_OPTION, folder,
          examples=path.with_name(path.stem + "-others.safetensors"),
          steps=OTHER_COUNT // BATCH_SIZE)


def train_with_features(threads: int, kept: Path) -> Block:
    """One training with the other speakers' features already on disk."""
    with TemporaryDirectory(dir=FOLDER) as folder:
        copytree(kept, folder, dirs_exist_ok=True)
        return train(threads, FEATURE_OPTION, folder)[0]


def peer_steps(threads: int, runs: int) -> Block:
    """Steps of ONNX Runtime; making the training graph does not count."""
    python, script = training_python(), PEERS / "train_onnxruntime.py"
    artifacts = FOLDER / "artifacts/wav2vec2_base"
    if not (artifacts / "optimizer_model.onnx").is_file():
        run([python, script, "prepare", full_size("wav2vec2_base"), artifacts, *TRAINED])
    done = run([python, script, "steps", artifacts, recordings(), "--batch", str(BATCH_SIZE),
                "--threads", str(threads), "--runs", str(runs), "--warmup", "1"])
    report = json.loads(done.output)
    return Block.of(report["times_ms"], done.peak_mb, baseline_mb=report["baseline_mb"],
                    losses=report["losses"])


def whole(step: Block) -> Block:
    """The peer's training: as many steps as the tutorial takes."""
    return replace(step, minimum_ms=STEP_COUNT * step.minimum_ms,
                   median_ms=STEP_COUNT * step.median_ms)


def rows(effort: Effort, threads: list[int]) -> list[Row]:
    return [row for count in threads for row in _rows(effort, count)]


def _rows(effort: Effort, threads: int) -> tuple[Row, Row, Row]:
    """One series of alternating blocks gives both trainings and the single step."""
    cold = Row("training, cold", threads, PEER)
    kept = Row("training, others' features on disk", threads, PEER)
    fresh: list[Block] = []

    with TemporaryDirectory(dir=FOLDER) as folder:
        def graft() -> Block:
            training, step = train(threads)
            fresh.append(step)
            if kept.graft_failure is None:
                kept.graft_failure = attempt(
                    lambda: train_with_features(threads, Path(folder)), kept.graft_blocks)
            return training

        keep_features(threads, Path(folder))
        alternate(cold, effort.whole_rounds, graft,
                  lambda: peer_steps(threads, max(3, effort.runs)))
    step = replace(cold, name="one step, nothing kept", graft_blocks=fresh)
    cold.peer_blocks = kept.peer_blocks = [whole(block) for block in step.peer_blocks]
    kept.peer_failure = cold.peer_failure
    return cold, kept, step
