"""The measures beyond the default ones: held to other implementations on random graded runs, and to their definitions."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.measures.grammar import parse_measure
from recallmeter.evaluation.measures.metrics import ceilings, score
from recallmeter.retrieval.ranking import Hit

DOCUMENTS = [f"d{i:02}" for i in range(14)]
judgments = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]), st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1), min_size=1
)
rankings = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True), min_size=1)
held = settings(derandomize=True, deadline=None, max_examples=80)


def scored(measure: str, qrels: dict[str, dict[str, int]], ranked: dict[str, list[str]]) -> dict[str, float]:
    """Return the value of each answerable query that came back."""
    run = {query: [Hit(document, -float(rank)) for rank, document in enumerate(ids)] for query, ids in ranked.items()}
    scores = score(qrels, run, [parse_measure(measure)])
    values = zip(scores.query_ids, next(iter(scores.values.values())), strict=True)
    return {query: float(value) for query, value in values if query in ranked and not np.isnan(value)}


def one(measure: str, grades: dict[str, int], ids: str) -> float:
    return scored(measure, {"q": grades}, {"q": list(ids)})["q"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("judged@3", "Judged@3"),
        ("judged@10", "Judged@10"),
        ("bpref", "Bpref"),
        ("bpref(rel=2)", "Bpref(rel=2)"),
        ("ndcg(condensed=true)@5", "nDCG(judged_only=True)@5"),
        ("map(condensed=true)", "AP(judged_only=True)"),
        ("mrr(condensed=true,rel=2)", "RR(rel=2,judged_only=True)"),
        ("precision(condensed=true)@3", "P(judged_only=True)@3"),
        ("recall_any(condensed=true)@2", "Success(judged_only=True)@2"),
        ("r_precision(condensed=true)", "Rprec(judged_only=True)"),
        ("ndcg(condensed=true)", "nDCG(judged_only=True)"),
    ],
)
@given(qrels=judgments, ranked=rankings)
@held
def test_as_ir_measures(ours: str, theirs: str, qrels: dict[str, dict[str, int]], ranked: dict[str, list[str]]) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    assert parse_measure(theirs) == parse_measure(ours)
    run = {query: {document: float(-rank) for rank, document in enumerate(ids)} for query, ids in ranked.items()}
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], qrels, run)}
    for query, value in scored(ours, qrels, ranked).items():
        assert value == pytest.approx(expected[query], abs=1e-9)


@given(qrels=judgments, ranked=rankings)
@held
def test_bpref_as_pytrec_eval(qrels: dict[str, dict[str, int]], ranked: dict[str, list[str]]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run = {query: {document: float(-rank) for rank, document in enumerate(ids)} for query, ids in ranked.items()}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"bpref"}).evaluate(run)
    for query, value in scored("bpref", qrels, ranked).items():
        assert value == pytest.approx(expected[query]["bpref"], abs=1e-9)


@pytest.fixture(scope="module")
def gdeval() -> Any:
    """Return a function that computes err@k by TREC's own script, which ir_measures carries."""
    import shutil

    if importlib.util.find_spec("ir_measures") is None or shutil.which("perl") is None:
        pytest.skip("gdeval needs ir_measures and perl")
    import ir_measures

    def err(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], k: int) -> dict[str, float]:
        return {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.ERR @ k], qrels, run)}

    return err


def test_err_as_gdeval(gdeval: Any) -> None:
    draw = np.random.default_rng(0)
    qrels = {str(q): {d: int(draw.integers(0, 5)) for d in DOCUMENTS[:10]} for q in range(1, 40)}
    ranked = {query: [DOCUMENTS[i] for i in draw.permutation(14)[:9]] for query in qrels}
    run = {query: {document: float(9 - rank) for rank, document in enumerate(ids)} for query, ids in ranked.items()}
    expected = gdeval(qrels, run, 5)
    found = scored("err@5", qrels, ranked)
    assert len(found) == 39
    for query, value in found.items():
        assert value == pytest.approx(expected[query], abs=1e-5)  # it prints five digits


RANX = {"f1@5": "f1@5", "dcg@5": "dcg@5", "dcg(gain=exp)@5": "dcg_burges@5", "rbp(p=0.95)": "rbp.95", "bpref": "bpref"}


@pytest.mark.parametrize(("ours", "theirs"), RANX.items())
def test_the_names_of_ranx_are_read(ours: str, theirs: str) -> None:
    assert parse_measure(theirs) == parse_measure(ours)


def test_f1_dcg_and_rbp_by_their_definitions() -> None:
    grades = {"a": 1, "c": 2, "d": 3, "e": 0}
    assert one("f1@2", grades, "xa") == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))
    assert one("f1@2", grades, "xy") == 0.0
    assert one("dcg@3", grades, "dxa") == pytest.approx(3 / 1 + 1 / 2)
    assert one("dcg(gain=exp)@3", grades, "dxa") == pytest.approx(7 / 1 + 1 / 2)
    assert one("rbp(p=0.5)", grades, "axc") == pytest.approx(0.5 * (1 + 0.25))
    assert one("rbp(p=0.5,rel=2)", grades, "axc") == pytest.approx(0.5 * 0.25)


@given(st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 3), min_size=7), st.permutations("abcdefg"), st.floats(0.1, 0.99))
@held
def test_rbp_and_its_residual_bound_what_any_judgments_would_give(judged: dict[str, int], order: list[str], p: float) -> None:
    some = {document: grade for document, grade in judged.items() if document < "e"} | {"zz": 1}
    whole = {document: some.get(document, 1) for document in order} | {"zz": 1}
    ids = "".join(order)
    low, residual = one(f"rbp(p={p})", some, ids), one(f"rbp_residual(p={p})", some, ids)
    assert one(f"rbp(p={p})", whole, ids) == pytest.approx(low + residual - p**7)
    assert one(f"rbp(p={p})@3", whole, ids) == pytest.approx(one(f"rbp(p={p})@3", some, ids) + one(f"rbp_residual(p={p})@3", some, ids))


def test_what_is_unknown_of_a_list_without_judged_documents_is_everything() -> None:
    assert one("rbp_residual", {"z": 1}, "ab") == 1.0
    assert one("judged@5", {"z": 1}, "ab") == 0.0
    assert one("judged@5", {"z": 1, "a": 0}, "ab") == 0.5


def test_a_long_list_does_not_overflow() -> None:
    ids = [f"d{i}" for i in range(20_000)]
    assert scored("rbp(p=0.5)", {"q": {"d19999": 1}}, {"q": ids})["q"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("rbp(p=1)", "p=1.0 of 'rbp' is not between 0 and 1"),
        ("err(max_grade=0)@5", "max_grade=0"),
        ("rbp(p=x)", "option 'p=x' is not known"),
        ("bpref@5", "takes no cut-off"),
        ("junk", "needs a cut-off"),
    ],
)
def test_a_parameter_out_of_range_is_told(measure: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_measure(measure)


def test_a_grade_above_the_scale_of_err_is_told() -> None:
    with pytest.raises(InputError, match=r"grade 5 is above the scale of err@3.*ask for err\(max_grade=5\)"):
        one("err@3", {"a": 5}, "a")
    assert one("err(max_grade=5)@3", {"a": 5}, "a") == pytest.approx(31 / 32)


def test_junk_is_what_came_back_where_nothing_is_known() -> None:
    qrels = {"answerable": {"a": 1}, "unheard": {}, "denied": {"a": 0}, "empty": {}}
    run = {"answerable": [Hit("a", 1.0)], "unheard": [Hit(d, 1.0) for d in "abc"], "denied": [Hit("a", 1.0)]}
    scores = score(qrels, run, [parse_measure("junk@2"), parse_measure("silence")])
    values = {name: dict(zip(scores.query_ids, found.tolist(), strict=True)) for name, found in scores.values.items()}
    assert np.isnan(values["junk@2"].pop("answerable"))
    assert values["junk@2"] == {"unheard": 1.0, "denied": 0.5, "empty": 0.0}
    assert (scores.mean("silence"), scores.counted("silence")) == (pytest.approx(1 / 3), 3)


def test_ceilings_of_what_is_no_share() -> None:
    best = ceilings({"q": {"a": 3, "b": 1}}, [*map(parse_measure, ("dcg@2", "err@2", "f1@2", "rbp(p=0.5)@2", "judged@2", "bpref"))])
    assert best["dcg@2"].tolist() == pytest.approx([3 + 1 / np.log2(3)])
    assert best["err@2"].tolist() == pytest.approx([7 / 16 + (9 / 16) * (1 / 16) / 2])
    assert [best[name][0] for name in ("f1@2", "rbp(p=0.5)@2", "judged@2", "bpref")] == [1.0, 0.75, 1.0, 1.0]
