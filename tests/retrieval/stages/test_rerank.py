"""Rerank by shared words and by a cross-encoder."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation
from recallmeter.retrieval.corpus import Candidates, Corpus, Question
from recallmeter.retrieval.stages.cross_encoder import CrossEncoder
from recallmeter.retrieval.stages.rerank import Rerank, SharedWords

CORPUS = Corpus.of(
    Observation(id=f"o{i}", session_id="s", timestamp=datetime(2026, 1, 5, tzinfo=UTC), type="note", title=title)
    for i, title in enumerate(["one", "two two", "three three three", "four", "five"])
)


class Length:
    def score(self, question: str, texts: Sequence[str]) -> np.ndarray:
        return np.array([len(text) for text in texts], np.float64)


def reranked(depth: int) -> Candidates:
    candidates = Candidates(np.array([0, 1, 3, 4, 2]), np.array([0.9, 0.8, 0.7, 0.6, 0.5]))
    return Rerank(Length(), depth).apply(candidates, Question("q"), CORPUS, 3)


def test_the_first_are_reordered_ties_as_before_and_the_rest_follow() -> None:
    assert reranked(4).rows.tolist() == [1, 3, 4, 0, 2]
    assert reranked(20).rows.tolist() == [2, 1, 3, 4, 0]


def test_scores_stay_where_they_were() -> None:
    assert reranked(4).scores.tolist() == [0.9, 0.8, 0.7, 0.6, 0.5]


def test_a_depth_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="depth 0"):
        Rerank(depth=0)


class TestSharedWords:
    def test_everything_shared_scores_one_and_nothing_zero(self) -> None:
        assert SharedWords().score("redis cache", ["the redis cache", "login"]).tolist() == [1.0, 0.0]

    def test_stems_count_and_function_words_do_not(self) -> None:
        scores = SharedWords().score("how did we deploy the caches", ["how did we the", "cache deployment"])
        assert scores[0] == 0
        assert scores[1] > 0

    def test_neighbours_count_more_than_the_same_words_apart(self) -> None:
        together, apart = SharedWords().score("redis cache", ["cache and redis cache", "redis holds the cache"])
        assert together > apart

    def test_a_rare_word_counts_more_than_a_common_one(self) -> None:
        rare, common, *_ = SharedWords().score("kiln cache", ["kiln", "cache", "cache", "cache"])
        assert rare > common

    def test_a_question_of_function_words_says_nothing(self) -> None:
        assert SharedWords().score("what is it?", ["what is it"]).tolist() == [0.0]


def write_model(folder: Path, *, labels: int) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "redis", "cache", "login")
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8, "initializer_range": 1.0}
    BertForSequenceClassification(BertConfig(vocab_size=len(words), num_labels=labels, **sizes)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("cross-encoder"), labels=1)


class TestCrossEncoder:
    """With a model of random weights: what is tested is that it is used rightly, not that it is good."""

    def test_one_score_a_pair_the_same_each_time_and_alone(self, folder: Path) -> None:
        texts = ["redis cache", "login", "cache login redis"]
        scores = CrossEncoder(str(folder)).score("redis", texts)
        assert len(set(scores.tolist())) == 3
        assert scores == pytest.approx([CrossEncoder(str(folder)).score("redis", [text])[0] for text in texts], abs=1e-6)
        assert CrossEncoder(str(folder)).score("redis", []).shape == (0,)

    def test_a_lone_surrogate_is_scored(self, folder: Path) -> None:
        assert np.isfinite(CrossEncoder(str(folder)).score("redis \ud800", ["cache"])).all()

    def test_the_model_is_named_with_the_hash_of_its_weights(self, folder: Path) -> None:
        name, _, digest = CrossEncoder(str(folder)).model.partition("@")
        assert name == folder.name
        assert len(digest) == 64

    def test_a_missing_model_and_one_of_two_labels_are_refused_in_one_line(self, folder: Path, tmp_path: Path) -> None:
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        with pytest.raises(InputError, match="no cross-encoder there"):
            CrossEncoder(str(tmp_path / "nowhere")).score("q", ["t"])
        with pytest.raises(InputError, match="2 pairs gave shape"):
            CrossEncoder(str(write_model(tmp_path, labels=2))).score("q", ["t", "u"])
