"""Vector search in Qdrant (extra ``qdrant``): in this process's memory, or a server by URL."""

from __future__ import annotations

import os
import warnings
import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates
from ..embedders.embedding import Vectors
from ..unavailable import UnavailableError
from .exact import check_query, checked_matrix, cosines, rounding

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

KEY_VARIABLE = "QDRANT_API_KEY"
"""Where the key of a server is read, at the time of the call and from nowhere else."""


class QdrantVectors:
    """Vectors in a collection a scope, which is deleted from the server when the index is no longer used.

    Args:
        url: the server; None keeps the vectors in memory and compares them all, whatever `exact` says.
        exact: compare every vector; else search a graph.
        m: neighbours a vector keeps in the graph.
        ef_construct: how many near vectors are weighed when one is added.
        ef_search: how many are weighed in a search.

    Raises:
        InputError: a number below 1.
    """

    def __init__(self, url: str | None = None, exact: bool = True, m: int = 16, ef_construct: int = 128, ef_search: int = 128) -> None:
        if min(m, ef_construct, ef_search) < 1:
            raise InputError("m, ef_construct and ef_search must be at least 1", where="index")
        self.url, self.exact, self.m, self.ef_construct, self.ef_search = url, exact, m, ef_construct, ef_search

    def build(self, vectors: Vectors) -> QdrantIndex:
        """Load L2-normalised vectors of shape (n, d) into a collection.

        Raises:
            InputError: not a matrix, or a value in it is NaN or infinite.
            UnavailableError: the extra or the server is not there.
        """
        matrix = checked_matrix(vectors)
        if len(matrix) == 0:
            return QdrantIndex(None, "", matrix, None)
        client, name = self._client, f"recallmeter-{uuid4().hex}"
        from qdrant_client import models

        def load() -> None:
            client.create_collection(
                name,
                vectors_config=models.VectorParams(size=matrix.shape[1], distance=models.Distance.DOT),
                hnsw_config=models.HnswConfigDiff(m=self.m, ef_construct=self.ef_construct),
            )
            client.upload_collection(name, vectors=matrix, ids=range(len(matrix)), wait=True)

        _call(load)
        parameters = models.SearchParams(exact=self.exact, hnsw_ef=self.ef_search) if self.url else None
        index = QdrantIndex(client, name, matrix, parameters)
        weakref.finalize(index, client.delete_collection, name)
        return index

    @cached_property
    def _client(self) -> QdrantClient:
        try:
            from qdrant_client import QdrantClient
        except ImportError:
            raise UnavailableError("qdrant-client is not installed", remedy="pip install 'recallmeter[qdrant]'") from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a loopback server needs no encryption
            if self.url is None:
                return QdrantClient(":memory:")
            return QdrantClient(url=self.url, api_key=os.environ.get(KEY_VARIABLE), timeout=30, check_compatibility=False)


class QdrantIndex:
    """One collection, and its vectors, which score what Qdrant finds; the collection of an empty corpus is never made."""

    def __init__(self, client: QdrantClient | None, name: str, vectors: Vectors, parameters: Any) -> None:
        self.client, self.name, self.vectors, self.parameters = client, name, vectors, parameters

    def search(self, vector: Vectors, limit: int, visible: NDArray[np.bool_] | None = None) -> Candidates:
        """Return the nearest visible rows with their cosine similarity in [−1, 1], best first, ties by row.

        Qdrant knows no order among equals, and rounds: more is asked of it until nothing that it kept back can belong here.

        Raises:
            InputError: the query's dimension is not the index's, or it holds NaN or infinity.
            UnavailableError: the server does not answer.
        """
        if limit <= 0 or self.client is None or (visible is not None and not visible.any()):
            return Candidates.none()
        check_query(vector, self.vectors.shape[1])
        wanted = limit + 1
        while True:
            rows = self._nearest(self.client, vector, wanted, visible)
            found = Candidates.best(rows, cosines(self.vectors[rows], vector), wanted)
            if len(found) < wanted or found.scores[-1] < found.scores[limit - 1] - rounding(len(vector)):
                return found.take(range(min(limit, len(found))))
            wanted *= 2

    def _nearest(self, client: QdrantClient, vector: Vectors, wanted: int, visible: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        from qdrant_client import models

        only = None
        if visible is not None:
            rows: list[Any] = np.flatnonzero(visible).tolist()
            only = models.Filter(must=models.HasIdCondition(has_id=rows))
        settings: dict[str, Any] = {"query_filter": only, "search_params": self.parameters, "with_payload": False}
        answer = _call(lambda: client.query_points(self.name, query=vector.tolist(), limit=wanted, **settings))
        return np.array([point.id for point in answer.points], np.int64)


def _call(request: Any) -> Any:
    """Make a request; an error of the server becomes `UnavailableError`, without the key that its text might quote."""
    try:
        return request()
    except Exception as error:  # the client lets through what its transports raise
        key = os.environ.get(KEY_VARIABLE)
        told = f"{type(error).__name__}: {error}"
        reason = told if not key else told.replace(key, "***")
    raise UnavailableError(f"Qdrant failed ({reason[:300]})", remedy="see index.url and that the server runs")
