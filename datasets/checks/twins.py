"""Observations that say the same, or nearly the same, within one scope."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

from ..model import Observation

NEAR = 0.6
"""Two texts are near twins when more than this share of their words, taken together, is in both (Jaccard)."""

COMPARED_AT_MOST = 10_000
"""Texts of one scope that are compared with each other."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


def words(text: str) -> list[str]:
    """Return the words in lower case; of scripts without spaces, the characters."""
    return _WORD.findall(text.lower())


def searched_text(o: Observation) -> str:
    """Return all that a retriever may read of an observation."""
    return "\n".join((o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files))


def equal_texts(observations: Iterable[Observation]) -> list[list[str]]:
    """Return the ids of observations of equal text, scope by scope, each group in the order given."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for o in observations:
        if text := searched_text(o).strip():
            groups[o.scope, text].append(o.id)
    return [group for group in groups.values() if len(group) > 1]


def near_twins(observations: Iterable[Observation]) -> tuple[list[tuple[str, str, float]], int]:
    """Return pairs of ids of near but not equal text with their overlap, and how many texts were not compared."""
    scopes: dict[str, dict[str, str]] = defaultdict(dict)
    for o in observations:
        if text := searched_text(o).strip():
            scopes[o.scope].setdefault(text, o.id)
    pairs, left_out = [], 0
    for scope in sorted(scopes):
        texts = list(scopes[scope].items())
        left_out += max(0, len(texts) - COMPARED_AT_MOST)
        pairs += _overlapping([(identifier, frozenset(words(text))) for text, identifier in texts[:COMPARED_AT_MOST]])
    return pairs, left_out


def _overlapping(sets: Sequence[tuple[str, frozenset[str]]]) -> list[tuple[str, str, float]]:
    """Return the pairs above `NEAR`, without comparing all with all.

    Two sets x and y with an overlap of t share at least n words among the first |x| − ⌈t|x|⌉ + n of x and the first
    |y| − ⌈t|y|⌉ + n of y, in any order of words that both follow; with the rarest first, few others do.
    Source: the adaptive prefix filter of Wang, Li and Feng, SIGMOD 2012.
    """
    frequency = Counter(word for _, own in sets for word in own)
    sizes = [len(own) for _, own in sets]
    needed = [1 + size // 16 for size in sizes]
    holders: dict[str, list[int]] = defaultdict(list)
    pairs = []
    for number in sorted((number for number, size in enumerate(sizes) if size), key=lambda number: (sizes[number], number)):
        own, least = sets[number][1], NEAR * sizes[number]
        rarest = sorted(own, key=lambda word: (frequency[word], word))
        prefix = rarest[: sizes[number] - math.ceil(least) + needed[number]]
        votes = Counter(chain.from_iterable(holders[word] for word in prefix))
        for other, count in votes.items():
            if count < needed[other] or sizes[other] <= least:
                continue
            shared = len(own & sets[other][1])
            overlap = shared / (sizes[number] + sizes[other] - shared)
            if overlap > NEAR:
                pairs.append((*sorted((other, number)), overlap))
        for word in prefix:
            holders[word].append(number)
    return [(sets[first][0], sets[second][0], overlap) for first, second, overlap in sorted(pairs)]
