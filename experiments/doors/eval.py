"""`recallmeter eval`: score runs in files against judgments, by the same metrics as everywhere."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...evaluation.files.trec import read_qrels
from ...reports import comparison as written
from ...reports.table import aligned
from ..api.ranked_files import compare_scored
from ..api.scoring import Scored, by_name, cell, mean, score_all

_NAMED = 5

WRITES_SHARES = True


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
    runs = by_name(arguments.runs)
    asked = {"rel": arguments.rel, "remove_self_hits": arguments.remove_self_hits, "ties": arguments.ties}
    results = score_all(read_qrels(arguments.qrels), runs, arguments.measures, **asked)
    best = results[0].ceilings
    if arguments.json:
        print(json.dumps(_as_json(results, best, arguments.per_query), indent=1))
    else:
        print("\n\n".join(_as_text(results, best, arguments.per_query)))
    return 0


def _as_text(results: Sequence[Scored], best: Mapping[str, float], per_query: bool) -> Iterator[str]:
    rows = [["measure", "n", "ceiling", *(result.name for result in results)]]
    for measure, value in best.items():
        n = results[0].scores.counted(measure)
        rows.append([measure, str(n), cell(value, measure), *(cell(result.scores.mean(measure), measure) for result in results)])
    yield aligned(rows)
    for comparison in compare_scored(results):
        yield f"{written.title(comparison)}\n\n{aligned(written.rows(comparison.overall))}"
    if len(results) > 1:
        yield written.legend("randomisation", "holm")
    tied = [["ties", "run", "queries moved", "worst", "expected", "best"]]
    tied += [
        [measure, result.name, str(int(interval.tied.sum())), *(cell(mean(bound), measure) for bound in interval)]
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


def _query_rows(results: Sequence[Scored], measures: Sequence[str]) -> Iterator[list[str]]:
    yield ["run", "query", *measures]
    for result in results:
        for row, query in enumerate(result.scores.query_ids):
            yield [result.name, query, *(cell(result.scores.values[measure][row], measure) for measure in measures)]


def _notes(result: Scored) -> Iterator[str]:
    for queries, what in (
        (result.scores.missing, "judged but not in the run, scored 0"),
        (result.scores.unjudged, "in the run but not judged, left out"),
        (result.scores.unanswerable, "without a relevant document, left out"),
        (result.scores.repeated, "with a document returned more than once, counted once, with its highest score"),
    ):
        if queries:
            named = ", ".join(queries[:_NAMED]) + (", …" if len(queries) > _NAMED else "")
            yield f"{result.name}: {len(queries)} {'query' if len(queries) == 1 else 'queries'} {what}: {named}"


def _as_json(results: Sequence[Scored], best: Mapping[str, float], per_query: bool) -> dict[str, Any]:
    return {
        "ceilings": {measure: _number(value) for measure, value in best.items()},
        "comparisons": [written.record(comparison, []) for comparison in compare_scored(results)],
        "runs": {result.name: _run_as_json(result, per_query) for result in results},
    }


def _run_as_json(result: Scored, per_query: bool) -> dict[str, Any]:
    scores = result.scores
    told: dict[str, Any] = {
        "measures": {measure: {"mean": _number(scores.mean(measure)), "n": scores.counted(measure)} for measure in scores.values},
        **{kind: list(getattr(scores, kind)) for kind in ("missing", "unjudged", "unanswerable", "repeated")},
    }
    if result.ties:
        told["ties"] = {
            measure: {
                **{bound: _number(mean(values)) for bound, values in interval._asdict().items()},
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


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
