"""Stemmers by language: what takes the endings off a word, so that its forms meet."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from ...datasets.errors import InputError
from ..timing import clock
from .folding import folded

Stemmer = Callable[[str], str]


@cache
def stemmer(language: str) -> Stemmer:
    """Return the stemmer of a language by its ISO 639-1 code.

    Snowball as PyStemmer has it; light stemmers of our own for Greek, Hebrew and Turkish.

    Raises:
        InputError: there is none for this language.
    """
    if language in _LIGHT:
        return _LIGHT[language]
    with clock.uncharged():
        from Stemmer import Stemmer as Snowball

    try:
        return Snowball(language).stemWord
    except KeyError:
        raise InputError(
            f"no stemmer for language {language!r}",
            where="language",
            remedy="use an ISO 639-1 code of a language that Snowball knows, such as en or de, or set stem=false",
        ) from None


@cache
def porter() -> Stemmer:
    """Return Porter's English stemmer as nltk has it, by which published figures were reached."""
    from nltk.stem.porter import PorterStemmer  # importing nltk takes over a second

    return PorterStemmer().stem


def check_stemmed(language: str) -> None:
    """Raise `InputError` when a language has no stemmer."""
    stemmer(language)


def _stripping(endings: str, least: int, repeat: bool = False) -> Stemmer:
    """Return what takes the longest ending off a folded word, again and again if asked, while `least` letters are left."""
    ending = re.compile(rf"(?<=\w{{{least}}})(?:{'|'.join(sorted(endings.split(), key=len, reverse=True))})$")

    def stem(word: str) -> str:
        word, stripped = folded(word), 1
        while stripped:
            word, stripped = ending.subn("", word)
            stripped = stripped and repeat
        return word

    return stem


_greek = _stripping(
    "α ασ αν ε εσ η ησ ην ι ο οσ ον ου οι ουσ υ υσ ω ων ια ιασ ιεσ ιο ιου ιων εωσ εων εισ μα ματοσ ματα ματων "
    "ει ετε ουμε ουν εται ονται ομαι ηκε ηκαν ησε ησαν",
    least=3,
)

_turkish_nouns = _stripping(
    "lar ler i u a e yi yu ya ye da de ta te dan den tan ten in un nin nun im um imiz umuz iniz unuz si su la le yla yle "
    "dir dur tir tur ndan nden nda nde ki",
    least=4,
    repeat=True,
)


def _turkish(word: str) -> str:
    """Take endings off, and harden the last consonant, which softens before them: kitap, kitabı."""
    stem = _turkish_nouns(word)
    return stem[:-1] + {"b": "p", "d": "t", "g": "k"}.get(stem[-1:], stem[-1:])


_hebrew_endings = _stripping("ימ יימ ות יות ה", least=3)


def _hebrew(word: str) -> str:
    """Take off an ending, then the letters for "and", "the", "in", "to", "from", "as" and "that" written onto the word's front."""
    return re.sub(r"^[והבלמכש]+(?=\w{3})", "", _hebrew_endings(word))


_LIGHT: dict[str, Stemmer] = {"el": _greek, "he": _hebrew, "tr": _turkish}
