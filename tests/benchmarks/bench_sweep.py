"""How much faster two processes are than one on a sweep of 40 heavy points, and what a point costs that differs in fusion alone."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

HEAVY = ["system=bm25", "systems.bm25.arms.bm25.k1=range(0.5,4.5,0.1)", "dataset.sessions=1000"]
FUSION = ["system=dual", "systems.dual.fusion.weights.vector=range(0,1.01,0.1)", "dataset.seed=0"]
JOBLIB = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]


def seconds(folder: str, name: str, *overrides: str) -> float:
    """Return the seconds of one call of `recallmeter sweep`, with a cache of its own."""
    command = [sys.executable, "-m", "recallmeter.experiments.cli", "sweep", *overrides, f"name={name}"]
    environment = {**os.environ, "RECALLMETER_CACHE": f"{folder}/cache-{name}"}
    began = perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return perf_counter() - began


def main() -> None:
    """Measure and print."""
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        one, two = seconds(folder, "one", *HEAVY), seconds(folder, "two", *HEAVY, *JOBLIB)
        print(f"40 heavy points: one process {one:.1f} s, two by joblib {two:.1f} s, ratio {one / two:.2f}")
        cold, again = seconds(folder, "fusion", *FUSION), seconds(folder, "fusion", *FUSION)
        points = [json.loads(path.read_text())["manifest"] for path in Path(folder).glob("multirun/fusion/*/point.json")]
        embedded = sum(point["embedded"] for point in points)
        each = statistics.median(point["seconds"] for point in points)
        print(f"{len(points)} weights: {cold:.1f} s with {embedded} texts embedded, again {again:.1f} s; median point {1000 * each:.0f} ms")


if __name__ == "__main__":
    main()
