"""Vector indexes beside one `matrix @ vector` of the same run: the top 20 of 384 dimensions, and the recall against exact search.

"texts" are vectors that vary in 24 directions and a little in all, as embeddings do; "noise" varies in all 384 alike, the worst
case of any graph. Product and search take turns over 200 queries, so that what else the machine does falls on both; the ratio
is the median over the queries. An index whose extra is not installed is left out.

Usage: bench_vectors.py [vectors]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from time import perf_counter

import numpy as np
from recallmeter.retrieval.embedders.embedding import Vectors, normalised
from recallmeter.retrieval.indexes.agreement import recall_against_exact
from recallmeter.retrieval.indexes.exact import Exact
from recallmeter.retrieval.indexes.hnsw import HNSW
from recallmeter.retrieval.indexes.pgvector import Pgvector
from recallmeter.retrieval.indexes.qdrant import QdrantVectors
from recallmeter.retrieval.indexes.vector_index import VectorIndexing
from recallmeter.retrieval.unavailable import UnavailableError

DIMENSIONS, K, QUERIES = 384, 20, 200


def draw(count: int, directions: int | None) -> tuple[Vectors, Vectors]:
    """Return vectors and queries near some of them, both of length 1."""
    chance = np.random.default_rng(0)
    noise = chance.standard_normal((count, DIMENSIONS), np.float32)
    if directions is None:
        vectors = noise
    else:
        vectors = chance.standard_normal((count, directions)) @ chance.standard_normal((directions, DIMENSIONS)) + 0.3 * noise
    vectors = normalised(vectors)
    near = vectors[chance.choice(count, QUERIES, replace=False)]
    return vectors, normalised(near + 0.02 * chance.standard_normal((QUERIES, DIMENSIONS), np.float32))


def indexes() -> Iterator[tuple[str, VectorIndexing]]:
    """Yield the kinds of index by name, those that promise exact search's answer first."""
    yield "exact", Exact()
    yield "Qdrant in memory", QdrantVectors()
    yield "pgvector, exact", Pgvector()
    yield "HNSW", HNSW()
    yield "HNSW, expansion 512", HNSW(expansion_search=512)
    yield "pgvector, HNSW", Pgvector(method="hnsw")


def measured(kind: VectorIndexing, vectors: Vectors, queries: Vectors) -> tuple[float, float, float, float]:
    """Return the seconds that building takes, the median milliseconds of a search, its ratio to the product, and the recall."""
    began = perf_counter()
    index = kind.build(vectors)
    building = perf_counter() - began
    for query in queries[:20]:
        index.search(query, K)
    searches, ratios = [], []
    for query in queries:
        began = perf_counter()
        vectors @ query
        between = perf_counter()
        index.search(query, K)
        ended = perf_counter()
        searches.append((ended - between) * 1e3)
        ratios.append((ended - between) / (between - began))
    return building, float(np.median(searches)), float(np.median(ratios)), recall_against_exact(index, vectors, queries, K)


def main() -> None:
    """Print a table for each kind of vectors."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for name, directions in (("texts", 24), ("noise", None)):
        vectors, queries = draw(count, directions)
        print(f"\n{count:,} × {DIMENSIONS}, {name}\n{'':22}{'build s':>9}{'p50 ms':>9}{'× product':>11}{'recall@20':>11}")
        for title, kind in indexes():
            try:
                building, p50, ratio, recall = measured(kind, vectors, queries)
            except UnavailableError as error:
                print(f"{title:22}{error}")
                continue
            print(f"{title:22}{building:9.2f}{p50:9.3f}{ratio:11.2f}{recall:11.4f}")


if __name__ == "__main__":
    main()
