"""Comparisons: paired by query id, refused where nothing can be paired, and true to what the queries show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.inference.intervals import DIFFERENCES, mean_interval
from recallmeter.evaluation.inference.statistics import holm, paired_randomisation
from recallmeter.evaluation.judging.changes import Move, changes
from recallmeter.evaluation.judging.compare import compare, pair, results_of
from recallmeter.evaluation.record import load_run

HALF = {f"q{i:02}": [f"o{i:02}", "o39"] for i in range(0, 24, 3)}
"""Answers of eight queries that find one of two relevant observations."""


@pytest.fixture
def run(write_run):
    return load_run(write_run("run", {"good": {}, "half": HALF, "none": {f"q{i:02}": [] for i in range(24)}}))


def test_a_row_holds_what_its_queries_hold(run):
    pairing = pair(results_of(run, "good"), results_of(run, "half"))
    comparison = compare([pairing], ["recall@10", "mrr"])[0]
    recall = comparison.overall[0]
    differences = np.where(np.arange(24) % 3 == 0, -0.5, 0.0)
    assert (recall.measure, recall.n, recall.before, recall.after) == ("recall@10", 24, 1.0, pytest.approx(1 - 8 / 48))
    assert recall.mean == pytest.approx(differences.mean())
    assert (recall.wins, recall.ties, recall.losses) == (0, 16, 8)
    assert recall.interval == mean_interval(differences, DIFFERENCES)
    assert recall.p == paired_randomisation(differences) == 2 / 2**8
    assert [row.adjusted for row in comparison.overall] == holm([row.p for row in comparison.overall]).tolist()
    assert comparison.overall[1].p == 1.0  # the first hit stands where it stood


def test_categories_are_a_table_of_their_own(run):
    comparison = compare([pair(results_of(run, "good"), results_of(run, "half"))], ["recall@10"])[0]
    assert [(row.category, row.n, row.losses) for row in comparison.by_category] == [("exact", 12, 4), ("semantic", 12, 4)]
    assert [row.adjusted for row in comparison.by_category] == holm([row.p for row in comparison.by_category]).tolist()


def test_holm_runs_over_all_pairs_of_a_table(run):
    good = results_of(run, "good")
    pairings = [pair(good, results_of(run, name)) for name in ("half", "none")]
    rows = [row for comparison in compare(pairings) for row in comparison.overall]
    assert len(rows) == 20
    assert [row.adjusted for row in rows] == holm([row.p for row in rows]).tolist()


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon"])
def test_identical_systems_do_not_differ(run, test):
    good = results_of(run, "good")
    for row in compare([pair(good, good)], test=test)[0].overall:
        assert (row.mean, row.p, row.ties, row.detectable) == (0.0, 1.0, 24, None)
        assert row.interval.low == -row.interval.high < 0


def test_queries_are_paired_by_id_whatever_their_order(write_run, memory):
    turned = Dataset(memory.name, memory.observations[::-1], memory.queries[::-1], memory.licence)
    before = results_of(load_run(write_run("before", {"s": HALF})), "s")
    after = results_of(load_run(write_run("after", {"s": HALF}, dataset=turned)), "s")
    assert [row.mean for row in compare([pair(before, after)])[0].overall] == [0.0] * 10


def test_other_data_and_other_queries_are_refused_unless_allowed(write_run, memory):
    fewer = Dataset(memory.name, memory.observations, memory.queries[:10], memory.licence)
    whole = results_of(load_run(write_run("whole", {"s": {}})), "s", label="whole:s")
    part = results_of(load_run(write_run("part", {"s": HALF}, dataset=fewer)), "s", label="part:s")
    with pytest.raises(InputError, match="whole:s and part:s come from different data sets"):
        pair(whole, part)
    with pytest.raises(InputError, match="14 are in only one, such as 'q10'"):
        pair(whole, replace(part, fingerprint=whole.fingerprint))
    pairing = pair(whole, part, allow_different=True)
    assert (len(pairing.queries), pairing.left_out) == (10, 14)
    assert compare([pairing], ["recall@10"])[0].overall[0].losses == 4


def test_runs_without_a_common_query_cannot_be_compared(write_run, memory):
    first, second = (
        results_of(load_run(write_run(name, {"s": {}}, dataset=Dataset("d", memory.observations, queries))), "s")
        for name, queries in (("a", memory.queries[:5]), ("b", memory.queries[5:9]))
    )
    with pytest.raises(InputError, match="no answerable query in common"):
        pair(first, second, allow_different=True)


def test_a_run_that_lost_half_of_its_rows_is_told_so(run, seal):
    path = run.path / "per_query.csv"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("half,q1")))
    with pytest.raises(InputError, match=r"10 of 25 queries of half are missing, such as 'q10'"):
        results_of(load_run(seal(run.path)), "half")


def test_an_unknown_system_or_measure_is_named_with_what_there_is(run):
    with pytest.raises(InputError, match="no system 'nobody'; there are good, half, none"):
        results_of(run, "nobody")
    with pytest.raises(InputError, match="half has no measure 'recall@7'; there are recall@5"):
        compare([pair(results_of(run, "good"), results_of(run, "half"))], ["recall@7"])


def test_two_queries_give_no_interval_and_say_why(write_run, memory):
    few = Dataset("few", memory.observations, memory.queries[:2])
    run = load_run(write_run("few", {"good": {}, "half": HALF}, dataset=few))
    row = compare([pair(results_of(run, "good"), results_of(run, "half"))], ["recall@10"])[0].overall[0]
    assert row.interval.low is None
    assert "n = 2" in row.interval.why
    assert row.detectable is None


def test_a_changed_query_shows_where_its_answers_went_and_what_came_instead(run):
    pairing = pair(results_of(run, "good"), results_of(run, "half"))
    found = changes(pairing, ["recall@10", "ndcg@10"], run.queries)
    assert [change.query.id for change in found] == sorted(HALF)
    first = found[0]
    assert first.values["recall@10"] == (1.0, 0.5)
    assert first.drop("recall@10") == 0.5
    assert first.relevant == (Move("o12", 1, None), Move("o00", 2, 1))
    assert first.intruders == (Move("o39", None, 2),)
    assert len(changes(pairing, ["recall@10"], run.queries, category="exact")) == 4


def test_the_largest_drop_comes_first_and_depth_limits_the_view(write_run):
    deep = {"q03": [*(f"o{i}" for i in range(25, 35)), "o15"], "q04": ["o16"]}
    run = load_run(write_run("deep", {"good": {}, "deep": deep}))
    pairing = pair(results_of(run, "good"), results_of(run, "deep"))
    found = changes(pairing, ["recall@10"], run.queries, depth=10)
    assert [change.query.id for change in found] == ["q03", "q04"]
    assert found[0].relevant == (Move("o15", 1, None), Move("o03", 2, None))
    assert changes(pairing, ["recall@10"], run.queries)[0].relevant[0] == Move("o15", 1, 11)
