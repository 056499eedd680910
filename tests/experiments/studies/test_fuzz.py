"""A slice of the fuzz study; the whole of it takes minutes and has its figures in the docs."""

from __future__ import annotations

from random import Random

import pytest
from recallmeter.experiments.studies import fuzz, mutations
from recallmeter.experiments.studies.fuzz import BAD, Subject, judged_and_found, study


def test_no_input_of_a_slice_gives_a_traceback_a_hang_or_a_wrong_value(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("RECALLMETER_CACHE", str(tmp_path))
    result = study(150, seed=1)
    assert [what[:2] for what in result.wrong] == []
    assert sum(found.total() for found in result.counts.values()) >= 150
    assert all(count == "0" for count in result.table()[-1][-len(BAD) :])


def test_the_oracle_knows_a_value_by_heart() -> None:
    qrels, run = b"q 0 a 2\nq 0 b 1\nq 0 c 0\n", b"q Q0 c 1 3 t\nq Q0 a 2 2 t\nq Q0 x 3 1 t\n"
    found = judged_and_found(qrels, run)
    assert (found["recall@5"], found["precision@5"], found["mrr"]) == (0.5, 0.2, 0.5)
    assert found["ndcg@10"] == pytest.approx(2 / 1.5849625 / (2 + 1 / 1.5849625))


@pytest.mark.parametrize("fault", ["traceback", "hang", "wrong value"])
def test_what_goes_wrong_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """The study itself must be able to fail."""
    monkeypatch.chdir(tmp_path)
    subject = Subject("x", "x", ("eval",), (mutations.crlf,), (mutations.flipped,), 1, oracle=lambda _: "never")
    (tmp_path / "x").write_bytes(b"abc\n")
    answers = iter([(0, "value", "")])
    later = {"traceback": (2, "", "recallmeter: a fault of recallmeter: KeyError"), "hang": (-1, "", ""), "wrong value": (0, "other", "")}
    monkeypatch.setattr(fuzz, "_told", lambda *_: next(answers, later[fault]))
    result = fuzz.Study(counts={"x": fuzz.Counter()})
    fuzz._try(subject, 5, Random(0), result, 1)
    assert result.counts["x"] == {fault: 5}
    assert len(result.wrong) == 5
