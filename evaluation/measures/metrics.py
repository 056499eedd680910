"""The metrics: every value of every measure in this project comes from here.

A measure is either a sum over the relevant documents found, each weighing by its rank, over a norm (recall, precision,
the nDCGs), or a function of where they stand (recall_any, recall_all, mrr, map). Sums run in rank order on both sides
of a fraction, so that a perfect ranking scores exactly 1.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...retrieval.ranking import Hit
from .canonical import canonical_run
from .gains import Gains, JudgedRun, Judgments
from .grammar import Measure

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """The values of a run by measure and query.

    Attributes:
        query_ids: the judged queries, sorted.
        values: canonical measure name → values, shape (queries,); nan where nothing is relevant.
        unanswerable: judged queries without a relevant document; left out of the means.
        missing: answerable queries that the run does not have; they score 0.
        unjudged: queries of the run that have no judgments; left out.
        repeated: queries for which a document came back more than once; its first place counts.
    """

    query_ids: tuple[str, ...]
    values: dict[str, Values]
    unanswerable: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()

    def counted(self, measure: str) -> int:
        """Return how many queries the mean of a measure is over."""
        return int(np.count_nonzero(~np.isnan(self.values[measure])))

    def mean(self, measure: str) -> float:
        """Return the mean over the answerable queries; nan when there is none."""
        values = self.values[measure]
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else float("nan")


def score(qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Sequence[Hit]], measures: Sequence[Measure]) -> Scores:
    """Score a run against judgments.

    Args:
        qrels: query → document → grade; a grade below 1 means not relevant.
        run: query → hits in any order; they are brought into canonical order first.

    Raises:
        InputError: a score is not finite, or a grade is not a whole number.
    """
    rankings = canonical_run(qrels, run)
    judged = JudgedRun.of(qrels, rankings)
    answerable = np.bincount(judged.ideal.rows, minlength=judged.queries) > 0
    query_ids = tuple(sorted(qrels))
    return Scores(
        query_ids,
        {str(measure): values(measure, judged) for measure in measures},
        unanswerable=tuple(query for query, any_relevant in zip(query_ids, answerable, strict=True) if not any_relevant),
        missing=tuple(query for query, asked in zip(query_ids, answerable, strict=True) if asked and query not in run),
        unjudged=tuple(sorted(query for query in run if query not in qrels)),
        repeated=tuple(query for query in query_ids if query in run and len(run[query]) > len(rankings[query])),
    )


def score_matrix(documents: NDArray[np.integer], judgments: Judgments, measures: Sequence[Measure]) -> dict[str, Values]:
    """Score many rankings at once; see `JudgedRun.match` for shapes and errors."""
    judged = JudgedRun.match(documents, judgments)
    return {str(measure): values(measure, judged) for measure in measures}


def ceilings(
    qrels: Mapping[str, Mapping[str, int]], measures: Sequence[Measure], corpus: Container[str] | None = None
) -> dict[str, Values]:
    """Return what a perfect ranking scores, by canonical measure name, queries sorted by id.

    Args:
        corpus: the ids that exist; what is relevant but not among them cannot be found. None: all of them exist.
    """
    perfect = {
        query: [Hit(document, grade) for document, grade in judged.items() if corpus is None or document in corpus]
        for query, judged in qrels.items()
    }
    run = JudgedRun.of(qrels, canonical_run(qrels, perfect))
    return {str(measure): values(measure, run) for measure in measures}


def ceiling(measure: Measure, relevant: NDArray[np.integer], existing: NDArray[np.integer] | None = None) -> Values:
    """Return what a perfect ranking scores, from the number of relevant documents a query: min(k, R) / R for recall.

    Args:
        relevant: shape (queries,); grades count as equal, which matters for ndcg with documents that do not exist alone.
        existing: how many of them the corpus holds, shape (queries,); None means all.
    """
    existing = relevant if existing is None else existing
    return values(measure, JudgedRun(len(relevant), _binary(existing), _binary(relevant)))


def dangling(qrels: Mapping[str, Mapping[str, int]], corpus: Container[str]) -> tuple[tuple[str, str], ...]:
    """Return the (query, document) pairs that are judged relevant but not in the corpus, sorted."""
    return tuple((q, d) for q in sorted(qrels) for d, grade in sorted(qrels[q].items()) if grade >= 1 and d not in corpus)


def values(measure: Measure, judged: JudgedRun) -> Values:
    """Return the value of each query, shape (queries,); nan where nothing is relevant."""
    found, ideal = judged.found.at_least(measure.rel), judged.ideal.at_least(measure.rel)
    relevant = np.bincount(ideal.rows, minlength=judged.queries)
    formula = _BY_PLACE.get(measure.name)
    if formula is not None:
        result = formula(measure, found, relevant)
    else:
        result = total(measure, found.rows, found.ranks, gain(measure, found.grades), relevant) / norm(measure, ideal, relevant)
    result[relevant == 0] = np.nan
    return result


def gain(measure: Measure, grades: NDArray[np.int64]) -> Values:
    """Return what finding a document of each grade is worth: the grade or 2^grade − 1 in ndcg, else 1."""
    if measure.name != "ndcg":
        return np.ones(len(grades))
    return np.exp2(grades) - 1 if measure.gain == "exp" else grades.astype(np.float64)


def total(measure: Measure, rows: NDArray[np.int64], ranks: NDArray[np.int64], gains: Values, relevant: NDArray[np.int64]) -> Values:
    """Return each query's sum of gain × weight of the rank.

    The weight is 1 up to the cut-off (up to R for r_precision); for ndcg 1 / log2(rank + 1), as in Järvelin and
    Kekäläinen, TOIS 2002; for LongMemEval's own nDCG 1 / log2(rank), with 1 at the first rank, as its scripts compute it.
    """
    limit = relevant[rows] if measure.name == "r_precision" else measure.k
    if limit is not None:
        within = ranks <= limit
        rows, ranks, gains = rows[within], ranks[within], gains[within]
    if measure.name == "ndcg":
        gains = gains / np.log2(ranks + 1)
    elif measure.name == "ndcg_longmemeval":
        gains = gains / np.log2(np.maximum(ranks, 2))
    return np.bincount(rows, gains, minlength=len(relevant)).astype(np.float64)


def norm(measure: Measure, ideal: Gains, relevant: NDArray[np.int64]) -> Values:
    """Return what `total` is divided by: k, R, or the sum of the perfect ranking; 1 where nothing is relevant."""
    if measure.name == "precision":
        return np.full(len(relevant), float(measure.k or 1))
    if measure.name.startswith("ndcg"):
        best = total(measure, ideal.rows, ideal.ranks, gain(measure, ideal.grades), relevant)
        return np.where(relevant == 0, 1.0, best)
    return np.maximum(relevant, 1).astype(np.float64)


def _recall_any(measure: Measure, found: Gains, relevant: NDArray[np.int64]) -> Values:
    return (_count(measure, found, relevant) > 0).astype(np.float64)


def _recall_all(measure: Measure, found: Gains, relevant: NDArray[np.int64]) -> Values:
    return (_count(measure, found, relevant) == relevant).astype(np.float64)


def _reciprocal_rank(measure: Measure, found: Gains, relevant: NDArray[np.int64]) -> Values:
    first = np.diff(found.rows, prepend=-1) > 0
    if measure.k is not None:
        first &= found.ranks <= measure.k
    result = np.zeros(len(relevant))
    result[found.rows[first]] = 1.0 / found.ranks[first]
    return result


def _average_precision(measure: Measure, found: Gains, relevant: NDArray[np.int64]) -> Values:
    """Σ precision at the rank of each relevant document found / R."""
    if measure.k is not None:
        found = found.take(found.ranks <= measure.k)
    counts = np.bincount(found.rows, minlength=len(relevant))
    nth = np.arange(1, len(found.rows) + 1) - (np.cumsum(counts) - counts)[found.rows]
    return np.bincount(found.rows, nth / found.ranks, minlength=len(relevant)) / np.maximum(relevant, 1)


def _count(measure: Measure, found: Gains, relevant: NDArray[np.int64]) -> NDArray[np.int64]:
    within = found.rows if measure.k is None else found.rows[found.ranks <= measure.k]
    return np.bincount(within, minlength=len(relevant))


_BY_PLACE: dict[str, Callable[[Measure, Gains, NDArray[np.int64]], Values]] = {
    "recall_any": _recall_any,
    "recall_all": _recall_all,
    "mrr": _reciprocal_rank,
    "map": _average_precision,
}


def _binary(counts: NDArray[np.integer]) -> Gains:
    """Return the perfect ranking of as many documents of grade 1."""
    counts = np.asarray(counts, dtype=np.int64)
    if (counts < 0).any():
        raise InputError("a number of relevant documents is negative")
    rows = np.repeat(np.arange(len(counts)), counts)
    return Gains(rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) + 1, np.ones(len(rows), np.int64))
