"""The gate on whole runs: its three verdicts, its exit codes, and what it refuses to judge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.inference.verdict import Verdict
from recallmeter.evaluation.judging.baseline import baseline_of, read_baseline, rolled, write_baseline
from recallmeter.evaluation.judging.gate import Bar, gate
from recallmeter.evaluation.judging.rules import rules_from
from recallmeter.evaluation.record import load_run

RULES = {"rules": {"recall": {"measure": "recall@10", "max_drop": 2.0}, "ranking": {"measure": "ndcg@10", "max_drop": 2.0}}}
EMPTIED = {f"q{i:02}": ["o39"] for i in range(0, 24, 3)}
"""Eight queries of 24 find nothing any more: a drop of 33 points."""


def rules(**settings):
    return rules_from({**RULES, **settings})


def recall(**settings):
    return rules_from({"rules": {"recall": {"measure": "recall@10", **settings}}})


@pytest.fixture
def good(write_run):
    return load_run(write_run("good", {"main": {}, "side": {}}))


@pytest.fixture
def baseline(good, tmp_path):
    """The baseline as it comes back from its file."""
    write_baseline(baseline_of(good), tmp_path / "baseline.json")
    return read_baseline(tmp_path / "baseline.json")


def test_an_identical_run_passes(good, baseline):
    report = gate(good, baseline, rules())
    assert (report.verdict, report.exit_code, len(report.findings), report.notes) == (Verdict.PASS, 0, 4, ())
    assert {finding.why for finding in report.findings} == {"nothing moved; 24 queries exclude that more than 11.7 % of such are lost"}


def test_a_fall_is_a_regression_that_shows_its_queries(write_run, baseline):
    report = gate(load_run(write_run("bad", {"main": EMPTIED, "side": {}})), baseline, rules())
    assert (report.verdict, report.exit_code) == (Verdict.REGRESSION, 1)
    verdicts = {(finding.system, finding.rule.measure): finding.verdict for finding in report.findings}
    assert verdicts[("main", "recall@10")] is Verdict.REGRESSION
    assert verdicts[("side", "recall@10")] is Verdict.PASS
    worst = report.findings[0].worse[0]
    assert (worst.query.id, len(report.findings[0].worse)) == ("q00", 8)
    assert [move.id for move in worst.relevant] == ["o12", "o00"]
    assert [move.id for move in worst.intruders] == ["o39"]


@pytest.mark.parametrize(("handling", "code"), [("fail", 3), ("warn", 0), ("pass", 0)])
def test_two_worse_queries_are_inconclusive_and_say_what_could_be_shown(write_run, baseline, handling, code):
    run = load_run(write_run("unsure", {"main": {"q00": ["o39"], "q01": ["o39"]}, "side": {}}))
    report = gate(run, baseline, rules(on_inconclusive=handling))
    assert (report.verdict, report.exit_code) == (Verdict.INCONCLUSIVE, code)
    assert report.findings[0].why.startswith("no loss is shown; one of 25.6 pp is still possible; about 167 queries")


def test_a_rule_handles_its_own_doubt(write_run, baseline):
    run = load_run(write_run("unsure", {"main": {"q00": ["o39"]}, "side": {}}))
    assert gate(run, baseline, recall(max_drop=2.0, on_inconclusive="warn")).exit_code == 0


def test_a_failed_system_outranks_every_verdict(write_run, baseline):
    report = gate(load_run(write_run("failed", {"main": {**EMPTIED, "q05": None}, "side": {}})), baseline, rules())
    assert report.exit_code == 4
    assert report.failures[0]["system"] == "main"


def test_a_failure_of_a_system_that_is_not_asked_about_does_not_count(write_run, baseline):
    run = load_run(write_run("failed", {"main": {}, "side": {"q05": None}}))
    assert gate(run, baseline, rules(systems=["main"])).exit_code == 0


def test_a_floor_is_a_bar(write_run, baseline):
    run = load_run(write_run("low", {"main": {"q00": ["o39"]}, "side": {}}))
    assert gate(run, baseline, recall(floor=90)).exit_code == 0
    report = gate(run, baseline, recall(floor=96))
    assert (report.exit_code, report.findings[0].why) == (1, "95.8 is below the floor of 96")
    assert report.findings[1].verdict is Verdict.PASS


def test_one_category_is_judged_alone_and_a_star_stands_for_each(write_run, baseline):
    odd = {f"q{i:02}": ["o39"] for i in range(1, 24, 2)}
    run = load_run(write_run("odd", {"main": odd, "side": {}}))
    settings = {"rules": {"each": {"measure": "recall@10", "category": "*", "max_drop": 2.0}}, "systems": ["main"]}
    report = gate(run, baseline, rules_from(settings))
    assert [(f.rule.category, f.n, f.verdict) for f in report.findings] == [
        ("exact", 12, Verdict.PASS),
        ("semantic", 12, Verdict.REGRESSION),
    ]


def test_time_and_tokens_are_held_below_their_ceilings(write_run, baseline):
    run = load_run(write_run("slow", {"main": {}, "side": {}}, ms=9.0))
    report = gate(run, baseline, rules(p95_latency=4.0, tokens=25))
    assert [(bar.name, bar.value, bar.verdict) for bar in report.bars if bar.system == "main"] == [
        ("p95 latency in calibration loops", 4.5, Verdict.REGRESSION),
        ("tokens per query", pytest.approx(19.2), Verdict.PASS),
    ]
    assert report.exit_code == 1


def all_tied(path, seal):
    """Give every hit of the run's main system the same score; the order, by id, stays as it is."""
    trec = path / "rankings" / "main.trec"
    trec.write_text("".join(" ".join([*line.split()[:4], "1.0", "main"]) + "\n" for line in trec.read_text().splitlines()))
    return load_run(seal(path))


def test_a_verdict_that_hangs_on_ties_is_marked_unless_nothing_changed(write_run, seal, baseline):
    others = [f"o{i}" for i in range(36, 40)] + [f"x{i}" for i in range(9)]
    tied = {f"q{i:02}": [f"o{i:02}", f"o{i + 12:02}", *others] for i in range(24)}
    run = all_tied(write_run("tied", {"main": tied, "side": {}}), seal)
    lower = baseline_of(load_run(write_run("lower", {"main": {"q00": ["o00"]}, "side": {}})))
    risen, same = gate(run, lower, recall(max_drop=2.0)).findings
    assert (risen.verdict, risen.ties) == (Verdict.INCONCLUSIVE, "REGRESSION with the worst order of tied scores")
    assert (same.verdict, same.ties) == (Verdict.PASS, "")
    assert gate(run, baseline, recall(max_drop=2.0)).findings[0].ties == ""


@pytest.mark.parametrize(("handling", "code"), [(None, 3), ("warn", 0), ("pass", 0)])
def test_a_shown_loss_of_unknown_size_fails_unless_told_otherwise(write_run, baseline, handling, code):
    run = load_run(write_run("shown", {"main": EMPTIED, "side": {}}))
    settings = {} if handling is None else {"on_shown_loss": handling}
    report = gate(run, baseline, rules_from({"rules": {"recall": {"measure": "recall@10", "max_drop": 30.0}}, **settings}))
    assert (report.findings[0].verdict, report.findings[0].decision.loss_shown, report.exit_code) == (Verdict.INCONCLUSIVE, True, code)
    assert report.findings[0].why.startswith("a loss of 33.3 pp is shown, p = ")


def test_bars_compare_what_is_shown_and_not_the_last_bit(write_run, memory):
    few = Dataset("few", memory.observations, tuple(replace(q, relevant={"o00": 1}) for q in memory.queries[:20]))
    queries = [*few.queries, *(replace(q, id=f"r{n}") for n, q in enumerate(few.queries * 4))]
    hundred = Dataset("hundred", memory.observations, tuple(queries))
    lost = {query.id: ["o39"] for query in queries[:71]}
    run = load_run(write_run("hundred", {"main": lost}, dataset=hundred))
    report = gate(run, baseline_of(run), recall(floor=29))
    assert 100 * report.findings[0].after < 29  # by the last bit: .29 is a little less than 29 per cent
    assert (report.verdict, report.findings[0].why) == (Verdict.PASS, "29.0 is at or above the floor of 29")
    above = gate(run, baseline_of(run), recall(floor=29.04)).findings[0]
    assert (above.verdict, above.why) == (Verdict.REGRESSION, "29.0 is below the floor of 29.04")
    assert Bar("main", "tokens per query", 5.0 + 1e-12, 5.0).verdict is Verdict.PASS
    assert Bar("main", "tokens per query", 5.001, 5.0).verdict is Verdict.REGRESSION


def test_groups_and_blind_slices_are_noted(write_run, memory):
    queries = tuple(replace(query, group=f"talk {number // 4}") for number, query in enumerate(memory.queries))
    talks = Dataset("talks", memory.observations, queries)
    good, bad = (load_run(write_run(f"talks{n}", {"main": told}, dataset=talks)) for n, told in enumerate(({}, EMPTIED)))
    report = gate(bad, baseline_of(good), recall(max_drop=5.0, category="*"))
    assert report.findings[0].decision.groups == 6
    grouped, blind, _ = report.notes
    assert grouped.startswith("main: queries hang together in 6 groups, which are the units of chance; design effect: recall@10 · exact 1.")
    assert blind.startswith("recall@10 · exact is blind: 12 queries would not even show that something is lost where all of the 5 pp")


def test_what_is_missing_from_the_run_is_an_error_and_never_a_pass(write_run, baseline, memory):
    with pytest.raises(InputError, match="'side' is in the baseline, but not in this run"):
        gate(load_run(write_run("fewer", {"main": {}})), baseline, rules())
    exact = Dataset(memory.name, memory.observations, tuple(q for q in memory.queries if q.category == "exact"))
    run = load_run(write_run("exact", {"main": {}, "side": {}}, dataset=exact))
    with pytest.raises(InputError, match="different data sets"):
        gate(run, baseline, rules())
    with pytest.raises(InputError, match="no query of main is left in the category 'semantic'"):
        gate(run, baseline, rules(), allow_different=True)


def test_half_of_the_queries_missing_is_an_error_unless_allowed(write_run, baseline, memory):
    half = Dataset(memory.name, memory.observations, memory.queries[:12])
    run = load_run(write_run("half", {"main": {}, "side": {}}, dataset=half))
    with pytest.raises(InputError, match="different data sets"):
        gate(run, baseline, rules())
    report = gate(run, baseline, rules(), allow_different=True)
    assert report.findings[0].n == 12
    assert report.notes[0] == "main: 12 queries are in only one of baseline and run and were left out; n = 12"


def test_an_unknown_system_category_or_measure_is_named(good, baseline):
    with pytest.raises(InputError, match="no system 'mian'; there are main, side"):
        gate(good, baseline, rules(systems=["mian"]))
    with pytest.raises(InputError, match="no category 'exat'; there are exact, semantic"):
        gate(good, baseline, recall(max_drop=1, category="exat"))
    with pytest.raises(InputError, match="recall@7 is not in both"):
        gate(good, baseline, rules_from({"rules": {"r": {"measure": "recall@7", "max_drop": 1}}}))


def test_a_system_named_twice_is_judged_once(good, baseline):
    once, twice = (gate(good, baseline, rules(systems=systems)).findings for systems in (["main"], ["main", "main"]))
    assert len(twice) == len(once) == 2


def test_without_categories_none_is_listed(good, baseline):
    bare = {name: replace(results, categories=dict.fromkeys(results.categories, "")) for name, results in baseline.systems.items()}
    with pytest.raises(InputError, match="its queries have no category"):
        gate(good, replace(baseline, systems=bare), recall(category="nowhere", max_drop=2.0))


def test_what_is_new_in_the_run_is_noted_and_not_judged(write_run, baseline):
    report = gate(load_run(write_run("more", {"main": {}, "side": {}, "new": {}})), baseline, rules())
    assert report.notes == ("not in the baseline, so not judged: new",)


def test_what_the_run_is_made_of_otherwise_is_named(good, baseline):
    about = {**baseline.about, "identity": "beef", "shaped_by": {"settings": "5e77", "file s.yaml": "1"}}
    assert gate(good, replace(baseline, about=about), rules()).notes == ("not made of what the baseline was made of: file s.yaml",)


def test_a_bar_that_is_missed_by_rounding_alone_is_met() -> None:
    assert 0.1 + 0.2 > 0.3
    assert Bar("a", "tokens per query", 0.1 + 0.2, 0.3).verdict is Verdict.PASS
    assert Bar("a", "tokens per query", 0.3001, 0.3).verdict is Verdict.REGRESSION


def test_small_losses_that_add_up_are_seen_from_the_anchor(write_run, baseline):
    held, steps = baseline, [{f"q{i:02}": ["o39"] for i in range(lost)} for lost in (2, 4, 6, 8, 10)]
    for number, told in enumerate(steps):
        run = load_run(write_run(f"step{number}", {"main": told, "side": {}}))
        report = gate(run, held, recall(max_drop=2.0))
        moving = [finding.verdict for finding in report.findings if finding.system == "main" and not finding.since_anchor]
        assert moving == [Verdict.INCONCLUSIVE]
        held = rolled(held, baseline_of(run))
    anchored = {finding.name: finding for finding in report.findings if finding.system == "main"}["recall@10 since the anchor"]
    assert (anchored.verdict, anchored.before, report.exit_code) == (Verdict.REGRESSION, 1.0, 1)
    assert anchored.why.startswith("fell by 41.7 pp; a loss of more than 2.0 pp is shown")
    assert "the baseline has rolled 4 times" in report.notes[0]
    write_baseline(held, run.path.parent / "rolled.json")
    again = read_baseline(run.path.parent / "rolled.json")
    assert (again.rolls, sorted(again.anchor)) == (5, ["main", "side"])
    assert gate(run, again, recall(max_drop=2.0)).verdict is Verdict.REGRESSION


def test_looks_share_alpha_and_are_counted(write_run, baseline):
    run = load_run(write_run("bad", {"main": EMPTIED, "side": {}}))
    assert gate(run, baseline, rules()).verdict is Verdict.REGRESSION
    report = gate(run, baseline, rules(looks=60))
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.notes == ("look 1 of 60: alpha 0.05 holds over all of them",)
    spent = gate(run, replace(baseline, rolls=60), rules(looks=60))
    assert spent.notes[0].startswith("the 60 looks that alpha was spread over are used up")
    with pytest.raises(InputError, match="looks 0 is not a whole number"):
        rules(looks=0)
