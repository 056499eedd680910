"""How long the statistics take beside scipy's, and a gate on stored runs as a whole process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from recallmeter.evaluation.inference.intervals import bootstrap_intervals
from recallmeter.evaluation.inference.statistics import paired_randomisation
from recallmeter.experiments.cli import main as recallmeter
from scipy import stats

MEASURES, QUERIES, TIMES = 7, 500, 10_000


def fastest(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)


def against(name: str, ours: float, theirs: float) -> None:
    """Print one line."""
    print(f"{name}: {ours:.3f} s, scipy {theirs:.3f} s, ratio {theirs / ours:.1f}")


def main() -> None:
    """Measure and print."""
    random = np.random.default_rng(0)
    differences = np.where(random.random((MEASURES, QUERIES)) < 0.5, random.random((MEASURES, QUERIES)) - 0.5, 0.0)
    zeros = np.zeros_like(differences)

    def theirs() -> object:
        def mean(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
            return np.mean(x - y, axis=axis)

        return stats.permutation_test(
            (differences, zeros), mean, permutation_type="samples", vectorized=True, n_resamples=TIMES, axis=1, batch=500, rng=0
        )

    shape = f"{TIMES:,} × {QUERIES} queries × {MEASURES} measures"
    against(f"paired randomisation, {shape}", fastest(lambda: paired_randomisation(differences)), fastest(theirs, 1))
    against(
        f"BCa bootstrap, {shape}",
        fastest(lambda: bootstrap_intervals(differences)),
        fastest(lambda: stats.bootstrap((differences,), np.mean, method="BCa", n_resamples=TIMES, axis=1, batch=500, rng=0), 1),
    )
    with tempfile.TemporaryDirectory() as folder:
        run, baseline = f"{folder}/run", f"{folder}/baseline.json"
        recallmeter(["run", "system=[grep,bm25,bm25_no_synonyms,bm25_okapi]", "protocol.repeats=1", f"hydra.run.dir={run}"])
        recallmeter(["baseline", run, "-o", baseline])
        code = "import sys; from recallmeter.experiments.cli import main; sys.exit(main())"
        command = [sys.executable, "-c", code, "gate", run, "--baseline", baseline]
        bare = fastest(lambda: subprocess.run([sys.executable, "-c", "import scipy.special"], check=True))
        gate = fastest(lambda: subprocess.run(command, check=True, capture_output=True, cwd=Path(folder)))
        print(f"gate of four systems as a process: {gate:.2f} s, of which importing numpy and scipy.special {bare:.2f} s")


if __name__ == "__main__":
    main()
