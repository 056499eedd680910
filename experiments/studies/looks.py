"""Many gates of one baseline: how often harmless changes raise an alarm, and whether a creeping loss is caught.

    python -m recallmeter.experiments.studies.looks [--histories N] [--sizes N …]

A history is a baseline and changes after it, each gated by one rule (`MAX_DROP`) and then rolled to, as `recallmeter baseline --roll`
does, so that a gate tests the last state and the anchor. Values are 0, .5 or 1. In a *harmless* history each change draws a tenth of the
queries anew from what they are drawn from at first, so that nothing is lost but by chance; in a *creep* each change takes, in the mean,
half a point by losing queries altogether, alone or with a harmless change in each. Printed, as Markdown, in per cent of the histories:
any REGRESSION and any loss shown over all changes, by the rolling baseline alone and with the anchor, and the median change at which
the anchor first said REGRESSION.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...evaluation.inference.clusters import Clusters, Floats
from ...evaluation.inference.verdict import Decision, PairedTest, Verdict, conclude, weigh
from ...evaluation.measures.numbers import NONE
from ...reports.table import markdown

VALUES, CHANCES = np.array([0.0, 0.5, 1.0]), np.array([0.25, 0.25, 0.5])
ALPHA, POWER, MAX_DROP = 0.05, 0.8, 0.02
RESAMPLES = 2_000
REDRAWN, CREEP = 0.1, 0.005
HEAD = (
    "history",
    "n",
    "changes",
    "looks",
    "REGRESSION, rolling",
    "REGRESSION, with the anchor",
    "loss shown, rolling",
    "loss shown, with the anchor",
    "median change of the anchor's",
)


class Kind(NamedTuple):
    """A kind of history: how many changes, the share of queries that each draws anew, and what each loses in the mean."""

    name: str
    changes: int
    redrawn: float
    creep: float


KINDS = (
    Kind("harmless", 60, REDRAWN, 0.0),
    Kind("creep", 20, 0.0, CREEP),
    Kind("creep among harmless changes", 20, REDRAWN, CREEP),
)


def states(kind: Kind, n: int, random: np.random.Generator) -> Iterator[Floats]:
    """Yield the values of the baseline and after each change, shape (queries,)."""
    chances, values = CHANCES, random.choice(VALUES, n, p=CHANCES)
    yield values
    for _ in range(kind.changes):
        lost = kind.creep / float(chances @ VALUES)  # of what is left, so that the mean falls by just so much
        chances = np.where(VALUES == 0, 1 - (1 - chances) * (1 - lost), chances * (1 - lost))
        values = np.where(random.random(n) < lost, 0.0, values)
        values = np.where(random.random(n) < kind.redrawn, random.choice(VALUES, n, p=chances), values)
        yield values


class Seen(NamedTuple):
    """Of one history: whether the rolling baseline said REGRESSION or showed a loss, and at which change the anchor first did; 0: never."""

    rolling: bool
    rolling_loss: bool
    anchor: int
    anchor_loss: int


def gated(kind: Kind, n: int, looks: int, histories: int, seed: int) -> list[Seen]:
    """Gate every change of some histories, which share their resamples."""
    random, units = np.random.default_rng(seed), Clusters.alone(n)
    reached = np.array([list(states(kind, n, random)) for _ in range(histories)])
    alpha, found = ALPHA / looks, []
    for number in range(1, kind.changes + 1):
        sides = [reached[:, number] - reached[:, number - 1], reached[:, number] - reached[:, 0]]
        if number == 1:  # the baseline is its own anchor
            sides.pop()
        evidence = [weigh(side, MAX_DROP, units, alpha=alpha, resamples=RESAMPLES) for side in sides]
        gates = [
            conclude([PairedTest(side[row], MAX_DROP, alpha, units) for side in sides], [one[row] for one in evidence], power=POWER)
            for row in range(histories)
        ]
        found.append([(gate[0], gate[-1]) for gate in gates])
    return [_seen([gates[row] for gates in found]) for row in range(histories)]


def _seen(gates: Sequence[tuple[Decision, Decision]]) -> Seen:
    def first(told: Sequence[bool]) -> int:
        return next((number for number, one in enumerate(told, start=1) if one), 0)

    rolling, anchor = zip(*gates, strict=True)
    return Seen(
        any(one.verdict is Verdict.REGRESSION for one in rolling),
        any(one.loss_shown for one in rolling),
        first([one.verdict is Verdict.REGRESSION for one in anchor]),
        first([one.loss_shown for one in anchor]),
    )


def row(kind: Kind, n: int, looks: int, histories: int, seed: int) -> list[str]:
    """Return the row of a kind of history, as `HEAD` says."""
    seen = gated(kind, n, looks, histories, seed)
    caught = [one.anchor for one in seen if one.anchor]
    shares = (
        [one.rolling for one in seen],
        [one.rolling or one.anchor > 0 for one in seen],
        [one.rolling_loss for one in seen],
        [one.rolling_loss or one.anchor_loss > 0 for one in seen],
    )
    shown = [f"{100 * float(np.mean(share)):.1f}" for share in shares]
    return [kind.name, str(n), str(kind.changes), str(looks), *shown, f"{np.median(caught):.0f}" if caught else NONE]


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser(prog="looks", description="many gates of one baseline")
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="+", default=(156, 300))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    rows: list[list[str]] = [list(HEAD)]
    for n in arguments.sizes:
        for kind in KINDS:
            for looks in (1, kind.changes):
                rows.append(row(kind, n, looks, arguments.histories, arguments.seed))
                print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print(markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
