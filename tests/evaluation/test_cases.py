"""Small inputs on which public tools give wrong answers, by their numbers in the list of cases."""

from __future__ import annotations

import copy
import math
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.evaluation.files.trec import read_qrels, read_run
from recallmeter.evaluation.inference.intervals import DIFFERENCES, mean_interval
from recallmeter.evaluation.inference.statistics import paired_randomisation
from recallmeter.evaluation.measures.canonical import without_self_hits
from recallmeter.evaluation.measures.grammar import parse_measure
from recallmeter.evaluation.measures.metrics import ceilings, dangling, score, tie_interval
from recallmeter.evaluation.measures.ties import TieInterval
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.corpus import Candidates
from recallmeter.retrieval.fusion import WeightedRRF
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.ranking import Hit
from recallmeter.retrieval.text.analysis import Analyzer


def ranked(documents: str | list[str]) -> list[Hit]:
    return [Hit(document, 1 - rank / 100) for rank, document in enumerate(documents)]


def value(measure: str, judged: dict[str, int], hits: list[Hit]) -> float:
    parsed = parse_measure(measure)
    return float(score({"q": judged}, {"q": hits}, [parsed]).values[str(parsed)][0])


def interval(measure: str, judged: dict[str, int], hits: list[Hit]) -> TieInterval:
    parsed = parse_measure(measure)
    return tie_interval({"q": judged}, {"q": hits}, [parsed])[str(parsed)]


def test_case_1_ties_have_one_rule_and_an_interval() -> None:
    hits = [Hit("b", 1.0), Hit("c", 1.0)]
    assert value("RR", {"b": 1}, hits) == value("RR", {"b": 1}, hits[::-1]) == 1.0
    assert value("RR", {"c": 1}, hits) == value("RR", {"c": 1}, hits[::-1]) == 0.5
    worst, expected, best = (float(bound[0]) for bound in interval("RR", {"b": 1}, hits))
    assert (worst, expected, best) == (0.5, 0.75, 1.0)
    assert interval("nDCG@10", {"b": 1}, hits).expected[0] == pytest.approx(0.8155, abs=5e-5)


@pytest.mark.parametrize("judged", [{"a": 1}, {"b": 1}])
def test_case_2_mrr_and_map_see_one_order(judged: dict[str, int]) -> None:
    hits = [Hit("b", 1.0), Hit("a", 1.0)]
    assert value("mrr", judged, hits) == value("map", judged, hits)


def test_case_4_a_query_that_is_not_in_the_run_scores_0_and_is_named() -> None:
    scores = score({"q1": {"d": 1}}, {"qX": ranked("d")}, [parse_measure("R@5")])
    assert scores.mean("recall@5") == 0.0
    assert (scores.missing, scores.unjudged) == (("q1",), ("qX",))


@pytest.mark.parametrize("judged", [{}, {"a": 0, "b": 0}])
@pytest.mark.parametrize("measure", ["R@5", "P@5", "nDCG@10", "RR", "AP", "Rprec", "recall_any@5", "recall_all@5", "ndcg_longmemeval@5"])
def test_case_5_without_gold_it_is_undefined_not_0_and_not_1(judged: dict[str, int], measure: str) -> None:
    assert math.isnan(value(measure, judged, ranked("ab")))
    scores = score({"q": judged, "answerable": {"a": 1}}, {"q": ranked("ab"), "answerable": ranked("a")}, [parse_measure("R@5")])
    assert scores.unanswerable == ("q",)
    assert (scores.mean("recall@5"), scores.counted("recall@5")) == (1.0, 1)


def test_case_7_a_document_counts_once() -> None:
    hits = ranked(["A", "A", "X"])
    assert value("R@3", {"A": 1}, hits) == 1.0
    assert value("P@3", {"A": 1}, hits) == pytest.approx(1 / 3)
    assert value("nDCG@3", {"A": 1}, hits) == 1.0
    assert value("R@3", {"A": 1, "B": 1}, ranked("AA")) == 0.5


def test_case_8_the_ideal_is_over_all_gold() -> None:
    assert value("nDCG@10", {"a": 1, "b": 1}, ranked("a")) == pytest.approx(0.613147, abs=5e-7)


def test_case_9_recall_and_recall_any_are_two_things() -> None:
    judged = {f"g{i}": 1 for i in range(20)}
    hits = ranked([*(f"x{i}" for i in range(9)), "g0"])
    assert value("R@10", judged, hits) == 0.05
    assert value("recall_any@10", judged, hits) == 1.0


def test_case_11_the_gain_is_named() -> None:
    judged = {"a": 3, "b": 2, "c": 1}
    assert value("nDCG@10", judged, ranked("cba")) == pytest.approx(0.7900, abs=5e-5)
    assert value("nDCG(dcg='exp-log2')@10", judged, ranked("cba")) == pytest.approx(0.6806, abs=5e-5)
    assert str(parse_measure("nDCG(dcg='exp-log2')@10")) == "ndcg(gain=exp)@10"


def test_case_12_a_perfect_list_scores_1() -> None:
    judged = dict.fromkeys("abcdefg", 1)
    assert value("nDCG@10", judged, ranked("abcdefg")) == 1.0
    assert value("ndcg(gain=exp)@10", judged, ranked("gfedcba")) == 1.0


def test_case_13_self_hits_go_only_when_asked() -> None:
    qrels, run = {"d1": {"d1": 1, "d2": 1}}, {"d1": ranked(["d1", "d2"])}
    before = copy.deepcopy((qrels, run))
    assert score(qrels, run, [parse_measure("R@5")]).mean("recall@5") == 1.0
    assert score(qrels, without_self_hits(run), [parse_measure("R@5")]).mean("recall@5") == 0.5
    assert (qrels, run) == before


def test_case_16_nan_is_refused_with_query_and_document() -> None:
    with pytest.raises(InputError, match=r"query q1: .*nan.*'d2'"):
        score({"q1": {"d1": 1}}, {"q1": [Hit("d1", 1.0), Hit("d2", math.nan)]}, [parse_measure("R@5")])


def observations(*texts: str) -> list[Observation]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Observation(id=f"d{i}", session_id="s", timestamp=start + timedelta(hours=i), type="", title="", narrative=text)
        for i, text in enumerate(texts)
    ]


def found(memory: list[Observation], query: str, k: int, arm: BM25 | None = None) -> list[Hit]:
    system = Pipeline({"bm25": arm or BM25()})
    system.index(memory)
    return list(system.search(query, k).hits)


def test_case_17_what_matches_nothing_returns_nothing() -> None:
    hits = found(observations("login form", "cache key", "queue worker"), "zebra", 3)
    assert hits == []
    assert value("R@5", {"d0": 1}, hits) == 0.0


def test_case_19_a_byte_order_mark_costs_no_query(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(b"\xef\xbb\xbfq1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1 x\nq2 Q0 b 1 1 x\n")
    scores = score(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), [parse_measure("R@5")])
    assert (scores.mean("recall@5"), scores.counted("recall@5"), scores.missing) == (1.0, 2, ())


def test_case_20_crlf_tabs_and_blank_lines_are_read_and_a_space_in_an_id_is_not(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(b"q1\t0\ta\t1\r\n\r\nq2\t0\tb\t1\r\n")
    assert read_qrels(path) == {"q1": {"a": 1}, "q2": {"b": 1}}
    path.write_bytes(b"q1\t0\ta\t1\r\n\r\nq2\t0\tb c\t1\r\n")
    with pytest.raises(InputError, match=r"qrels:3: .*'b c'"):
        read_qrels(path)


def test_case_22_half_a_grade_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"query q: grade 0\.5 of 'a'"):
        value("R@5", {"a": 0.5}, ranked("a"))  # pyright: ignore[reportArgumentType]
    (tmp_path / "qrels").write_text("q1 0 a 0.5\n")
    with pytest.raises(InputError, match=r"qrels:1: .*0\.5"):
        read_qrels(tmp_path / "qrels")


def test_case_23_a_negative_grade_gains_nothing() -> None:
    assert value("nDCG@10", {"d1": -1, "d2": 1}, ranked(["d1", "d2"])) == pytest.approx(0.6309, abs=5e-5)
    assert value("ndcg(gain=exp)@10", {"d1": -1, "d2": 1}, ranked(["d1", "d2"])) == pytest.approx(0.6309, abs=5e-5)


def test_case_24_corpora_without_words_and_a_term_in_half_of_the_documents() -> None:
    assert found([], "login", 3) == []
    assert found(observations("", ""), "login", 3) == []
    plain = BM25(Analyzer(stem=False), synonyms=None, prefix_weight=0.0, b=0.0)
    (hit,) = found(observations("login", "cache"), "login", 3, plain)
    assert hit == ("d0", pytest.approx(math.log(2)))
    assert len(found(observations("login", "login page"), "login", 10)) == 2


CASE_25 = """
import numpy as np
from recallmeter.retrieval.corpus import Candidates
from recallmeter.retrieval.fusion import WeightedRRF
def arm(names):
    return Candidates(np.array(["XYabc".index(name) for name in names]), np.array([3.0, 2.0, 1.0]))
fused = WeightedRRF(k=60).fuse({"dense": arm("XaY"), "sparse": arm("bcY")})
print("".join("XYabc"[row] for row in fused.rows), *map(repr, fused.scores.tolist()))
"""


def test_case_25_fusion_breaks_ties_by_the_rule_in_every_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", CASE_25], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    (line,) = told
    order, *scores = line.split()
    assert order == "YXbac"
    assert [float(text) for text in scores] == pytest.approx([2 / 63, 1 / 61, 1 / 61, 1 / 62, 1 / 62])
    assert scores[1] == scores[2]


def test_case_28_two_identical_runs_do_not_differ() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(30)}
    run = {f"q{i}": ranked("axb"[: 1 + i % 3]) for i in range(30)}
    first, second = (score(qrels, run, [parse_measure("R@5")]).values["recall@5"] for _ in range(2))
    differences = first - second
    assert differences.tolist() == [0.0] * 30
    low, high, _ = mean_interval(differences, DIFFERENCES)
    assert low == pytest.approx(-high)  # around 0, and as wide as thirty queries that show nothing make it
    assert paired_randomisation(differences) == 1.0


def test_case_31_a_dangling_judgment_counts_and_is_reported() -> None:
    qrels = {"q": {"d1": 1, "dX": 1}}
    assert value("R@5", qrels["q"], ranked(["d1"])) == 0.5
    assert ceilings(qrels, [parse_measure("R@5")], corpus={"d1"})["recall@5"].tolist() == [0.5]
    assert dangling(qrels, {"d1"}) == (("q", "dX"),)


def test_case_34_a_perfect_list_reaches_its_ceiling() -> None:
    qrels = {"q": dict.fromkeys("abcdefgh", 1)}
    reached = value("R@5", qrels["q"], ranked("abcdefgh"))
    assert reached == 0.625
    assert reached / ceilings(qrels, [parse_measure("R@5")])["recall@5"][0] == 1.0


def test_case_35_precision_is_over_k() -> None:
    assert value("P@5", dict.fromkeys("abc", 1), ranked("abc")) == pytest.approx(0.6)


def test_case_25_within_this_process_rows_stand_for_ids() -> None:
    """The rows of a corpus are sorted by id, so that a tie by row is a tie by id."""
    one, other = (Candidates(np.array([row]), np.array([1.0])) for row in (4, 2))
    assert WeightedRRF().fuse({"one": one, "other": other}).rows.tolist() == [2, 4]
