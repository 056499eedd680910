from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from recallmeter.datasets.model import Dataset, Observation
from recallmeter.datasets.webapp import generate_webapp
from recallmeter.evaluation.measures.canonical import canonical, canonical_matrix
from recallmeter.evaluation.measures.grammar import parse_measure
from recallmeter.evaluation.measures.metrics import score, tie_interval
from recallmeter.evaluation.sentinels import inspect
from recallmeter.retrieval import corpus, fusion, topk
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.graph import Graph
from recallmeter.retrieval.arms.vector import Vector
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.embedders.embedding import Vectors, normalised
from recallmeter.retrieval.fusion import WeightedRRF
from recallmeter.retrieval.pipeline import Pipeline
from recallmeter.retrieval.ranking import Hit
from recallmeter.retrieval.rounding import TOLERANCE, below, falls, reaches, settled
from recallmeter.retrieval.stages.cutoff import DynamicCutoff, Threshold
from recallmeter.retrieval.stages.decay import TimeDecay
from recallmeter.retrieval.stages.mmr import MMR
from recallmeter.retrieval.stages.rerank import Rerank
from recallmeter.retrieval.topk import top_k

Floats = NDArray[np.float64]


def jolted(scores: Floats, chance: np.random.Generator) -> Floats:
    """Move every score but 0 by up to two units in the last place."""
    scores = np.asarray(scores, np.float64)
    return scores + chance.integers(-2, 3, scores.shape) * np.where(scores == 0, 0.0, np.spacing(np.abs(scores)))


# the rule


def test_sums_in_another_order_are_equal() -> None:
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert len(set(settled(np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1])).tolist())) == 1


def test_real_differences_stay() -> None:
    scores = np.array([1.7e9, 1.7e9 - 0.01, 1e-30, 2e-30, -1.0, -1.0 - 1e-9, 0.0])
    assert settled(scores).tolist() == scores.tolist()


def test_a_group_is_no_wider_than_the_tolerance_however_long_the_chain() -> None:
    chain = 1 - 0.7 * TOLERANCE * np.arange(7)
    groups = settled(np.random.default_rng(0).permutation(chain))
    assert [len(list(group)) for _, group in itertools.groupby(sorted(groups, reverse=True))] == [2, 2, 2, 1]


@pytest.mark.parametrize("seed", range(20))
def test_settling_twice_changes_nothing_and_jolts_leave_the_groups(seed: int) -> None:
    chance = np.random.default_rng(seed)
    scores = np.round(chance.normal(size=200), 1) * 10.0 ** chance.integers(-20, 20)
    once = settled(scores)
    assert settled(once).tolist() == once.tolist()
    groups, jolts = (np.unique(settled(s), return_inverse=True)[1] for s in (scores, jolted(scores, chance)))
    assert groups.tolist() == jolts.tolist()


def test_rows_of_a_matrix_are_settled_one_by_one() -> None:
    matrix = np.array([[0.3, 0.1 + 0.2, 0.3], [1.0, 1 - 0.7 * TOLERANCE, 1 - 1.4 * TOLERANCE]])
    assert settled(matrix).tolist() == [settled(row).tolist() for row in matrix]
    assert falls(np.array([[3.0, 2.0, 1.0], [3.0, 3.0, 1.0], [3.0, np.nan, 1.0]])).tolist() == [True, False, False]


@pytest.mark.parametrize("value", [1.0, -1.0, 0.0, 1e-300, -1e-300, 1e300, 5e-324])
def test_a_score_reaches_itself_and_not_what_lies_below_it(value: float) -> None:
    assert reaches(value, value)
    assert below(value) < value
    assert not reaches(below(value), value)


# where it holds


@pytest.mark.parametrize(
    "settings", [{"k": 60}, {"k": 60, "weights": {"x": 1, "y": 1, "z": 1}}, {"k": 60, "agreement_bonus": 0.1}, {"k": 20}]
)
def test_the_same_ranks_in_other_arms_tie(settings: dict) -> None:
    fuse, strays = WeightedRRF(**settings).fuse, 0
    for ranks in itertools.combinations(range(1, 21), 3):
        for other in (ranks[1:] + ranks[:1], ranks[2:] + ranks[:2]):
            arms = {}
            for i, name in enumerate("xyz"):
                rows = [1000 + 100 * i + j for j in range(21)]
                rows[ranks[i] - 1], rows[other[i] - 1] = 0, 1
                arms[name] = Candidates(np.array(rows), np.linspace(1, 0.1, 21))
            fused = fuse(arms)
            (first,), (second,) = np.flatnonzero(fused.rows == 0), np.flatnonzero(fused.rows == 1)
            strays += bool(first > second or fused.scores[first] != fused.scores[second])
    assert strays == 0


@pytest.mark.parametrize("rows", [10, 640, 5000])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_the_kth_place_goes_by_row_among_equals(rows: int, k: int) -> None:
    chance = np.random.default_rng(rows + k)
    scores = chance.integers(1, 5, rows) / 7
    expected = np.lexsort((np.arange(rows), -scores))[:k]
    for _ in range(10):
        for found in (top_k(jolted(scores, chance), k), Candidates.best(np.arange(rows), jolted(scores, chance), k)):
            assert found.rows.tolist() == expected.tolist()


def test_cutoffs_take_what_lies_below_the_bar_by_rounding_alone() -> None:
    almost = 0.7 * (1 - 4e-16)
    assert almost < 0.7
    found = Candidates(np.array([0, 1]), np.array([almost, 0.6]))
    for stage in (Threshold(0.7), DynamicCutoff(floor=0.7, ratio=1.0)):
        assert stage.apply(found, Question(""), Corpus(()), 10).rows.tolist() == [0]


def test_a_reranker_whose_scores_differ_by_rounding_leaves_the_order(memory: Dataset) -> None:
    class Wavering:
        def score(self, question: str, texts: Sequence[str]) -> Floats:
            return 0.3 + 1e-16 * np.arange(len(texts)) * 4

    found = Candidates(np.arange(5), np.linspace(1, 0.5, 5))
    assert Rerank(Wavering()).apply(found, Question(""), Corpus(memory.observations), 5).rows.tolist() == [0, 1, 2, 3, 4]


def test_a_canonical_ranking_breaks_such_ties_by_id_and_so_does_a_matrix() -> None:
    hits = [Hit("b", 0.1 + 0.2), Hit("a", 0.3), Hit("c", 0.2)]
    assert [hit.id for hit in canonical(hits)] == ["a", "b", "c"]
    assert canonical(canonical(hits)) == canonical(hits)
    assert canonical_matrix(np.array([[1, 0, 2]]), np.array([[0.1 + 0.2, 0.3, 0.2]])).tolist() == [[0, 1, 2]]


def test_tie_intervals_see_what_the_rule_joins() -> None:
    interval = tie_interval({"q": {"b": 1}}, {"q": [Hit("b", 0.1 + 0.2), Hit("a", 0.3)]}, [parse_measure("mrr")])["mrr"]
    assert (interval.worst.tolist(), interval.best.tolist(), interval.tied.tolist()) == ([0.5], [1.0], [True])


def test_an_answer_whose_scores_rise_by_rounding_alone_is_in_order(memory: Dataset) -> None:
    hits = [Hit("o01", 0.3), Hit("o00", 0.1 + 0.2)]
    assert not inspect(hits, memory.queries[0], 5, scopes={"o00": "", "o01": ""}, times={})


# all of it together


class Hashed:
    """An embedder without a model: a text is the sum of its words, each of them a fixed random vector."""

    model = "hashed"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return normalised(np.array([self._sum(text) for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]

    def _sum(self, text: str) -> Floats:
        words = [int.from_bytes(word.encode()[:7]) for word in text.lower().split()]
        return np.sum([np.random.default_rng(word).normal(size=32) for word in words], axis=0)


@pytest.fixture(scope="module")
def small() -> Dataset:
    """Forty queries of webapp and a memory in which every observation stands twice, so that there are ties."""
    whole = generate_webapp()
    twins = tuple(twin for o in whole.observations[:60] for twin in (o, _renamed(o)))
    return Dataset("twins", twins, whole.queries[:40], licence="")


def _renamed(observation: Observation) -> Observation:
    return replace(observation, id=f"{observation.id}-again", superseded_by=None)


def system() -> Pipeline:
    embedder = Hashed()
    stages = {"decay": TimeDecay(60, 0.3), "mmr": MMR(embedder, 0.8), "cutoff": DynamicCutoff(0.1, 0.2, 20)}
    return Pipeline({"bm25": BM25(), "vector": Vector(embedder), "graph": Graph()}, WeightedRRF(), stages)


def answers(dataset: Dataset) -> dict[str, tuple[Hit, ...]]:
    retriever = system()
    retriever.index(dataset.observations)
    return {q.id: retriever.search(q.text, 10, scope=q.scope, asked_at=q.asked_at).hits for q in dataset.queries}


def test_jolted_scores_give_the_same_rankings_values_and_ties(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    measures = [parse_measure(text) for text in ("recall@5", "ndcg@10", "mrr")]
    qrels = {query.id: query.relevant for query in small.queries}
    calm = answers(small)
    chance = np.random.default_rng(0)
    best, settle = topk.Candidates.best, settled

    def shaken(change: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return lambda scores: change(jolted(scores, chance))

    monkeypatch.setattr(fusion, "settled", shaken(settle))
    monkeypatch.setattr(corpus.Candidates, "best", lambda rows, scores, limit: best(rows, jolted(scores, chance), limit))
    for _ in range(2):
        wild = answers(small)
        wild = {query: tuple(Hit(h.id, s) for h, s in zip(hits, _jolts(hits, chance), strict=True)) for query, hits in wild.items()}
        assert {q: [h.id for h in canonical(hits)] for q, hits in wild.items()} == {q: [h.id for h in hits] for q, hits in calm.items()}
        for name, values in score(qrels, calm, measures).values.items():
            np.testing.assert_array_equal(score(qrels, wild, measures).values[name], values)
        for measure, interval in tie_interval(qrels, calm, measures).items():
            np.testing.assert_array_equal(tie_interval(qrels, wild, measures)[measure].tied, interval.tied)


def _jolts(hits: Sequence[Hit], chance: np.random.Generator) -> list[float]:
    return jolted(np.array([hit.score for hit in hits]), chance).tolist()


_OTHER_MACHINES = [
    {"OMP_NUM_THREADS": "1"},
    {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OMP_NUM_THREADS": "2"},
    {"NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3 AVX512_ICL AVX512_SPR AVX512F AVX2", "OMP_NUM_THREADS": "1"},
]


def rankings(folder: Path, systems: str, extra: dict[str, str]) -> dict[str, list[list[str]]]:
    out = folder / f"run{len(list(folder.iterdir()))}"
    command = [sys.executable, "-m", "recallmeter", "run", f"system=[{systems}]", "protocol.repeats=1", f"hydra.run.dir={out}"]
    subprocess.run(command, env={**os.environ, **extra}, cwd=folder, check=True, capture_output=True)
    lines = {path.stem: path.read_text().splitlines() for path in sorted((out / "rankings").iterdir())}
    return {name: [line.split()[:4] for line in found] for name, found in lines.items()}


def test_rankings_are_the_same_with_other_vector_instructions(tmp_path: Path) -> None:
    here = rankings(tmp_path, "bm25,bm25_okapi,grep", {})
    assert min(map(len, here.values())) > 1000
    assert rankings(tmp_path, "bm25,bm25_okapi,grep", _OTHER_MACHINES[2]) == here


@pytest.mark.integration
def test_rankings_of_every_kind_are_the_same_on_other_machines(tmp_path: Path) -> None:
    here = rankings(tmp_path, "bm25,vector,dual,triple", {})
    for machine in _OTHER_MACHINES:
        assert rankings(tmp_path, "bm25,vector,dual,triple", machine) == here, machine
