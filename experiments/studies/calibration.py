"""How often the gate is right: a simulation on the per-query values of real runs.

    python -m recallmeter.experiments.studies.calibration RUN:BEFORE:AFTER …

Each source names two systems of a stored run; the differences of its queries are the population that queries are drawn from, so that
zeros, steps and skewness are those of real retrieval. From each are made: *exchanged* (every difference and its opposite, equally
likely), *as it is*, *turned* (gains and losses swapped), *4 × .3* and *10 × .6* (exchanged, in groups of so many queries that
correlate by so much). Two made ones are added: *rare gains* (-.1 on half of the queries, +1 on few; *rare losses* are its mirror) and
*sparse* (2, 6 or 12 of n queries lost altogether, nothing else). Queries are drawn with the weights nearest to equal ones under
which the true loss is what is wanted. Printed, as Markdown, in per cent of the simulated pairs of runs:

- REGRESSION where the true loss is just `MAX_DROP`, and where there is none; any loss shown where there is none.
- PASS where the true loss is just `MAX_DROP`, by the bound, and because nothing moved, which a gate says beside it.
- Power: how often the loss is called REGRESSION at which the gate states, on average, just that loss as its MDE, in the observed
  shape and in the worst one.
- Coverage of the 95 % intervals of means and of differences.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets.errors import InputError
from ...evaluation.inference.clusters import Clusters, Floats
from ...evaluation.inference.intervals import DIFFERENCES, SHARES, mean_intervals
from ...evaluation.inference.power import worst_detectable
from ...evaluation.inference.verdict import Decision, PairedTest, Verdict, conclude, weigh
from ...evaluation.judging.compare import pair, results_of
from ...evaluation.measures.numbers import NONE
from ...evaluation.record import load_run
from ...reports.table import markdown

SIZES = (20, 50, 120, 156, 300, 500)
ALPHA = 0.05
POWER = 0.8
MAX_DROP = 0.02
RESAMPLES = 2_000
GROUPS = ((4, 0.3), (10, 0.6))
"""Queries in a group, and how much their differences correlate."""

HEAD = (
    "population",
    "n",
    "REGRESSION at max_drop",
    "REGRESSION at 0",
    "loss shown at 0",
    "PASS at max_drop",
    "nothing moved",
    "MDE as seen, pp",
    "caught",
    "worst shape, pp",
    "caught",
    "interval of Δ holds",
    "interval of the mean holds",
)


@dataclass(frozen=True)
class Population:
    """Differences that queries are drawn from, and values of one system, each of shape (queries,).

    `size` queries hang together, and their differences correlate by `correlation`; `loss` is the true one, as it is accepted.
    """

    name: str
    differences: Floats
    values: Floats | None = None
    size: int = 1
    correlation: float = 0.0
    fixed: bool = False

    def tilted(self, loss: float) -> Floats | None:
        """Return the weights nearest to equal ones, shape (queries,), under which the mean difference is -loss; None if there are none.

        Exponential tilting; one number, found by bisection, decides them.
        """
        centred = self.differences + loss
        if not (centred.min() < 0 < centred.max()):
            return None
        low, high = -500.0, 500.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if _weights(centred, middle) @ centred < 0 else (low, middle)
        return _weights(centred, (low + high) / 2)

    def clusters(self, n: int) -> Clusters:
        """Return which of n drawn queries hang together."""
        return Clusters(np.arange(n) // self.size)

    def drawn(self, random: np.random.Generator, pairs: int, n: int, weights: Floats | None) -> Floats:
        """Return differences of simulated pairs of runs, shape (pairs, n).

        A query of a group takes the group's difference with the square root of the correlation as its chance, else one of its own.
        """
        own = self.differences[random.choice(len(self.differences), (pairs, n), p=weights)]
        if self.size == 1:
            return own
        shared = self.differences[random.choice(len(self.differences), (pairs, -(-n // self.size)), p=weights)]
        return np.where(random.random((pairs, n)) < self.correlation**0.5, shared.repeat(self.size, axis=1)[:, :n], own)


def _weights(centred: Floats, theta: float) -> Floats:
    logs = theta * centred
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def populations(source: str, measure: str) -> Iterator[Population]:
    """Yield the populations that ``RUN:BEFORE:AFTER`` gives."""
    path, before, after = ([*source.rsplit(":", 2), "", ""])[:3]
    if not after:
        raise InputError(f"{source!r} is not RUN:BEFORE:AFTER", remedy="name a run directory and two of its systems")
    run = load_run(path)
    pairing = pair(results_of(run, before), results_of(run, after))
    differences = pairing.differences(measure, pairing.queries)
    name = f"{run.manifest['dataset']['name']} {measure}: {before} → {after}"
    both = np.r_[differences, -differences]
    yield Population(f"{name}, exchanged", both, pairing.values(measure, pairing.queries)[0])
    yield Population(f"{name}, as it is", differences)
    yield Population(f"{name}, turned", -differences)
    for size, correlation in GROUPS:
        yield Population(f"{name}, {size} × {correlation:g}", both, size=size, correlation=correlation)


def made(n: int) -> Iterator[Population]:
    """Yield the populations of no source; the true loss of each is what its queries give, and is what is accepted."""
    share = round(100 * MAX_DROP)
    yield Population("rare gains", np.r_[np.full(50, -0.1), np.zeros(47), np.full(5 - share, 1.0)], fixed=True)
    yield Population("rare losses", np.r_[np.full(50, 0.1), np.zeros(43), np.full(5 + share, -1.0)], fixed=True)
    for lost in (2, 6, 12):
        yield Population(f"sparse, {lost} lost", np.r_[np.full(lost, -1.0), np.zeros(n - lost)], fixed=True)


def judged(simulated: Floats, margin: float, clusters: Clusters) -> list[Decision]:
    """Let a gate of one rule decide each simulated pair, shape (pairs, queries); the pairs share their resamples."""
    evidence = weigh(simulated, margin, clusters, alpha=ALPHA, resamples=RESAMPLES)
    return [
        conclude([PairedTest(row, margin, ALPHA, clusters)], [one], power=POWER)[0] for row, one in zip(simulated, evidence, strict=True)
    ]


def cell(population: Population, n: int, pairs: int, seed: int) -> list[str]:
    """Return the row of a population and a number of queries, as `HEAD` says."""
    random, clusters = np.random.default_rng(seed), population.clusters(n)
    margin = -float(population.differences.mean()) if population.fixed else MAX_DROP
    at = None if population.fixed else population.tilted(margin)
    cells = [population.name, str(n)]
    if at is None and not population.fixed:
        return [*cells, *[NONE] * (len(HEAD) - 2)]
    simulated = population.drawn(random, pairs, n, at).round(6)
    decisions = judged(simulated, margin, clusters)
    cells.append(_share([d.verdict is Verdict.REGRESSION for d in decisions]))
    none = population.tilted(0.0)
    harmless = [] if none is None else judged(population.drawn(random, pairs, n, none).round(6), margin, clusters)
    cells.append(_share([d.verdict is Verdict.REGRESSION for d in harmless]))
    cells.append(_share([d.loss_shown for d in harmless]))
    cells.append(_share([d.verdict is Verdict.PASS and d.changed > 0 for d in decisions]))
    cells.append(_share([d.changed == 0 for d in decisions]))
    cells += _power(population, margin, n, pairs, seed)
    truth = float(population.differences.mean()) if population.fixed else -margin
    cells.append(_share(_held(simulated, truth, DIFFERENCES, clusters)))
    if population.values is None:
        return [*cells, NONE]
    drawn = random.choice(population.values, (pairs, n))
    return [*cells, _share(_held(drawn, float(population.values.mean()), SHARES, clusters))]


def _power(population: Population, margin: float, n: int, pairs: int, seed: int) -> Iterator[str]:
    """Yield the MDE as seen and how often it is caught, then that of the worst shape."""
    clusters = population.clusters(n)
    if population.fixed:
        yield from (NONE, NONE)
    else:
        low, high = margin, 1.0
        for _ in range(9):
            middle = (low + high) / 2
            stated = [d.detectable for d in _at(population, middle, margin, n, max(pairs // 20, 50), seed) if d.detectable is not None]
            low, high = (middle, high) if stated and float(np.mean(stated)) > middle else (low, middle)
        caught = _at(population, high, margin, n, pairs, seed + 1)
        stated = [d.detectable for d in caught if d.detectable is not None]
        yield from (f"{100 * high:.1f}", _share([d.verdict is Verdict.REGRESSION for d in caught])) if stated else (NONE, NONE)
    worst = worst_detectable(clusters.effective, alpha=ALPHA, power=POWER, margin=margin)
    if worst is None:
        yield from (NONE, NONE)
        return
    lost = np.random.default_rng(seed).binomial(clusters.count, worst, pairs)
    counts, back = np.unique(lost, return_inverse=True)
    evidence = weigh(-(clusters.labels < counts[:, None]).astype(np.float64), margin, clusters, alpha=ALPHA)
    yield from (f"{100 * worst:.1f}", _share([evidence[row].beyond <= ALPHA for row in back]))


def _at(population: Population, loss: float, margin: float, n: int, pairs: int, seed: int) -> list[Decision]:
    weights = population.tilted(loss)
    if weights is None:
        return []
    return judged(population.drawn(np.random.default_rng(seed), pairs, n, weights).round(6), margin, population.clusters(n))


def _held(samples: Floats, mean: float, bounds: tuple[float, float], clusters: Clusters) -> list[bool]:
    intervals = mean_intervals(samples, bounds, clusters=clusters)
    return [low is not None and high is not None and low - 1e-12 <= mean <= high + 1e-12 for low, high, _ in intervals]


def _share(events: Sequence[bool]) -> str:
    return f"{100 * float(np.mean(events)):.1f}" if events else NONE


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser(prog="calibration", description="how often the gate is right")
    parser.add_argument("sources", nargs="*", metavar="RUN:BEFORE:AFTER")
    parser.add_argument("-m", "--measure", default="recall@10")
    parser.add_argument("--pairs", type=int, default=2000, help="simulated pairs of runs a cell (default 2000)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of queries")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    real = [population for source in arguments.sources for population in populations(source, arguments.measure)]
    rows: list[list[str]] = [list(HEAD)]
    for n in arguments.sizes:
        for population in (*real, *(() if real else made(n))):
            rows.append(cell(population, n, arguments.pairs, arguments.seed))
            print(" ".join(rows[-1]), file=sys.stderr, flush=True)
    print(markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
