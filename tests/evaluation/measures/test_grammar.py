"""The grammar of measures: many ways to write one, one canonical name, and errors that help."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.measures.grammar import DEFAULT_MEASURES, MEASURE_NAMES, Measure, parse_measure


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("ndcg@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        (" NDCG@10 ", "ndcg@10"),
        ("nDCG", "ndcg"),
        ("nDCG(dcg='exp-log2')@10", "ndcg(gain=exp)@10"),
        ("ndcg(gain=exp)@10", "ndcg(gain=exp)@10"),
        ("nDCG(dcg='log2')@10", "ndcg@10"),
        ("R@5", "recall@5"),
        ("recall@05", "recall@5"),
        ("P@5", "precision@5"),
        ("P(rel=2)@5", "precision(rel=2)@5"),
        ("P(rel=1)@5", "precision@5"),
        ("RR", "mrr"),
        ("RR@10", "mrr@10"),
        ("RR(rel=2)@10", "mrr(rel=2)@10"),
        ("AP", "map"),
        ("AP(rel=2)@100", "map(rel=2)@100"),
        ("Rprec", "r_precision"),
        ("Success@5", "recall_any@5"),
        ("hit_rate@5", "recall_any@5"),
        ("recall_all@5", "recall_all@5"),
        ("ndcg(rel=2, gain=exp)@3", "ndcg(rel=2,gain=exp)@3"),
        ("ndcg_longmemeval@10", "ndcg_longmemeval@10"),
    ],
)
def test_one_canonical_name(written: str, canonical: str) -> None:
    assert str(parse_measure(written)) == canonical


@given(st.sampled_from(MEASURE_NAMES), st.none() | st.integers(1, 1000), st.integers(1, 9), st.sampled_from(["linear", "exp"]))
@settings(derandomize=True)
def test_every_measure_reads_back_from_its_name(name: str, k: int | None, rel: int, gain: str) -> None:
    try:
        measure = Measure(name, k, rel, gain)
    except InputError:
        return
    assert parse_measure(str(measure)) == measure


def test_the_default_measures_are_the_columns_of_a_run() -> None:
    assert [str(measure) for measure in DEFAULT_MEASURES] == [
        *("recall@5", "recall@10", "recall_any@5", "recall_any@10", "recall_all@5", "recall_all@10"),
        *("precision@5", "ndcg@10", "mrr", "map"),
    ]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("ndgc@10", r"'ndgc@10'; did you mean ndcg\[@k\]\? there are recall@k, recall_any@k"),
        ("precison@5", "did you mean precision@k"),
        ("bpref", "there are recall@k"),
        ("", "there are recall@k"),
        ("ndcg@", "did you mean ndcg"),
        ("ndcg@10.5", "no measure"),
        ("recall", "needs a cut-off; write recall@10"),
        ("Rprec@5", "takes no cut-off"),
        ("recall@0", "cut-off 0"),
        ("P(rel=0)@5", "rel=0"),
        ("P(rel=x)@5", "'rel=x'.*rel=GRADE"),
        ("nDCG(judged_only=True)@10", "'judged_only=True' is not known"),
        ("P(gain=exp)@5", "not for 'precision'"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_there_is(written: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_measure(written)


def test_a_measure_that_does_not_exist_cannot_be_made() -> None:
    with pytest.raises(InputError, match="no measure 'f1'"):
        Measure("f1", 5)
