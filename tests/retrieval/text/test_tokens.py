"""Token counters."""

from __future__ import annotations

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.text.tokens import count


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("记" * 9, 3)])
def test_chars4_rounds_up(text: str, tokens: int) -> None:
    assert count(text) == tokens


def test_wordpiece_counts_pieces_without_special_tokens() -> None:
    assert count("database", "wordpiece") == 1
    assert count("", "wordpiece") == 0


def test_wordpiece_does_not_truncate_at_the_length_of_the_model() -> None:
    assert count("database " * 1000, "wordpiece") == 1000


def test_wordpiece_counts_a_lone_surrogate_as_something() -> None:
    assert count("a \ud800 b", "wordpiece") >= 2


def test_an_unknown_counter_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(InputError, match=r"unknown token counter 'gpt'.*chars4, wordpiece"):
        count("a", "gpt")
