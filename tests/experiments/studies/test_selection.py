"""The study of selection: among rows that are all alike, the chosen one looks better than it is, and the correction takes that away."""

from __future__ import annotations

import numpy as np
from recallmeter.evaluation.sweeps.points import Point
from recallmeter.experiments.studies.selection import estimates

QUERIES = tuple(f"q{n:03}" for n in range(120))


def sweep(seed: int) -> list[Point]:
    """Make rows of which every one is worth a half."""
    random = np.random.default_rng(seed)
    made = {"tokens": {"a": 1.0}, "latency": {"a": {"p50": 1.0, "p95": 1.0}}, "manifest": {"dataset": {"fingerprint": "f"}}}
    values = random.integers(0, 2, (20, 1, 1, len(QUERIES))).astype(float)
    return [Point(f"k{n}", {"n": n}, "complete", "", ("a",), ("mrr",), QUERIES, own, **made) for n, own in enumerate(values)]


def test_luck_is_taken_away():
    chosen, corrected, held = np.mean([estimates(sweep(seed), "mrr", 0.5, seed) for seed in range(24)], axis=0)
    assert chosen - held > 0.08
    assert abs(corrected - held) < 0.04
