"""How long a leaderboard over 2,000 stored points takes as a whole process, and its memory, beside reading the same files with pandas."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from recallmeter.evaluation.sweeps.points import Point, write_point

CONFIGURATIONS, SEEDS, QUERIES = 400, 5, 174
MEASURES = (
    "recall@5",
    "recall@10",
    "recall_any@5",
    "recall_any@10",
    "recall_all@5",
    "recall_all@10",
    "precision@5",
    "ndcg@10",
    "mrr",
    "map",
)
CODE = "import sys; from recallmeter.experiments.cli import main; sys.exit(main())"
PEER = "import glob, json, sys, pandas; pandas.DataFrame([json.load(open(p)) for p in glob.glob(sys.argv[1] + '/*/point.json')])"


def synthetic(folder: Path) -> None:
    """Write the points of a sweep over two parameters and five seeds."""
    random = np.random.default_rng(0)
    difficulty = random.random((SEEDS, len(MEASURES), QUERIES))
    for number in range(CONFIGURATIONS):
        across, down = divmod(number, 20)
        for seed in range(SEEDS):
            values = (random.random(difficulty[seed].shape) < difficulty[seed] + across / 100).astype(float)
            key = f"{number:010d}{seed:010d}"
            point = Point(
                key,
                {"systems.dual.fusion.k": across, "systems.dual.depth": down, "dataset.seed": seed},
                "complete",
                systems=("dual",),
                measures=MEASURES,
                queries=tuple(f"webapp-{query:04d}" for query in range(QUERIES)),
                values=values[None],
                tokens={"dual": float(600 + down)},
                latency={"dual": {"p50": 0.2 + random.random() / 50, "p95": 0.4}},
                manifest={"dataset": {"fingerprint": f"{seed:064d}"}, "ended": "2026-01-01T00:00:00+00:00"},
            )
            write_point(folder / point.folder, point)


def timed(*command: str) -> tuple[float, float]:
    """Return seconds and the peak of memory, in MB, of the largest process so far."""
    began = perf_counter()
    subprocess.run([sys.executable, "-c", *command], check=True, capture_output=True)
    return perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        synthetic(Path(folder))
        ours, memory = timed(CODE, "leaderboard", folder)
        theirs, _ = timed(PEER, folder)
    what = f"{CONFIGURATIONS * SEEDS:,} points × {QUERIES} queries × {len(MEASURES)} measures"
    print(f"leaderboard, {what}: {ours:.2f} s, {memory:.0f} MB; pandas on the records alone: {theirs:.2f} s, ratio {theirs / ours:.2f}")


if __name__ == "__main__":
    main()
