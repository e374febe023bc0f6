"""Runs Graft and a peer in turn and compares them.

The unit is a block: one process with a few measured runs. Blocks alternate (Graft, peer, Graft, peer, ...),
so that whatever else slows the machine down for a while hits both.
"""
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from environment import Missing
from processes import Failure


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    rounds: blocks per side. runs: measured runs in a block. light_runs: the same for what takes less
    than about a second. whole_rounds: whole trainings. growth_rounds: blocks per side and point of a
    plot, with one run each.
    """

    rounds: int
    whole_rounds: int
    runs: int
    light_runs: int
    growth_rounds: int


@dataclass(frozen=True)
class Block:
    """One process's figures.

    minimum_ms, median_ms: of its measured runs. peak_mb: the process's peak memory, baseline_mb: what
    of it was there before the model was opened (0 where unknown), both in megabytes (1e6 bytes).
    losses: of each training step, the warm-up included.
    """

    minimum_ms: float
    median_ms: float
    runs: int
    peak_mb: float
    baseline_mb: float = 0
    losses: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls, times_ms: list[float], peak_mb: float, baseline_mb: float = 0,
        losses: list[float] | None = None,
    ) -> "Block":
        if not times_ms:
            raise Failure("there are no measured runs")
        return cls(min(times_ms), statistics.median(times_ms), len(times_ms), peak_mb,
                   baseline_mb, losses or [])


@dataclass
class Row:
    """Graft and a peer on one workload: one line of a table. Failures are messages."""

    name: str
    threads: int
    peer: str
    graft_blocks: list[Block] = field(default_factory=list)
    peer_blocks: list[Block] = field(default_factory=list)
    graft_failure: str | None = None
    peer_failure: str | None = None

    @property
    def ratio_of_minima(self) -> float | None:
        """Graft's shortest run divided by the peer's."""
        if not (self.graft_blocks and self.peer_blocks):
            return None
        return fastest(self.graft_blocks) / fastest(self.peer_blocks)

    @property
    def median_ratio(self) -> float | None:
        """The median, over rounds, of Graft's median time divided by the peer's in that round."""
        ratios = [graft.median_ms / peer.median_ms
                  for graft, peer in zip(self.graft_blocks, self.peer_blocks)]
        return statistics.median(ratios) if ratios else None

    @property
    def losses_agree(self) -> bool | None:
        """Whether both computed the same losses in the first two steps, to 1 %; None without losses."""
        pairs = [(graft, peer) for one, other in zip(self.graft_blocks[:1], self.peer_blocks[:1])
                 for graft, peer in zip(one.losses[:2], other.losses[:2])]
        return all(abs(a - b) <= 0.01 * max(1, abs(b)) for a, b in pairs) if pairs else None

    def figures(self) -> dict[str, object]:
        """Everything measured, for JSON."""
        return {**asdict(self), "ratio_of_minima": self.ratio_of_minima,
                "median_ratio": self.median_ratio, "losses_agree": self.losses_agree}


def fastest(blocks: list[Block]) -> float:
    """Milliseconds of the shortest run."""
    return min(block.minimum_ms for block in blocks)


def typical(blocks: list[Block]) -> float:
    """Milliseconds: the median of the blocks' medians."""
    return statistics.median(block.median_ms for block in blocks)


def peak(blocks: list[Block]) -> float:
    """Megabytes (1e6 bytes): the largest peak memory of all blocks."""
    return max(block.peak_mb for block in blocks)


def alternate(row: Row, rounds: int, graft: Callable[[], Block], peer: Callable[[], Block]) -> Row:
    """Fills the row. A side that fails keeps its message and is not run again; the other goes on."""
    progress(f"{row.name}, {row.threads} threads")
    for _ in range(rounds):
        if row.graft_failure is None:
            row.graft_failure = attempt(graft, row.graft_blocks)
        if row.peer_failure is None:
            row.peer_failure = attempt(peer, row.peer_blocks)
    return row


def attempt(measure: Callable[[], Block], blocks: list[Block]) -> str | None:
    """Adds a measured block, or returns why there is none."""
    try:
        blocks.append(measure())
    except (Failure, Missing) as failure:
        return str(failure)
    except (ValueError, KeyError) as error:
        return f"unreadable report: {error}"
    return None


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
