"""What a part raises when something outside the program that it depends on cannot serve it."""

from __future__ import annotations


class UnavailableError(RuntimeError):
    """A provider, key, server or extra is missing, refuses, or answers nonsense: told in one line, which never holds a key.

    Unlike bad input it may pass, so a `Fallback` catches it and answers without the part; nothing else should.
    """

    def __init__(self, what: str, *, remedy: str = "") -> None:
        super().__init__(" ".join(f"{what}; {remedy}".split()) if remedy else " ".join(what.split()))
