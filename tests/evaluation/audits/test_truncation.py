"""The truncation audit: what an embedder read, and what it could not have found."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Observation, Query
from recallmeter.evaluation.audits.truncation import ModelWindow, truncation
from recallmeter.retrieval.embedders.local import SentenceTransformerEncoder
from recallmeter.retrieval.ranking import Hit
from recallmeter.retrieval.text.rendering import embedded_text


class First:
    """Reads so many characters."""

    def __init__(self, characters: int) -> None:
        self.characters = characters

    def characters_read(self, text: str) -> int:
        return min(len(text), self.characters)


def observation(identifier: str, text: str) -> Observation:
    return Observation(id=identifier, session_id="s", timestamp=datetime(2024, 1, 1, tzinfo=UTC), type="note", title="", narrative=text)


MEMORY = {
    o.id: o
    for o in (
        observation("early", "The cache key is the tenant. Then a long story follows that nobody reads."),
        observation("late", "A long story that nobody reads comes first. The cache key is the tenant."),
        observation("short", "The cache key."),
        observation("empty", ""),
        observation("silent", "Nothing in here has to do with it, and it goes on and on and on."),
    )
}
QUESTION = "what is the cache key?"


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder()


def test_evidence_is_placed_and_recall_is_split_by_it():
    queries = [
        Query(id="q1", text=QUESTION, relevant={"early": 1, "late": 1, "short": 1}),
        Query(id="q2", text=QUESTION, relevant={"late": 2, "silent": 1, "gone": 1}),
        Query(id="q3", text=QUESTION),
    ]
    rankings = {"q1": [Hit("short", 0.9), Hit("early", 0.8), Hit("x", 0.7), Hit("late", 0.6)], "q2": [Hit("late", 0.5)]}
    found = truncation(queries, MEMORY, rankings, First(30), k=3)
    assert found.judgments == {"inside": 2, "outside": 2, "unknown": 2}
    assert {place: (cell["mean"], cell["n"]) for place, cell in found.recall.items()} == {
        "inside": (1.0, 1),
        "outside": (0.5, 2),
        "unknown": (0.0, 1),
    }
    assert found.ids == ("early", "empty", "late", "short", "silent")
    lengths = [len(embedded_text(MEMORY[identifier])) for identifier in found.ids]
    assert found.shares == pytest.approx([1.0 if n == 0 else min(1, 30 / n) for n in lengths])


def test_what_is_read_to_its_end_holds_its_evidence():
    queries = [Query(id="q", text=QUESTION, relevant={"late": 1, "silent": 1, "empty": 1})]
    found = truncation(queries, MEMORY, {}, First(10_000))
    assert found.judgments == {"inside": 3, "outside": 0, "unknown": 0}
    assert found.recall["inside"]["mean"] == 0.0
    assert found.recall["outside"] == {"mean": None, "low": None, "high": None, "n": 0}
    assert list(found.shares) == [1.0] * 5


def test_the_window_of_the_packaged_model_is_256_word_pieces(minilm):
    window = ModelWindow(minilm.path)
    assert window.tokens == 256
    assert window.characters_read("a " * 254) == 508
    assert window.characters_read("a " * 255) == 507
    assert window.characters_read("") == 0
    assert window.characters_read("\ud800" + "é" * 10) == 11
    assert window.characters_read("naïve 🙂 " * 200) < 1600


@pytest.mark.integration
def test_what_is_not_read_changes_no_vector(minilm):
    text = " ".join(f"word{number} of a long, long story" for number in range(200))
    read = ModelWindow(minilm.path).characters_read(text)
    whole, part, less = minilm.encode([text, text[:read], text[: read - 12]], "document")
    assert 0 < read < len(text)
    assert np.array_equal(whole, part)
    assert not np.allclose(whole, less, atol=1e-6)


def test_a_folder_that_tells_no_window_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="the window of the model can't be told"):
        ModelWindow(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text("{}")
    with pytest.raises(InputError, match="the window of the model can't be told"):
        ModelWindow(tmp_path)
