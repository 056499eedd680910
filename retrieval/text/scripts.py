"""Scripts: which letters a word is written in, and which language it is taken for."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

UNSPACED = frozenset({"zh", "ja", "ko", "th", "lo", "my", "km"})
"""Languages that are written without spaces, or whose words have no stems."""

UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "KHMER", "LAO", "MYANMAR", "THAI")
"""The scripts of languages that are written without spaces; whoever splits at spaces has ``needs_spaces = True``."""

_STEMMED_AS = {"LATIN": "en", "GREEK": "el", "CYRILLIC": "ru", "HEBREW": "he", "ARABIC": "ar"}
"""Script → the language that its words are taken for, unless the analyzer's own is written in it."""

_SCRIPTS = {
    "ar": "ARABIC",
    "el": "GREEK",
    "fa": "ARABIC",
    "he": "HEBREW",
    "hi": "DEVANAGARI",
    "hy": "ARMENIAN",
    "ne": "DEVANAGARI",
    "ru": "CYRILLIC",
    "sr": "CYRILLIC",
    "ta": "TAMIL",
    "yi": "HEBREW",
}
"""Language → its script where that is not Latin."""


def script(letter: str) -> str:
    """Return the script of a letter by the first word of its Unicode name, such as ``LATIN`` or ``CJK``."""
    return unicodedata.name(letter, "").partition(" ")[0]


def language_of(word: str, language: str) -> str | None:
    """Return the language whose stemmer fits the script of a word in a text of `language`; None when there is none."""
    written = script(next(filter(str.isalpha, word), "a"))
    own = _SCRIPTS.get(language, "LATIN")
    return language if written == own and language not in UNSPACED else _STEMMED_AS.get(written)


def share_of_scripts(text: str, scripts: Collection[str]) -> float:
    """Return the share of a text's letters that are written in one of `scripts`, 1 for a text without letters."""
    letters = list(filter(str.isalpha, text))
    return sum(script(letter) in scripts for letter in letters) / len(letters) if letters else 1.0
