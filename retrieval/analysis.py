"""Text analysis: from a text to the terms that are indexed and searched."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from .stemming import stemmer


@dataclass(frozen=True)
class Analyzer:
    """Lower-case, split into words, drop one-letter words, stem.

    A word is a run of letters, digits, ``_``, ``/``, ``.`` and ``-``.

    Args:
        language: ISO 639-1 code of the language whose stems are taken.
        stem: whether to stem at all.
    """

    language: str = "en"
    stem: bool = True

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in its order, repeats included."""
        return list(map(_reduction(self.language, self.stem), _words(text)))


def _words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return [word for word in text.lower().translate(_SEPARATED).split() if len(word) > 1]


class _Separated(dict[int, str | None]):
    """Maps each character outside a word to a space, found out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        self[code] = character if character.isalnum() or character in "_/.-" else " "
        return self[code]


_SEPARATED = _Separated()


@cache
def _reduction(language: str, stem: bool) -> Callable[[str], str]:
    """Return what makes a word a term; its results are kept, so a corpus costs one stem for each distinct word."""
    return lru_cache(maxsize=1 << 18)(stemmer(language) if stem else str)
