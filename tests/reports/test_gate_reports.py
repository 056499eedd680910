"""A gate's findings as people and CI servers read them: terminal, JUnit, GitHub, JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.judging.baseline import baseline_of
from recallmeter.evaluation.judging.gate import gate
from recallmeter.evaluation.judging.rules import rules_from
from recallmeter.evaluation.record import load_run
from recallmeter.reports.gate import record, rows, text
from recallmeter.reports.github import summary, workflow_commands
from recallmeter.reports.junit import junit

SETTINGS = {"rules": {"recall": {"measure": "recall@10", "max_drop": 2.0}}}
EMPTIED = {f"q{i:02}": ["o39"] for i in range(0, 24, 3)}
ENDED = "2026-01-02T03:04:05+00:00"


@pytest.fixture
def judged(write_run):
    baseline, numbers = baseline_of(load_run(write_run("good", {"main": {}, "side": {}}))), count()

    def judge(main, **settings):
        run = load_run(write_run(f"judged{next(numbers)}", {"main": main, "side": {}}))
        return gate(run, baseline, rules_from({**SETTINGS, **settings}))

    return judge


def test_the_terminal_shows_verdict_table_and_the_queries_that_fell(judged):
    report = judged(EMPTIED, tokens=20.0)
    told = text(report)
    assert told.startswith(
        "REGRESSION over 2 comparisons. Where no loss goes beyond what is accepted, the chance of any REGRESSION is at most 0.05 (Holm);"
    )
    decision = report.findings[0].decision
    bounds = [f"{100 * decision.lowest:.1f}", ".015", ".015", f"{100 * decision.worst:.1f}", "–"]
    assert rows(report)[1] == ["main", "recall@10", "24", "100.0", "66.7", "-33.3", *bounds, "REGRESSION"]
    assert rows(report)[3] == ["main", "tokens per query", "–", "≤ 20", "16.0", "–", "–", "–", "–", "–", "–", "PASS"]
    assert "REGRESSION  main recall@10: fell by 33.3 pp; a loss of more than 2.0 pp is shown, p = .015" in told
    assert "8 of 24 queries got worse, the worst first:" in told
    assert "q00 [exact] “question 0”: recall@10 100.0 → 0.0\n      relevant: o12 1 → below 10, o00 2 → below 10" in told
    assert "      instead:  o39 at 1\n" in told
    assert "PASS  side" not in told


def test_many_queries_are_cut_and_counted(judged):
    told = text(judged({f"q{i:02}": ["o39"] for i in range(24)}))
    assert told.count("“question") == 10
    assert "… and 14 more queries" in told


def test_a_failed_system_is_the_headline(judged):
    assert text(judged({"q05": None})).startswith("FAILED: main on 1 query, the first q05: no luck")


def test_a_floor_alone_has_no_test_and_no_numbers_of_one(judged):
    report = judged({"q00": ["o39"]}, rules={"floor": {"measure": "recall@10", "floor": 96}})
    assert rows(report)[1] == ["main", "recall@10", "24", "100.0", "95.8", "-4.2", "–", "–", "–", "–", "–", "REGRESSION"]


def test_json_holds_everything_and_reads_back(judged):
    found = json.loads(json.dumps(record(judged(EMPTIED, tokens=20.0)), allow_nan=False))
    assert (found["verdict"], found["exit_code"]) == ("REGRESSION", 1)
    first = found["findings"][0]
    assert (first["system"], first["measure"], first["max_drop"], first["n"], first["changed"]) == ("main", "recall@10", 2.0, 24, 8)
    assert first["worse"][0]["instead"] == [{"id": "o39", "rank": 1}]
    assert found["bars"][0]["verdict"] == "PASS"


CASES = [
    (EMPTIED, {}, [1, 0], 0),
    ({"q00": ["o39"]}, {"on_inconclusive": "fail"}, [1, 0], 0),
    ({"q00": ["o39"]}, {}, [0, 0], 0),
    ({}, {"tokens": 5.0}, [1, 1], 0),
    ({"q05": None}, {"on_inconclusive": "pass"}, [0, 0], 1),
]


@pytest.mark.parametrize(("main", "settings", "failures", "errors"), CASES)
def test_junit_counts_what_is_to_fail_and_validates(judged, main, settings, failures, errors):
    etree = pytest.importorskip("lxml.etree", reason="lxml validates the JUnit file")
    document = etree.fromstring(junit(judged(main, **settings), name="run", ended=ENDED).encode())
    schema = etree.XMLSchema(etree.parse(Path(__file__).parents[1] / "data" / "junit.xsd"))
    schema.assertValid(document)
    suites = document.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["recallmeter.gate.main", "recallmeter.gate.side"]
    assert [int(suite.get("failures")) for suite in suites] == failures == [len(suite.findall("testcase/failure")) for suite in suites]
    assert int(suites[0].get("errors")) == errors == len(suites[0].findall("testcase/error"))
    assert all(int(suite.get("tests")) == len(suite.findall("testcase")) for suite in suites)


def test_the_schema_refuses_what_readers_refuse():
    etree = pytest.importorskip("lxml.etree", reason="lxml validates the JUnit file")
    schema = etree.XMLSchema(etree.parse(Path(__file__).parents[1] / "data" / "junit.xsd"))
    assert not schema.validate(etree.fromstring("<testsuites><testsuite name='s' tests='1'/></testsuites>"))


def test_junit_survives_what_xml_forbids(judged, write_run, memory):
    odd = tuple(replace(query, text="ctrl \x07 & <b> ]]>") for query in memory.queries)
    data = Dataset(memory.name, memory.observations, odd)
    baseline = baseline_of(load_run(write_run("odd", {"main": {}}, dataset=data)))
    run = load_run(write_run("odd2", {"main": EMPTIED}, dataset=data))
    etree = pytest.importorskip("lxml.etree", reason="lxml reads it back")
    document = etree.fromstring(junit(gate(run, baseline, rules_from(SETTINGS)), name="a\x00b", ended=ENDED).encode())
    assert "& <b> ]]>" in document.find("testsuite/testcase/failure").text
    assert document.find("testsuite/properties/property").get("value") == "a�b"


def test_github_gets_an_error_a_warning_or_nothing(judged):
    assert list(workflow_commands(judged({}))) == []
    first = next(workflow_commands(judged(EMPTIED)))
    assert first == "::error title=main recall@10%3A REGRESSION::fell by 33.3 pp; a loss of more than 2.0 pp is shown, p = .015"
    unsure = {"q00": ["o39"]}
    assert next(workflow_commands(judged(unsure))).startswith("::warning title=main recall@10%3A INCONCLUSIVE::")
    assert list(workflow_commands(judged(unsure, on_inconclusive="pass"))) == []
    assert next(workflow_commands(judged({"q05": None}))).startswith("::error title=main failed::1 query, the first q05")
    bars = list(workflow_commands(judged({}, tokens=5.0)))
    assert bars[0] == "::error title=main tokens per query::19.2, at most 5 allowed"


def test_the_summary_folds_the_queries_and_escapes_them(judged, write_run, memory):
    told = summary(judged(EMPTIED))
    assert told.startswith("## ❌ Recallmeter gate: REGRESSION\n\nREGRESSION over 2 comparisons")
    assert "| main | recall@10 | 24 | 100.0 | 66.7 | -33.3 |" in told
    assert (
        "<details><summary>REGRESSION  main recall@10: fell by 33.3 pp; a loss of more than 2.0 pp is shown, p = .015</summary><pre>"
        in told
    )
    assert summary(judged({})).startswith("## ✅")
    assert summary(judged({"q05": None})).startswith("## 💥 Recallmeter gate: FAILED")
    odd = tuple(replace(query, text="</pre><script>") for query in memory.queries)
    data = Dataset(memory.name, memory.observations, odd)
    baseline = baseline_of(load_run(write_run("odd", {"main": {}}, dataset=data)))
    run = load_run(write_run("odd2", {"main": EMPTIED}, dataset=data))
    assert "<script>" not in summary(gate(run, baseline, rules_from(SETTINGS)))
