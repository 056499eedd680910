"""What a sweep holds back: unseen by everything that shows points, until it is revealed, and counted then."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.sweeps.holdout import FILE, held_points, hold_back, holdout_of, shown_points
from recallmeter.evaluation.sweeps.points import Point, write_point
from recallmeter.evaluation.sweeps.table import TABLE, write_table
from recallmeter.experiments.api.sweeping import leaderboard
from recallmeter.experiments.cli import main

QUERIES = tuple(f"q{n:02}" for n in range(40))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a sweep of three points that holds back half of its queries."""
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    hold_back(sweep, 0.5)
    for n in range(3):
        write(sweep, n)
    return sweep


def write(folder: Path, n: int) -> None:
    values = np.random.default_rng(n).integers(0, 2, (1, 1, len(QUERIES))).astype(np.float64)
    costs = {"dual": 1.0}, {"dual": {"p50": 1.0, "p95": 1.0}}
    kept = {"dataset": {"fingerprint": "f"}, "strata": {query: [("a", "b")[i % 2], ""] for i, query in enumerate(QUERIES)}}
    write_point(folder / f"key{n}", Point(f"key{n}", {"weight": n}, "complete", "", ("dual",), ("mrr",), QUERIES, values, *costs, kept))


def test_every_query_is_on_one_side_and_later_points_move_none(folder: Path) -> None:
    seen, unseen = shown_points([folder]), held_points([folder])
    assert len(seen[0].queries) == len(unseen[0].queries) == 20
    assert sorted(seen[0].queries + unseen[0].queries) == list(QUERIES)
    write(folder, 9)
    assert {point.queries for point in shown_points([folder])} == {seen[0].queries}


def test_nothing_shows_them_before_they_are_revealed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = {point.key: point.mean("dual", "mrr") for point in shown_points([folder])}
    write_table(folder)
    rows = [line.split(",") for line in (folder / TABLE).read_text().splitlines()[1:]]
    assert {row[0]: float(row[3]) for row in rows} == pytest.approx(seen)
    ranked = leaderboard(folder, measure="mrr")
    assert ranked.held is None
    assert ranked.board.rows[0].mean == pytest.approx(max(seen.values()))
    assert main(["leaderboard", str(folder), "-m", "mrr"]) == 0
    assert "holds back 50 % of its queries since its start, never revealed" in capsys.readouterr().out


def test_a_reveal_shows_and_counts_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    best = leaderboard(folder, measure="mrr").board.rows[0].parameters["weight"]
    told = [leaderboard(folder, measure="mrr", reveal=True) for _ in range(2)]
    means = {point.parameters["weight"]: point.mean("dual", "mrr") for point in held_points([folder])}
    assert told[0].summary()["held_out"][0] == pytest.approx(means[best])
    assert ["revealed 1 time," in told[0].notes[-1], "revealed 2 times," in told[1].notes[-1]] == [True, True]
    assert main(["leaderboard", str(folder), "-m", "mrr", "--reveal"]) == 0
    assert "revealed 3 times" in capsys.readouterr().out


def test_what_fails_is_no_reveal(folder: Path) -> None:
    with pytest.raises(InputError, match="no point has the measure"):
        leaderboard(folder, measure="recall@3", reveal=True)
    held = holdout_of(folder)
    assert held is not None
    assert held.revealed == ()


def test_it_is_from_the_start_and_stays(folder: Path, tmp_path: Path) -> None:
    hold_back(folder, None)
    hold_back(folder, 0.5)
    with pytest.raises(InputError, match=r"holds back 0\.5 from its start"):
        hold_back(folder, 0.3)
    late = tmp_path / "late"
    write(late, 1)
    with pytest.raises(InputError, match="has points already"):
        hold_back(late, 0.5)
    with pytest.raises(InputError, match="holds nothing back"):
        leaderboard(late, measure="mrr", reveal=True)


@pytest.mark.parametrize("share", [0, 1, -0.5, True, "half", float("nan")])
def test_no_share_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(InputError, match="no share of the queries"):
        hold_back(tmp_path, share)


def test_a_record_that_was_edited_is_named(folder: Path) -> None:
    path = folder / FILE
    path.write_text(path.read_text().replace('"share": 0.5', '"share": 0.1'))
    with pytest.raises(InputError, match="not as it was written"):
        shown_points([folder])


def test_the_share_of_the_others_says_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, share in (("--select-on", "0.7"), ("--report-on", "0.3")):
        assert main(["leaderboard", str(folder), "-m", "mrr", option, share, "--csv"]) == 0
    one, other = np.array_split(capsys.readouterr().out.splitlines(), 2)
    assert list(one) == list(other)
