"""The doctor: whether the harness, the labels or a retriever leaks, found by controls and by a second pass in disguise."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from ...datasets.checks.leakage import telling_words
from ...datasets.model import Dataset, Observation, Query, moment
from ...retrieval.ranking import Hit, Retriever
from ..inference.clusters import Floats
from ..loop import Answer, Protocol, evaluate
from ..measures.grammar import parse_measure
from ..measures.metrics import score, tie_interval
from .controls import Constant, Empty, Oracle, Random, Reversed

CUTOFFS = (5, 10)
SHUFFLES = 20
"""How many seeds the random control is asked with."""

SURE = 3.89
"""Standard errors that chance passes once in ten thousand."""

_MEASURES = tuple(map(parse_measure, (*(f"{name}@{k}" for k in CUTOFFS for name in ("recall", "precision")), "ndcg@10", "mrr")))
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Check:
    """One thing that must hold: what was found, what was expected, and what a failure means."""

    name: str
    passed: bool
    found: str
    expected: str
    remedy: str = ""


def examine(dataset: Dataset, systems: Mapping[str, Callable[[], Retriever]], protocol: Protocol, *, seed: int = 0) -> Iterator[Check]:
    """Yield what holds and what does not: the controls, the labels, then each system.

    Args:
        dataset: with at least one answerable query.
        systems: name → what makes the retriever; it is made once for each of the two passes.
        protocol: its k must reach the deepest of `CUTOFFS`; how often a query is repeated shows whether answers are stable.
        seed: of the random control and of the disguise.
    """
    lenient = replace(protocol, strict=False, warm_up=0)
    reach = _Reach.of(dataset)
    yield from _controls(dataset, reach, lenient, seed)
    yield from _labels(dataset, reach)
    for name, make in systems.items():
        yield from _system(name, make, dataset, lenient, seed)


@dataclass(frozen=True)
class _Reach:
    """What can be found at all, by answerable query: arrays of shape (queries,).

    `relevant` is R; `within` how many of them lie in the query's scope and time, `leading` among the first ids there; `size` is
    how many observations do.
    """

    queries: tuple[Query, ...]
    relevant: NDArray[np.int64]
    within: NDArray[np.int64]
    leading: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, dataset: Dataset) -> _Reach:
        scopes: dict[str, list[Observation]] = defaultdict(list)
        for observation in dataset.observations:
            scopes[observation.scope].append(observation)

        @lru_cache(maxsize=8)
        def visible(scope: str, asked_at: datetime | None) -> tuple[set[str], list[str]]:
            ids = {o.id for o in scopes[scope] if asked_at is None or o.timestamp <= asked_at}
            return ids, nsmallest(max(CUTOFFS), ids)

        answerable = tuple(query for query in dataset.queries if query.answerable)
        counts = []
        for query in answerable:
            ids, first = visible(query.scope, query.asked_at)
            gold = query.relevant.keys()
            counts.append((len(gold), len(gold & ids), len(gold & first), len(ids)))
        return cls(answerable, *np.array(counts, np.int64).reshape(-1, 4).T)


# ---------------------------------------------------------------------------------------------------------------- controls


def _controls(dataset: Dataset, reach: _Reach, protocol: Protocol, seed: int) -> Iterator[Check]:
    asked = Counter((query.text, query.scope, moment(query.asked_at)) for query in dataset.queries)
    alone = np.array([asked[query.text, query.scope, moment(query.asked_at)] == 1 for query in reach.queries], dtype=bool)
    best, worst = _bounds(reach)
    for name, control, expected in (("oracle", Oracle(), best), ("reversed", Reversed(), worst)):
        values = _values(dataset, control, protocol)
        yield _equal(name, {m: v[alone] for m, v in values.items() if m in expected}, {m: v[alone] for m, v in expected.items()})
    constant = {f"recall@{max(CUTOFFS)}": reach.leading / reach.relevant}
    yield _equal("constant", _values(dataset, Constant(), protocol), constant)
    empty = _values(dataset, Empty(), protocol)
    yield _equal("empty", empty, {measure: np.zeros(len(reach.queries)) for measure in empty})
    shuffled = [_values(dataset, Random(seed + number), replace(protocol, repeats=1)) for number in range(SHUFFLES)]
    for k in CUTOFFS:
        yield _random(k, np.mean([values[f"recall@{k}"] for values in shuffled], axis=0), reach)


def _bounds(reach: _Reach) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return what the best and the worst ranking score: with the relevant first, and with everything else first."""
    best, worst = {}, {}
    for k in CUTOFFS:
        most = np.minimum(k, reach.within)
        least = np.minimum(np.maximum(0, k - (reach.size - reach.within)), reach.within)
        for bounds, hits in ((best, most), (worst, least)):
            bounds[f"recall@{k}"] = hits / reach.relevant
            bounds[f"precision@{k}"] = hits / k
    best["mrr"] = (reach.within > 0).astype(np.float64)
    if (reach.within == reach.relevant).all():
        best["ndcg@10"] = np.ones(len(reach.queries))
    return best, worst


def _equal(name: str, values: Mapping[str, Floats], expected: Mapping[str, Floats]) -> Check:
    wrong = [measure for measure, value in expected.items() if np.abs(values[measure] - value).max(initial=0.0) > _ROUNDING]
    shown = wrong or list(expected)
    return Check(
        f"control {name}",
        not wrong,
        ", ".join(f"{measure} {_mean(values[measure])}" for measure in shown),
        ", ".join(f"{measure} {_mean(expected[measure])}" for measure in shown),
        "the harness or a measure errs: what it is handed and what it makes of it differ",
    )


def _random(k: int, recall: Floats, reach: _Reach) -> Check:
    """A shuffle finds k/N of what is there; the number of hits is hypergeometric."""
    size = np.maximum(reach.size, 1)
    drawn = np.minimum(k, size)
    mean = drawn * reach.within / size / reach.relevant
    share = reach.within / size
    variance = drawn * share * (1 - share) * (size - drawn) / np.maximum(size - 1, 1) / reach.relevant**2
    error = SURE * math.sqrt(float(variance.sum()) / SHUFFLES) / len(mean)
    found, expected = float(recall.mean()), float(mean.mean())
    return Check(
        f"control random recall@{k}",
        abs(found - expected) <= error + _ROUNDING,
        f"{100 * found:.2f} over {SHUFFLES} shuffles",
        f"k/N: {100 * expected:.2f} ± {100 * error:.2f}",
        "chance does better or worse than it can: hits are counted wrongly, or queries see more than their scope",
    )


# ------------------------------------------------------------------------------------------------------------------ labels


def _first(dataset: Dataset, k: int) -> list[Observation]:
    """Return the first `k` observations of each scope in the order of ids."""
    scopes: dict[str, list[Observation]] = defaultdict(list)
    for observation in sorted(dataset.observations, key=lambda o: o.id):
        scopes[observation.scope].append(observation)
    return [observation for observations in scopes.values() for observation in observations[:k]]


def _labels(dataset: Dataset, reach: _Reach) -> Iterator[Check]:
    told = list(telling_words(dataset))
    yield Check(
        "labels: ids tell nothing",
        not told,
        "no word of an id marks the relevant ones" if not told else "; ".join(f"{word!r} is in {where}" for word, where in told[:3]),
        "no word in nine of ten relevant ids and in at most one of ten others",
        "rename the ids, or measure systems that never see them",
    )
    k = max(CUTOFFS)
    weights: Counter[str] = Counter()
    for query in reach.queries:
        weights.update({identifier: 1 / len(query.relevant) / len(reach.queries) for identifier in query.relevant})
    scopes: dict[str, list[float]] = defaultdict(list)
    for observation in dataset.observations:
        scopes[observation.scope].append(weights[observation.id])
    expected = sum(min(k, len(w)) * float(np.mean(w)) for w in scopes.values())
    variance = sum(min(k, len(w)) * float(np.var(w, ddof=1)) * (1 - min(k, len(w)) / len(w)) for w in scopes.values() if len(w) > 1)
    found, error = sum(weights[o.id] for o in _first(dataset, k)), SURE * math.sqrt(variance)
    yield Check(
        "labels: not in the order of ids",
        abs(found - expected) <= error + _ROUNDING,
        f"recall@{k} of the first ids {100 * found:.2f}",
        f"{100 * expected:.2f} ± {100 * error:.2f}, as of any other {k}",
        "give ids in an order that does not follow the labels: whoever breaks ties by id profits",
    )


# ----------------------------------------------------------------------------------------------------------------- systems


def disguised(dataset: Dataset, seed: int) -> tuple[Dataset, dict[str, str]]:
    """Return the data set with opaque ids of observations and sessions, in another order, and new id → old id.

    New ids sort as the old ones do, so that ties broken by id are broken alike; nothing else of them is left.
    """
    random = np.random.default_rng(seed)

    def opaque(identifiers: set[str]) -> dict[str, str]:
        tails = random.integers(0, 16**8, len(identifiers))
        return {old: f"{place:08x}{tail:08x}" for place, (old, tail) in enumerate(zip(sorted(identifiers), tails.tolist(), strict=True))}

    ids = opaque({o.id for o in dataset.observations} | {i for query in dataset.queries for i in query.judgments})
    sessions = opaque({o.session_id for o in dataset.observations})
    observations = [
        replace(o, id=ids[o.id], session_id=sessions[o.session_id], superseded_by=ids.get(o.superseded_by) if o.superseded_by else None)
        for o in dataset.observations
    ]
    order = random.permutation(len(observations)).tolist()
    judged = (({ids[i]: g for i, g in q.relevant.items()}, tuple(ids[i] for i in q.irrelevant)) for q in dataset.queries)
    queries = tuple(replace(q, relevant=answers, irrelevant=others) for q, (answers, others) in zip(dataset.queries, judged, strict=True))
    data = Dataset(dataset.name, tuple(observations[position] for position in order), queries, dataset.licence)
    return data, {new: old for old, new in ids.items()}


def _system(name: str, make: Callable[[], Retriever], dataset: Dataset, protocol: Protocol, seed: int) -> Iterator[Check]:
    first = _answers(dataset, name, make(), protocol)
    failed = [f"{query}: {answer.error}" for query, answer in first.items() if answer.status == "failed"]
    everything = f"all {len(first)} queries"
    yield Check(
        f"{name}: answers",
        not failed,
        f"{len(failed)} of {len(first)} queries failed, the first {failed[0]}" if failed else everything,
        "no failure",
        "mend the retriever",
    )
    faults = Counter(fault for answer in first.values() for fault in answer.faults)
    yield Check(
        f"{name}: keeps its contract",
        not faults,
        ", ".join(f"{fault} ({times} queries)" for fault, times in sorted(faults.items())) or "no breach",
        "no breach",
        "mend the retriever; strict=false repairs and counts",
    )
    if failed:
        return
    moved = _moved(dataset, first, _second_pass(dataset, name, make(), protocol, seed))
    yield Check(
        f"{name}: blind to ids and order",
        not moved,
        f"{len(moved)} queries changed beyond ties, such as {min(moved)}: {moved[min(moved)]}" if moved else f"{everything} alike",
        "opaque ids and a shuffled memory change nothing",
        "the system reads ids or session ids, or depends on the order in which it was fed",
    )


def _second_pass(dataset: Dataset, name: str, system: Retriever, protocol: Protocol, seed: int) -> dict[str, list[Hit]]:
    """Return the hits by query that the disguised data set gets, under the old ids."""
    data, names = disguised(dataset, seed)
    answers = _answers(data, name, system, protocol)
    return {query: [Hit(names[hit.id], hit.score) for hit in answer.hits] for query, answer in answers.items()}


def _moved(dataset: Dataset, first: Mapping[str, Answer], second: Mapping[str, Sequence[Hit]]) -> dict[str, str]:
    """Return the queries whose values in the second pass no order of the first pass's ties can give, and how they moved.

    Scores that agree to five digits count as tied: beyond those, float32 sums depend on where vectors lie in memory.
    """
    qrels = {query.id: query.judgments for query in dataset.queries}
    near = {query: [Hit(hit.id, float(f"{hit.score:.5g}")) for hit in answer.hits] for query, answer in first.items()}
    intervals = tie_interval(qrels, near, _MEASURES)
    again = score(qrels, second, _MEASURES)
    moved: dict[str, str] = {}
    for measure, values in again.values.items():
        worst, _, best = intervals[measure]
        for row in np.flatnonzero((values < worst - _ROUNDING) | (values > best + _ROUNDING)).tolist():
            before = f"{worst[row]:.3f}" if worst[row] == best[row] else f"{worst[row]:.3f}–{best[row]:.3f}"
            moved.setdefault(again.query_ids[row], f"{measure} {before} → {values[row]:.3f}")
    return moved


def _answers(dataset: Dataset, name: str, system: Retriever, protocol: Protocol) -> Mapping[str, Answer]:
    return evaluate(dataset, {name: system}, protocol, progress=False)[0].answers


def _values(dataset: Dataset, control: Retriever, protocol: Protocol) -> dict[str, Floats]:
    """Return the control's values of the answerable queries, in the order of the data set."""
    answers = _answers(dataset, "control", control, protocol)
    scores = score({q.id: q.judgments for q in dataset.queries}, {query: answer.hits for query, answer in answers.items()}, _MEASURES)
    place = {query: row for row, query in enumerate(scores.query_ids)}
    rows = [place[query.id] for query in dataset.queries if query.answerable]
    return {measure: values[rows] for measure, values in scores.values.items()}


def _mean(values: Floats) -> str:
    return f"{100 * float(values.mean()):.2f}" if len(values) else "–"
