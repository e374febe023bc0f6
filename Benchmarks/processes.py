"""Runs one process at a time and measures it from outside."""
import os
import resource
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from environment import shown

TIME_LIMIT = 3600.0  # Seconds until a process counts as hung.
WATCH_INTERVAL = 0.002  # Seconds between two looks at a log: the error of a step's time.


class Failure(Exception):
    """A process that did not do its work; the text is what it said, without this machine's paths."""


@dataclass
class Finished:
    """What a process left behind.

    seconds: from start to end. peak_mb: the most memory it has had at once, in megabytes (1e6 bytes).
    line_seconds: when each line of the watched log appeared, counted from the start.
    """

    output: str
    seconds: float
    peak_mb: float
    line_seconds: list[float] = field(default_factory=list)


def run(command: list[str | Path], log: Path | None = None) -> Finished:
    """Runs `command` to its end; with `log`, notes when the process adds lines to that file.

    Linux counts the memory of the starting process as the least peak of the started one, so this
    program itself loads no large package.
    """
    if log is not None:
        log.unlink(missing_ok=True)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                stderr=errors)
        except OSError as error:
            raise Failure(shown(f"{command[0]}: {error.strerror}")) from error
        lines: list[float] = []
        try:
            status, usage = _wait(process.pid, start, log, lines)
        except BaseException:
            process.kill()
            raise
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        text = output.read().decode(errors="replace")
        complaint = errors.read().decode(errors="replace")
    if process.returncode != 0:
        raise Failure(_message(process.returncode, complaint))
    return Finished(text, seconds, usage.ru_maxrss * 1024 / 1e6, lines)


def _wait(
    pid: int, start: float, log: Path | None, lines: list[float]
) -> tuple[int, resource.struct_rusage]:
    """Waits for the process; fills `lines` with the seconds at which lines of the log appeared."""
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        now = time.perf_counter() - start
        if log is not None:
            lines.extend([now] * (_line_count(log) - len(lines)))
        if ended:
            return status, usage
        if now > TIME_LIMIT:
            os.kill(pid, signal.SIGKILL)
            os.wait4(pid, 0)
            raise Failure(f"stopped after {TIME_LIMIT:.0f} s")
        time.sleep(WATCH_INTERVAL if log is not None else 10 * WATCH_INTERVAL)


def _line_count(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def _message(exit_code: int, complaint: str) -> str:
    """The last line that the process wrote to its standard error, or how it ended."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    if exit_code < 0:
        return f"ended by signal {signal.Signals(-exit_code).name}"
    return shown(lines[-1]) if lines else f"exit code {exit_code}"
