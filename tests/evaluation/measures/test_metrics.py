"""The metrics: held to three other implementations on random graded runs, and to their own laws."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.measures.gains import Judgments
from recallmeter.evaluation.measures.grammar import DEFAULT_MEASURES, parse_measure
from recallmeter.evaluation.measures.metrics import Scores, ceilings, dangling, score, score_matrix
from recallmeter.retrieval.ranking import Hit

DOCUMENTS = [f"d{i:02}" for i in range(14)]
QUERIES = ["q1", "q2", "q3"]
MEASURES = (
    *DEFAULT_MEASURES,
    *map(parse_measure, ("ndcg", "ndcg(gain=exp)@5", "ndcg(rel=2)@5", "mrr@3", "map@4", "r_precision", "precision(rel=2)@3")),
    *map(parse_measure, ("recall(rel=2)@4", "ndcg_longmemeval@5", "f1@5", "dcg@5", "dcg(gain=exp)@5")),
)
Qrels = dict[str, dict[str, int]]
Run = dict[str, list[Hit]]

grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1)
all_qrels = st.dictionaries(st.sampled_from(QUERIES), grades, min_size=1)
tied_hits = st.lists(st.builds(Hit, st.sampled_from(DOCUMENTS), st.integers(0, 4).map(float)), min_size=1, unique_by=lambda hit: hit.id)
untied_hits = st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True).map(
    lambda ids: [Hit(identifier, 1 / (place + 3)) for place, identifier in enumerate(ids)]
)
all_runs = st.dictionaries(st.sampled_from(QUERIES), tied_hits | untied_hits, min_size=1)
held = settings(derandomize=True, deadline=None, max_examples=80)


def in_our_order(run: Run) -> dict[str, dict[str, float]]:
    """Return scores that make any tool rank as we say ties are broken, whole numbers that float32 tells apart."""
    return {
        query: {hit.id: float(-rank) for rank, hit in enumerate(sorted(hits, key=lambda hit: (-hit.score, hit.id)))}
        for query, hits in run.items()
    }


def agree(scores: Scores, theirs: Callable[[str, str], float], measures: dict[str, str]) -> None:
    """Hold every answerable value to the peer's; `measures` maps our names to theirs."""
    for ours, their in measures.items():
        for query, value in zip(scores.query_ids, scores.values[ours], strict=True):
            if not np.isnan(value):
                assert value == pytest.approx(theirs(query, their), abs=1e-12), (ours, query)


# ------------------------------------------------------------------------------------------------------------------ peers


@given(all_qrels, all_runs)
@held
def test_as_pytrec_eval(qrels: Qrels, run: Run) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = {"recall@5": "recall_5", "recall@10": "recall_10", "recall_any@5": "success_5", "precision@5": "P_5", "ndcg@10": "ndcg_cut_10"}
    names |= {"ndcg": "ndcg", "mrr": "recip_rank", "map": "map", "map@4": "map_cut_4", "r_precision": "Rprec"}
    asked = {"recall.5,10", "success.5", "P.5", "ndcg_cut.10", "ndcg", "recip_rank", "map", "map_cut.4", "Rprec"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(in_our_order(run))
    agree(score(qrels, run, MEASURES), lambda query, name: theirs.get(query, {}).get(name, 0.0), names)


@given(all_qrels, all_runs)
@held
def test_as_ir_measures_in_its_own_grammar(qrels: Qrels, run: Run) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    written = ["R@5", "Success@10", "P@5", "P(rel=2)@3", "nDCG", "nDCG@10", "RR", "RR(rel=2)", "AP", "AP@4", "AP(rel=2)", "Rprec"]
    theirs = {
        (query, str(measure)): value
        for query, measure, value in ir_measures.iter_calc([ir_measures.parse_measure(m) for m in written], qrels, in_our_order(run))
    }
    ours = score(qrels, run, [parse_measure(text) for text in written])
    names = {str(parse_measure(text)): str(ir_measures.parse_measure(text)) for text in written}
    agree(ours, lambda query, name: theirs[query, name], names)


RANX = """
import json, sys
from ranx import Qrels, Run, evaluate
for line in sys.stdin:
    qrels, run, measures = json.loads(line)
    run = {query: run.get(query, {"nothing": 0.0}) for query in qrels}
    judged = Qrels(qrels)
    values = evaluate(judged, Run(run), measures, return_mean=False)
    print(json.dumps([list(judged.keys()), {name: list(map(float, row)) for name, row in values.items()}]), flush=True)
"""


@pytest.fixture(scope="module")
def ranx() -> Iterator[Callable[..., dict[str, dict[str, float]]]]:
    """ranx in a process of its own, where numba need not compile for half a minute first."""
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("ranx is not installed")
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RANX],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout

    def evaluate(*request: Any) -> dict[str, dict[str, float]]:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        queries, values = json.loads(process.stdout.readline())
        return {name: dict(zip(queries, row, strict=True)) for name, row in values.items()}

    yield evaluate
    process.stdin.close()
    process.wait(timeout=10)


def test_as_ranx(ranx: Callable[..., dict[str, dict[str, float]]]) -> None:
    names = {"recall@5": "recall@5", "precision@5": "precision@5", "ndcg@10": "ndcg@10", "ndcg(gain=exp)@5": "ndcg_burges@5"}
    names |= {"f1@5": "f1@5", "dcg@5": "dcg@5", "dcg(gain=exp)@5": "dcg_burges@5"}
    names |= {"mrr": "mrr", "mrr@3": "mrr@3", "map": "map", "r_precision": "r-precision", "recall_any@5": "hit_rate@5"}

    relevant = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 3), min_size=1)

    @given(st.dictionaries(st.sampled_from(QUERIES), relevant, min_size=1), all_runs)
    @settings(held, max_examples=40)
    def compare(qrels: Qrels, run: Run) -> None:
        theirs = ranx(qrels, in_our_order(run), list(names.values()))
        agree(score(qrels, run, MEASURES), lambda query, name: theirs[name][query], names)

    compare()


# ------------------------------------------------------------------------------------------------------------------- laws


@given(all_qrels, all_runs)
@held
def test_values_lie_between_0_and_the_ceiling(qrels: Qrels, run: Run) -> None:
    scores, best = score(qrels, run, MEASURES), ceilings(qrels, MEASURES)
    for name, values in scores.values.items():
        within = np.isnan(values) & np.isnan(best[name])
        within |= (values >= 0) & (values <= best[name]) & (best[name] <= parse_measure(name).most)
        assert within.all(), name


@given(all_qrels, all_runs, st.permutations(QUERIES))
@held
def test_neither_the_order_of_queries_nor_of_hits_matters(qrels: Qrels, run: Run, order: list[str]) -> None:
    shuffled = {query: sorted(run[query]) for query in order if query in run}
    expected, got = score(qrels, run, MEASURES), score({q: qrels[q] for q in order if q in qrels}, shuffled, MEASURES)
    assert got.query_ids == expected.query_ids == tuple(sorted(qrels))
    for name, values in expected.values.items():
        assert np.array_equal(got.values[name], values, equal_nan=True)


@given(all_qrels, all_runs)
@held
def test_each_query_alone_has_the_value_that_it_has_among_others(qrels: Qrels, run: Run) -> None:
    together = score(qrels, run, MEASURES)
    for row, query in enumerate(together.query_ids):
        alone = score({query: qrels[query]}, run, MEASURES)
        for name, values in alone.values.items():
            assert np.array_equal(values, together.values[name][row : row + 1], equal_nan=True)


@given(st.lists(grades, min_size=1, max_size=4), st.data())
@held
def test_a_matrix_scores_as_the_mappings_do(judged: list[dict[str, int]], data: st.DataObject) -> None:
    rankings = [data.draw(st.lists(st.integers(0, len(DOCUMENTS) - 1), unique=True)) for _ in judged]
    depth = max(map(len, rankings))
    documents = np.array([row + [-1] * (depth - len(row)) for row in rankings], np.int32).reshape(len(judged), depth)
    columns = [(row, DOCUMENTS.index(d), grade) for row, of in enumerate(judged) for d, grade in of.items()]
    rows, numbers, values = np.array(columns).T
    got = score_matrix(documents, Judgments.of(len(judged), rows, numbers, values), MEASURES)
    run = {f"q{row}": [Hit(DOCUMENTS[d], -float(place)) for place, d in enumerate(ranking)] for row, ranking in enumerate(rankings)}
    expected = score({f"q{row}": of for row, of in enumerate(judged)}, run, MEASURES)
    for name, values in expected.values.items():
        assert np.array_equal(got[name], values, equal_nan=True), name


def test_a_matrix_of_many_rows_is_scored_in_blocks() -> None:
    rows, depth = 5000, 7
    documents = np.tile(np.arange(depth, dtype=np.int32), (rows, 1))
    judged = Judgments.of(rows, np.arange(rows), np.arange(rows) % (depth + 1), np.ones(rows, np.int64))
    expected = [1 / (row % (depth + 1) + 1) if row % (depth + 1) < depth else 0.0 for row in range(rows)]
    assert score_matrix(documents, judged, [parse_measure("mrr")])["mrr"].tolist() == expected


def test_matrices_that_do_not_fit_are_refused() -> None:
    one = Judgments.of(1, np.array([0]), np.array([3]), np.array([1]))
    with pytest.raises(InputError, match="document 3 is ranked twice"):
        score_matrix(np.array([[3, 3]]), one, [parse_measure("mrr")])
    with pytest.raises(InputError, match="for 1 queries"):
        score_matrix(np.array([[3], [3]]), one, [parse_measure("mrr")])
    with pytest.raises(InputError, match="row 0: document 3 is judged twice"):
        Judgments.of(1, np.array([0, 0]), np.array([3, 3]), np.array([1, 2]))
    with pytest.raises(InputError, match="grade 5000"):
        Judgments.of(1, np.array([0]), np.array([3]), np.array([5000]))


def test_nothing_at_all() -> None:
    assert score({}, {}, MEASURES).values["ndcg@10"].shape == (0,)
    assert np.isnan(score({}, {}, MEASURES).mean("ndcg@10"))
    none = Judgments.of(2, np.empty(0, int), np.empty(0, int), np.empty(0, int))
    assert np.isnan(score_matrix(np.empty((2, 0), np.int32), none, MEASURES)["recall@5"]).all()
    assert np.isnan(score_matrix(np.array([[1], [2]]), none, MEASURES)["map"]).all()


# ------------------------------------------------------------------------------------------------------------- accounting


def test_means_leave_the_unanswerable_out_and_keep_the_missing_in() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {}}
    run = {"q1": [Hit("a", 1.0), Hit("a", 0.5)], "q3": [Hit("a", 1.0)], "q9": [Hit("a", 1.0)]}
    scores = score(qrels, run, [parse_measure("mrr")])
    assert scores.mean("mrr") == 0.5
    assert scores.counted("mrr") == 2
    assert (scores.missing, scores.unjudged, scores.unanswerable, scores.repeated) == (("q2",), ("q9",), ("q3", "q4"), ("q1",))


def test_a_threshold_leaves_out_queries_without_such_a_grade() -> None:
    scores = score({"q1": {"a": 1}, "q2": {"a": 2}}, {"q1": [Hit("a", 1.0)], "q2": [Hit("a", 1.0)]}, [parse_measure("recall(rel=2)@5")])
    assert scores.counted("recall(rel=2)@5") == 1
    assert scores.unanswerable == ()


@pytest.mark.parametrize("grade", [0.5, float("nan"), float("inf"), -float("inf"), 1001])
def test_a_grade_that_is_no_whole_number_is_refused(grade: float) -> None:
    with pytest.raises(InputError, match=r"^query q1: grade .* of 'a'"):
        score({"q1": {"a": grade}}, {}, MEASURES)  # pyright: ignore[reportArgumentType]


def test_longmemeval_scores_rank_2_as_rank_1() -> None:
    """The values that its own scripts print for gold at rank 1, 2, 3 and 4."""
    runs = [{"q": [Hit(d, -float(i)) for i, d in enumerate("xyz"[:place] + "g")]} for place in range(4)]
    values = [score({"q": {"g": 1}}, run, [parse_measure("ndcg_longmemeval@10")]).mean("ndcg_longmemeval@10") for run in runs]
    assert values == pytest.approx([1.0, 1.0, 1 / np.log2(3), 0.5])


# --------------------------------------------------------------------------------------------------------------- ceilings


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
@held
def test_ceilings_in_closed_form(counts: list[tuple[int, int]]) -> None:
    relevant, missing = np.array(counts).T
    relevant = relevant + missing
    existing = relevant - missing
    with np.errstate(invalid="ignore"):
        closed = {
            "recall@5": np.minimum(5, existing) / relevant,
            "precision@5": np.minimum(5, existing) / 5,
            "recall_any@5": (existing > 0) / 1.0,
            "recall_all@5": ((missing == 0) & (relevant <= 5)) / 1.0,
            "mrr": (existing > 0) / 1.0,
            "map": existing / relevant,
            "r_precision": existing / relevant,
        }
    qrels = {f"q{row:03}": {f"d{row}.{n}": 1 for n in range(r)} for row, r in enumerate(relevant)}
    corpus = {f"d{row}.{n}" for row, e in enumerate(existing) for n in range(e)}
    found = ceilings(qrels, [*map(parse_measure, (*closed, "ndcg@10"))], corpus)
    for name, expected in closed.items():
        got = found[name]
        assert np.isnan(got[relevant == 0]).all()
        assert got[relevant > 0] == pytest.approx(expected[relevant > 0]), name
    whole = ceilings(qrels, [parse_measure("ndcg@10")])["ndcg@10"]
    assert whole[relevant > 0].tolist() == [1.0] * int((relevant > 0).sum())


def test_ceilings_know_the_grade_of_what_is_missing() -> None:
    qrels = {"q": {"a": 3, "gone": 1}}
    best = ceilings(qrels, [parse_measure("ndcg@10")], corpus={"a"})["ndcg@10"]
    assert best == pytest.approx([3 / (3 + 1 / np.log2(3))])
    assert dangling(qrels, {"a"}) == (("q", "gone"),)
