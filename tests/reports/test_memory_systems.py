"""The report on memory systems, from a small run with an embedder that only hashes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from recallmeter.evaluation.record import Run, load_run
from recallmeter.experiments.cli import main
from recallmeter.experiments.studies.memory_systems import index_costs
from recallmeter.reports.memory_systems import COSTS_FILE, render
from recallmeter.reports.table import interval

PLUG_IN = """
import hashlib
import numpy as np

class Words:
    model, batch_size = "words@0", 64

    def encode(self, texts, kind):
        vectors = np.full((len(texts), 64), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        return vectors
"""


COMMITTED = Path(__file__).resolve().parents[2] / "reports" / "MEMORY-SYSTEMS.md"


class Window:
    tokens = 256

    def characters_read(self, text: str) -> int:
        return min(len(text), 200)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("memory-systems")
    (folder / "embedder").mkdir()
    (folder / "words_plug_in.py").write_text(PLUG_IN)
    (folder / "embedder" / "words.yaml").write_text(
        f"_target_: recallmeter.CachedEmbedder\nencoder: {{_target_: words_plug_in.Words}}\ncache: {folder / 'cache'}\n"
    )
    chosen = ["experiment=memory_systems", "system=[vector,bm25,sqlite_fts5]", "embedder=words", "protocol.repeats=1"]
    assert main(["run", "--config-dir", str(folder), *chosen, f"hydra.run.dir={folder / 'run'}"]) == 0
    return load_run(folder / "run")


def rows(report: str) -> list[list[str]]:
    table = report.split("| system |")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines()[2:]]


def test_systems_are_ordered_by_recall_with_intervals_and_versions(run: Run):
    table = rows(render([run], Window()))
    assert {row[0] for row in table} == {"our BM25, plain", "our BM25 with synonyms", "our exact vectors", "SQLite FTS5"}
    recalls = [float(row[2].split()[0]) for row in table]
    assert recalls == sorted(recalls, reverse=True)
    assert all(re.fullmatch(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", row[2]) for row in table)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", row[1]) for row in table)
    differences = {row[0]: row[3] for row in table}
    assert differences.pop("our BM25, plain") == "–"
    assert all(re.fullmatch(r"[+-]\d+\.\d \[[+-]\d+\.\d, [+-]\d+\.\d\]", cell) for cell in differences.values())


def test_search_is_what_remains_of_latency_without_embedding(run: Run):
    table = {row[0]: row for row in rows(render([run], Window()))}
    for name in ("our exact vectors", "SQLite FTS5"):
        p50, search = float(table[name][7]), float(table[name][9])
        assert 0 < search <= p50 + 0.01


def test_what_was_measured_of_the_index_stands_in_the_table(run: Run):
    assert {row[-1] for row in rows(render([run], Window()))} == {"–"}
    costs = {system: {"index_s": 1.5, "memory_mb": 1234.0} for system in run.systems}
    (run.path / COSTS_FILE).write_text(json.dumps(costs))
    assert {tuple(row[-2:]) for row in rows(render([run], Window()))} == {("1.50", "1,234")}


def test_an_index_is_weighed(run: Run):
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory is told by Linux alone")
    costs = index_costs(run, "sqlite_fts5")
    assert 0 < costs["index_s"] < 10
    assert 0 <= costs["memory_mb"] < 500


def test_the_report_says_what_was_read_and_found(run: Run):
    report = render([run], Window())
    assert re.search(r"The highest R@10 is \d+\.\d \[.*\]: \w", report)
    assert "NDCG@10 of the term indexes: our BM25, plain " in report
    [line] = [line for line in report.splitlines() if line.startswith("| webapp |")]
    cut, read = (cell.strip() for cell in line.split("|")[3:5])
    assert int(cut) > 200
    assert 40 < float(read.rstrip(" %")) < 100


def test_the_committed_report_has_the_recall_that_is_measured_today(tmp_path: Path):
    assert (
        main(["run", "experiment=memory_systems", "system=[sqlite_fts5,bm25]", "protocol.repeats=1", f"hydra.run.dir={tmp_path / 'run'}"])
        == 0
    )
    today = load_run(tmp_path / "run")
    report = COMMITTED.read_text(encoding="utf-8")
    committed = {row[0]: row for row in rows(report.split("## webapp")[1])}
    for name in today.systems:
        label, measures = today.config["report"]["labels"][name], today.summary["systems"][name]["measures"]
        assert [committed[label][2], committed[label][5]] == [interval(measures["recall@10"]), interval(measures["ndcg@10"])], label
