"""Runs that were made elsewhere, side by side: scored against judgments, then paired by query as our own runs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets.errors import InputError
from ...datasets.model import Query, by_relevance
from ...evaluation.judging.compare import DIGITS, Comparison, Correction, Results, Test, at_extremes, pair
from ...evaluation.judging.compare import compare as compared
from ...evaluation.measures.canonical import canonical_run
from .comparing import Comparisons, comparisons_of
from .scoring import Judgments, Scored, as_qrels, as_ranked, score_all

if TYPE_CHECKING:
    from pandas import DataFrame


def results_of_scored(scored: Scored, rankings: Mapping[str, Sequence[str]] | None = None) -> Results:
    """Return one scored run as what is compared: its values on the queries that any measure is about."""
    scores = scored.scores
    table = np.stack([*scores.values.values()])
    rows = np.flatnonzero(~np.isnan(table).all(axis=0))
    queries = tuple(scores.query_ids[row] for row in rows)
    values = {measure: found[rows].round(DIGITS) for measure, found in scores.values.items()}
    return Results(scored.name, "", queries, values, rankings or {}, dict.fromkeys(queries, ""))


def compare_scored(results: Sequence[Scored]) -> list[Comparison]:
    """Hold each further run against the first, in one table of tests."""
    first, *rest = map(results_of_scored, results)
    return compared([pair(first, other) for other in rest if first.queries])


def compare_files(
    qrels: Judgments | DataFrame | str | Path,
    runs: Mapping[str, Mapping[str, Any] | DataFrame | str | Path],
    measures: Sequence[str] = (),
    *,
    test: Test = "randomisation",
    correction: Correction = "holm",
) -> Comparisons:
    """Compare runs that were made elsewhere, each against the first.

    Args:
        qrels: query → document → grade; or a frame; or a TREC, BEIR or JSON file.
        runs: name → run, in any of the ways that `score` takes.
        measures: such as ``["ndcg@10"]``; those of a run when empty.
        test, correction: as for `compare`.

    Raises:
        InputError: fewer than two runs, or as `score`.
    """
    if len(runs) < 2:
        raise InputError("there is nothing to compare it with", where=next(iter(runs), ""), remedy="name another run")
    judged = as_qrels(qrels)
    ranked = {name: as_ranked(run) for name, run in runs.items()}
    scored = score_all(judged, ranked, measures or None, ties=True)
    results = {
        one.name: results_of_scored(one, {q: [hit.id for hit in hits] for q, hits in canonical_run(judged, ranked[one.name]).items()})
        for one in scored
    }
    luck = {one.name: at_extremes(results[one.name], one.ties, one.scores.query_ids) for one in scored}
    first, *rest = results.values()
    queries = {name: _query(name, grades) for name, grades in judged.items()}
    asked = list(first.values)
    return comparisons_of([pair(first, other) for other in rest], [queries] * len(rest), luck, asked, test, correction)


def _query(name: str, grades: Mapping[str, int]) -> Query:
    """Return a query of which no more is known than its id and its judgments."""
    relevant, irrelevant = by_relevance(grades)
    return Query(id=name, text="", relevant=relevant, irrelevant=irrelevant)
