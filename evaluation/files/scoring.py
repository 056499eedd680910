"""A run in a file, scored: by columns where the file lets itself be read so, line by line where not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...datasets.errors import InputError
from ...datasets.reading import is_json
from ..measures.canonical import without_self_hits
from ..measures.measure import Measure
from ..measures.metrics import Scores, score, values
from .matching import Matched, match_file
from .trec import read_run


def score_file(
    qrels: Mapping[str, Mapping[str, int]], path: str | Path, measures: Sequence[Measure], *, remove_self_hits: bool = False
) -> Scores:
    """Score a run in a file; the same values as ``score(qrels, read_run(path), measures)``, without an object a line.

    Args:
        remove_self_hits: leave out a document that has the query's own id.

    Raises:
        InputError: as `read_run` and `score`, or none of the file's queries is judged.
    """
    path = Path(path)
    by_columns = not (is_json(path) or remove_self_hits or any(measure.by_query for measure in measures))
    matched = match_file(path, qrels) if by_columns else None
    if matched is not None:
        check_common(qrels, bool(matched.present.any()), len(matched.unjudged), matched.some, path)
        return _scores(matched, measures)
    run: Mapping[str, Sequence] = read_run(path)
    check_common(qrels, bool(qrels.keys() & run.keys()), len(run), min(run), path)
    return score(qrels, without_self_hits(run) if remove_self_hits else run, measures)


def _scores(matched: Matched, measures: Sequence[Measure]) -> Scores:
    def named(rows: np.ndarray) -> tuple[str, ...]:
        return tuple(matched.query_ids[row] for row in np.flatnonzero(rows).tolist())

    answerable = matched.run.seen(1, False).relevant > 0
    return Scores(
        matched.query_ids,
        {str(measure): values(measure, matched.run) for measure in measures},
        unanswerable=named(~answerable),
        missing=named(answerable & ~matched.present),
        unjudged=matched.unjudged,
        repeated=named(matched.repeated),
    )


def check_common(qrels: Mapping[str, Mapping[str, int]], common: bool, queries: int, some: str, where: str | Path) -> None:
    """Raise `InputError` where no query of a run is judged."""
    if not common:
        raise InputError(
            f"none of its {queries} queries is judged (it has {some!r}, the judgments have {min(qrels)!r})",
            where=str(where),
            remedy="both files must use the same query ids",
        )
