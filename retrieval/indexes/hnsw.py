"""Approximate vector search in a navigable small-world graph, through usearch (extra ``hnsw``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates
from ..embedders.embedding import Vectors
from ..unavailable import UnavailableError
from .exact import ExactIndex, check_query, checked_matrix, cosines

if TYPE_CHECKING:
    from usearch.index import Index


class HNSW:
    """A graph in which each vector knows some near ones; searched greedily, it looks at few vectors and may miss some.

    Built by one thread, so that the same vectors give the same graph. What it finds is scored exactly. Its recall falls
    where vectors have no structure; `recall_against_exact` measures it on the vectors at hand.
    Source: Malkov and Yashunin, IEEE TPAMI 42(4), 2020.

    Args:
        connectivity: neighbours a vector keeps in the graph.
        expansion_add: how many near vectors are weighed when one is added.
        expansion_search: how many are weighed in a search; more finds more and takes longer.

    Raises:
        InputError: one of them is below 1.
    """

    def __init__(self, connectivity: int = 16, expansion_add: int = 128, expansion_search: int = 128) -> None:
        self.connectivity, self.expansion_add, self.expansion_search = connectivity, expansion_add, expansion_search
        if min(connectivity, expansion_add, expansion_search) < 1:
            raise InputError("connectivity and expansions must be at least 1", where="index")

    def build(self, vectors: Vectors) -> HNSWIndex:
        """Index L2-normalised vectors of shape (n, d).

        Raises:
            InputError: not a matrix, or a value in it is NaN or infinite.
            UnavailableError: the extra is not installed.
        """
        try:
            from usearch.index import Index
        except ImportError:
            raise UnavailableError("usearch is not installed", remedy="pip install 'recallmeter[hnsw]'") from None
        matrix = checked_matrix(vectors)
        graph = Index(
            ndim=max(1, matrix.shape[1]),
            metric="ip",
            dtype="f32",
            connectivity=self.connectivity,
            expansion_add=self.expansion_add,
            expansion_search=self.expansion_search,
        )
        if len(matrix):
            graph.add(np.arange(len(matrix)), matrix, threads=1)
        return HNSWIndex(matrix, graph)


class HNSWIndex:
    """A graph over vectors of shape (n, d), and the vectors, which score what the graph finds."""

    def __init__(self, vectors: Vectors, graph: Index) -> None:
        self.vectors, self.graph = vectors, graph

    def search(self, vector: Vectors, limit: int, visible: NDArray[np.bool_] | None = None) -> Candidates:
        """Return near visible rows with their cosine similarity in [−1, 1], best first, ties by row.

        A graph cannot leave rows out while it is searched, and knows no order among equals: more is asked of it until
        enough are visible and the last one kept is settled. Where the whole graph does not give enough, all visible rows
        are compared.
        """
        if limit <= 0 or len(self.vectors) == 0:
            return Candidates.none()
        check_query(vector, self.vectors.shape[1])
        total = len(self.vectors)
        seen = total if visible is None else int(visible.sum())
        wanted = (limit + 1) * total // max(1, seen)
        while wanted < total:
            found = self._nearest(vector, wanted, visible, limit + 1)
            if len(found) > limit and found.scores[limit] < found.scores[limit - 1]:
                return found.take(range(limit))
            wanted *= 2
        found = self._nearest(vector, total, visible, limit)
        return found if len(found) == min(limit, seen) else ExactIndex(self.vectors).search(vector, limit, visible)

    def _nearest(self, vector: Vectors, wanted: int, visible: NDArray[np.bool_] | None, limit: int) -> Candidates:
        rows = self.graph.search(vector, wanted, threads=1).keys.astype(np.int64)
        if visible is not None:
            rows = rows[visible[rows]]
        return Candidates.best(rows, cosines(self.vectors[rows], vector), limit)
