"""The grammar of measures: many ways to write one, one canonical name, and errors that help."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.measures.grammar import DEFAULT_MEASURES, known_measures, parse_measure
from recallmeter.evaluation.measures.measure import Measure


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
        ("nDCG(judged_only=True)@10", "ndcg(condensed=true)@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg_cut.10", "ndcg@10"),
        ("map_cut_100", "map@100"),
        ("P_5", "precision@5"),
        ("P.5", "precision@5"),
        ("recall_100", "recall@100"),
        ("success_1", "recall_any@1"),
        ("recip_rank", "mrr"),
        ("hit@5", "recall_any@5"),
        ("precision@5-l2", "precision(rel=2)@5"),
        ("r-precision", "r_precision"),
        ("r-precision-l2", "r_precision(rel=2)"),
        ("stale@10", "stale@10"),
        ("silence", "silence"),
    ],
)
def test_one_canonical_name(written: str, canonical: str) -> None:
    assert str(parse_measure(written)) == canonical


@given(st.sampled_from(known_measures()), st.none() | st.integers(1, 1000), st.data())
@settings(derandomize=True)
def test_every_measure_reads_back_from_its_name(kind: type[Measure], k: int | None, data: st.DataObject) -> None:
    options = {"rel": st.integers(1, 9), "condensed": st.booleans(), "gain": st.sampled_from(["linear", "exp"])}
    given = {field.name: data.draw(options.get(field.name, st.just(field.default))) for field in fields(kind) if field.name != "k"}
    try:
        measure = kind(k=k, **given)
    except InputError:
        return
    assert parse_measure(str(measure)) == measure
    assert type(parse_measure(str(measure))) is kind


def test_the_default_measures_are_the_columns_of_a_run() -> None:
    assert [str(measure) for measure in DEFAULT_MEASURES] == [
        *("recall@5", "recall@10", "recall_any@5", "recall_any@10", "recall_all@5", "recall_all@10"),
        *("precision@5", "ndcg@10", "mrr", "map"),
    ]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("ndgc@10", r"'ndgc@10'; did you mean ndcg\[@k\]\? there are .*recall@k, recall_all@k"),
        ("precison@5", "did you mean precision@k"),
        ("xyzzy", r"'xyzzy'; there are .*recall@k"),
        ("", "''; there are .*recall@k"),
        ("reciprocal", r"did you mean mrr\[@k\], also called rr or recip_rank"),
        ("reciprocal_rank@10", r"did you mean mrr"),
        ("hits@5", "did you mean recall_any@k, also called hit_rate or success"),
        ("abstention", "did you mean silence"),
        ("outdated", "did you mean stale@k"),
        ("sensitivity@5", "did you mean recall@k"),
        ("ndcg@", "did you mean ndcg"),
        ("ndcg@10.5", "no measure"),
        ("recall", "needs a cut-off; write recall@10"),
        ("Rprec@5", "takes no cut-off"),
        ("recall@0", "cut-off 0"),
        ("P(rel=0)@5", "rel=0"),
        ("P(rel=x)@5", "'rel=x'.*rel=NUMBER"),
        ("nDCG(judged_only=perhaps)@10", "'judged_only=perhaps' is not known"),
        ("P(gain=exp)@5", "'gain=exp' is not known; there are rel=NUMBER, condensed=true"),
        ("nDCG(gain=cubic)@5", "gain=cubic is not known; there are gain=linear and gain=exp"),
        ("silence(rel=2)", "it takes none"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_there_is(written: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_measure(written)
