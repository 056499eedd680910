from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.inference.intervals import mean_interval
from recallmeter.evaluation.sweeps.leaderboard import Leaderboard
from recallmeter.evaluation.sweeps.points import Point, read_point, read_points, write_point

QUERIES = tuple(f"q{number:02}" for number in range(40))


def point(key: str, values: np.ndarray, *, seed: int = 0, tokens: float = 100.0, ms: float = 1.0, **parameters: object) -> Point:
    return Point(
        key,
        {**parameters, "dataset.seed": seed},
        "complete",
        systems=("dual",),
        measures=("recall@10",),
        queries=QUERIES,
        values=values.reshape(1, 1, -1),
        tokens={"dual": tokens},
        latency={"dual": {"p50": ms, "p95": ms}},
        manifest={"dataset": {"fingerprint": f"data{seed}"}},
    )


@pytest.fixture
def difficulty() -> np.ndarray:
    return np.random.default_rng(1).uniform(0, 0.8, len(QUERIES))


def test_replicates_are_averaged_and_the_best_comes_first(difficulty: np.ndarray) -> None:
    points = [point(f"{w}{s}", difficulty + 0.1 * w, seed=s, weight=w) for w in (0, 1, 2) for s in (0, 1, 2)]
    board = Leaderboard(points, "recall@10")
    assert board.varied == ("weight",)
    assert [(row.parameters["weight"], row.replicates) for row in board.rows] == [(2, 3), (1, 3), (0, 3)]
    assert board.rows[0].mean == pytest.approx(difficulty.mean() + 0.2)
    for row in board.rows:
        assert row.low is not None
        assert row.high is not None
        assert row.low < row.mean < row.high


def test_what_cannot_be_told_from_the_best_is_marked(difficulty: np.ndarray) -> None:
    near = difficulty.copy()
    near[:2] += 0.2
    points = [point("a", near, weight=1), point("b", difficulty, weight=2), point("c", difficulty - 0.3, weight=3)]
    assert [row.even for row in Leaderboard(points, "recall@10").rows] == [True, True, False]


def test_the_interval_over_seeds_is_wider_than_over_queries_alone(difficulty: np.ndarray) -> None:
    steady = Leaderboard([point(f"s{s}", difficulty, seed=s) for s in range(4)], "recall@10").rows[0]
    shifting = Leaderboard([point(f"s{s}", difficulty + 0.1 * (s - 1.5), seed=s) for s in range(4)], "recall@10").rows[0]
    assert shifting.mean == pytest.approx(steady.mean)
    assert shifting.high - shifting.low > 1.2 * (steady.high - steady.low)  # type: ignore[operator]


def test_the_pareto_front_is_what_nothing_dominates(difficulty: np.ndarray) -> None:
    points = [
        point("best", difficulty + 0.2, tokens=200, ms=9, weight=1),
        point("cheap", difficulty, tokens=50, ms=9, weight=2),
        point("fast", difficulty, tokens=200, ms=1, weight=3),
        point("dominated", difficulty - 0.1, tokens=200, ms=9, weight=4),
    ]
    front = {row.parameters["weight"]: row.front for row in Leaderboard(points, "recall@10").rows}
    assert front == {1: True, 2: True, 3: True, 4: False}


def test_main_effects_add_up_to_nothing_and_cover_the_truth(difficulty: np.ndarray) -> None:
    points = [point(f"{a}{b}", difficulty + 0.1 * a, a=a, b=b) for a in (0, 1) for b in (0, 1, 2)]
    effects = {(effect.parameter, effect.value): effect for effect in Leaderboard(points, "recall@10").effects}
    assert effects["a", 1].mean == pytest.approx(0.05)
    assert effects["a", 1].low <= 0.05 + 1e-12
    assert effects["a", 1].high >= 0.05 - 1e-12
    assert effects["b", 2].mean == pytest.approx(0)
    assert sum(effect.mean * effect.rows for effect in effects.values()) == pytest.approx(0)


def test_effects_that_would_only_repeat_the_rows_are_not_crossed(difficulty: np.ndarray) -> None:
    points = [point(f"{a}", difficulty + 0.1 * a, a=a, b=a % 2) for a in (0, 1, 2)]
    assert Leaderboard(points, "recall@10").crossed == ("b",)


def test_a_later_point_of_the_same_parameters_replaces_an_earlier_one(difficulty: np.ndarray) -> None:
    old, new = (
        dataclasses.replace(point(key, difficulty + better, weight=1), manifest={"dataset": {"fingerprint": key}, "ended": ended})
        for key, better, ended in (("b", 0.0, "2026-01-01"), ("a", 0.1, "2026-01-02"))
    )
    board = Leaderboard([old, new, point("c", difficulty, weight=2)], "recall@10")
    assert (len(board.rows), board.replaced) == (2, 1)
    assert board.rows[0].mean == pytest.approx(difficulty.mean() + 0.1)
    assert board.rows[0].replicates == 1


def test_a_parameter_of_another_system_makes_no_rows_of_its_own(difficulty: np.ndarray) -> None:
    def both(key: str, weight: float) -> Point:
        return dataclasses.replace(
            point(key, difficulty),
            parameters={"systems.dual.weight": weight},
            systems=("dual", "bm25"),
            values=np.stack([difficulty + weight, difficulty])[:, None],
            tokens={"dual": 1.0, "bm25": 1.0},
            latency={"dual": {"p50": 1.0}, "bm25": {"p50": 1.0}},
        )

    rows = Leaderboard([both("a", 0.1), both("b", 0.2), both("c", 0.3)], "recall@10").rows
    assert [(row.system, row.parameters["systems.dual.weight"]) for row in rows] == [
        ("dual", 0.3),
        ("dual", 0.2),
        ("dual", 0.1),
        ("bm25", None),
    ]
    assert rows[-1].replicates == 1


def test_by_a_parameter_everything_else_is_averaged(difficulty: np.ndarray) -> None:
    points = [point(f"{a}{b}", difficulty + 0.1 * a + 0.02 * b, a=a, b=b) for a in (0, 1) for b in (0, 1, 2)]
    board = Leaderboard(points, "recall@10", by=["a"])
    assert [(dict(row.parameters), row.replicates) for row in board.rows] == [({"a": 1}, 3), ({"a": 0}, 3)]
    assert board.rows[0].mean == pytest.approx(difficulty.mean() + 0.12)
    assert board.rows[1].adjusted < 0.05, "paired by what is averaged over"
    with pytest.raises(InputError, match=r"there are a, b, dataset\.seed"):
        Leaderboard(points, "recall@10", by=["c"])


def test_noise_of_latency_puts_nothing_on_the_front(difficulty: np.ndarray) -> None:
    points = [
        point("a", difficulty + 0.1, ms=1.04, weight=1),
        point("b", difficulty, ms=0.996, weight=2),
        point("c", difficulty, ms=0.9, weight=3),
    ]
    front = {row.parameters["weight"]: row.front for row in Leaderboard(points, "recall@10").rows}
    assert front == {1: True, 2: False, 3: True}


def test_copies_of_a_run_change_no_interval_and_no_p(difficulty: np.ndarray) -> None:
    random = np.random.default_rng(4)
    rivals = [np.clip(difficulty + random.normal(0.02 * w, 0.2, len(QUERIES)), 0, 1) for w in range(4)]

    def board(copies: int) -> Leaderboard:
        return Leaderboard(
            [point(f"{w}{s}", values, seed=s, weight=w) for w, values in enumerate(rivals) for s in range(copies)], "recall@10"
        )

    once, often = board(1), board(5)
    for ours, theirs in zip(often.rows, once.rows, strict=True):
        assert (ours.mean, ours.low, ours.high) == pytest.approx((theirs.mean, theirs.low, theirs.high), abs=1e-12)
        assert ours.adjusted == theirs.adjusted
    assert [(row.replicates, row.distinct) for row in often.rows] == [(5, 1)] * 4
    assert often.corrected == pytest.approx(once.corrected, abs=1e-12)
    for ours, theirs in zip(often.effects, once.effects, strict=True):
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_the_interval_of_one_replicate_is_that_of_its_queries(difficulty: np.ndarray) -> None:
    row = Leaderboard([point("a", difficulty)], "recall@10").rows[0]
    assert (row.low, row.high) == mean_interval(difficulty)[:2]


def test_few_seeds_that_bring_other_queries_have_students_interval() -> None:
    from scipy import stats

    random = np.random.default_rng(3)
    seeds = [random.uniform(0, 1, len(QUERIES)) for _ in range(4)]
    points = [
        dataclasses.replace(point(f"s{n}", values, seed=n), queries=tuple(f"{n}{q}" for q in QUERIES)) for n, values in enumerate(seeds)
    ]
    row = Leaderboard(points, "recall@10").rows[0]
    theirs = stats.ttest_1samp([values.mean() for values in seeds], 0).confidence_interval(0.95)
    assert (row.low, row.high) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_seeds_that_disagree_keep_a_row_even_with_the_first(difficulty: np.ndarray) -> None:
    agree = [point(f"a{s}", difficulty + 0.1 + 0.001 * s, seed=s, weight=1) for s in range(3)]
    shifts = (0.3, -0.25, 0.1)
    differ = [point(f"b{s}", difficulty + shift, seed=s, weight=2) for s, shift in enumerate(shifts)]
    assert [row.even for row in Leaderboard([*agree, *differ], "recall@10").rows] == [True, True]
    same = [point(f"b{s}", difficulty + 0.05, seed=s, weight=2) for s in range(3)]
    assert [row.even for row in Leaderboard([*agree, *same], "recall@10").rows] == [True, False]


def test_many_seeds_with_queries_of_their_own_have_the_width_that_drawing_both_ways_gives() -> None:
    random = np.random.default_rng(3)
    seeds = [np.clip(random.normal(0.5 + shift, 0.2, len(QUERIES)), 0, 1) for shift in random.normal(0, 0.05, 12)]
    points = [
        dataclasses.replace(point(f"s{n:02}", values, seed=n), queries=tuple(f"{n:02}{q}" for q in QUERIES))
        for n, values in enumerate(seeds)
    ]
    row = Leaderboard(points, "recall@10").rows[0]
    between = np.var([values.mean() for values in seeds]) / len(seeds)
    within = np.mean([values.var() for values in seeds]) / len(seeds) / len(QUERIES)
    assert row.low is not None
    assert row.high is not None
    assert (row.high - row.low) / (2 * 1.96) == pytest.approx(np.sqrt(between + within), rel=0.06)


def test_two_boards_of_the_same_points_agree(difficulty: np.ndarray) -> None:
    points = [point(f"{w}{s}", difficulty + 0.1 * w, seed=s, weight=w) for w in (0, 1) for s in (0, 1)]
    assert Leaderboard(points, "recall@10").rows == Leaderboard(points[::-1], "recall@10").rows


def test_failed_points_are_counted_and_left_out(difficulty: np.ndarray) -> None:
    board = Leaderboard([point("a", difficulty), Point("b", {}, "failed", error="x")], "recall@10")
    assert (board.failed, len(board.rows)) == (1, 1)


@pytest.mark.parametrize(("measure", "system", "told"), [("mrr", None, "there are recall@10"), ("recall@10", "bm25", "there are dual")])
def test_what_is_not_there_is_named(difficulty: np.ndarray, measure: str, system: str | None, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Leaderboard([point("a", difficulty)], measure, system=system)


def test_a_point_comes_back_as_it_was_written(tmp_path: Path, difficulty: np.ndarray) -> None:
    written = point("abc", difficulty, weight=0.5)
    write_point(tmp_path / "abc", written)
    found = read_point(tmp_path / "abc")
    assert found is not None
    assert found.values.tobytes() == written.values.tobytes()
    assert dataclasses.replace(found, values=written.values) == written
    assert [p.key for p in read_points([tmp_path])] == ["abc"]
    assert [path.name for path in tmp_path.iterdir()] == ["abc"]


def test_a_point_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_point(tmp_path / "nothing") is None


def test_damaged_points_are_refused(tmp_path: Path, difficulty: np.ndarray) -> None:
    write_point(tmp_path / "abc", point("abc", difficulty))
    for content in (b"\x93NUMPY", b""):
        (tmp_path / "abc" / "values.npy").write_bytes(content)
        with pytest.raises(InputError, match="damaged"):
            read_point(tmp_path / "abc")
    (tmp_path / "abc" / "values.npy").unlink()
    with pytest.raises(InputError, match="missing"):
        read_point(tmp_path / "abc")
    write_point(tmp_path / "def", point("def", difficulty))
    record = json.loads((tmp_path / "def" / "point.json").read_text())
    (tmp_path / "def" / "point.json").write_text(json.dumps({**record, "queries": record["queries"][1:]}))
    with pytest.raises(InputError, match="damaged point"):
        read_point(tmp_path / "def")
    (tmp_path / "def" / "point.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        read_point(tmp_path / "def")


def test_a_folder_without_points_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no point of a sweep"):
        read_points([tmp_path])
    with pytest.raises(InputError, match="no such folder"):
        read_points([tmp_path / "nowhere"])
