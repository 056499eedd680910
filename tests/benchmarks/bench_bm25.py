"""BM25 beside its peers: the top 20 of 5-term queries, indexing, and peak memory, at 100,000 documents of 60 words.

Words are drawn by Zipf's law from 50,000; a query is five distinct words of one document, so that it holds frequent ones too (a
median of 59,000 postings). Every contender runs in a process of its own, with the same k1 and b. "index" starts from words already
split, "index texts" from texts that each splits itself, without stems. Ours answers a query from its text, the peers from words. The
warm-up, and with it numba's compilation, is not timed; of three builds the
fastest counts, in processor time.

Usage: bench_bm25.py [documents]
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

DISTINCT, LENGTH, TERMS, K, K1, B = 50_000, 60, 5, 20, 1.2, 0.75
Rows = list[list[str]]
Search = Callable[[Sequence[str]], object]
Contender = tuple[Callable[[Rows], Search], Callable[[list[str]], object] | None]


def draw(documents: int) -> tuple[Rows, Rows]:
    """Return the words of each document, and of each of 300 queries."""
    chance = np.random.default_rng(0)
    letters = chance.integers(ord("a"), ord("z") + 1, (DISTINCT, 10), np.uint8).tobytes().decode()
    vocabulary = [letters[10 * i : 10 * i + 3 + i % 8] for i in range(DISTINCT)]
    frequency = 1 / np.arange(1, DISTINCT + 1)
    drawn = chance.choice(DISTINCT, (documents, LENGTH), p=frequency / frequency.sum())
    queries = [chance.choice(np.unique(drawn[row]), TERMS, replace=False) for row in chance.integers(documents, size=300)]
    return [[vocabulary[word] for word in row] for row in drawn.tolist()], [[vocabulary[word] for word in query] for query in queries]


def ours(**settings: Any) -> Contender:
    from recallmeter.retrieval.arms.bm25 import BM25
    from recallmeter.retrieval.corpus import Question
    from recallmeter.retrieval.text.analysis import Analyzer

    arm = BM25(Analyzer(stem=False), k1=K1, b=B, **settings)

    def index(rows: Rows) -> Search:
        built = arm.index(rows)
        return lambda words: built.search(Question(" ".join(words)), K)

    return index, lambda texts: arm.index(map(arm.analyzer.terms, texts))


def bm25s(backend: str) -> Contender:
    import bm25s as package

    def index(rows: Any) -> Search:
        built = package.BM25(method="lucene", k1=K1, b=B, backend=backend)
        built.index(rows, show_progress=False)
        return lambda words: built.retrieve([words], k=K, show_progress=False)

    return index, lambda texts: index(package.tokenize(texts, stopwords=None, show_progress=False))


def rank_bm25() -> Contender:
    from rank_bm25 import BM25Okapi

    def index(rows: Rows) -> Search:
        built = BM25Okapi(rows, k1=K1, b=B)
        return lambda words: np.argsort(-built.get_scores(words), kind="stable")[:K]

    return index, None


CONTENDERS: dict[str, Callable[[], Contender]] = {
    "ours": lambda: ours(synonyms=None),
    "ours, synonyms and prefixes": lambda: ours(prefix_weight=0.5),
    "bm25s numba": lambda: bm25s("numba"),
    "bm25s numpy": lambda: bm25s("numpy"),
    "rank_bm25": rank_bm25,
}


def measure(name: str, documents: int) -> dict[str, float]:
    """Return processor seconds to index, milliseconds a query at p50 and p95, and the MB that both added at the peak."""
    rows, queries = draw(documents)
    index, index_texts = CONTENDERS[name]()
    index(rows[:1000])(queries[0])
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = memory("VmRSS")
    seconds, search = fastest(lambda: index(rows))
    queries = queries if index_texts else queries[:15]
    for query in queries[:5]:
        search(query)
    times = []
    for query in queries:
        began = perf_counter()
        search(query)
        times.append((perf_counter() - began) * 1e3)
    result = {"index s": seconds, "p50 ms": np.median(times), "p95 ms": np.percentile(times, 95), "peak MB": memory("VmHWM") - before}
    if index_texts:
        texts = [" ".join(words) for words in rows]
        result["index texts s"], _ = fastest(lambda: index_texts(texts))
    return {column: float(value) for column, value in result.items()}


def fastest(build: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of the fastest of three builds, and what the last one gave."""
    seconds, built = [], None
    for _ in range(3):
        built = None
        began = process_time()
        built = build()
        seconds.append(process_time() - began)
    return min(seconds), built


def memory(field: str) -> float:
    """Return a field of the kernel's account of this process in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    results = {}
    for name in CONTENDERS:
        child = [sys.executable, __file__, str(documents), name]
        results[name] = json.loads(subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
        print(f"{name:28}", *(f"{column} {value:9.3f}" for column, value in results[name].items()), sep="  ", flush=True)
    own, numba, rank = (results[name] for name in ("ours", "bm25s numba", "rank_bm25"))
    print(f"p50: {rank['p50 ms'] / own['p50 ms']:.0f} times as fast as rank_bm25 (asked: 100)")
    print(f"p50: {own['p50 ms'] / numba['p50 ms']:.2f} times that of bm25s with numba (asked: at most 4)")
    for column in ("index s", "index texts s"):
        print(f"{column[:-2]}: {own[column] / numba[column]:.2f} times that of bm25s (asked: at most 1)")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[1]))))
    else:
        main()
