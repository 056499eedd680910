"""What a text names: quoted strings, proper names, identifiers and files, found without a language model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..text.analysis import Analysis

_QUOTED = re.compile(r"\"([^\"\n]{2,60})\"|`([^`\n]{2,60})`|“([^”\n]{2,60})”|「([^」\n]{1,60})」|《([^》\n]{1,60})》")
_LETTER = r"[^\W\u2e80-\U0003ffff]"  # a word of an alphabet ends where Chinese, Japanese or Korean begins
_WORD = re.compile(rf"@?{_LETTER}(?:{_LETTER}|[./:@-])*{_LETTER}")
_IDENTIFIER = re.compile(r"[^\W_]_[^\W_]|[A-Za-z0-9][./][A-Za-z]|[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d|\d[A-Za-z]")
_SENTENCE_ENDS = frozenset(".!?:;。！？：；")
_JOINT = re.compile(r"[/._:@-]+")
_HUMP = re.compile(r"(?<=[a-z0-9]{2})(?=[A-Z])")
_NEVER_A_NAME = frozenset(
    """
    a an and are can could did do does for from had has have how if in is it its of on or our should that the their them then
    there these this to was we were what when where which who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a list of sixty quoted words is harder to read
)


def entities(text: str) -> Iterator[str]:
    """Yield the names in a text: quoted strings, identifiers and file names, and capitalised words that do not begin a sentence."""
    for quoted in _QUOTED.findall(text):
        yield "".join(quoted)
    for match in _WORD.finditer(text):
        word = match[0]
        if word.lower() not in _NEVER_A_NAME and (
            _IDENTIFIER.search(word) or (word[0].isupper() and _within_sentence(text, match.start()))
        ):
            yield word


def parts(text: str, analyzer: Analysis) -> list[str]:
    """Return the terms of a text with paths, identifiers and humps taken apart: ``auth/tokenRefresh.ts`` → auth, token, refresh, ts."""
    words = _JOINT.sub(" ", text).split()
    return analyzer.terms(" ".join(_HUMP.sub(" ", word) if word[0].islower() else word for word in words))


def _within_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'`(“‘[")
    return bool(before) and before[-1] not in _SENTENCE_ENDS
