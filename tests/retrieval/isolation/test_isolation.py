"""Odd plug-ins beside bm25: each fails alone or does no harm, and bm25's results stay as they are, byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main

PLAIN_SEARCH = "return [(self.seen[0].id, 1.0)]"

SEARCHES = {
    "raises": 'raise RuntimeError("boom")',
    "raises_base": 'raise BaseException("boom")',
    "unprintable": 'raise type("E", (Exception,), {"__str__": lambda self: 1 / 0})()',
    "exits": "sys.exit(0)",
    "ends": "os._exit(0)",
    "killed": "os.kill(os.getpid(), 9)",
    "aborts": "os.abort()",
    "recurses": "return self.search(query, k)",
    "interrupts": "raise KeyboardInterrupt",
    "nothing": "return None",
    "number": "return 7",
    "text": 'return "o1"',
    "ids": "return [o.id for o in self.seen]",
    "triples": 'return [("o1", 1.0, 2.0)]',
    "no_text": "return [(None, 1.0)]",
    "not_a_number": 'return [(self.seen[0].id, float("nan"))]',
    "words": 'return [(self.seen[0].id, "high")]',
    "twice": "return [(self.seen[0].id, 1.0)] * 2",
    "too_many": "return [(o.id, 1.0) for o in self.seen]",
    "stranger": 'return [("nobody", 1.0)]',
    "odd_spans": 'return rm.Ranking((rm.Hit(self.seen[0].id, 1.0),), rm.Trace(spans={"total": "long"}))',
    "nan_spans": 'return rm.Ranking((rm.Hit(self.seen[0].id, 1.0),), rm.Trace(spans={"total": float("nan")}))',
    "odd_notes": "return rm.Ranking((rm.Hit(self.seen[0].id, 1.0),), rm.Trace(notes=[np.float64(1)]))",
    "odd_arms": 'return rm.Ranking((rm.Hit(self.seen[0].id, 1.0),), rm.Trace(arms={"a": {}}))',
    "hangs": "time.sleep(1000)",
    "blinds": "builtins.len = lambda _: 0; " + PLAIN_SEARCH,
    "endless": "return ((self.seen[0].id, 1.0) for _ in iter(int, 1))",
    "allocates": "self.much = [b'x' * 2**20 for _ in range(2**14)]; " + PLAIN_SEARCH,
}
"""Searches that can't be right."""

HARMLESS = {
    "prints": 'print("noise" * 20000); ' + PLAIN_SEARCH,
    "writes": 'os.write(1, b"noise"); ' + PLAIN_SEARCH,
    "moves": 'os.chdir("/"); ' + PLAIN_SEARCH,
    "seeds": "random.seed(0); np.random.seed(0); " + PLAIN_SEARCH,
    "environment": "os.environ.clear(); " + PLAIN_SEARCH,
    "thread": "threading.Thread(target=time.sleep, args=(1e5,)).start(); " + PLAIN_SEARCH,
    "child": "subprocess.Popen(['sleep', '60'], start_new_session=True); " + PLAIN_SEARCH,
    "forks": "os.fork(); " + PLAIN_SEARCH,
    "patches": "recallmeter.retrieval.arms.bm25.BM25Index.search = None; " + PLAIN_SEARCH,
    "mutates": 'object.__setattr__(self.seen[0], "title", "x"); ' + PLAIN_SEARCH,
    "closes": "os.closerange(0, 3); " + PLAIN_SEARCH,
    "signals": "signal.signal(signal.SIGTERM, signal.SIG_IGN); " + PLAIN_SEARCH,
    "recursion": "sys.setrecursionlimit(10**6); " + PLAIN_SEARCH,
    "numpy_score": "return [(self.seen[0].id, np.float32(1))]",
    "generator": "return ((o.id, 1.0) for o in self.seen[:1])",
}
"""Searches that do harm to their own process alone."""

METHODS = {
    "report_raises": 'def report(self): raise RuntimeError("boom")',
    "report_none": "def report(self): return None",
    "report_nan": 'def report(self): return {"a": float("nan")}',
    "report_numpy": 'def report(self): return {"a": np.int64(1)}',
    "report_argument": "def report(self, what): return {}",
    "close_raises": 'def close(self): raise RuntimeError("boom")',
    "close_ends": "def close(self): os._exit(3)",
    "model_raises": "model = property(lambda self: 1 / 0)",
    "index_raises": 'def index(self, observations): raise RuntimeError("boom")',
    "index_ends": "def index(self, observations): os._exit(1)",
    "build_raises": 'def __init__(self): raise RuntimeError("boom")',
    "build_ends": "def __init__(self): os._exit(1)",
}
"""Other methods that go wrong."""

HEAD = """import builtins, os, random, signal, subprocess, sys, threading, time
import numpy as np
import recallmeter as rm
import recallmeter.retrieval.arms.bm25
class Plain:
    def index(self, observations): self.seen = list(observations)
    def search(self, query, k, *, scope="", asked_at=None): return [(self.seen[0].id, 1.0)]
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of bm25 alone and one with all of them beside it."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "mine" / "system").mkdir(parents=True)
    lines = [HEAD]
    for name, search in {**SEARCHES, **HARMLESS}.items():
        lines += [f"class {name}(Plain):", f'    def search(self, query, k, *, scope="", asked_at=None): {search}']
    for name, method in METHODS.items():
        lines += [f"class {name}(Plain):", f"    {method}"]
    (folder / "mine" / "odd_memories.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in {**SEARCHES, **HARMLESS, **METHODS}:
        (folder / "mine" / "system" / f"{name}.yaml").write_text(f"# @package systems.{name}\n_target_: odd_memories.{name}\n")
    data = folder / "data"
    data.mkdir()
    observations = (
        f'{{"id": "o{i}", "session_id": "s", "type": "note", "title": "topic{i % 5}", "timestamp": "2024-01-0{i + 1}T00:00:00Z"}}'
        for i in range(9)
    )
    (data / "observations.jsonl").write_text("\n".join(observations) + "\n", encoding="utf-8")
    queries = (f'{{"id": "q{i}", "text": "topic{i}", "category": "", "relevant": {{"o{i}": 1}}}}' for i in range(3))
    (data / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")
    common = [
        "--config-dir",
        str(folder / "mine"),
        "dataset=jsonl",
        f"dataset.path={data}",
        "k=3",
        "measures=[recall@3,mrr]",
        "protocol.repeats=1",
    ]
    limits = ["protocol.repeats=1", "protocol.search_timeout=2", "protocol.memory_mb=512", "protocol.warm_up=0"]
    assert main(["run", "system=bm25", *common, *limits, f"hydra.run.dir={folder / 'alone'}"]) == 0
    names = ",".join(["bm25", *SEARCHES, *HARMLESS, *METHODS])
    assert main(["run", f"system=[{names}]", *common, *limits, f"hydra.run.dir={folder / 'beside'}"]) == 4
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_the_results_beside_fifty_odd_plug_ins_are_the_same_bytes(outcome: Path) -> None:
    assert len({**SEARCHES, **HARMLESS, **METHODS}) >= 50
    for name in ("rankings/bm25.trec", "traces/bm25.jsonl"):
        assert (outcome / "beside" / name).read_bytes() == (outcome / "alone" / name).read_bytes()


@pytest.mark.parametrize("name", [*SEARCHES, *METHODS])
def test_each_fails_alone_and_is_named(outcome: Path, name: str) -> None:
    failures = {failure["system"]: failure["error"] for failure in load_run(outcome / "beside").manifest["failures"]}
    assert failures[name]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_harms_its_own_process_alone_is_no_failure(outcome: Path, name: str) -> None:
    failures = {failure["system"]: failure["error"] for failure in load_run(outcome / "beside").manifest["failures"]}
    assert failures.get(name) is None
