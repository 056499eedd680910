"""Text analysis: from a text to the terms that are indexed and searched."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Protocol

from ..timing import clock
from .folding import folded
from .scripts import UNSPACED, language_of
from .segmentation import Mode, check_mode, is_unspaced, spaced
from .stemming import check_stemmed, stemmer
from .stop_words import STOP_WORDS


class Analysis(Protocol):
    """What makes terms of texts."""

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in its order, repeats included."""
        ...


@dataclass(frozen=True)
class Analyzer:
    """Words with their parts, code as it is written, stems, no stop words.

    A compound such as ``package-manager``, ``src/auth/session.ts``, ``user_id`` or ``getUserById`` is a term as a whole, and so is each of
    its parts. Signs that belong to a name stay: ``C++``, ``C#``, ``.NET``. An emoji is a term. Chinese, Japanese, Korean and other scripts
    without spaces are segmented. Words of another script than the language's own are stemmed by that script's main language, so that one
    memory may hold several. Texts are brought into NFKC first, so that full-width letters and ligatures are plain ones.

    Args:
        language: ISO 639-1 code.
        stem: whether to stem (Snowball).
        stop_words: whether to leave out the words that hold a sentence together; English and Chinese have a list.
        fold: whether letters that differ by accents or points alone are one.
        segmentation: ``auto`` takes a segmenter where it is installed and pairs of characters elsewhere; ``words`` and
            ``bigrams`` settle it.

    Raises:
        InputError: a language without a stemmer, or an unknown segmentation.
    """

    language: str = "en"
    stem: bool = True
    stop_words: bool = True
    fold: bool = True
    segmentation: Mode = "auto"

    def __post_init__(self) -> None:
        check_mode(self.segmentation)
        if self.stem and self.language not in UNSPACED:
            check_stemmed(self.language)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in its order, repeats included."""
        if not text.isascii():
            text = spaced(unicodedata.normalize("NFKC", text).translate(_KEPT), self.language, self.segmentation)
        terms_of = _chunks(self.language, self.stem, self.stop_words, self.fold)
        return [term for chunk in text.split() for term in terms_of(chunk)]


class _Kept(dict[int, str | None]):
    """Maps a character beyond ASCII to what stands for it: emoji and other signs alone, joiners nowhere; found out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        category = unicodedata.category(character)
        if character.isalnum() or category.startswith("M") or code < 128:
            kept: str | None = None if "\ufe00" <= character <= "\ufe0f" else character
        elif category == "So":
            kept = f" {character} "
        elif character in "’ʼ":
            kept = "'"
        else:
            kept = None if category == "Cf" else " "
        self[code] = kept
        return kept


_KEPT = _Kept()

_COMPOUND = re.compile(r"[^\s!-,/:-@\[-`{-~.-]+(?:['./_-]+[^\s!-,/:-@\[-`{-~.-]+)*")
"""A word or several joined by signs of a compound; every other sign of ASCII ends it."""

_SIGNED = re.compile(r"(?<![^\W_])(?:[^\W\d_]+(?:\+\+(?![^\W\d_])|#(?!\w))|\.[^\W\d_][^\W_]*)")
"""A name with a sign of its own: letters before ``++`` or ``#``, or after a dot that nothing stands before."""

_JOINTS = re.compile(r"['./_-]+")

_ACRONYM_END = re.compile(r"(?<=[A-Z]{2})(?=[A-Z][a-z]{2})")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where an identifier comes apart: ``HTML|Parser`` but not ``IDs``, ``get|User|By|Id`` but not a proper name such as ``TypeScript``."""

_CONTRACTED = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))


@cache
def _chunks(language: str, stem: bool, stop_words: bool, fold: bool) -> Callable[[str], tuple[str, ...]]:
    """Return what makes terms of what stands between two spaces; it is kept, so that a corpus costs one analysis a distinct chunk."""

    @lru_cache(maxsize=1 << 18)
    def terms(chunk: str) -> tuple[str, ...]:
        return tuple(_terms(chunk, term, lambda word: stop_words and _stopped(word, language)))

    def term(word: str) -> str:
        spoken = language_of(word, language) if stem else None
        if fold and spoken == "en" and not word.isascii():
            word = folded(word)  # the English rules know plain letters alone
        if spoken is not None:
            word = stemmer(spoken)(word)
        return folded(word) if fold and not word.isascii() else word

    clock.forget_between_systems(terms.cache_clear)
    return terms


def _terms(chunk: str, term: Callable[[str], str], stopped: Callable[[str], bool]) -> Iterator[str]:
    signed = [match[0].lower() for match in _SIGNED.finditer(chunk)]
    yield from signed
    for match in _COMPOUND.finditer(chunk):
        compound = match[0]
        parts = [part for piece in _JOINTS.split(compound) for part in _parts(piece)]
        words = [word for word in map(str.casefold, _uncontracted(parts, compound)) if not stopped(word)]
        if len(parts) > 1 and "'" not in compound:
            yield term(compound.casefold()) if compound.isalnum() else compound.casefold()
        elif signed and compound.lower() == signed[0].rstrip("+#"):
            continue  # C++ is no C
        yield from map(term, words)


def _parts(piece: str) -> Iterator[str]:
    for part in _ACRONYM_END.split(piece):
        yield from _HUMP.split(part) if part[:1].islower() else (part,)


def _uncontracted(parts: list[str], compound: str) -> list[str]:
    """Leave out what an apostrophe cut off: the ``s`` of ``John's``, the whole of ``don't``."""
    if "'" not in compound:
        return parts
    if compound.lower().endswith("n't"):
        return parts[:-2]
    return [part for place, part in enumerate(parts) if place == 0 or part.lower() not in _CONTRACTED]


def _stopped(word: str, language: str) -> bool:
    if is_unspaced(word):
        return word in STOP_WORDS["zh"]
    return word in STOP_WORDS.get(language_of(word, language) or "", ())
