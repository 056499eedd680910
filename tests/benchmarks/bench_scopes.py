"""Many small memories: 500 scopes of 500 observations each, two queries a scope, BM25 beside SQLite's full-text search.

Every scope holds the same sentences under other ids, so that a search that strays finds its match elsewhere just as well. The target
is under 60 seconds on two cores for indexing and evaluating, and no observation of another scope in any answer.

Usage: bench_scopes.py [scopes] [observations]
"""

from __future__ import annotations

import resource
import sys
from datetime import UTC, datetime, timedelta
from time import perf_counter

import numpy as np
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.loop import Protocol, evaluate
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.external.libraries.sqlite_fts5 import SqliteFts5
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.text.analysis import Analyzer

DISTINCT, LENGTH, QUERIES, K = 20_000, 40, 2, 20
START = datetime(2024, 1, 1, tzinfo=UTC)


def many_memories(scopes: int, each: int) -> Dataset:
    """Return the data set; a query is five words of one observation of its scope, which answers it."""
    chance = np.random.default_rng(0)
    letters = chance.integers(ord("a"), ord("z") + 1, (DISTINCT, 8), np.uint8).tobytes().decode()
    vocabulary = np.array([letters[8 * word : 8 * word + 4 + word % 5] for word in range(DISTINCT)])
    frequency = 1 / np.arange(1, DISTINCT + 1)
    drawn = chance.choice(DISTINCT, (each, LENGTH), p=frequency / frequency.sum())
    sentences = [" ".join(row) for row in vocabulary[drawn]]
    observations, queries = [], []
    for scope in range(scopes):
        order = chance.permutation(each)
        observations += [
            Observation(
                id=f"{scope:04}-{n:05}",
                session_id=f"{scope}-{n // 10}",
                timestamp=START + timedelta(minutes=n),
                type="note",
                title=sentences[order[n]],
                scope=f"scope {scope}",
            )
            for n in range(each)
        ]
        for number, n in enumerate(chance.integers(each, size=QUERIES).tolist()):
            words = chance.choice(np.unique(drawn[order[n]]), 5, replace=False)
            text = " ".join(vocabulary[words])
            queries.append(Query(id=f"{scope:04}-q{number}", text=text, relevant={f"{scope:04}-{n:05}": 1}, scope=f"scope {scope}"))
    return Dataset("many memories", tuple(observations), tuple(queries))


def main() -> None:
    """Print seconds, strays and recall, ours first."""
    scopes, each = (int(argument) for argument in (sys.argv[1:] + ["500", "500"][len(sys.argv) - 1 :]))
    dataset = many_memories(scopes, each)
    home = {o.id: o.scope for o in dataset.observations}
    print(f"{scopes} scopes × {each} observations, {len(dataset.queries)} queries, k = {K}")
    reference = 0.0
    for name, system in (("bm25", Pipeline({"bm25": BM25(Analyzer())})), ("sqlite_fts5", SqliteFts5())):
        began = perf_counter()
        [result] = evaluate(dataset, {name: system}, Protocol(k=K), progress=False)
        seconds = perf_counter() - began
        reference = reference or seconds
        failed = sum(answer.status == "failed" for answer in result.answers.values())
        strays = sum(home[hit.id] != query.scope for query in dataset.queries for hit in result.answers[query.id].hits)
        found = np.mean([any(hit.id in query.relevant for hit in result.answers[query.id].hits) for query in dataset.queries])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:<12} {seconds:6.1f} s ({seconds / reference:.2f} of ours), index {result.index_ms / 1e3:.1f} s, "
            f"strays {strays}, failed {failed}, recall@{K} {found:.3f}, peak so far {peak:,.0f} MB"
        )


if __name__ == "__main__":
    main()
