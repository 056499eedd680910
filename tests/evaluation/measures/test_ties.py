"""Tie intervals: held to the enumeration of every order of tied scores."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recallmeter.evaluation.measures.grammar import DEFAULT_MEASURES, parse_measure
from recallmeter.evaluation.measures.metrics import score, tie_interval
from recallmeter.retrieval.ranking import Hit

DOCUMENTS = "abcdefg"
MEASURES = (
    *DEFAULT_MEASURES,
    *map(parse_measure, ("recall@1", "recall@3", "recall_any@2", "recall_any(rel=2)@3", "recall_all@3", "precision(rel=2)@3")),
    *map(parse_measure, ("ndcg@2", "ndcg", "ndcg(gain=exp)@3", "ndcg(rel=2)@4", "ndcg_longmemeval@3", "r_precision")),
    *map(parse_measure, ("mrr@2", "mrr(rel=2)", "map@3", "map(rel=2)")),
    *map(parse_measure, ("recall(condensed=true)@2", "ndcg(condensed=true)@3", "mrr(condensed=true)", "map(condensed=true,rel=2)")),
    *map(parse_measure, ("recall_any(condensed=true)@2", "recall_all(condensed=true)@3", "silence")),
    *map(parse_measure, ("judged@2", "judged", "bpref", "bpref(rel=2)", "bpref(condensed=true)", "rbp(p=0.6)", "rbp@2", "rbp_residual")),
    *map(parse_measure, ("err", "err@2", "err(rel=2)@3", "err(condensed=true)@3", "dcg@3", "f1@2", "junk@3")),
)


def orders(hits: list[Hit]) -> Iterator[list[Hit]]:
    """Yield every order of the ties, with scores that no longer tie."""
    groups = [list(g) for _, g in itertools.groupby(sorted(hits, key=lambda hit: -hit.score), key=lambda hit: hit.score)]
    for order in itertools.product(*map(itertools.permutations, groups)):
        yield [Hit(hit.id, -float(rank)) for rank, hit in enumerate(itertools.chain(*order))]


@given(
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1),
    st.lists(st.builds(Hit, st.sampled_from(DOCUMENTS), st.integers(0, 2).map(float)), max_size=5, unique_by=lambda hit: hit.id),
)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_worst_expected_and_best_of_all_orders(judged: dict[str, int], hits: list[Hit]) -> None:
    intervals = tie_interval({"q": judged}, {"q": hits}, MEASURES)
    run = {f"q{number}": order for number, order in enumerate(orders(hits))}
    every = score(dict.fromkeys(run, judged), run, MEASURES).values
    for name, values in every.items():
        got = [bound[0] for bound in intervals[name]]
        ends = (values.max(), values.min()) if parse_measure(name).lower_is_better else (values.min(), values.max())
        assert got == pytest.approx([ends[0], values.mean(), ends[1]], abs=1e-12, nan_ok=True), name


@given(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1), st.permutations(DOCUMENTS))
@settings(derandomize=True, deadline=None, max_examples=40)
def test_without_ties_there_is_one_value(judged: dict[str, int], order: list[str]) -> None:
    run = {"q": [Hit(document, 1 / (rank + 3)) for rank, document in enumerate(order)]}
    scores = score({"q": judged}, run, MEASURES)
    for name, interval in tie_interval({"q": judged}, run, MEASURES).items():
        assert all(np.array_equal(bound, scores.values[name], equal_nan=True) for bound in interval)
        assert not interval.tied.any()


def test_queries_do_not_mix() -> None:
    qrels = {"q1": {"a": 1, "c": 2}, "q2": {}, "q3": {"b": 1}, "q4": {"z": 1}}
    run = {"q1": [Hit(d, 1.0) for d in "abcd"], "q3": [Hit("a", 2.0), Hit("b", 1.0), Hit("c", 1.0)], "q4": [Hit("a", 1.0)]}
    together = tie_interval(qrels, run, MEASURES)
    for row, query in enumerate(sorted(qrels)):
        for name, interval in tie_interval({query: qrels[query]}, run, MEASURES).items():
            assert [bound[0] for bound in interval] == pytest.approx([bound[row] for bound in together[name]], nan_ok=True)
    assert together["ndcg@10"].tied.tolist() == [True, False, True, False]


def test_a_constant_scorer_is_what_chance_gives() -> None:
    n, relevant, k = 1000, 10, 20
    hits = [Hit(f"d{i:04}", 1.0) for i in range(n)]
    qrels = {"q": {f"d{i:04}": 1 for i in range(relevant)}}
    intervals = tie_interval(qrels, {"q": hits}, [parse_measure(f"{name}@{k}") for name in ("recall", "recall_any", "recall_all")])
    assert intervals[f"recall@{k}"].expected[0] == pytest.approx(k / n)
    assert intervals[f"recall_any@{k}"].expected[0] == pytest.approx(1 - comb(n - relevant, k) / comb(n, k))
    assert intervals[f"recall_all@{k}"].expected[0] == pytest.approx(comb(n - relevant, k - relevant) / comb(n, k))
