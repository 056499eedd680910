"""How often the gate is right: a simulation on the per-query values of real runs.

    python -m recallmeter.experiments.studies.calibration RUN:BEFORE:AFTER …

Each source names two systems of a stored run; their paired per-query values are the population that queries are drawn from,
with replacement, so that zeros, steps and skewness are those of real retrieval. A gate of two rules (recall@10 and ndcg@10)
judges each of the simulated pairs of runs. Printed, as Markdown:

1. False alarms: how often the gate says REGRESSION though there is no true difference, made in two ways: *exchanged*, each
   query's two values swap sides by a coin, and *tilted*, queries are drawn with weights under which both mean differences are 0
   while their distribution keeps its real skewness.
2. Power: queries are drawn with weights under which the true drop is δ. The drop looked for is the one at which the gate states,
   on average over the simulated pairs, just that δ as its minimum detectable effect; printed is how often it is caught.
3. Passes: how often the gate says PASS with no true difference, and at a true drop of just the accepted margin.
4. Coverage of the 95 % bootstrap intervals of means and of differences.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets.errors import InputError
from ...evaluation.inference.statistics import Floats, Method, bootstrap_intervals, paired_randomisation
from ...evaluation.inference.verdict import Decision, PairedTest, Verdict, conclude
from ...evaluation.judging.compare import pair, results_of
from ...evaluation.record import load_run
from ...reports.table import markdown, percent

MEASURES = ("recall@10", "ndcg@10")
SIZES = (20, 120, 500)
ALPHA = 0.05
POWER = 0.8
MAX_DROP = 0.02
MARGINS = (0.0, MAX_DROP)
FALSE_ALARMS = (
    *(f"REGRESSION, {way}, max_drop {100 * margin:g}" for margin in MARGINS for way in ("exchanged", "tilted")),
    "PASS, exchanged",
    *(f"PASS, {measure} −2 pp" for measure in MEASURES),
)
"""The columns of the first table, in per cent of the simulated pairs; PASS is with a max_drop of 2."""


@dataclass(frozen=True)
class Population:
    """Paired values of two systems: arrays of shape (measures, queries)."""

    name: str
    before: Floats
    differences: Floats

    @classmethod
    def of(cls, source: str) -> Population:
        """Read ``RUN:BEFORE:AFTER``."""
        path, before, after = ([*source.rsplit(":", 2), "", ""])[:3]
        if not after:
            raise InputError(f"{source!r} is not RUN:BEFORE:AFTER", remedy="name a run directory and two of its systems")
        run = load_run(path)
        pairing = pair(results_of(run, before), results_of(run, after))
        sides = [pairing.values(measure, pairing.queries)[0] for measure in MEASURES]
        differences = [pairing.differences(measure, pairing.queries) for measure in MEASURES]
        return cls(f"{run.manifest['dataset']['name']}: {before} → {after}", np.stack(sides), np.stack(differences))

    def tilted(self, targets: Floats, rows: Sequence[int]) -> Floats | None:
        """Return weights of the queries, shape (queries,), under which the mean differences of `rows` are `targets`.

        Of all such weights those nearest to equal ones (exponential tilting; the dual is convex, and Newton's method finds
        it); None when no weights reach the targets.
        """
        centred = self.differences[list(rows)] - targets[:, None]
        theta = np.zeros(len(centred))
        for _ in range(200):
            logs = theta @ centred
            weights = np.exp(logs - logs.max())
            weights /= weights.sum()
            gradient = centred @ weights
            if np.abs(gradient).max() < 1e-10:
                return weights
            curvature = (centred * weights) @ centred.T - np.outer(gradient, gradient) + 1e-9 * np.eye(len(centred))
            step = np.linalg.solve(curvature, gradient)
            theta = theta - step * min(1.0, 2.0 / np.abs(step).max())
        return None

    def drawn(self, random: np.random.Generator, pairs: int, n: int, weights: Floats | None = None) -> Floats:
        """Return differences of simulated pairs of runs, shape (pairs, measures, n)."""
        queries = random.choice(self.differences.shape[1], (pairs, n), p=weights)
        return self.differences[:, queries].transpose(1, 0, 2)


def judged(simulated: Floats, margin: float) -> list[list[Decision]]:
    """Let the gate decide each simulated pair; the exchanges are those that `verdict.decide` would make."""
    pairs, measures, n = simulated.shape
    p = np.concatenate([paired_randomisation(part.reshape(-1, n), alternative="less") for part in np.array_split(simulated, 8)])
    return [
        conclude([PairedTest(row, margin, ALPHA) for row in gate], values, power=POWER)
        for gate, values in zip(simulated, p.reshape(pairs, measures), strict=True)
    ]


def share(decisions: list[list[Decision]], verdict: Verdict, row: int | None = None) -> float:
    """Return how often a rule says `verdict`; without a row, how often the gate does: PASS takes all rules, REGRESSION any."""
    chosen = [[d.verdict is verdict for d in gate] for gate in decisions]
    if row is not None:
        return float(np.mean([gate[row] for gate in chosen]))
    return float(np.mean([all(gate) if verdict is Verdict.PASS else any(gate) for gate in chosen]))


def false_alarms(population: Population, pairs: int, random: np.random.Generator) -> list[list[str]]:
    """Return a row an n: REGRESSION without a true difference, and PASS without one and at a drop of the margin."""
    rows = []
    nothing = population.tilted(np.zeros(len(MEASURES)), range(len(MEASURES)))
    for n in SIZES:
        drawn = population.drawn(random, pairs, n)
        exchanged = drawn * random.choice([-1.0, 1.0], (pairs, 1, n))
        row = [population.name, str(n)]
        for margin in MARGINS:
            row.append(percent(share(judged(exchanged, margin), Verdict.REGRESSION)))
            if nothing is None:
                row.append("–")
            else:
                row.append(percent(share(judged(population.drawn(random, pairs, n, nothing), margin), Verdict.REGRESSION)))
        row.append(percent(share(judged(exchanged, MAX_DROP), Verdict.PASS)))
        for measure in range(len(MEASURES)):
            worse = population.tilted(np.array([-MAX_DROP]), [measure])
            if worse is None:
                row.append("–")
            else:
                row.append(percent(share(judged(population.drawn(random, pairs, n, worse), MAX_DROP), Verdict.PASS, measure)))
        rows.append(row)
    return rows


def stated(population: Population, drop: float, row: int, margin: float, n: int, pairs: int, seed: int) -> tuple[float, float] | None:
    """Return the mean minimum detectable effect that the gate states at a true drop, and how often that drop is caught."""
    weights = population.tilted(np.array([-drop]), [row])
    if weights is None:
        return None
    decisions = judged(population.drawn(np.random.default_rng(seed), pairs, n, weights), margin)
    told = [gate[row].detectable for gate in decisions]
    known = [value for value in told if value is not None]
    return (float(np.mean(known)) if known else float("inf")), share(decisions, Verdict.REGRESSION, row)


def power(population: Population, pairs: int, seed: int) -> list[list[str]]:
    """Return a row a measure and n: the drop that the gate calls detectable there, and how often it is caught."""
    rows = []
    for row, measure in enumerate(MEASURES):
        for n in SIZES:
            low, high = 0.0, 1.0
            for _ in range(12):
                middle = (low + high) / 2
                found = stated(population, middle, row, MAX_DROP, n, max(pairs // 10, 50), seed)
                low, high = (middle, high) if found is not None and found[0] > middle else (low, middle)
            found = stated(population, high, row, MAX_DROP, n, pairs, seed + 1)
            cells = ["–", "–", "–"] if found is None else [percent(high), percent(found[0]), percent(found[1])]
            rows.append([population.name, measure, str(n), *cells])
    return rows


def coverage(population: Population, samples: int, random: np.random.Generator) -> list[list[str]]:
    """Return a row a measure and n: how often the 95 % interval holds the population's mean, of values and of differences."""
    rows = []
    for row, measure in enumerate(MEASURES):
        for n in SIZES:
            queries = random.integers(0, population.differences.shape[1], (samples, n))
            cells = []
            for values in (population.before[row], population.differences[row]):
                for method in ("bca", "percentile"):
                    cells.append(percent(_covered(values[queries], float(values.mean()), method)))
            rows.append([population.name, measure, str(n), *cells])
    return rows


def _covered(samples: Floats, mean: float, method: Method) -> float:
    held, rounding = [], 1e-12
    for part in np.array_split(samples, max(1, len(samples) // 200)):
        bounds = np.array([interval[:2] for interval in bootstrap_intervals(part, method=method)], np.float64)
        held.append((bounds[:, 0] <= mean + rounding) & (mean <= bounds[:, 1] + rounding))
    return float(np.concatenate(held).mean())


def main(argv: Sequence[str] | None = None) -> int:
    """Simulate, and print the tables."""
    parser = argparse.ArgumentParser(prog="calibration", description="how often the gate is right")
    parser.add_argument("sources", nargs="+", metavar="RUN:BEFORE:AFTER")
    parser.add_argument("--pairs", type=int, default=2000, help="simulated pairs of runs a cell (default 2000)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    populations = [Population.of(source) for source in arguments.sources]
    random, pairs = np.random.default_rng(arguments.seed), arguments.pairs
    tables = {
        "False alarms and passes": [
            ["population", "n", *FALSE_ALARMS],
            *(row for population in populations for row in false_alarms(population, pairs, random)),
        ],
        "Power at the stated minimum detectable effect, max_drop 2": [
            ["population", "measure", "n", "true drop pp", "stated MDE pp", "caught %"],
            *(row for population in populations for row in power(population, pairs, arguments.seed)),
        ],
        "Coverage of 95 % intervals": [
            ["population", "measure", "n", "mean, BCa", "mean, percentile", "difference, BCa", "difference, percentile"],
            *(row for population in populations for row in coverage(population, pairs, random)),
        ],
    }
    for title, rows in tables.items():
        print(f"### {title}\n\n{markdown(rows, left=(0, 1))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
