"""`recallmeter eval` beside its peers, reading included: a TREC run of queries × 100 lines, in processes of their own.

Peers are the ``ir_measures`` command and pytrec_eval from Python as its documentation reads files. Wall time, processor time and peak
memory of each, ratios to ours in the same run; the means must agree. Then the same of gzip, and Python mappings against pytrec_eval without
reading. Usage: bench_eval.py [queries] [packed]
"""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

DEPTH = 100
PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.100", "recip_rank", "map"}).evaluate(run)
for name in ("ndcg_cut_10", "recall_100", "recip_rank", "map"):
    print(name, f"{sum(row[name] for row in values.values()) / len(values):.4f}")
"""
MAPPINGS = """
import sys, time
from recallmeter.evaluation.files.trec import read_qrels, read_run
from recallmeter.evaluation.measures.grammar import parse_measure
from recallmeter.evaluation.measures.metrics import score
import pytrec_eval
qrels, run = read_qrels(sys.argv[1]), read_run(sys.argv[2])
plain = {query: dict(hits) for query, hits in run.items()}
measures = [parse_measure(name) for name in ("ndcg@10", "recall@100", "mrr", "map")]
began = time.perf_counter(); ours = score(qrels, run, measures); took = time.perf_counter() - began
began = time.perf_counter()
theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.100", "recip_rank", "map"}).evaluate(plain)
peer = time.perf_counter() - began
assert abs(ours.mean("mrr") - sum(row["recip_rank"] for row in theirs.values()) / len(theirs)) < 1e-4
print(f"mappings of {len(run):,} x {len(next(iter(run.values())))}: ours {took:.2f} s, pytrec_eval {peer:.2f} s, {peer / took:.1f} times")
"""


def write(folder: Path, queries: int) -> None:
    """Write a run whose scores fall and have as many digits as a float64 has, and judgments of seven documents a query."""
    chance = np.random.default_rng(0)
    with (folder / "run.trec").open("w") as run, (folder / "qrels.txt").open("w") as qrels:
        for query in range(queries):
            documents = (chance.integers(0, 10_000, DEPTH) * DEPTH + np.arange(DEPTH)).tolist()
            scores = np.sort(chance.normal(20, 4, DEPTH))[::-1].tolist()
            lines = zip(documents, scores, strict=True)
            run.write("".join(f"q{query} Q0 doc{d} {rank} {score!r} run\n" for rank, (d, score) in enumerate(lines, 1)))
            relevant = sorted({*chance.choice(documents, 5, replace=False).tolist(), 1_000_000 + query, 2_000_000 + query})
            qrels.write("".join(f"q{query} 0 doc{d} {1 + d % 3}\n" for d in relevant))


def timed(command: Sequence[str]) -> tuple[float, float, float, str]:
    """Run a command; return wall seconds, processor seconds, peak memory in MB, and what it printed."""
    code = (
        "import resource, subprocess, sys; out = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE, text=True).stdout; "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024); print(out)"
    )
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    printed = subprocess.run([sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE, text=True).stdout
    wall, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    memory, _, rest = printed.partition("\n")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, float(memory), rest


def main(queries: int = 10_000, packed: bool = False) -> None:
    """Measure and print."""
    programs = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, queries)
        qrels, run = str(folder / "qrels.txt"), str(folder / "run.trec")
        print(f"{queries * DEPTH:,} lines, {os.path.getsize(run) / 1e6:,.0f} MB")
        ours = [str(programs / "recallmeter"), "eval", "--qrels", qrels]
        wanted = ["-m", "ndcg@10", "-m", "recall@100", "-m", "mrr", "-m", "map"]
        contenders = {
            "recallmeter eval": [*ours, "--run", run, *wanted],
            "ir_measures": [sys.executable, "-m", "ir_measures", qrels, run, "nDCG@10", "R@100", "RR", "AP"],
            "pytrec_eval": [sys.executable, "-c", PYTREC_EVAL, qrels, run],
        }
        if packed:
            (folder / "run.trec.gz").write_bytes(gzip.compress(Path(run).read_bytes(), 1))
            contenders["recallmeter eval, gzip"] = [*ours, "--run", f"{run}.gz", *wanted]
        first = None
        for contender, command in contenders.items():
            wall, processor, memory, printed = timed(command)
            first = first or (wall, processor)
            means = sorted(word for line in printed.splitlines() for word in line.split()[-1:] if word.startswith("0."))
            ratios = f"{wall / first[0]:5.1f} x wall  {processor / first[1]:5.1f} x processor"
            print(f"{contender:24} {wall:7.2f} s  {processor:7.2f} s  {memory:7,.0f} MB  {ratios}  {' '.join(means)}", flush=True)
        if queries <= 100_000:
            print(subprocess.run([sys.executable, "-c", MAPPINGS, qrels, run], check=True, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, "packed" in sys.argv)
