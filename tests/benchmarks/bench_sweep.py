"""How much faster two processes are than one on a sweep of 40 heavy points, and what a point costs that differs in fusion alone."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

HEAVY = ["system=bm25", "dataset.seed=range(0,40)", "dataset.sessions=2500"]
FUSION = ["system=dual", "systems.dual.fusion.weights.vector=range(0,1.01,0.1)", "dataset.seed=0"]
JOBLIB = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]


def timed(folder: str, name: str, *overrides: str) -> tuple[float, float]:
    """Return the seconds that one call of `recallmeter sweep` takes, and those of the processor; it has a cache of its own."""
    command = [sys.executable, "-m", "recallmeter", "sweep", *overrides, f"name={name}"]
    environment = {**os.environ, "RECALLMETER_CACHE": f"{folder}/cache-{name}"}
    began, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        (one, one_cpu), (two, two_cpu) = timed(folder, "one", *HEAVY), timed(folder, "two", *HEAVY, *JOBLIB)
        print(f"40 heavy points: one process {one:.1f} s, two by joblib {two:.1f} s, ratio {one / two:.2f}")
        print(f"  of the processor: {one_cpu:.1f} s and {two_cpu:.1f} s, on free cores at best ratio {2 * one_cpu / two_cpu:.2f}")
        (cold, _), (again, _) = timed(folder, "fusion", *FUSION), timed(folder, "fusion", *FUSION)
        points = [json.loads(path.read_text())["manifest"] for path in Path(folder).glob("multirun/fusion/*/point.json")]
        embedded = sum(point["embedded"] for point in points)
        each = statistics.median(point["seconds"] for point in points)
        print(f"{len(points)} weights: {cold:.1f} s with {embedded} texts embedded, again {again:.1f} s; median point {1000 * each:.0f} ms")


if __name__ == "__main__":
    main()
