"""Metrics beside their peers: recall@5, recall@10, precision@5, ndcg@10 and mrr of 100,000 queries × 100 documents.

Every contender runs in a process of its own over the same rankings and judgments; the means must agree. Timed is what happens once its
own run and judgments exist, best of three after a warm-up that takes numba's compilation. ranx sorts when a run is built and
pytrec_eval when it is evaluated, so ours is timed both ways: over rankings that are in order, and with the ordering of rankings
that come in order or shuffled. Processor time, of all threads, tells what a busy machine hides. Usage: bench_metrics.py [queries]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

DEPTH, DOCUMENTS, MOST_RELEVANT = 100, 1_000_000, 10
OURS = ("recall@5", "recall@10", "precision@5", "ndcg@10", "mrr")
Timed = tuple[Callable[[], list[float]], float]


def data(queries: int) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return rankings of shape (queries, DEPTH), and judgments as rows, documents and grades; half of the relevant are found."""
    chance = np.random.default_rng(0)
    once = np.arange(DEPTH, dtype=np.int32)  # the last two digits, so that no document stands twice in a row
    documents = chance.integers(DOCUMENTS // DEPTH, size=(queries, DEPTH), dtype=np.int32) * np.int32(DEPTH) + once
    rows = np.repeat(np.arange(queries), chance.integers(1, MOST_RELEVANT + 1, queries))
    nth = np.arange(len(rows)) - np.searchsorted(rows, rows)
    place = (nth * 7 + rows) % DEPTH
    found = chance.random(len(rows)) < 0.5
    relevant = np.where(found, documents[rows, place], DOCUMENTS + nth).astype(np.int32)
    return documents, rows, relevant, chance.integers(1, 4, len(rows))


def as_mappings(queries: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and run as the peers want them: strings, and scores that fall with the rank."""
    documents, rows, relevant, grades = data(queries)
    names = [f"d{number}" for number in range(DOCUMENTS + MOST_RELEVANT)]
    scores = [float(DEPTH - rank) for rank in range(DEPTH)]
    run = {f"q{row}": dict(zip((names[d] for d in ranking), scores, strict=True)) for row, ranking in enumerate(documents.tolist())}
    qrels: dict[str, dict[str, int]] = {}
    for row, document, grade in zip(rows.tolist(), relevant.tolist(), grades.tolist(), strict=True):
        qrels.setdefault(f"q{row}", {})[names[document]] = grade
    return qrels, run


def ours(queries: int) -> Timed:
    from recallmeter.evaluation.measures.gains import Judgments
    from recallmeter.evaluation.measures.grammar import parse_measure
    from recallmeter.evaluation.measures.metrics import score_matrix

    documents, *judged = data(queries)
    judgments, measures = Judgments.of(queries, *judged), [parse_measure(name) for name in OURS]
    return lambda: [float(values.mean()) for values in score_matrix(documents, judgments, measures).values()], 0.0


def ours_in_order(queries: int) -> Timed:
    return _ours_ordering(queries, shuffled=False)


def ours_shuffled(queries: int) -> Timed:
    return _ours_ordering(queries, shuffled=True)


def _ours_ordering(queries: int, *, shuffled: bool) -> Timed:
    from recallmeter.evaluation.measures.canonical import canonical_matrix
    from recallmeter.evaluation.measures.gains import Judgments
    from recallmeter.evaluation.measures.grammar import parse_measure
    from recallmeter.evaluation.measures.metrics import score_matrix

    documents, *judged = data(queries)
    judgments, measures = Judgments.of(queries, *judged), [parse_measure(name) for name in OURS]
    scores = np.tile(np.arange(DEPTH, 0, -1, dtype=np.float64), (queries, 1))
    if shuffled:
        order = np.random.default_rng(1).permuted(np.tile(np.arange(DEPTH), (queries, 1)), axis=1)
        documents, scores = np.take_along_axis(documents, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def evaluate() -> list[float]:
        ranked = canonical_matrix(documents, scores)
        return [float(values.mean()) for values in score_matrix(ranked, judgments, measures).values()]

    return evaluate, 0.0


def ours_mappings(queries: int) -> Timed:
    from recallmeter.evaluation.measures.grammar import parse_measure
    from recallmeter.evaluation.measures.metrics import score
    from recallmeter.retrieval.ranking import Hit

    qrels, scored = as_mappings(queries)
    began = perf_counter()
    run = {query: tuple(Hit(document, value) for document, value in found.items()) for query, found in scored.items()}
    built = perf_counter() - began
    measures = [parse_measure(name) for name in OURS]

    def evaluate() -> list[float]:
        scores = score(qrels, run, measures)
        return [scores.mean(name) for name in OURS]

    return evaluate, built


def pytrec_eval(queries: int) -> Timed:
    import pytrec_eval

    qrels, run = as_mappings(queries)
    names = ("recall_5", "recall_10", "P_5", "ndcg_cut_10", "recip_rank")
    began = perf_counter()
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recall.5,10", "P.5", "ndcg_cut.10", "recip_rank"})
    built = perf_counter() - began

    def evaluate() -> list[float]:
        values = evaluator.evaluate(run).values()
        return [float(np.mean([row[name] for row in values])) for name in names]

    return evaluate, built


def ranx(queries: int) -> Timed:
    from ranx import Qrels, Run, evaluate

    names = ["recall@5", "recall@10", "precision@5", "ndcg@10", "mrr"]
    evaluate(Qrels({"q": {"a": 1}}), Run({"q": {"a": 1.0}}), names)
    qrels, run = as_mappings(queries)
    began = perf_counter()
    judged, ranked = Qrels(qrels), Run(run)
    built = perf_counter() - began

    def again() -> list[float]:
        values = evaluate(judged, ranked, names)
        assert isinstance(values, dict)
        return [float(values[name]) for name in names]

    return again, built


CONTENDERS = {f.__name__: f for f in (ours, ours_in_order, ours_shuffled, ours_mappings, pytrec_eval, ranx)}
LABELS = {
    "ours": "Recallmeter, matrix",
    "ours_in_order": "… and its order checked",
    "ours_shuffled": "… and put in order",
    "ours_mappings": "Recallmeter, mappings",
}


def contend(name: str, queries: int) -> None:
    """Run one contender, and print its figures as JSON."""
    evaluate, built = CONTENDERS[name](queries)
    seconds, busy, means = [], [], []
    for _ in range(3):
        began, began_cpu = perf_counter(), process_time()
        means = evaluate()
        seconds.append(perf_counter() - began)
        busy.append(process_time() - began_cpu)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"means": means, "seconds": min(seconds), "cpu": min(busy), "built": built, "peak": peak}))


def main() -> None:
    """Print one row a contender: queries per second, time against ours, what building its run took, and peak memory."""
    if len(sys.argv) == 3:
        contend(sys.argv[1], int(sys.argv[2]))
        return
    queries = int(sys.argv[1]) if len(sys.argv) == 2 else 100_000
    print(f"{queries:,} queries × {DEPTH} documents: {', '.join(OURS)}")
    print(f"{'':26}{'seconds':>9}{'queries/s':>12}{'× ours':>8}{'cpu, s':>9}{'× ours':>8}{'build, s':>10}{'peak, MB':>10}")
    first: dict[str, float] = {}
    for name in CONTENDERS:
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, name, str(queries)], capture_output=True, text=True)
        if done.returncode:
            print(f"{LABELS.get(name, name):26}not run: {done.stderr.strip().splitlines()[-1]}")
            continue
        told = json.loads(done.stdout)
        first = first or told
        if not np.allclose(told["means"], first["means"], rtol=0, atol=1e-9):
            sys.exit(f"{name} disagrees: {told['means']} against {first['means']}")
        times, cpu = told["seconds"] / first["seconds"], told["cpu"] / first["cpu"]
        label, rate = LABELS.get(name, name), queries / told["seconds"]
        print(
            f"{label:26}{told['seconds']:9.3f}{rate:12,.0f}{times:8.1f}{told['cpu']:9.3f}{cpu:8.1f}{told['built']:10.1f}{told['peak']:10,.0f}"
        )


if __name__ == "__main__":
    main()
