"""Runs that were made elsewhere, scored against judgments: mappings, frames or files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets.errors import InputError
from ...evaluation.files.scoring import check_common, score_file
from ...evaluation.files.trec import read_qrels, read_run
from ...evaluation.measures.canonical import without_self_hits
from ...evaluation.measures.grammar import DEFAULT_MEASURES, measure_of, parse_measure, with_threshold
from ...evaluation.measures.measure import Measure
from ...evaluation.measures.metrics import Scores, ceilings, tie_interval
from ...evaluation.measures.metrics import score as scores_of
from ...evaluation.measures.numbers import amount
from ...evaluation.measures.ties import TieInterval
from ...retrieval.ranking import Hit
from .runs import html_table

if TYPE_CHECKING:
    from pandas import DataFrame

QUERY = ("query", "query_id", "query-id", "qid", "q_id", "topic", "query_no")
DOCUMENT = ("document", "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id", "id", "observation", "observation_id", "memory_id")
GRADE = ("grade", "relevance", "rel", "label", "score", "relevancy")
SCORE = ("score", "sim", "similarity")
"""What the columns of frames are called, ours first; case does not matter."""

Judgments = Mapping[str, Mapping[str, int]]
Ranked = Mapping[str, Sequence[Hit]]


@dataclass(frozen=True)
class Scored:
    """One run's values. A notebook shows their means as a table.

    Attributes:
        name: what the run is called.
        scores: the values by measure and query, and which queries were left out and why.
        ceilings: measure → mean of what a perfect ranking scores.
        ties: measure → worst, expected and best value over all orders of equal scores; empty unless asked for.
    """

    name: str
    scores: Scores
    ceilings: Mapping[str, float]
    ties: Mapping[str, TieInterval]

    def __getitem__(self, measure: str) -> float:
        """Return the mean of a measure, under any of its names."""
        return self.scores.mean(str(parse_measure(measure)))

    def summary(self) -> DataFrame:
        """Return a row a measure: ``mean``, ``n`` queries, ``ceiling``; with ties also ``worst``, ``expected`` and ``best``."""
        from pandas import DataFrame

        return DataFrame(
            [
                {
                    "measure": measure,
                    "mean": self.scores.mean(measure),
                    "n": self.scores.counted(measure),
                    "ceiling": self.ceilings[measure],
                    **({b: mean(values) for b, values in self.ties[measure]._asdict().items()} if self.ties else {}),
                }
                for measure in self.scores.values
            ]
        )

    def per_query(self) -> DataFrame:
        """Return a row a judged query, and a column a measure; NaN where nothing is relevant."""
        from pandas import DataFrame

        return DataFrame({"query": self.scores.query_ids, **self.scores.values})

    def _rows(self) -> list[list[str]]:
        values = self.scores.values
        return [["measure", "n", "ceiling", self.name]] + [
            [measure, str(self.scores.counted(measure)), cell(self.ceilings[measure], measure), cell(self.scores.mean(measure), measure)]
            for measure in values
        ]

    def __repr__(self) -> str:
        from ...reports.table import aligned

        return aligned(self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._rows())


def score(
    qrels: Judgments | DataFrame | str | Path,
    run: Mapping[str, Any] | DataFrame | str | Path,
    measures: Sequence[str | Measure] | None = None,
    *,
    rel: int | None = None,
    remove_self_hits: bool = False,
    ties: bool = False,
    name: str = "run",
) -> Scored:
    """Score a run against judgments, as `recallmeter eval` does.

    Args:
        qrels: query → document → grade; or a frame with a column each; or a TREC, BEIR or JSON file.
        run: query → document → score, or query → documents best first; or a frame; or a TREC or JSON file.
        measures: such as ``["ndcg@10", "P(rel=2)@5"]``; None takes those of a run.
        rel: a document is relevant from this grade on, where a measure names no grade of its own.
        remove_self_hits: leave out a document that has the query's own id.
        ties: look also at all orders of equal scores.
        name: what the run is called.

    Raises:
        InputError: an unknown measure or column, a broken file, a score that is no finite number, or no query in common.
    """
    return score_all(as_qrels(qrels), {name: run}, measures, rel=rel, remove_self_hits=remove_self_hits, ties=ties)[0]


def score_all(
    qrels: Judgments,
    runs: Mapping[str, Mapping[str, Any] | DataFrame | str | Path],
    measures: Sequence[str | Measure] | None = None,
    *,
    rel: int | None = None,
    remove_self_hits: bool = False,
    ties: bool = False,
) -> list[Scored]:
    """Score several runs against the same judgments; see `score`."""
    asked = _measures(measures, rel)
    best = {measure: mean(values) for measure, values in ceilings(qrels, asked).items()}

    def scored(name: str, run: Mapping[str, Any] | DataFrame | str | Path) -> Scored:
        is_file = isinstance(run, str | Path)
        if is_file and not ties:  # which need not be read line by line
            return Scored(name, score_file(qrels, run, asked, remove_self_hits=remove_self_hits), best, {})
        ranked = as_ranked(run)
        check_common(qrels, bool(qrels.keys() & ranked.keys()), len(ranked), min(ranked, default=""), run if is_file else name)
        kept = without_self_hits(ranked) if remove_self_hits else ranked
        return Scored(name, scores_of(qrels, kept, asked), best, tie_interval(qrels, kept, asked) if ties else {})

    return [scored(name, run) for name, run in runs.items()]


def by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return files by what they are called: their names, or their paths where two have the same name.

    Raises:
        InputError: a file is named twice.
    """
    if twice := next((path for number, path in enumerate(paths) if path in paths[:number]), None):
        raise InputError("the run is named twice", where=twice, remedy="name each once")
    names = [Path(path).name for path in paths]
    return dict(zip(names if len(set(names)) == len(names) else paths, paths, strict=True))


def as_qrels(source: Judgments | DataFrame | str | Path) -> Judgments:
    """Return judgments as query → document → grade.

    Raises:
        InputError: a broken file, a column that can't be told, a grade that is not a whole number, or no judgment.
    """
    if isinstance(source, str | Path):
        return read_qrels(source)
    qrels: dict[str, dict[str, int]] = {}
    for query, document, grade in _triples(source, GRADE, "qrels"):
        if isinstance(grade, bool) or float(grade) != int(grade):
            raise InputError(f"the grade {grade!r} is not a whole number", where=f"qrels: query {query}", remedy="use whole grades")
        qrels.setdefault(query, {})[document] = int(grade)
    if not qrels:
        raise InputError("there is no judgment in it", where="qrels")
    return qrels


def as_ranked(source: Mapping[str, Any] | DataFrame | str | Path) -> Ranked:
    """Return a run as query → hits.

    Raises:
        InputError: a broken file, a column that can't be told, or a score that is no number.
    """
    if isinstance(source, str | Path):
        return read_run(source)
    run: dict[str, list[Hit]] = {query: [] for query in map(str, source)} if isinstance(source, Mapping) else {}
    for query, document, value in _triples(source, SCORE, "run"):
        run.setdefault(query, []).append(Hit(document, float(value)))
    return run


def _triples(source: Any, value: Sequence[str], what: str) -> Iterator[tuple[str, str, Any]]:
    """Yield query, document and value of a mapping or a frame, ids as text."""
    if isinstance(source, Mapping):
        for query, found in source.items():
            best_first = ((d.id, d.score) if isinstance(d, Hit) else (d, -float(rank)) for rank, d in enumerate(found))
            ranked = found.items() if isinstance(found, Mapping) else best_first
            for document, number in ranked:
                yield str(query), str(document), number
    elif hasattr(source, "columns"):
        names = [_column(source, known, what) for known in (QUERY, DOCUMENT, value)]
        yield from ((str(q), str(d), number) for q, d, number in source[names].itertuples(index=False))
    else:
        raise InputError(f"{type(source).__name__} holds no {what}", where=what, remedy="give a mapping, a DataFrame or a file")


def _column(frame: DataFrame, known: Sequence[str], what: str) -> Any:
    names = {str(name).lower(): name for name in frame.columns}
    for name in known:
        if name in names:
            return names[name]
    raise InputError(f"no column is called {known[0]!r}", where=f"{what}, whose columns are {', '.join(names)}", remedy="rename one")


def _measures(asked: Sequence[str | Measure] | None, rel: int | None) -> tuple[Measure, ...]:
    measures = [measure_of(given, "measures") for given in asked] if asked else DEFAULT_MEASURES
    if rel is not None:
        measures = [with_threshold(measure, rel) for measure in measures]
    return tuple(dict.fromkeys(measures))


def mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the mean of what is defined; nan where nothing is."""
    return float(values[~np.isnan(values)].mean()) if not np.isnan(values).all() else math.nan


def cell(value: float, measure: str) -> str:
    """Write a value of a measure, a share in per cent with two decimals; a dash for nan."""
    return amount(value, measure, digits=2)
