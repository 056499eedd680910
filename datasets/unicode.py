"""Text that is not well-formed Unicode: halves of characters, which JSON can carry and UTF-8 can't."""

from __future__ import annotations


def encodable(text: str) -> str:
    """Return the text with a question mark for every lone surrogate, which tokenizers, providers and most programs refuse."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def hashable(text: str) -> bytes:
    """Return the bytes of a text for hashing; lone surrogates keep apart what differs by them alone."""
    return text.encode("utf-8", "surrogatepass")


def lone_surrogate(text: str) -> str:
    """Return the first half of a character that stands alone; "" when there is none."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return text[error.start]
    return ""
