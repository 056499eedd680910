"""Claims held against a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset
from recallmeter.evaluation.judging.claims import Claim, claims_of, judge, measured
from recallmeter.evaluation.record import Run, load_run

Told = Mapping[str, Mapping[str, Sequence[str] | None]]


@pytest.fixture
def runs(write_run: Callable[..., Path]) -> Callable[..., Run]:
    """Write a run of systems, optionally with a claim block in its configuration."""

    def make(systems: Told, claim: Mapping[str, Any] | None = None, **settings: Any) -> Run:
        return load_run(write_run("run", systems, config={"claim": claim}, **settings))

    return make


def worse_on(memory: Dataset, count: int) -> dict[str, list[str]]:
    """Return answers in which so many queries find nothing of what is relevant."""
    return {query.id: ["o39"] for query in memory.queries[:count]}


def outcome(run: Run, **claim: Any) -> str:
    return judge(run, [Claim(says="it", **claim)])[0].outcome


class TestDirections:
    def test_a_shown_difference_holds_one_way_and_fails_the_other(self, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"good": {}, "bad": worse_on(memory, 12)})
        assert outcome(run, system="good", baseline="bad", measure="recall@10", expect="higher") == "holds"
        assert outcome(run, system="bad", baseline="good", measure="recall@10", expect="higher") == "fails"
        assert outcome(run, system="bad", baseline="good", measure="recall@10", expect="lower") == "holds"

    def test_too_few_changes_stay_open(self, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"good": {}, "bad": worse_on(memory, 2)})
        assert outcome(run, system="good", baseline="bad", measure="recall@10", expect="higher") == "open"

    def test_what_changes_nothing_fails(self, runs: Callable[..., Run]) -> None:
        assert outcome(runs({"a": {}, "b": {}}), system="a", baseline="b", measure="recall@10", expect="higher") == "fails"

    def test_p_is_corrected_over_all_claims(self, runs: Callable[..., Run], memory: Dataset) -> None:
        # six queries that all change one way have p = 2/64; two claims make it 4/64
        run = runs({"good": {}, "bad": worse_on(memory, 6)})
        claim = Claim(says="it", system="good", baseline="bad", measure="recall@10", expect="higher")
        assert [verdict.outcome for verdict in judge(run, [claim])] == ["holds"]
        verdicts = judge(run, [claim, claim])
        assert [verdict.difference.adjusted for verdict in verdicts] == pytest.approx([4 / 64] * 2)
        assert [verdict.outcome for verdict in verdicts] == ["open"] * 2


class TestBounds:
    def test_equal_answers_are_kept_without_any_margin(self, runs: Callable[..., Run]) -> None:
        assert outcome(runs({"a": {}, "b": {}}), system="a", baseline="b", measure="recall@10", expect="kept") == "holds"

    @pytest.mark.parametrize(("margin", "expected"), [(0.9, "holds"), (0.55, "open"), (0.1, "fails")])
    def test_a_drop_is_held_against_the_margin(self, margin: float, expected: str, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"good": {}, "bad": worse_on(memory, 12)})  # half of the queries lose everything
        assert outcome(run, system="bad", baseline="good", measure="recall@10", expect="kept", margin=margin) == expected

    @pytest.mark.parametrize(("by", "expected"), [(0.4, "holds"), (0.5, "holds"), (0.6, "fails")])
    def test_a_saving_is_held_against_its_share(self, by: float, expected: str, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"long": {}, "short": {query.id: ["o39"] for query in memory.queries if query.answerable}})
        assert outcome(run, system="short", baseline="long", measure="tokens", expect="lower", by=by) == expected

    def test_a_saving_that_varies_around_its_share_stays_open(self, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"long": {}, "short": {query.id: [] for query in memory.queries[::2]}})
        assert outcome(run, system="short", baseline="long", measure="tokens", expect="lower", by=0.5) == "open"

    def test_a_gain_is_held_against_its_share(self, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"long": {}, "short": {query.id: ["o39"] for query in memory.queries if query.answerable}})
        assert outcome(run, system="long", baseline="short", measure="tokens", expect="higher", by=0.5) == "holds"
        assert outcome(run, system="long", baseline="short", measure="tokens", expect="higher", by=1.5) == "fails"


class TestMeasures:
    def test_an_answer_is_measured_as_a_set_whatever_its_length(self, runs: Callable[..., Run]) -> None:
        run = runs({"s": {"q00": ["o38", "o00", "o39", "o37"], "q01": [], "q99": []}})
        assert measured(run, "s", "precision")[:3].tolist() == [0.25, 0.0, 1.0]
        assert measured(run, "s", "recall")[:3].tolist() == [0.5, 0.0, 1.0]
        assert measured(run, "s", "returned")[:3].tolist() == [4, 0, 2]

    def test_each_measure_has_the_queries_it_is_defined_for(self, runs: Callable[..., Run]) -> None:
        run = runs({"s": {"q99": ["o00"]}})
        assert len(measured(run, "s", "recall@10")) == 24
        assert len(measured(run, "s", "tokens")) == 25
        assert measured(run, "s", "silence").tolist() == [0.0]

    def test_an_empty_answer_to_an_unanswerable_query_is_silence(self, runs: Callable[..., Run]) -> None:
        assert measured(runs({"s": {"q99": []}}), "s", "silence").tolist() == [1.0]

    def test_a_claim_that_no_query_is_there_for_is_left_out(self, runs: Callable[..., Run], memory: Dataset) -> None:
        run = runs({"a": {}, "b": {}})
        assert len(measured(run, "a", "returned_of_many")) == 0
        many, few = (Claim(says="it", system="a", baseline="b", measure=m, expect="kept") for m in ("returned_of_many", "returned"))
        assert [verdict.claim for verdict in judge(run, [many, few])] == [few]

    def test_an_unknown_measure_is_refused_and_the_known_ones_named(self, runs: Callable[..., Run]) -> None:
        with pytest.raises(InputError, match=r"no measure 'xyzzy'.*recall@k.*silence.*returned"):
            measured(runs({"s": {}}), "s", "xyzzy")


class TestConfiguration:
    good: Mapping[str, Any] = {"says": "it", "system": "b", "measure": "mrr", "expect": "higher"}

    def test_a_claim_has_the_baseline_of_the_experiment_unless_it_names_its_own(self, runs: Callable[..., Run]) -> None:
        run = runs({"a": {}, "b": {}, "c": {}}, {"baseline": "a", "claims": [self.good, {**self.good, "baseline": "c"}]})
        assert [claim.baseline for claim in claims_of(run)] == ["a", "c"]

    @pytest.mark.parametrize(
        ("changed", "what"),
        [
            ({"system": "d"}, r"claim\.claims\[1\]: there is no system 'd'; there are a, b"),
            ({"expect": "better"}, r"claim\.claims\[1\]: expect is 'better'; use one of higher, lower, kept"),
            ({"least": 3}, r"claim\.claims\[1\]: not a claim \(.*'least'\)"),
        ],
    )
    def test_a_claim_that_makes_no_sense_is_named(self, changed: Mapping[str, Any], what: str, runs: Callable[..., Run]) -> None:
        with pytest.raises(InputError, match=what):
            claims_of(runs({"a": {}, "b": {}}, {"baseline": "a", "claims": [{**self.good, **changed}]}))
