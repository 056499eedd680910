"""Truncation audit: how much of each observation its embedder read, and whether the evidence lay in what it read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ...datasets.model import Observation, Query
from ...datasets.unicode import encodable
from ...retrieval.ranking import Hit
from ...retrieval.text.rendering import embedded_text
from ...retrieval.text.stop_words import FUNCTION_WORDS
from ..measures.canonical import canonical
from ..summary import means_with_intervals

Place = Literal["inside", "outside", "unknown"]
PLACES: tuple[Place, ...] = ("inside", "outside", "unknown")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"\w+")


class Window(Protocol):
    """How far an embedder reads."""

    def characters_read(self, text: str) -> int:
        """Return how many characters of `text`, from its beginning, reach the model."""
        ...


class ModelWindow:
    """The window of a sentence-transformers model in a folder, by its own tokenizer; the weights are not loaded.

    Args:
        folder: what holds ``tokenizer.json`` and ``sentence_bert_config.json``.

    Raises:
        InputError: one of the two is missing, or does not say how many tokens are read.
    """

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        try:
            self.tokens = int(json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))["max_seq_length"])
            self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"the window of the model can't be told: {error}", where=str(folder)) from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.tokens)

    def characters_read(self, text: str) -> int:
        """Return where the last token that is read ends; the whole length when nothing is cut off."""
        encoding = self._tokenizer.encode(encodable(text))
        return max((end for _, end in encoding.offsets), default=0) if encoding.overflowing else len(text)


@dataclass(frozen=True)
class Truncation:
    """What an audit found.

    Attributes:
        ids: the observations, sorted.
        shares: the share of each that was read, in characters, shape (observations,); 1 for an empty one.
        judgments: place → how many relevant observations have their evidence there.
        recall: place → mean, low, high and n of ``recall@k`` over the queries that have evidence there, counting that alone.
    """

    ids: tuple[str, ...]
    shares: NDArray[np.float64]
    judgments: Mapping[Place, int]
    recall: Mapping[Place, Mapping[str, Any]]


def truncation(
    queries: Iterable[Query],
    observations: Mapping[str, Observation],
    rankings: Mapping[str, Sequence[Hit]],
    window: Window,
    *,
    k: int = 10,
    seed: int = 0,
) -> Truncation:
    """Audit one system's rankings.

    Args:
        observations: by id; a relevant one that is missing counts as ``unknown``.
        rankings: query → hits; a query that is missing found nothing.
    Returns:
        The audit. Where an answer stands is looked for by words: in the sentence that shares most of the question's, the first of
        equals, which is a proxy and no label. It is ``inside`` when that ends where the embedder still read, always so for an
        observation read to its end, and ``unknown`` when there is no such sentence.
    """
    texts = {identifier: embedded_text(observations[identifier]) for identifier in sorted(observations)}
    read = {identifier: window.characters_read(text) for identifier, text in texts.items()}
    judgments: dict[Place, int] = dict.fromkeys(PLACES, 0)
    recalls: dict[Place, list[float]] = {place: [] for place in PLACES}
    for query in sorted(queries, key=lambda query: query.id):
        found = {hit.id for hit in canonical(rankings.get(query.id, ()), query.id)[:k]}
        by_place: dict[Place, list[bool]] = {}
        for identifier in query.relevant:
            text = texts.get(identifier, "")
            passage = _passage(query, text)
            place = _place(text, read.get(identifier, -1), passage)
            by_place.setdefault(place, []).append(identifier in found)
        for place, hits in by_place.items():
            judgments[place] += len(hits)
            recalls[place].append(sum(hits) / len(hits))
    return Truncation(
        tuple(texts),
        np.array([read[identifier] / len(text) if text else 1.0 for identifier, text in texts.items()]),
        judgments,
        {place: means_with_intervals({"recall": np.array(values)}, seed)["recall"] for place, values in recalls.items()},
    )


def _passage(query: Query, text: str) -> str:
    """Return the sentence that shares most words with the question, the first of equals; "" when none shares any."""
    wanted = _words(query.text)
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if wanted & _words(sentence)]
    return max(sentences, key=lambda sentence: len(wanted & _words(sentence)), default="")


def _place(text: str, read: int, passage: str) -> Place:
    if read >= len(text):
        return "inside"
    if not passage:
        return "unknown"
    return "inside" if text.index(passage) + len(passage) <= read else "outside"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold())) - FUNCTION_WORDS
