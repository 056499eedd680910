"""The summary of a run: every number that a report shows of it, computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets.errata import DISPUTED
from ..datasets.model import Dataset, Query
from .inference.clusters import Clusters
from .inference.intervals import SHARES, mean_intervals
from .loop import Answer, Protocol, SystemResult, memory_tokens
from .measures.gains import Context
from .measures.grammar import parse_measure
from .measures.metrics import Scores, ceilings, score, tie_interval
from .measures.ties import TieInterval

TIME_MEASURES = tuple(map(parse_measure, ("stale@10", "as_of_recall@10", "future_leaks")))
"""What every summary says of how a system deals with time."""

LEDGER_DEPTH = 10
"""How deep the arm ledger looks: gold in an arm's first ten, or in the answer's first ten."""


def summarise(
    dataset: Dataset, results: Sequence[SystemResult], scores: Mapping[str, Scores], protocol: Protocol, *, seed: int
) -> dict[str, Any]:
    """Return the summary, JSON-ready; only what stands under a key ``latency`` differs between two runs.

    Every mean of a measure is over the answerable queries, failed ones at 0, with n and a 95 % interval.
    """
    answerable = [query for query in dataset.queries if query.answerable]
    measures = list(next(iter(scores.values())).values)
    return {
        "measures": measures,
        "queries": len(dataset.queries),
        "answerable": len(answerable),
        "unanswerable": len(dataset.queries) - len(answerable),
        "categories": dict(sorted(Counter(query.category for query in dataset.queries).items())),
        "ceilings": _ceilings(dataset, measures),
        "memory_tokens": memory_tokens(dataset, protocol.tokens_counter),
        "systems": {result.name: _system(result, dataset, scores[result.name], seed) for result in results},
    }


def context_of(dataset: Dataset, result: SystemResult) -> Context:
    """Return what a measure may need to know of a system's answers beyond the judgments."""
    failed = {query for query, answer in result.answers.items() if answer.status == "failed"}
    return Context({query.id: query for query in dataset.queries}, {o.id: o for o in dataset.observations}, failed)


def means_with_intervals(
    rows: Mapping[str, NDArray[np.float64]],
    seed: int,
    *,
    groups: Sequence[str] | None = None,
    bounds: tuple[float, float] | None = SHARES,
) -> dict[str, dict[str, Any]]:
    """Return, for each row of per-query values, mean, low, high and n over those that are not nan.

    Rows over the same queries share the resamples of them. `groups` names the group of each query, if any hang together; `bounds` are
    those of the values. The mean is None of no values; low and high are None where n is too small for an interval.
    """
    alike: dict[bytes, list[str]] = {}
    for name, values in rows.items():
        alike.setdefault(np.isnan(values).tobytes(), []).append(name)
    found: dict[str, dict[str, Any]] = {}
    for names in alike.values():
        kept = ~np.isnan(rows[names[0]])
        if not kept.any():
            found.update((name, {"mean": None, "low": None, "high": None, "n": 0}) for name in names)
            continue
        clusters = None if groups is None else Clusters.of([group for group, keep in zip(groups, kept, strict=True) if keep])
        stacked = np.stack([rows[name][kept] for name in names])
        for name, values, interval in zip(names, stacked, mean_intervals(stacked, bounds, clusters=clusters, seed=seed), strict=True):
            found[name] = {"mean": float(values.mean()), "low": interval.low, "high": interval.high, "n": len(values)}
    return {name: found[name] for name in rows}


def _ceilings(dataset: Dataset, measures: Iterable[str]) -> dict[str, float | None]:
    """Return the mean of the best value attainable on each query, dangling judgments counted as out of reach."""
    observations = {observation.id: observation for observation in dataset.observations}
    context = Context({query.id: query for query in dataset.queries}, observations)
    best = ceilings({query.id: query.judgments for query in dataset.queries}, [*map(parse_measure, measures)], observations, context)
    return {name: _mean(values) for name, values in best.items()}


def _system(result: SystemResult, dataset: Dataset, scores: Scores, seed: int) -> dict[str, Any]:
    queries = dataset.queries
    answers = [result.answers[query.id] for query in queries]
    rows = {identifier: row for row, identifier in enumerate(scores.query_ids)}
    qrels, context = {query.id: query.judgments for query in queries}, context_of(dataset, result)

    def measured(chosen: Iterable[Query]) -> dict[str, Any]:
        kept = list(chosen)
        index, groups = [rows[query.id] for query in kept], [query.group for query in kept]
        values = {name: row[index] for name, row in scores.values.items()}
        shares = {name: row for name, row in values.items() if parse_measure(name).most <= 1}
        means = means_with_intervals(shares, seed, groups=groups)
        means |= means_with_intervals({name: row for name, row in values.items() if name not in shares}, seed, groups=groups, bounds=None)
        return {name: means[name] for name in values}

    unanswerable = [result.answers[query.id] for query in queries if not query.answerable]
    return {
        "status": dict(sorted(Counter(answer.status for answer in answers).items())),
        "measures": measured(queries),
        "undisputed": measured(q for q in queries if DISPUTED not in q.tags) if any(DISPUTED in q.tags for q in queries) else None,
        "ties": _ties(result, qrels, scores, context),
        "time": _time(result, qrels, context, seed),
        "categories": {c: measured(q for q in queries if q.category == c) for c in sorted({q.category for q in queries})},
        "unanswerable": {"n": len(unanswerable), "silent": sum(answer.status == "empty" for answer in unanswerable)},
        **means_with_intervals(
            {"tokens": np.array([answer.tokens for answer in answers], np.float64)},
            seed,
            groups=[query.group for query in queries],
            bounds=None,
        ),
        "returned": float(np.mean([len(answer.hits) for answer in answers])),
        "arms": _ledger(result.answers, queries),
        "notes": dict(sorted(Counter(note for answer in answers for note in answer.trace.notes).items())),
        "faults": dict(sorted(Counter(fault for answer in answers for fault in answer.faults).items())),
        "report": dict(result.report),
        "latency": _latency(result, answers),
    }


def _ties(
    result: SystemResult, qrels: Mapping[str, Mapping[str, int]], scores: Scores, context: Context
) -> dict[str, dict[str, float | None]]:
    """Return, for each measure, its mean in the worst order of tied scores, in the expected one and in the best."""
    rankings = {query: answer.hits for query, answer in result.answers.items()}
    found = tie_interval(qrels, rankings, [parse_measure(name) for name in scores.values], context)
    return {name: dict(zip(TieInterval._fields, map(_mean, interval), strict=True)) for name, interval in found.items()}


def _time(result: SystemResult, qrels: Mapping[str, Mapping[str, int]], context: Context, seed: int) -> dict[str, Any]:
    """Return how often something superseded stands above its successor, how much came back from the future, and recall as of then."""
    found = score(qrels, {query: answer.hits for query, answer in result.answers.items()}, TIME_MEASURES, context).values
    leaks = found.pop("future_leaks")
    return {**means_with_intervals(found, seed), "future_leaks": int(np.nansum(leaks))}


def _mean(values: NDArray[np.float64]) -> float | None:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else None


def _ledger(answers: Mapping[str, Answer], queries: Sequence[Query]) -> dict[str, dict[str, float]]:
    """Count, for each arm, the queries it answered, and the gold of its first ten.

    Of that gold: found, found in no other arm's first ten, and lost by fusion and stages.
    """
    ledger: dict[str, Counter[str]] = {}
    for query in queries:
        answer = answers[query.id]
        gold = set(query.relevant)
        final = {hit.id for hit in answer.hits[:LEDGER_DEPTH]}
        tops = {name: gold & set(arm.ids[:LEDGER_DEPTH]) for name, arm in answer.trace.arms.items()}
        for name, arm in answer.trace.arms.items():
            others = set().union(*(top for other, top in tops.items() if other != name))
            row = ledger.setdefault(name, Counter(asked=0, answered=0, candidates=0, found=0, only=0, lost=0))
            row.update(
                asked=1,
                answered=int(bool(arm.ids)),
                candidates=len(arm.ids),
                found=len(tops[name]),
                only=len(tops[name] - others),
                lost=len(tops[name] - final),
            )
    return {name: {**row, "candidates": row["candidates"] / row["asked"]} for name, row in ledger.items()}


def _latency(result: SystemResult, answers: Sequence[Answer]) -> dict[str, Any]:
    spans: dict[str, list[float]] = {}
    for answer in answers:
        for span, ms in answer.spans.items():
            spans.setdefault(span, []).append(ms)
    return {
        "timed": len(spans.get("total", ())),
        "index_ms": result.index_ms,
        "cold_ms": result.cold_ms,
        "spans": {
            span: {"mean": float(np.mean(ms)), **{f"p{p}": float(np.percentile(ms, p)) for p in (50, 95, 99)}, "n": len(ms)}
            for span, ms in spans.items()
        },
    }
