"""Writes results as JSON, as tables between two markers of a document, and as plots."""
import json
from pathlib import Path
from typing import Any

from pairing import Block, Row, fastest, peak, typical
from plots import Line, plot

JSON = dict[str, Any]

BEGIN = "<!-- benchmarks: begin; written by Benchmarks/run -->"
END = "<!-- benchmarks: end -->"
TITLES = {
    "inference": "Inference",
    "tutorial": "The voice tutorial's training",
    "training": "A full training step",
    "tflite": "TensorFlow Lite models",
    "growth": "How time grows",
}
COLORS = {"Graft": "#0072b2", "ONNX Runtime": "#d55e00"}


def table(rows: list[JSON]) -> str:
    """The rows as Markdown. Times are milliseconds, memory is megabytes (1e6 bytes)."""
    peer = rows[0]["peer"]
    lines = [
        f"| workload | threads | Graft, ms | {peer}, ms | ratio of minima | median ratio "
        f"| Graft, MB | {peer}, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(_cells(Row(**_fields(row)), row)) + " |" for row in rows]
    return "\n".join(lines)


def _fields(row: JSON) -> JSON:
    """What a Row is made of, from what figures() wrote."""
    result = {name: row[name] for name in
              ("name", "threads", "peer", "graft_failure", "peer_failure")}
    for side in ("graft_blocks", "peer_blocks"):
        result[side] = [Block(**block) for block in row[side]]
    return result


def _cells(row: Row, figures: JSON) -> list[str]:
    graft, peer = row.graft_blocks, row.peer_blocks
    return [
        row.name,
        str(row.threads),
        _time(graft, row.graft_failure),
        _time(peer, row.peer_failure),
        _ratio(figures["ratio_of_minima"]),
        _ratio(figures["median_ratio"]),
        f"{peak(graft):.0f}" if graft else "",
        f"{peak(peer):.0f}" if peer else "",
    ]


def _time(blocks: list[Block], failure: str | None) -> str:
    if failure is not None:
        return "fails: " + failure.replace("|", "\\|")
    return _number(typical(blocks))


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _number(milliseconds: float) -> str:
    """Three digits or all before the point."""
    decimals = 2 if milliseconds < 10 else 1 if milliseconds < 100 else 0
    return f"{milliseconds:.{decimals}f}"


def section_text(name: str, section: JSON) -> str:
    machine, versions = section["machine"], section["versions"]
    used = ", ".join(f"{key} {value}" for key, value in versions.items())
    header = (
        f"{section['date']}, {machine['processor']}, {machine['core_count']} cores, "
        f"{machine['memory_gb']:.0f} GB, {machine['system']}; {used}; "
        f"load average before: {machine['load_average']}; `{section['command']}`.")
    parts = [f"### {TITLES[name]}", header]
    if name == "growth":
        parts += [_growth_text(each) for each in section["plots"]]
    else:
        parts += [_counts(section["rows"]), table(section["rows"]), *_warnings(section["rows"])]
    return "\n\n".join(parts)


def _counts(rows: list[JSON]) -> str:
    """The fewest measured runs per side, over all rows that were measured."""
    counts = [sum(block["runs"] for block in row[side])
              for row in rows for side in ("graft_blocks", "peer_blocks") if row[side]]
    blocks = max((len(row["graft_blocks"]) for row in rows), default=0)
    return f"Measured runs per side: {min(counts, default=0)} or more; alternating rounds: {blocks}."


def _warnings(rows: list[JSON]) -> list[str]:
    names = [f"{row['name']} ({row['threads']} threads)" for row in rows
             if row["losses_agree"] is False]
    return [f"Not comparable, since the losses differ: {', '.join(names)}."] if names else []


def _growth_text(growth: JSON) -> str:
    failures = sorted({
        f"- {point['row']['name']}, {point['row']['threads']} threads: {side} fails: {message}"
        for point in growth["points"]
        for side, message in (("Graft", point["row"]["graft_failure"]),
                              (point["row"]["peer"], point["row"]["peer_failure"]))
        if message})
    picture = f"![{growth['title']}: time over {growth['x_label']}]({_file(growth['name'])})"
    return "\n\n".join([picture, *(["\n".join(failures)] if failures else [])])


def _file(name: str) -> str:
    return f"performance-{name}.svg"


def draw(growth: JSON) -> str | None:
    """The SVG of one growth, a line for each side and thread count; None when all failed."""
    lines = []
    for threads in sorted({point["row"]["threads"] for point in growth["points"]}):
        for side, key in (("Graft", "graft_blocks"), ("ONNX Runtime", "peer_blocks")):
            points = [
                (point["size"], fastest([Block(**block) for block in point["row"][key]]))
                for point in growth["points"]
                if point["row"]["threads"] == threads and point["row"][key]]
            if points:
                label = f"{side}, {threads} thread{'s' if threads > 1 else ''}"
                lines.append(Line(label, COLORS[side], threads == 1, points))
    if not lines:
        return None
    return plot(growth["title"], growth["x_label"], "shortest run, ms", lines)


def write(folder: Path, sections: dict[str, JSON]) -> None:
    """Brings performance.json, Performance.md and the plots in the folder up to date.

    Sections that were not measured now stay as they are in performance.json.
    """
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "performance.json"
    kept = json.loads(store.read_text()) if store.is_file() else {}
    merged = {name: {**kept, **sections}[name] for name in TITLES if name in {**kept, **sections}}
    store.write_text(json.dumps(merged, indent=1) + "\n")
    for growth in merged.get("growth", {}).get("plots", []):
        if drawing := draw(growth):
            (folder / _file(growth["name"])).write_text(drawing)
    document = folder / "Performance.md"
    old = document.read_text() if document.is_file() else f"# Performance\n\n{BEGIN}\n{END}\n"
    text = "\n\n".join(section_text(name, section) for name, section in merged.items())
    document.write_text(_between_markers(old, text))


def _between_markers(document: str, text: str) -> str:
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        before, after = document.rstrip() + "\n\n", "\n"
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"
