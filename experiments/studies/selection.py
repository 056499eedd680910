"""What a chosen winner is worth: the corrected estimate of a leaderboard against queries that the winner was not chosen on.

    python -m recallmeter.experiments.studies.selection SWEEP … [-m MEASURE …]

Each split chooses the best row of a sweep on one half of the queries and reads it off the other half. Printed, as Markdown, in per
cent, as means over the splits: the winner as chosen, its corrected estimate from the chosen half alone, and as held out; what each of
the first two is too high by, with the standard error of that over the splits, which share their queries.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...evaluation.measures.grammar import parse_measure
from ...evaluation.sweeps.leaderboard import Leaderboard
from ...evaluation.sweeps.points import Point, read_points
from ...evaluation.sweeps.split import split
from ...reports.table import markdown

HEAD = ("sweep", "measure", "rows", "queries", "as chosen", "corrected", "held out", "chosen − held out", "corrected − held out")


def row(name: str, points: Sequence[Point], measure: str, splits: int, share: float) -> list[str]:
    """Return the row of a sweep and a measure, as `HEAD` says."""
    found = np.array([estimates(points, measure, share, seed) for seed in range(splits)])
    means = (100 * found.mean(axis=0)).tolist()
    over = 100 * (found[:, :2] - found[:, [2]])
    errors = over.std(axis=0, ddof=1) / splits**0.5
    shown = [f"{mean:+.2f} ± {error:.2f}" for mean, error in zip(over.mean(axis=0), errors, strict=True)]
    board = Leaderboard(points, measure)
    return [name, measure, str(len(board.rows)), str(len(points[0].queries)), *(f"{mean:.1f}" for mean in means), *shown]


def estimates(points: Sequence[Point], measure: str, share: float, seed: int) -> tuple[float, float, float]:
    """Return the mean of the winner on the queries that it was chosen on, its corrected estimate, and its mean on the others."""
    chosen, others = split(points, share, seed=seed)
    board, held = Leaderboard(chosen, measure), Leaderboard(others, measure)
    best = board.rows[0]
    (unseen,) = [one.mean for one in held.rows if (one.system, one.parameters) == (best.system, best.parameters)]
    assert board.corrected is not None
    return best.mean, board.corrected, unseen


def main(argv: Sequence[str] | None = None) -> int:
    """Split, and print the table."""
    parser = argparse.ArgumentParser(prog="selection", description="what a chosen winner is worth")
    parser.add_argument("sweeps", nargs="+", metavar="SWEEP", type=Path)
    parser.add_argument("-m", "--measure", action="append", help="(default: recall@10 and ndcg@10)")
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--share", type=float, default=0.5, help="of the queries that are chosen on (default: .5)")
    arguments = parser.parse_args(argv)
    measures = [str(parse_measure(measure)) for measure in arguments.measure or ("recall@10", "ndcg@10")]
    rows: list[list[str]] = [list(HEAD)]
    for sweep in arguments.sweeps:
        points = read_points([sweep])
        for measure in measures:
            rows.append(row(sweep.name, points, measure, arguments.splits, arguments.share))
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print(markdown(rows, left=(0, 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
