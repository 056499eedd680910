"""The explorer's file: whole, closed to everything outside, faithful to the run, and of a bearable size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.record import load_run
from recallmeter.evaluation.sweeps.leaderboard import Leaderboard
from recallmeter.evaluation.sweeps.points import Point
from recallmeter.experiments.cli import main
from recallmeter.reports.explorer.sweep import SHOWN, sweep_model


def model_of(page: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return json.loads(found[1])


REPORT = {"report": {"title": "A test", "experiment": None, "main": None, "controls": ["random"], "labels": {}, "steps": None}}


@pytest.fixture
def page(write_run, tmp_path: Path) -> Path:
    first = write_run("first", {"good": {}, "poor": {f"q{i:02}": ["o39", f"o{i:02}"] for i in range(20)}}, config=REPORT)
    second = write_run("second", {"good": {f"q{i:02}": [] for i in range(12)}, "poor": {}}, config=REPORT)
    assert main(["report", str(first), str(second), "--html", str(tmp_path / "page.html")]) == 0
    return tmp_path / "page.html"


def test_only_the_page_s_own_script_and_style_may_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    for tag in ("script", "style"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert f"{tag}-src 'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'" in policy[1]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_the_page_holds_the_summaries_comparisons_and_verdicts(page: Path) -> None:
    model = model_of(page)
    run = load_run(page.parent / "first")
    assert [one["label"] for one in model["runs"]] == ["first", "second"]
    assert model["runs"][0]["summary"] == json.loads(json.dumps(run.summary))
    assert model["runs"][0]["best"] == "good"
    assert [(one["baseline"], one["run"], one["verdict"]) for one in model["gates"]] == [("first", "second", "REGRESSION")]
    sides = [(one["a"], one["b"]) for one in model["comparisons"]]
    assert sides == [
        (["first", "good"], ["first", "poor"]),
        (["second", "good"], ["second", "poor"]),
        (["first", "good"], ["second", "good"]),
        (["first", "poor"], ["second", "poor"]),
    ]


def test_answers_are_those_of_the_run(page: Path) -> None:
    found, run = model_of(page)["runs"][0], load_run(page.parent / "first")
    for name in run.systems:
        for n, query in enumerate(found["queries"]):
            ids = [found["observations"][row]["id"] for row in found["systems"][name]["hits"][n]]
            assert ids == [hit.id for hit in run.rankings[name].get(query["id"], ())]
            assert {found["observations"][row]["id"]: grade for row, grade in query["relevant"]} == run.queries[query["id"]].relevant


def test_the_same_run_gives_the_same_page(page: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.html"
    assert main(["report", str(tmp_path / "first"), str(tmp_path / "second"), "--html", str(again)]) == 0
    assert again.read_bytes() == page.read_bytes()


def test_no_text_of_a_data_set_ends_the_data(write_run, tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script><!--<script> {{policy}}"
    observation = Observation(id="o1", session_id="s", timestamp=datetime(2024, 1, 1, tzinfo=UTC), type="note", title=hostile)
    dataset = Dataset("</title>", (observation,), (Query(id="q1", text=hostile, category="<b>", relevant={"o1": 1}),))
    run = write_run("run", {"system": {}}, dataset=dataset)
    assert main(["report", str(run), "--html", str(tmp_path / "page.html")]) == 0
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    found = model_of(tmp_path / "page.html")["runs"][0]["observations"][0]["title"]
    assert found == hostile


def test_words_that_share_a_term_are_known_and_others_are_not(write_run, tmp_path: Path) -> None:
    when = datetime(2024, 1, 1, tzinfo=UTC)
    observations = (
        Observation(id="o1", session_id="s", timestamp=when, type="note", title="Migrations locked the tables", narrative="A migration."),
        Observation(id="o2", session_id="s", timestamp=when, type="note", title="数据库迁移 的 what"),
    )
    queries = (Query(id="q1", text="What migrated?", relevant={"o1": 1}), Query(id="q2", text="数据库", relevant={"o2": 1}))
    run = write_run("run", {"system": {}}, dataset=Dataset("words", observations, queries))
    main(["report", str(run), "--html", str(tmp_path / "page.html")])
    first, second = model_of(tmp_path / "page.html")["runs"][0]["queries"]
    assert first["words"] == ["migration", "migrations"]
    assert second["words"]
    assert all(word in "数据库" for word in second["words"])


def test_long_texts_are_cut_and_say_so(write_run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallmeter.reports.explorer.run.TEXTS", 100)
    monkeypatch.setattr("recallmeter.reports.explorer.run.NARRATIVE", 10)
    observation = Observation(
        id="o1", session_id="s", timestamp=datetime(2024, 1, 1, tzinfo=UTC), type="note", title="t", narrative="x" * 101
    )
    dataset = Dataset("long", (observation,), (Query(id="q1", text="what", relevant={"o1": 1}),))
    main(["report", str(write_run("run", {"system": {}}, dataset=dataset)), "--html", str(tmp_path / "page.html")])
    (found,) = model_of(tmp_path / "page.html")["runs"][0]["observations"]
    assert (found["narrative"], found["cut"]) == ("x" * 10, 91)


def test_a_run_on_other_data_is_shown_and_not_compared(write_run, tmp_path: Path) -> None:
    other = Dataset("other", (), (Query(id="q1", text="what"),))
    runs = [str(write_run("first", {"good": {}})), str(write_run("second", {"good": {}}, dataset=other))]
    assert main(["report", *runs, "--html", str(tmp_path / "page.html")]) == 0
    model = model_of(tmp_path / "page.html")
    assert "different data sets" in model["comparisons"][0]["error"]
    assert "error" in model["gates"][0]


def test_markdown_is_of_one_run_alone(write_run, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(write_run(name, {"good": {}})) for name in ("first", "second")]
    assert main(["report", *runs]) == 2
    assert "--html" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_one_line(write_run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["report", str(write_run("run", {"good": {}})), "--html", str(tmp_path / "file" / "page.html")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def points(number: int) -> list[Point]:
    """Configurations whose recall is their weight; the eighth is poor and by far the cheapest."""
    manifest = {"dataset": {"fingerprint": "f"}}
    return [
        Point(
            f"{n:08}",
            {"weight": n / number, "seed": 1, "kind": ("a", None)[n % 2]},
            "complete",
            systems=("dual",),
            measures=("recall@10",),
            queries=("q1", "q2"),
            values=np.full((1, 1, 2), n / number),
            tokens={"dual": 1.0 if n == 7 else 100.0},
            latency={"dual": {"p50": 2.0, "p95": 3.0}},
            manifest=manifest,
        )
        for n in range(number)
    ]


def test_a_small_sweep_is_its_leaderboard() -> None:
    model = sweep_model("sweep", points(6))
    assert model["varied"] == ["kind", "weight"]
    assert [round(row["mean"], 6) for row in model["rows"]] == [round(n / 6, 6) for n in (5, 4, 3, 2, 1, 0)]
    assert all(effect["low"] is not None for effect in model["effects"])


def test_of_a_large_sweep_front_best_and_a_spread_are_kept_and_effects_are_of_all() -> None:
    number = 3 * SHOWN
    model = sweep_model("sweep", points(number))
    assert (model["configurations"], model["points"]) == (number, number)
    means = [row["mean"] for row in model["rows"]]
    assert SHOWN <= len(means) <= SHOWN + 1
    assert means[: SHOWN // 2] == pytest.approx([(number - 1 - n) / number for n in range(SHOWN // 2)], abs=1e-6)
    assert means[-1] == 0
    assert [row["mean"] for row in model["rows"] if row["front"]] == pytest.approx([(number - 1) / number, 7 / number], abs=1e-6)
    kinds = {effect["value"]: effect for effect in model["effects"] if effect["parameter"] == "kind"}
    assert kinds["a"]["rows"] == kinds[None]["rows"] == number / 2
    assert kinds["a"]["mean"] == pytest.approx(-0.5 / number)
    assert sum(model["histogram"]["counts"]) == number


@pytest.mark.parametrize("measure", ["recall@10", "stale@10"])
def test_the_front_of_a_large_sweep_is_the_leaderboard_s_also_where_lower_is_better(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallmeter.reports.explorer.sweep.SHOWN", 4)
    given = [replace(point, measures=(measure,), tokens={"dual": 1.0 + (7 * n + 20) % 40}) for n, point in enumerate(points(40))]
    board, model = Leaderboard(given, measure), sweep_model("sweep", given)
    assert len(model["rows"]) < len(board.rows)
    assert model["rows"][0]["mean"] == pytest.approx(board.rows[0].mean)
    front = [row.parameters["weight"] for row in board.rows if row.front]
    assert len(front) > 2
    assert [row["parameters"]["weight"] for row in model["rows"] if row["front"]] == front
