"""Facts about where and with what was measured. No names of machines or users."""
import json
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from environment import (
    ROOT, Missing, inference_python, litert_python, torch_python, training_python)

PACKAGES = {
    "inference": (inference_python, ["onnxruntime", "numpy"]),
    "tutorial": (training_python, ["onnxruntime-training-cpu", "numpy"]),
    "training": (torch_python, ["torch"]),
    "tflite": (litert_python, ["ai-edge-litert"]),
    "growth": (inference_python, ["onnxruntime", "numpy"]),
}


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def core_count() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def facts() -> dict[str, object]:
    """memory_gb: 1e9 bytes. load_average: processes that ran on average in the last minute."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _field(Path("/proc/cpuinfo"), "model name", ":") or platform.machine(),
        "architecture": platform.machine(),
        "core_count": core_count(),
        "memory_gb": round(memory / 1e9, 1),
        "system": _field(Path("/etc/os-release"), "PRETTY_NAME", "=") or platform.system(),
        "kernel": platform.release(),
        "load_average": round(os.getloadavg()[0], 2),
    }


def versions(section: str) -> dict[str, str]:
    """Graft's commit, Python's version and those of the peer's packages."""
    result = {"graft": _commit()}
    python, packages = PACKAGES[section]
    script = ("import importlib.metadata as m, json, platform, sys; "
              "print(json.dumps({'python': platform.python_version(), "
              "**{name: m.version(name) for name in sys.argv[1:]}}))")
    try:
        output = subprocess.run(
            [python(), "-c", script, *packages], capture_output=True, text=True, check=True).stdout
    except (Missing, subprocess.CalledProcessError):
        return result
    return {**result, **json.loads(output)}


def _commit() -> str:
    """The project's commit; "+" stands for changes that are not committed."""
    try:
        words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=10"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _field(path: Path, key: str, separator: str) -> str | None:
    """The value of the first line `key separator value`."""
    try:
        for line in path.read_text().splitlines():
            name, found, value = line.partition(separator)
            if found and name.strip() == key:
                return value.strip().strip('"')
    except OSError:
        pass
    return None
