"""The split: by category, with whole groups, alike for every point."""

from __future__ import annotations

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.sweeps.points import Point
from recallmeter.evaluation.sweeps.split import split


def points(strata: dict[str, list[str]]) -> list[Point]:
    queries = tuple(sorted(strata))
    values = np.arange(len(queries), dtype=np.float64).reshape(1, 1, -1)
    kept = {"strata": strata, "dataset": {"fingerprint": "x"}}
    whole = [Point(key, {}, "complete", systems=("a",), measures=("mrr",), queries=queries, values=values, manifest=kept) for key in "ab"]
    return [*whole, Point("c", {}, "failed", error="no luck")]


def test_each_category_is_split_by_itself_and_every_point_alike():
    strata = {f"q{n:02}": [("exact", "semantic")[n % 3 == 0], ""] for n in range(60)}
    chosen, others = split(points(strata), 0.5, seed=1)
    assert chosen[0].queries == chosen[1].queries
    assert sorted([*chosen[0].queries, *others[0].queries]) == sorted(strata)
    assert sum(strata[query][0] == "semantic" for query in chosen[0].queries) == 10
    assert len(chosen[0].queries) == 30
    assert chosen[0].values[0, 0].tolist() == [float(query[1:]) for query in chosen[0].queries]
    assert split(points(strata), 0.5, seed=1)[0][0].queries == chosen[0].queries != split(points(strata), 0.5, seed=2)[0][0].queries
    assert [point.status for point in chosen] == ["complete", "complete", "failed"]


def test_groups_stay_whole():
    strata = {f"q{n:02}": ["exact", f"talk {n // 6}"] for n in range(60)}
    chosen, others = split(points(strata), 0.5)
    inside, outside = ({strata[query][1] for query in side[0].queries} for side in (chosen, others))
    assert (len(inside), len(outside), inside & outside) == (5, 5, set())


def test_a_side_without_queries_is_refused():
    with pytest.raises(InputError, match="leaves no query on one side"):
        split(points({"q1": ["", ""], "q2": ["", ""]}), 0.01)
