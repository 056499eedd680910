"""The inverted index: for every term, the rows that hold it and how often."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LAST = "\U0010ffff"


@dataclass(frozen=True)
class Postings:
    """Term by term in flat arrays: the postings of ``vocabulary[i]`` lie at ``offsets[i]:offsets[i + 1]``, by row.

    Terms are sorted, so that all terms of one prefix are neighbours and their postings one slice.

    Attributes:
        rows, counts: row of each posting and how often the term occurs in it; both of shape (postings,).
        lengths: terms of each row, repeats included; shape (rows,).
    """

    vocabulary: list[str]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, rows_of_terms: Iterable[Iterable[str]]) -> Postings:
        """Invert the terms of each row."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        occurrences = array("i")
        ends = [0]
        for terms in rows_of_terms:
            occurrences.extend(map(numbers.__getitem__, terms))
            ends.append(len(occurrences))
        vocabulary = sorted(numbers)
        places = np.empty(len(vocabulary), np.int64)
        places[[numbers[term] for term in vocabulary]] = np.arange(len(vocabulary))
        lengths = np.diff(ends).astype(np.int32)
        keys = places[np.frombuffer(occurrences, np.int32)]  # one number for term and row, so that one sort brings both in order
        keys *= len(lengths)
        keys += np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        keys.sort()
        starts = np.flatnonzero(np.concatenate((np.ones(min(len(keys), 1), np.bool_), keys[1:] != keys[:-1])))
        counts = np.diff(starts, append=len(keys)).astype(np.int32)
        keys = keys[starts]
        offsets = np.searchsorted(keys, np.arange(len(vocabulary) + 1) * len(lengths))
        keys %= max(len(lengths), 1)
        return cls(vocabulary, offsets, keys.astype(np.int32), counts, lengths)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lengths)

    def frequencies(self) -> NDArray[np.int64]:
        """Return in how many rows each term occurs; shape (terms,)."""
        return np.diff(self.offsets)

    def has(self, term: str) -> bool:
        """Return whether any row holds a term."""
        place = bisect_left(self.vocabulary, term)
        return place < len(self.vocabulary) and self.vocabulary[place] == term

    def holders(self, term: str) -> NDArray[np.int32]:
        """Return the rows in which a term occurs."""
        first, last = self.beginning_with(term)
        last = first + int(first < last and self.vocabulary[first] == term)
        return self.rows[self.offsets[first] : self.offsets[last]]

    def beginning_with(self, prefix: str) -> tuple[int, int]:
        """Return the range of terms that begin with `prefix`; if it is a term itself, it is the first of them."""
        return bisect_left(self.vocabulary, prefix), bisect_left(self.vocabulary, prefix + _LAST)
