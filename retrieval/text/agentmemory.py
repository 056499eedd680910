"""Text analysis as agentmemory v0.6.0 has it, to which its published figures belong."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from .folding import folded
from .scripts import UNSPACED, language_of
from .segmentation import Mode, check_mode, is_unspaced, spaced
from .stemming import check_stemmed, porter, stemmer


@dataclass(frozen=True)
class AgentmemoryAnalyzer:
    """NFC, lower case, words, Porter stems; no stop words.

    A word is a run of letters, digits, ``_``, ``/``, ``.`` and ``-`` of at least two characters. Chinese, Japanese, Korean and other
    scripts without spaces are segmented. Words of another script than the language's own are stemmed by that script's main language, so
    that one memory may hold several. What is left loses its accents and points.

    Args:
        language: ISO 639-1 code.
        stem: whether to stem at all.
        trim: take ``/``, ``.`` and ``-`` off the ends of words; the published analysis leaves them on ASCII words, so that "cache." at
            the end of a sentence is a term of its own.
        segmentation: ``auto`` takes a segmenter where it is installed and pairs of characters elsewhere; ``words`` and
            ``bigrams`` settle it.

    Raises:
        InputError: a language without a stemmer, or an unknown segmentation.
    """

    language: str = "en"
    stem: bool = True
    trim: bool = False
    segmentation: Mode = "auto"

    def __post_init__(self) -> None:
        check_mode(self.segmentation)
        if self.stem and self.language not in UNSPACED:
            check_stemmed(self.language)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in its order, repeats included."""
        return list(map(_reduction(self.language, self.stem, self.trim), self._words(text)))

    def _words(self, text: str) -> list[str]:
        if text.isascii():
            return [word for word in text.lower().translate(_KEPT).split() if len(word) > 1]
        text = unicodedata.normalize("NFC", text)
        words = spaced(text.lower().translate(_KEPT), self.language, self.segmentation).split()
        return [word for word in words if len(word) > 1 or is_unspaced(word)]


class _Kept(dict[int, str | None]):
    """Maps a character to what stands for it in a word, or to a space; found out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = kept = self._of(chr(code))
        return kept

    @staticmethod
    def _of(character: str) -> str | None:
        if "！" <= character <= "～":  # the full-width forms of ASCII
            return _KEPT[ord(unicodedata.normalize("NFKC", character))]
        if character.isalnum() or character in "_/.-" or unicodedata.category(character).startswith("M"):
            return character
        return None if unicodedata.category(character) == "Cf" else " "


_KEPT = _Kept()


@cache
def _reduction(language: str, stem: bool, trim: bool) -> Callable[[str], str]:
    """Return what makes a word a term; its results are kept, so that a corpus costs one stem for each distinct word."""

    @lru_cache(maxsize=1 << 18)
    def term(word: str) -> str:
        if trim or not word.isascii():
            word = word.strip("/.-") or word
        spoken = language_of(word, language) if stem else None
        if spoken == "en" and not word.isascii():
            word = folded(word)  # Porter's rules know plain letters alone
        if spoken is not None:
            word = (porter() if spoken == "en" else stemmer(spoken))(word)
        return word if word.isascii() else folded(word)

    return term
