"""English words that hold a sentence together and say nothing of its subject."""

from __future__ import annotations

from .analysis import Analyzer

FUNCTION_WORDS = frozenset(
    (
        *("a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does"),
        *("ever", "find", "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or"),
        *("our", "out", "please", "should", "show", "so", "tell", "than", "that", "the", "their", "them", "then", "there", "these"),
        *("they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with"),
        *("would", "you", "your"),
    )
)


def content_terms(text: str, analyzer: Analyzer) -> list[str]:
    """Return the terms of `text` in its order, function words left out."""
    return analyzer.terms(" ".join(word for word in text.lower().split() if word.strip(".,;:?!") not in FUNCTION_WORDS))
