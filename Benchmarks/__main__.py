"""Measures Graft against ONNX Runtime, PyTorch and LiteRT, and reports ratios."""
import argparse
import shlex
import sys
from dataclasses import asdict
from pathlib import Path

import growth
import inference
import machine
import report
import tflite
import training
import tutorial
from environment import FOLDER, GRAFT, ROOT, shown
from pairing import Effort, Row

SECTIONS = {"inference": inference.rows, "tutorial": tutorial.rows, "training": training.rows,
            "tflite": tflite.rows}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="Benchmarks/run", description=__doc__,
        epilog="A full run takes about an hour on two cores. Nothing else should run meanwhile.")
    parser.add_argument("--quick", action="store_true",
                        help="3 measured runs per side: shows that everything works, no more")
    parser.add_argument("--rounds", type=int, default=5, metavar="N",
                        help="blocks per side, which alternate; 5")
    parser.add_argument("--runs", type=int, default=3, metavar="N",
                        help="measured runs in a block, ten times as many where one is short; 3")
    parser.add_argument("--threads", type=int, nargs="+", default=[machine.core_count()],
                        metavar="N", help="thread counts of the tables; the number of cores")
    parser.add_argument("--only", nargs="+", choices=[*SECTIONS, "growth"], metavar="PART",
                        help="inference, tutorial, training, tflite, growth; all by default")
    parser.add_argument("--output", type=Path, metavar="FOLDER",
                        help="where Performance.md, performance.json and the plots lie; "
                             "Documentation, with --quick a folder in the cache")
    result = parser.parse_args()
    if result.output is None:
        result.output = FOLDER / "quick" if result.quick else ROOT / "Documentation"
    return result


def effort(options: argparse.Namespace) -> Effort:
    if options.quick:
        return Effort(rounds=3, whole_rounds=1, runs=1, light_runs=1, growth_rounds=1)
    return Effort(rounds=options.rounds, whole_rounds=options.rounds, runs=options.runs,
                  light_runs=10 * options.runs, growth_rounds=options.rounds)


def measure(name: str, options: argparse.Namespace) -> report.JSON:
    """One section of performance.json."""
    words = [shown(word) for word in sys.argv[1:]]
    result: report.JSON = {
        "date": machine.now(), "machine": machine.facts(), "versions": machine.versions(name),
        "command": shlex.join(["Benchmarks/run", *words]), "effort": asdict(effort(options)),
    }
    if name == "growth":
        result["plots"] = [
            {"name": each.name, "title": each.title, "x_label": each.x_label,
             "points": [{"size": point.size, "row": point.row.figures()}
                        for point in growth.points(each, effort(options), options.quick)]}
            for each in growth.GROWTHS]
    else:
        rows: list[Row] = list(SECTIONS[name](effort(options), options.threads))
        result["rows"] = [row.figures() for row in rows]
    return result


def main() -> None:
    options = arguments()
    if not GRAFT.is_file():
        sys.exit(f"There is no {shown(GRAFT)}: build it with 'swift build --configuration release'.")
    for name in options.only or [*SECTIONS, "growth"]:
        section = measure(name, options)
        report.write(options.output, {name: section})
        print(f"\n{report.section_text(name, section)}\n", flush=True)
    print(f"Written: {shown(options.output)}")


if __name__ == "__main__":
    main()
