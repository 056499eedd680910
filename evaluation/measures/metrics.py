"""The metrics of a run: every value of every measure in this project comes from here."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...retrieval.ranking import Hit
from .canonical import canonical_run
from .gains import Context, JudgedRun, Judgments
from .measure import Measure, Values
from .ties import Tied, TieInterval


@dataclass(frozen=True)
class Scores:
    """The values of a run by measure and query.

    Attributes:
        query_ids: the judged queries, sorted.
        values: canonical measure name → values, shape (queries,); nan for a query that the measure leaves out.
        unanswerable: judged queries without a relevant document; left out of the means of all measures but those that are about them.
        missing: answerable queries that the run does not have; they score 0.
        unjudged: queries of the run that have no judgments; left out.
        repeated: queries for which a document came back more than once; its highest score counts.
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
        """Return the mean over the queries that the measure does not leave out; nan when there is none."""
        values = self.values[measure]
        values = values[~np.isnan(values)]
        return float(values.mean()) if len(values) else float("nan")


def score(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Sequence[Hit]], measures: Sequence[Measure], context: Context | None = None
) -> Scores:
    """Score a run against judgments.

    Args:
        qrels: query → document → grade; a grade below 1 means not relevant.
        run: query → hits in any order; they are brought into canonical order first.
        context: for measures that look at the memory itself, and for queries that failed.

    Raises:
        InputError: a score is not finite, a grade is not a whole number, or a measure needs a context that is not given.
    """
    rankings = canonical_run(qrels, run)
    judged = JudgedRun.of(qrels, rankings, context)
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


def values(measure: Measure, judged: JudgedRun) -> Values:
    """Return the value of each query, shape (queries,); one whose retriever raised gets the worst."""
    found = measure.values(judged)
    return np.where(judged.failed & ~np.isnan(found), measure.worst, found) if judged.failed.any() else found


def tie_interval(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Sequence[Hit]], measures: Sequence[Measure], context: Context | None = None
) -> dict[str, TieInterval]:
    """Return the values of each measure over all orders of tied scores by canonical name, queries sorted by id.

    Ties among the hits returned are meant; what a retriever cut off behind the last one is not known.

    Raises:
        InputError: as `score`.
    """
    rankings = canonical_run(qrels, run)
    judged = JudgedRun.of(qrels, rankings, context)
    tied, broken = Tied.of(judged, list(rankings.values())), judged.failed
    found = {str(measure): (measure, measure.interval(tied)) for measure in measures}
    return {
        name: TieInterval(*(np.where(broken & ~np.isnan(bound), measure.worst, bound) for bound in interval))
        for name, (measure, interval) in found.items()
    }


def ceilings(
    qrels: Mapping[str, Mapping[str, int]],
    measures: Sequence[Measure],
    corpus: Container[str] | None = None,
    context: Context | None = None,
) -> dict[str, Values]:
    """Return what a perfect ranking scores, by canonical measure name, queries sorted by id.

    Args:
        corpus: the ids that exist; what is relevant but not among them cannot be found. None: all of them exist.
    """
    if corpus is None and not any(measure.by_query for measure in measures):
        best = JudgedRun.of(qrels, {}).perfect()
        return {str(measure): measure.ceiling(best) for measure in measures}
    perfect = {
        query: [Hit(document, grade) for document, grade in judged.items() if grade >= 1 and (corpus is None or document in corpus)]
        for query, judged in qrels.items()
    }
    run = JudgedRun.of(qrels, canonical_run(qrels, perfect), context)
    return {str(measure): measure.ceiling(run) for measure in measures}


def dangling(qrels: Mapping[str, Mapping[str, int]], corpus: Container[str]) -> tuple[tuple[str, str], ...]:
    """Return the (query, document) pairs that are judged relevant but not in the corpus, sorted."""
    return tuple((q, d) for q in sorted(qrels) for d, grade in sorted(qrels[q].items()) if grade >= 1 and d not in corpus)
