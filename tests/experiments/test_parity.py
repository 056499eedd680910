"""Published figures, met by one command each."""

from __future__ import annotations

from pathlib import Path

import pytest
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main

REFERENCE = {
    "grep": ["37.0", "55.8", "78.0", "80.3", "82.5"],
    "agentmemory_bm25": ["43.8", "55.9", "95.0", "82.7", "95.5"],
    "vector": ["44.8", "63.3", "100.0", "94.7", "100.0"],
    "agentmemory_dual": ["44.8", "63.8", "100.0", "95.8", "100.0"],
    "agentmemory_triple": ["44.8", "63.8", "100.0", "95.8", "100.0"],
}
"""R@5, R@10, P@5, NDCG@10 and MRR of the four systems, and of vectors alone, on the published data set with fp32 weights."""


def test_the_published_rows_are_printed_exactly(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = shared / "reference" / "agentmemory-240"
    assert main(["run", "experiment=agentmemory_v060", f"dataset.path={folder}", "hydra.run.dir=run"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert {row[0]: row[1:6] for row in rows if row[0] in REFERENCE} == REFERENCE
    run = load_run("run")
    assert run.rankings["agentmemory_triple"] == run.rankings["agentmemory_dual"]  # without a graph the third arm is not there


@pytest.mark.integration  # embeds 5,183 abstracts, unless they are in the cache
def test_minilm_on_scifact(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    measures = "measures=[ndcg@10,recall@10,recall@100]"
    data = ["dataset=beir", f"dataset.path={shared / 'data' / 'scifact'}"]
    assert main(["run", "system=vector", *data, "k=100", measures, "protocol.repeats=1", "hydra.run.dir=run"]) == 0
    found = load_run("run").summary["systems"]["vector"]["measures"]
    assert [round(found[m]["mean"], 4) for m in ("ndcg@10", "recall@10", "recall@100")] == [0.6451, 0.7833, 0.925]
