"""Folding: letters that differ by a mark alone become one."""

from __future__ import annotations

import re
import unicodedata

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]+")
"""Accents and points of Latin, Greek, Cyrillic, Hebrew and Arabic; in other scripts a mark is a letter of its own."""

_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ς": "σ"}
    | {"ـ": "", "ى": "ي", "ך": "כ", "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ"}
)
"""Letters that do not decompose: Latin ligatures and strokes, the Arabic stroke that only lengthens a word, and final forms."""


def folded(word: str) -> str:
    """Return a lower-case word without accents and points, in NFC."""
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word))).translate(_LETTERS)
