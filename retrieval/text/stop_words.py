"""Words that hold a sentence together and say nothing of its subject."""

from __future__ import annotations

from collections.abc import Mapping

FUNCTION_WORDS = frozenset(
    (
        *("a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does"),
        *("ever", "find", "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or"),
        *("our", "out", "please", "should", "show", "so", "tell", "than", "that", "the", "their", "them", "then", "there", "these"),
        *("they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with"),
        *("would", "you", "your"),
    )
)
"""English words that a question is made of."""

_LUCENE = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on", "or"),
        *("such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with"),
    )
)
"""The 33 of Lucene's StandardAnalyzer."""

_PRONOUNS = frozenset(("i", "he", "she", "him", "her", "his", "am"))

_CHINESE = frozenset(
    """
    的 了 是 在 和 与 及 或 也 都 就 而 把 被 给 对 从 到 向 地 得 着 过 吗 呢 吧 啊 呀 嘛 之 其 所 以 于 为 有 我 你 您 他 她 它 我们 你们
    他们 她们 它们 这 那 哪 这个 那个 哪个 哪些 哪里 什么 怎么 怎样 如何 为什么 谁 多少 几 一个 是否 还是 以及 因为 所以 但是
    如果 可以 会 要 能 请 问 请问
    """.split()  # noqa: SIM905 - a list of eighty quoted words is harder to read
)

STOP_WORDS: Mapping[str, frozenset[str]] = {"en": FUNCTION_WORDS | _LUCENE | _PRONOUNS, "zh": _CHINESE}
"""Language → its stop words; the other languages have none."""
