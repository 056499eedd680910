"""The library says what the command line says: a run from objects, its tables, comparison, gate, scores and sweep."""

from __future__ import annotations

import gc
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from recallmeter.experiments.cli import main

import recallmeter as rm


class Titles:
    """Finds what shares words with the question in its title."""

    def index(self, observations: Sequence[rm.Observation]) -> None:
        self.memory = list(observations)

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Any:
        words = set(query.lower().split())
        found = [(len(words & set(o.title.lower().split())), o) for o in self.memory if asked_at is None or o.timestamp <= asked_at]
        return sorted([(o.id, float(shared)) for shared, o in found if shared], key=lambda hit: (-hit[1], hit[0]))[:k]


@pytest.fixture(scope="module")
def dataset() -> rm.Dataset:
    return rm.load_dataset("webapp", sessions=6)


@pytest.fixture(scope="module")
def run(dataset: rm.Dataset) -> rm.Run:
    return rm.evaluate(dataset, {"mine": Titles(), "bm25": rm.system("bm25")}, k=10, repeats=1, progress=False)


def test_a_data_set_is_built_by_name_with_settings(dataset: rm.Dataset, tmp_path: Path) -> None:
    assert len(dataset.observations) == 48
    with pytest.raises(rm.InputError, match=r"no setting 'sesions'.*sessions"):
        rm.load_dataset("webapp", sesions=6)
    with pytest.raises(rm.InputError, match=r"no choice 'webap'.*webapp"):
        rm.load_dataset("webap")
    assert main(["data", "build", "webapp", "--sessions", "6", "-o", str(tmp_path / "built")]) == 0
    assert rm.load_dataset(tmp_path / "built").fingerprint == dataset.fingerprint


def test_a_system_is_built_by_name_with_settings() -> None:
    dual: Any = rm.system("agentmemory_dual", fusion={"k": 20})
    assert (dual.fusion.k, dual.fusion.weights) == (20, {"bm25": 0.4, "vector": 0.6})
    with pytest.raises(rm.InputError, match=r"systems\.dual.*no setting 'fusions'"):
        rm.system("dual", fusions={})


def test_tables_hold_what_the_run_directory_holds(run: rm.Run) -> None:
    summary = run.summary().set_index(["system", "measure"])
    stored = json.loads((run.path / "summary.json").read_text())
    assert summary.loc[("bm25", "recall@10"), "mean"] == stored["systems"]["bm25"]["measures"]["recall@10"]["mean"]
    assert list(summary.index.unique("measure")) == list(run.measures)
    per_query = run.per_query()
    assert len(per_query) == 2 * len(run.queries)
    means = per_query[per_query["system"] == "mine"]["recall@5"].mean()
    assert means == pytest.approx(summary.loc[("mine", "recall@5"), "mean"])
    categories = run.by_category()
    assert set(categories["category"]) == {query.category for query in run.queries.values()}
    assert list(run.costs()["system"]) == ["mine", "bm25"]
    assert run.costs()["p50_ms"].gt(0).all()


def test_a_notebook_shows_it_as_an_inert_table(dataset: rm.Dataset) -> None:
    shown = rm.evaluate(dataset, {"mine": Titles()}, k=10, repeats=1, name="a<b", progress=False)._repr_html_()
    assert "<p>Run a&lt;b on webapp" in shown
    assert "<td>mine</td>" in shown
    assert "<th>R@10</th>" in shown


def test_it_is_the_same_run_once_saved_and_read(run: rm.Run, tmp_path: Path) -> None:
    saved = run.save(tmp_path / "kept")
    assert rm.read_run(tmp_path / "kept").summary().equals(run.summary())
    assert saved.path == tmp_path / "kept"
    assert main(["compare", str(saved.path), str(saved.path)]) == 0
    with pytest.raises(rm.InputError, match="not empty"):
        run.save(tmp_path / "kept")


def test_a_run_without_a_path_leaves_nothing_behind(dataset: rm.Dataset) -> None:
    passing = rm.evaluate(dataset, {"mine": Titles()}, k=5, repeats=1, progress=False)
    assert passing.measures == ("recall@5", "recall_any@5", "recall_all@5", "precision@5", "mrr", "map")
    folder = passing.path
    assert folder.is_dir()
    del passing
    gc.collect()
    assert not folder.exists()


def test_what_cannot_be_evaluated_is_refused_in_one_line(dataset: rm.Dataset) -> None:
    for systems, told in (({"x": Titles}, "is a class"), ({"x": object()}, "no index and search"), ({}, "no system")):
        with pytest.raises(rm.InputError, match=told):
            rm.evaluate(dataset, systems)  # type: ignore[arg-type]
    with pytest.raises(rm.InputError, match=r"no setting 'repeat'.*repeats"):
        rm.evaluate(dataset, {"x": Titles()}, repeat=1)
    with pytest.raises(rm.InputError, match="asked for"):
        rm.evaluate(dataset, {"x": Titles()}, k=5, measures=["recall@10"])


def test_a_system_that_fails_is_named_and_the_others_stand(dataset: rm.Dataset) -> None:
    class Broken(Titles):
        def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Any:
            raise RuntimeError("no luck")

    run = rm.evaluate(dataset, {"broken": Broken(), "mine": Titles()}, k=10, repeats=1, progress=False)
    assert [failure["system"] for failure in run.failures] == ["broken"]
    assert run.summary().query("system == 'mine' and measure == 'recall@10'")["mean"].item() > 0


def test_compare_says_what_the_door_says(run: rm.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rm.compare(run)
    kept = run.save(tmp_path / "kept")
    capsys.readouterr()
    assert main(["compare", str(kept.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.as_record()))
    row = found.summary().set_index("measure").loc["recall@10"]
    assert (row["before"], row["after"]) == ("mine", "bm25")
    assert row["low"] <= row["difference"] <= row["high"]
    assert row["difference"] == pytest.approx(row["mean_after"] - row["mean_before"], abs=1e-6)
    assert set(found.queries()["query"]) == {change.query.id for change in found.changed[0]}
    assert "<th>Δ pp</th>" in found._repr_html_()


def test_runs_and_single_systems_are_compared_under_names_that_tell_them_apart(run: rm.Run, tmp_path: Path) -> None:
    kept = run.save(tmp_path / "kept")
    pairs = rm.compare(run, kept).summary()[["before", "after"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [["1. run:mine", "2. run:mine"], ["1. run:bm25", "2. run:bm25"]]
    assert set(rm.compare((run, "mine"), (run, "bm25"), measures=["mrr"]).summary()["after"]) == {"bm25"}
    by_path = rm.compare(f"{kept.path}:mine", f"{kept.path}:bm25").summary()
    assert set(by_path["before"]) == {"mine"}
    with pytest.raises(rm.InputError, match="nothing to compare"):
        rm.compare((run, "mine"))


def test_gate_is_the_verdict_of_the_door(run: rm.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rm.gate(run, run).verdict == "PASS"
    kept = run.save(tmp_path / "kept")
    assert main(["baseline", str(kept.path), "-o", str(tmp_path / "b.json")]) == 0
    capsys.readouterr()
    code = main(["gate", str(kept.path), "--baseline", str(tmp_path / "b.json"), "--floor", "recall@10=99"])
    told = capsys.readouterr().out
    found = rm.gate(kept.path, tmp_path / "b.json", floors=["recall@10=99"])
    assert (found.exit_code, found.passed) == (code, False) == (1, False)
    assert str(found) == told.rstrip("\n")
    assert "REGRESSION" in found._repr_html_()


def test_pages_are_those_of_the_door(run: rm.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = run.save(tmp_path / "kept")
    pages = kept.report(tmp_path / "ours" / "report.md"), kept.explorer(tmp_path / "ours" / "page.html")
    assert main(["report", str(kept.path), "-o", str(tmp_path / "door" / "report.md"), "--html", str(tmp_path / "door" / "page.html")]) == 0
    for page in pages:
        assert page.read_text() == (tmp_path / "door" / page.name).read_text()


def test_score_takes_mappings_frames_and_files(tmp_path: Path) -> None:
    qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    run = {"q1": {"a": 0.5, "x": 0.9}, "q2": {"c": 1.0}}
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    (tmp_path / "run.json").write_text(json.dumps(run))
    judged = pd.DataFrame([(q, d, g) for q, found in qrels.items() for d, g in found.items()], columns=["qid", "docno", "label"])
    ranked = pd.DataFrame([(q, d, s) for q, found in run.items() for d, s in found.items()], columns=["query_id", "doc_id", "score"])
    lists = {"q1": ["x", "a"], "q2": ["c"]}
    for one, other in ((qrels, run), (judged, ranked), (tmp_path / "qrels.json", tmp_path / "run.json"), (qrels, lists)):
        scored = rm.score(one, other, ["mrr", "recall@5"])
        assert (scored["rr"], scored["recall@5"]) == (0.75, 0.75)
    assert scored.per_query().set_index("query").loc["q1", "mrr"] == 0.5
    tied = rm.score(qrels, {"q1": {"a": 1.0, "x": 1.0}, "q2": {"c": 1.0}}, ["mrr"], ties=True).summary()
    assert tied[["worst", "expected", "best"]].to_numpy().tolist() == [[0.75, 0.875, 1.0]]


def test_score_refuses_what_it_cannot_read() -> None:
    frame = pd.DataFrame({"who": ["q1"], "docno": ["a"], "label": [1]})
    for qrels, run, told in (
        (frame, {"q1": {"a": 1.0}}, "no column is called 'query'"),
        ({"q1": {"a": 1}}, {"q9": {"a": 1.0}}, "none of its 1 queries is judged"),
        ({"q1": {"a": 0.5}}, {"q1": {"a": 1.0}}, "not a whole number"),
        ({"q1": {"a": 1}}, {"q1": {"a": float("nan")}}, "q1"),
        ({}, {"q1": {"a": 1.0}}, "no judgment"),
    ):
        with pytest.raises(rm.InputError, match=told):
            rm.score(qrels, run)  # type: ignore[arg-type]


def test_a_sweep_runs_each_point_once_and_ranks_them(tmp_path: Path) -> None:
    grid = {"dataset.seed": [0, 1], "k": [10, 12]}
    line = ["system=[grep]", "dataset.sessions=3"]
    ranked = rm.sweep(*line, grid=grid, folder=tmp_path / "points")
    assert sorted(ranked.summary()["k"]) == [10, 12]
    assert ranked.summary()["replicates"].tolist() == [2, 2]
    assert len(list((tmp_path / "points").glob("*/point.json"))) == 4
    again = rm.leaderboard(tmp_path / "points", measure="R@10")
    assert again.summary().equals(ranked.summary())
    assert "<th>replicates</th>" in again._repr_html_()
