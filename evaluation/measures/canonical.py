"""The one ranking per query that every metric is computed from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...retrieval.ranking import Hit
from ...retrieval.rounding import TOLERANCE, falls, settled

TIE_RULE = f"score descending, then id ascending; scores within {TOLERANCE:g} of the best of their group, relative to it, are equal"
"""How hits are ordered, everywhere; named in every report."""


_ROWS_AT_ONCE = 2048  # a block that stays in the cache


def canonical(hits: Sequence[Hit], query: str = "") -> tuple[Hit, ...]:
    """Return the hits in canonical order: of a repeated id the highest score is kept, scores are float64, those
    that differ by rounding alone become identical, and ties go by id ascending.

    Args:
        hits: (id, score) pairs in any order.
        query: the query's id, for the error.

    Raises:
        InputError: a score is not a finite number; the query and the id are named.
    """
    if _is_canonical(hits):
        return tuple(hits)
    kept: dict[str, float] = {}
    for identifier, score in hits:
        number = _finite(score, identifier, query)
        kept[identifier] = max(number, kept.get(identifier, number))
    scores = settled(np.array(list(kept.values()))).tolist()
    return tuple(Hit(*pair) for pair in sorted(zip(kept, scores, strict=True), key=lambda pair: (-pair[1], pair[0])))


def canonical_run(qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Sequence[Hit]]) -> dict[str, tuple[Hit, ...]]:
    """Return the canonical ranking of every judged query, sorted by query; an empty one where the run has none.

    Raises:
        InputError: see `canonical`.
    """
    return {query: canonical(run.get(query, ()), query) for query in sorted(qrels)}


def canonical_matrix(documents: NDArray[np.integer], scores: NDArray[np.floating]) -> NDArray[np.int32]:
    """Return the documents of each row in canonical order.

    Args:
        documents: shape (queries, depth); documents by number, numbered in the order of their ids, none twice in a row;
            −1 where nothing more was returned.
        scores: same shape, higher is better; ignored where the document is −1.

    Raises:
        InputError: the shapes differ, or a score is not finite; row and document are named.
    """
    if documents.shape != scores.shape or documents.ndim != 2:
        raise InputError(f"documents {documents.shape} and scores {scores.shape} are not two matrices of one shape")
    result = documents.astype(np.int32)
    for at in range(0, len(result), _ROWS_AT_ONCE):
        block, given = result[at : at + _ROWS_AT_ONCE], scores[at : at + _ROWS_AT_ONCE]
        floats = np.where(block < 0, -np.inf, given.astype(np.float64))
        if (wrong := ~np.isfinite(floats) & (block >= 0)).any():
            row, column = np.argwhere(wrong)[0]
            raise InputError(f"score {given[row, column]} of document {block[row, column]} is not finite", where=f"row {at + row}")
        unordered = np.flatnonzero(~falls(floats))
        if len(unordered):
            block[unordered] = _sorted_rows(block[unordered], floats[unordered])
    return result


def without_self_hits(run: Mapping[str, Sequence[Hit]]) -> dict[str, tuple[Hit, ...]]:
    """Return a copy of the run in which no query finds the document of its own id, for data sets whose queries are documents."""
    return {query: tuple(hit for hit in hits if hit.id != query) for query, hits in run.items()}


def _sorted_rows(documents: NDArray[np.int32], scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """Sort each row by score, then document; the second key costs much, so that only rows with equal scores pay for it."""
    order = np.argsort(-scores, axis=1)
    documents, scores = np.take_along_axis(documents, order, axis=1), np.take_along_axis(scores, order, axis=1)
    tied = np.flatnonzero(~falls(scores))
    if len(tied):
        order = np.lexsort((documents[tied], -settled(scores[tied])), axis=-1)
        documents[tied] = np.take_along_axis(documents[tied], order, axis=1)
    return documents


def _is_canonical(hits: Sequence[Hit]) -> bool:
    """Tell at the cost of one pass whether nothing needs doing; scores that fall can hide no NaN and no tie."""
    if not hits:
        return True
    ids, scores = zip(*hits, strict=True)
    if set(map(type, scores)) != {float} or not falls(np.array(scores)):
        return False
    return math.isfinite(scores[0]) and math.isfinite(scores[-1]) and len(set(ids)) == len(ids)


def _finite(score: Any, identifier: str, query: str) -> float:
    try:
        finite = math.isfinite(score)
    except TypeError:
        finite = False
    if not finite:
        raise InputError(
            f"score {score!r} of {identifier!r} is not a finite number",
            where=f"query {query}" if query else "",
            remedy="a retriever must leave out what it cannot score",
        )
    return float(score)
