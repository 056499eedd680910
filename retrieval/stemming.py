"""Stemmers by language: what takes the endings off a word."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ..datasets.errors import InputError

Stemmer = Callable[[str], str]


@cache
def stemmer(language: str) -> Stemmer:
    """Return the stemmer of an ISO 639-1 language.

    Raises:
        InputError: there is none for this language.
    """
    from nltk.stem.porter import PorterStemmer  # importing nltk takes over a second

    if language == "en":
        return PorterStemmer().stem
    raise InputError(f"no stemmer for language {language!r}", where="language")
