"""Measure the memory systems that others make and write the report on them.

Usage: python -m recallmeter.experiments.studies.memory_systems [--scifact FOLDER] [--runs FOLDER] [-o FILE]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from ...datasets.errors import InputError
from ...datasets.file import write_file
from ...evaluation.exit_code import ExitCode
from ...evaluation.record import Run, load_run
from ...retrieval.ranking import Closable, Retriever
from ..cli import main as recallmeter
from ..composition import build
from ..measurement import build_dataset


def main(argv: Sequence[str] | None = None) -> int:
    """Make what is missing of the runs, weigh each system, write the report; return the exit code."""
    parser = argparse.ArgumentParser(description="Measure the memory systems that others make.")
    parser.add_argument("--scifact", metavar="FOLDER", help="SciFact in BEIR layout")
    parser.add_argument("--runs", metavar="FOLDER", default="runs", type=Path, help="where the runs are, or go (runs)")
    parser.add_argument("-o", "--output", metavar="FILE", default="reports/MEMORY-SYSTEMS.md", type=Path)
    parser.add_argument("--weigh", nargs=2, metavar=("RUN", "SYSTEM"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.weigh:
        print(json.dumps(index_costs(load_run(arguments.weigh[0]), arguments.weigh[1])))
        return 0
    wanted = {"webapp": ["dataset=webapp"]}
    if arguments.scifact:
        wanted["scifact"] = ["dataset=beir", f"dataset.path={arguments.scifact}", "protocol.repeats=1"]
    runs = [_run(arguments.runs / f"memory-systems-{name}", overrides) for name, overrides in wanted.items()]
    for run in runs:
        _weigh(run)
    _write(arguments.output, runs)
    print(arguments.output)
    return 0


def _run(folder: Path, overrides: Sequence[str]) -> Run:
    if not (folder / "run.json").is_file():
        # vectors are computed once, by a run of its own, so that no system's index time has them in it
        for preset, path in (("system=[vector]", folder.with_name(f"{folder.name}-vectors")), ("experiment=memory_systems", folder)):
            # a system that fails is part of the result
            if (code := recallmeter(["run", preset, *overrides, f"hydra.run.dir={path}"])) not in (ExitCode.PASS, ExitCode.FAILED):
                raise InputError(f"the run ended with exit code {code}", where=str(path), remedy="see what it says above")
    return load_run(folder)


def _weigh(run: Run) -> None:
    """Measure each system's index in a process of its own and write it down beside the run's other files."""
    from ...reports.memory_systems import COSTS_FILE

    path = run.path / COSTS_FILE
    if path.is_file():
        return
    costs = {}
    for system in run.systems:
        command = [sys.executable, "-m", __spec__.name, "--weigh", str(run.path), system]
        costs[system] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
    path.write_text(json.dumps(costs, indent=1) + "\n", encoding="utf-8")


def index_costs(run: Run, system: str) -> dict[str, float]:
    """Return the seconds that indexing takes, and the megabytes by which this process grows at most meanwhile.

    An index of one observation goes before, so that what is imported is counted for nobody. Growth is told by Linux alone.
    """
    dataset = build_dataset(run.config)
    retriever: Retriever = build(run.config["systems"][system], f"systems.{system}")
    close = retriever.close if isinstance(retriever, Closable) else lambda: None
    retriever.index(dataset.observations[:1])
    close()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began = _status("VmRSS"), perf_counter()
    retriever.index(dataset.observations)
    seconds, grown = perf_counter() - began, _status("VmHWM") - before
    close()
    return {"index_s": seconds, "memory_mb": grown}


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise InputError(f"no {field} in /proc/self/status", remedy="measure memory on Linux")


def _write(path: Path, runs: Sequence[Run]) -> None:
    from ...evaluation.audits.truncation import ModelWindow
    from ...reports.memory_systems import render

    encoder = build(runs[0].config["embedder"]["encoder"], "embedder.encoder")
    write_file(path, render(runs, ModelWindow(encoder.path)), "the report")


if __name__ == "__main__":
    sys.exit(main())
