"""What the explorer holds of a sweep: its leaderboard, and of a large one a fair selection with sums over all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations, islice
from typing import Any

import numpy as np

from ...datasets.errors import InputError
from ...evaluation.inference.clusters import Floats
from ...evaluation.measures.grammar import direction
from ...evaluation.sweeps.leaderboard import REPLICATES, Leaderboard, pareto, weighed
from ...evaluation.sweeps.points import Point, newest, sort_key

SHOWN = 2_000
"""How many configurations are drawn one by one."""

BINS = 40

PAIRS = 45
"""Of so many pairs of parameters the interaction is kept."""

Configurations = Mapping[tuple[str, str], list[Point]]
"""System and parameters, those of replicates apart → the replicates."""


def sweep_model(name: str, points: Sequence[Point]) -> dict[str, Any]:
    """Return a sweep as JSON-ready values.

    Of more than `SHOWN` configurations the Pareto front and the best are chosen, and others at even distances in the ranks below
    them; the histogram, and what the parameters are worth, are of all, the latter without intervals.

    Raises:
        InputError: no complete point.
    """
    current = newest(points)
    complete = [point for point in current if point.status == "complete"]
    if not complete:
        raise InputError("no complete point", where=name, remedy="run the sweep again with --retry-failed")
    measure = "recall@10" if any("recall@10" in point.measures for point in complete) else complete[0].measures[0]
    found = _configurations(complete, measure)
    costs = np.array([_costs(system, replicates, measure) for (system, _), replicates in found.items()])
    means = -direction(measure) * costs[:, 0]
    whole = len(found) <= SHOWN
    chosen = list(found) if whole else [list(found)[place] for place in _chosen(costs)]
    board = Leaderboard(list({point.key: point for key in chosen for point in found[key]}.values()), measure)
    counts, edges = np.histogram(means, BINS, (0, 1))
    return {
        "label": name,
        "measure": measure,
        "points": len(points),
        "failed": len(current) - len(complete),
        "replaced": len(points) - len(current),
        "whole": whole,
        "configurations": len(board.rows) if whole else len(found),
        "varied": list(board.varied),
        "rows": [asdict(row) for row in board.rows],
        "effects": [asdict(effect) for effect in board.effects] if whole else _effects(board.varied, found, means),
        "interactions": list(_interactions(board.varied, found, means)),
        "histogram": {"counts": counts.tolist(), "edges": edges.tolist()},
    }


def _configurations(complete: Sequence[Point], measure: str) -> Configurations:
    found: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in complete:
        if measure in point.measures:
            shown = repr(sorted((name, value) for name, value in point.parameters.items() if name not in REPLICATES))
            for system in point.systems:
                found[system, shown].append(point)
    return found


def _costs(system: str, replicates: Sequence[Point], measure: str) -> tuple[float, float, float]:
    """Return what the leaderboard's front weighs, over all replicates of a configuration."""
    times = [p.latency[system]["p50"] for p in replicates]
    known = [time for time in times if time is not None]
    mean = float(np.mean([p.mean(system, measure) for p in replicates]))
    tokens = float(np.mean([p.tokens[system] for p in replicates]))
    return weighed(direction(measure) * mean, tokens, float(np.mean(known)) if len(known) == len(times) else None)


def _chosen(costs: Floats) -> list[int]:
    """Return the rows of the front, the best, and others at even distances in the ranks below."""
    ranked = np.argsort(costs[:, 0], kind="stable")
    best, rest = ranked[: SHOWN // 2], ranked[SHOWN // 2 :]
    spread = rest[np.linspace(0, len(rest) - 1, SHOWN // 2).astype(int)]
    return sorted({*np.flatnonzero(pareto(costs)).tolist(), *best.tolist(), *spread.tolist()})


def _interactions(varied: Sequence[str], found: Configurations, means: Floats) -> Iterator[dict[str, Any]]:
    """Yield, for each two parameters, the mean of the configurations that have both of two values, and how many those are."""
    parameters = [replicates[0].parameters for replicates in found.values()]
    for across, down in islice(combinations(varied, 2), PAIRS):
        sides = [{repr(p.get(name)): p.get(name) for p in parameters} for name in (across, down)]
        columns, lines = ([values[key] for key in sorted(values, key=lambda key: sort_key(values[key]))] for values in sides)
        cells: dict[tuple[str, str], list[float]] = defaultdict(list)
        for own, mean in zip(parameters, means.tolist(), strict=True):
            cells[repr(own.get(across)), repr(own.get(down))].append(mean)
        grid = [[_cell(cells.get((repr(x), repr(y)))) for x in columns] for y in lines]
        if max(len(columns), len(lines)) <= BINS:
            yield {"across": across, "down": down, "columns": columns, "lines": lines, "cells": grid}


def _cell(values: Sequence[float] | None) -> tuple[float, int] | None:
    return (sum(values) / len(values), len(values)) if values else None


def _effects(varied: Sequence[str], found: Configurations, means: Floats) -> list[dict[str, Any]]:
    """Return what each value of each parameter is worth on average over all configurations."""
    effects = []
    for name in varied:
        rows: dict[str, list[int]] = defaultdict(list)
        values: dict[str, Any] = {}
        for place, replicates in enumerate(found.values()):
            value = replicates[0].parameters.get(name)
            values[repr(value)] = value
            rows[repr(value)].append(place)
        for key in sorted(rows, key=lambda key: sort_key(values[key])):
            mean = float(means[rows[key]].mean() - means.mean())
            effects.append({"parameter": name, "value": values[key], "rows": len(rows[key]), "mean": mean, "low": None, "high": None})
    return effects
