"""Comparisons as people read them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.judging.changes import changes
from recallmeter.evaluation.judging.compare import compare, pair, results_of
from recallmeter.evaluation.measures.numbers import probability
from recallmeter.evaluation.record import load_run
from recallmeter.reports.comparison import document, record, rows, text

HALF = {f"q{i:02}": [f"o{i:02}", "o39"] for i in range(0, 24, 3)}


@pytest.fixture
def compared(write_run):
    run = load_run(write_run("run", {"good": {}, "half": HALF}))
    pairing = pair(results_of(run, "good"), results_of(run, "half"))
    measures = ["recall@10", "mrr"]
    return compare([pairing], measures)[0], changes(pairing, measures, run.queries, depth=10)


def test_the_table_holds_what_a_paper_prints(compared):
    comparison, _ = compared
    assert rows(comparison.overall)[:2] == [
        ["measure", "n", "before", "after", "Δ pp", "95 % interval", "p", "adjusted", "W/T/L", "MDE pp"],
        ["recall@10", "24", "100.0", "83.3", "-16.7", "[-31.0, +1.4]", ".008", ".016*†", "0/16/8", "27.9"],
    ]
    assert rows(comparison.by_category)[0][0] == "category"


def test_text_and_markdown_show_the_changed_queries(compared):
    comparison, queries = compared
    told = text(comparison, queries, 2)
    assert told.startswith("good → half (24 queries)\n\nmeasure")
    assert "q00 [exact] “question 0”: recall@10 100.0 → 50.0\n    relevant: o12 1 → below 10, o00 2 → 1\n    instead:  o39 at 2" in told
    assert told.endswith("… and 6 more queries")
    written = document(comparison, queries, 2)
    assert written.startswith("## good → half (24 queries)\n\n| measure |")
    assert "### Queries that changed (8)" in written


def test_nothing_changed_leaves_no_empty_section(write_run):
    run = load_run(write_run("same", {"good": {}, "twin": {}}))
    comparison = compare([pair(results_of(run, "good"), results_of(run, "twin"))], ["recall@10"])[0]
    assert "Queries that changed" not in document(comparison, [], 5)
    assert text(comparison, [], 5) == "good → twin (24 queries): nothing changed in recall@10"


def test_a_missing_interval_is_explained(write_run, memory):
    few = Dataset("few", memory.observations, memory.queries[:2])
    run = load_run(write_run("few", {"good": {}, "half": HALF}, dataset=few))
    comparison = compare([pair(results_of(run, "good"), results_of(run, "half"))], ["recall@10"])[0]
    for told in (text(comparison, [], 5), document(comparison, [], 5)):
        assert "No interval where n = 2: an interval needs at least 3 queries; n = 1: an" in told


def test_what_rests_on_gains_that_few_may_not_have_met_is_exploratory(compared, write_run):
    assert [row.exploratory for row in compared[0].overall] == [True, False]
    run = load_run(write_run("all", {"good": {}, "none": {f"q{i:02}": ["o39"] for i in range(24)}}))
    lost = compare([pair(results_of(run, "good"), results_of(run, "none"))], ["recall@10"])[0]
    assert not lost.overall[0].exploratory
    assert rows(lost.overall)[1][7] == "<.001**"


def test_groups_are_told(write_run, memory):
    queries = tuple(replace(query, group=f"talk {number // 2}") for number, query in enumerate(memory.queries))
    run = load_run(write_run("talks", {"good": {}, "half": HALF}, dataset=Dataset("talks", memory.observations, queries)))
    comparison = compare([pair(results_of(run, "good"), results_of(run, "half"))], ["recall@10"])[0]
    assert (comparison.overall[0].groups, comparison.overall[0].n) == (12, 24)
    assert "Queries hang together in 12 groups, which are the units of chance; design effect: recall@10 1." in text(comparison, [], 5)


def test_the_record_reads_back_as_json(compared):
    found = json.loads(json.dumps(record(*compared), allow_nan=False))
    assert (found["before"], found["after"], found["queries"], len(found["changed"])) == ("good", "half", 24, 8)
    assert found["overall"][0]["interval"]["why"] == ""
    assert found["changed"][0]["relevant"][0] == {"id": "o12", "before": 1, "after": None}


@pytest.mark.parametrize(("p", "written"), [(None, "–"), (0.0004, "<.001"), (0.031, ".031"), (1.0, "1.000")])
def test_p_values_are_written_short(p, written):
    assert probability(p) == written
