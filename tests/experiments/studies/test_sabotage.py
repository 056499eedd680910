"""Sabotage really breaks what it names, and the gate notices a large one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recallmeter.datasets.webapp import generate_webapp
from recallmeter.experiments.studies import sabotage
from recallmeter.experiments.studies.sabotage import DropFirst, Noise, Sabotage, ShuffledGraph, matrix
from recallmeter.retrieval.arms.bm25 import BM25
from recallmeter.retrieval.arms.links import Links
from recallmeter.retrieval.corpus import Candidates, Corpus, Question


def test_noise_is_the_same_each_time_and_knows_nothing():
    noise = Noise(path="ignored", batch_size=8)
    first = noise.encode(["cat", "cats"], "document")
    assert first.shape == (2, 384)
    assert np.array_equal(first, noise.encode(["cat", "cats"], "query"))
    assert abs(float(np.corrcoef(first)[0, 1])) < 0.3


def test_the_first_candidate_is_lost():
    found = Candidates(np.array([4, 2, 9]), np.array([3.0, 2.0, 1.0]))
    assert DropFirst().apply(found, Question("?"), Corpus(()), 2).rows.tolist() == [2, 9]
    assert len(DropFirst().apply(Candidates.none(), Question("?"), Corpus(()), 2)) == 0


def test_shuffled_edges_lead_elsewhere():
    corpus = Corpus.of(generate_webapp(sessions=10).observations)
    question = Question("Which settings of Redis did we change?")
    first = {"bm25": BM25().build(corpus).search(question, 10)}
    question = replace(question, earlier=first)
    right, wrong = (arm.build(corpus).search(question, 10).rows.tolist() for arm in (Links(), ShuffledGraph()))
    assert right
    assert wrong
    assert set(right) != set(wrong)


@pytest.mark.integration
def test_the_matrix_tells_what_was_caught(tmp_path, monkeypatch):
    chosen = (
        Sabotage("nothing", "bm25"),
        Sabotage("top 1 dropped", "bm25", (f"+systems.bm25.stages.loss._target_={sabotage.__name__}.DropFirst",)),
    )
    monkeypatch.setattr(sabotage, "SABOTAGES", chosen)
    head, *rows = matrix([], tmp_path)
    assert head[-2:] == ["verdict", "n sufficed"]
    assert [row[:3] for row in rows] == [[s.name, "bm25", m] for s in chosen for m in ("recall@10", "ndcg@10")]
    assert [row[-2] for row in rows[:2]] == ["PASS", "PASS"]
    assert all(row[-2] == "REGRESSION" for row in rows[2:] if row[-1] == "yes")
    assert "yes" in [row[-1] for row in rows[2:]]
