"""`recallmeter eval`: score runs in files against judgments, by the same metrics as everywhere."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...evaluation.files.scoring import score_file
from ...evaluation.files.trec import read_qrels, read_run
from ...evaluation.measures.canonical import without_self_hits
from ...evaluation.measures.grammar import DEFAULT_MEASURES, parse_measure, with_threshold
from ...evaluation.measures.measure import Measure
from ...evaluation.measures.metrics import Scores, ceilings, tie_interval
from ...evaluation.measures.ties import TieInterval
from ...reports.table import NONE, aligned

_NAMED = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("--qrels", metavar="FILE", required=True, help="judgments: TREC, BEIR or JSON")
    parser.add_argument("--run", metavar="FILE", required=True, action="append", dest="runs", help="a run: TREC or JSON; repeat for more")
    parser.add_argument("-m", "--measure", action="append", dest="measures", help="such as ndcg@10, R@5 or 'P(rel=2)@5'; repeat for more")
    parser.add_argument("--rel", metavar="GRADE", type=int, help="a document is relevant from this grade on")
    parser.add_argument("--remove-self-hits", action="store_true", help="leave out a document that has the query's own id")
    parser.add_argument("--ties", action="store_true", help="add the worst, expected and best value over all orders of equal scores")
    parser.add_argument("--per-query", action="store_true", help="add the values of each query")
    parser.add_argument("--json", action="store_true", help="write JSON with full precision")


def execute(arguments: argparse.Namespace) -> int:
    """Print the means of each run, and what was asked for besides; 0 whatever they are."""
    measures = _measures(arguments.measures, arguments.rel)
    qrels = read_qrels(arguments.qrels)
    results = []
    for path, name in zip(arguments.runs, _names(arguments.runs), strict=True):
        scores = score_file(qrels, path, measures, remove_self_hits=arguments.remove_self_hits)
        results.append(_Result(name, scores, _ties(arguments, qrels, path, measures) if arguments.ties else {}))
    best = {measure: _mean(values) for measure, values in ceilings(qrels, measures).items()}
    if arguments.json:
        print(json.dumps(_as_json(results, best, arguments.per_query), indent=1))
    else:
        print("\n\n".join(_as_text(results, best, arguments.per_query)))
    return 0


def _ties(
    arguments: argparse.Namespace, qrels: Mapping[str, Mapping[str, int]], path: str, measures: Sequence[Measure]
) -> Mapping[str, TieInterval]:
    run = read_run(path)
    return tie_interval(qrels, without_self_hits(run) if arguments.remove_self_hits else run, measures)


@dataclass(frozen=True)
class _Result:
    """One run, scored."""

    name: str
    scores: Scores
    ties: Mapping[str, TieInterval]


def _measures(asked: Sequence[str] | None, rel: int | None) -> tuple[Measure, ...]:
    measures = [parse_measure(text) for text in asked] if asked else DEFAULT_MEASURES
    if rel is not None:
        measures = [with_threshold(measure, rel) for measure in measures]
    return tuple(dict.fromkeys(measures))


def _names(paths: Sequence[str]) -> list[str]:
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _as_text(results: Sequence[_Result], best: Mapping[str, float], per_query: bool) -> Iterator[str]:
    rows = [["measure", "n", "ceiling", *(result.name for result in results)]]
    for measure, value in best.items():
        n = results[0].scores.counted(measure)
        rows.append([measure, str(n), _cell(value), *(_cell(result.scores.mean(measure)) for result in results)])
    yield aligned(rows)
    tied = [["ties", "run", "queries moved", "worst", "expected", "best"]]
    tied += [
        [measure, result.name, str(int(interval.tied.sum())), *(_cell(_mean(bound)) for bound in interval)]
        for result in results
        for measure, interval in result.ties.items()
    ]
    if len(tied) > 1:
        yield aligned(tied)
    if per_query:
        yield "\n".join("\t".join(row) for row in _query_rows(results, list(best)))
    notes = [note for result in results for note in _notes(result)]
    if notes:
        yield "\n".join(notes)


def _query_rows(results: Sequence[_Result], measures: Sequence[str]) -> Iterator[list[str]]:
    yield ["run", "query", *measures]
    for result in results:
        for row, query in enumerate(result.scores.query_ids):
            yield [result.name, query, *(_cell(result.scores.values[measure][row]) for measure in measures)]


def _notes(result: _Result) -> Iterator[str]:
    for queries, what in (
        (result.scores.missing, "judged but not in the run, scored 0"),
        (result.scores.unjudged, "in the run but not judged, left out"),
        (result.scores.unanswerable, "without a relevant document, left out"),
        (result.scores.repeated, "with a document returned more than once, counted once, with its highest score"),
    ):
        if queries:
            named = ", ".join(queries[:_NAMED]) + (", …" if len(queries) > _NAMED else "")
            yield f"{result.name}: {len(queries)} {'query' if len(queries) == 1 else 'queries'} {what}: {named}"


def _as_json(results: Sequence[_Result], best: Mapping[str, float], per_query: bool) -> dict[str, Any]:
    return {
        "ceilings": {measure: _number(value) for measure, value in best.items()},
        "runs": {result.name: _run_as_json(result, per_query) for result in results},
    }


def _run_as_json(result: _Result, per_query: bool) -> dict[str, Any]:
    scores = result.scores
    told: dict[str, Any] = {
        "measures": {measure: {"mean": _number(scores.mean(measure)), "n": scores.counted(measure)} for measure in scores.values},
        **{kind: list(getattr(scores, kind)) for kind in ("missing", "unjudged", "unanswerable", "repeated")},
    }
    if result.ties:
        told["ties"] = {
            measure: {
                **{bound: _number(_mean(values)) for bound, values in interval._asdict().items()},
                "queries_moved": int(interval.tied.sum()),
            }
            for measure, interval in result.ties.items()
        }
    if per_query:
        told["per_query"] = {
            query: {measure: _number(values[row]) for measure, values in scores.values.items()}
            for row, query in enumerate(scores.query_ids)
        }
    return told


def _mean(values: np.ndarray) -> float:
    return float(values[~np.isnan(values)].mean()) if not np.isnan(values).all() else math.nan


def _cell(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.4f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
