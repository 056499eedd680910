"""The metric contract: what every number means, in the words that each report prints.

Rows and rules are plain tuples of text, so that Markdown, HTML and the terminal render the one source.
"""

from __future__ import annotations

from typing import NamedTuple

from .canonical import TIE_RULE


class Entry(NamedTuple):
    """One measure: its definition, what it is divided by, what ties can move, and which queries are left out."""

    measure: str
    definition: str
    denominator: str
    ties: str
    exclusions: str


class Rule(NamedTuple):
    """One rule that holds for all measures."""

    term: str
    text: str


_ACROSS_K = "only ties across rank k move it"
_ANY_RANK = "ties of relevant with other observations move it"
_UNANSWERABLE = "unanswerable queries"

CONTRACT = (
    Entry("recall@k", "relevant observations in the first k", "R", _ACROSS_K, _UNANSWERABLE),
    Entry(
        "recall_any@k",
        "1 if any relevant observation is in the first k, else 0; also called hit rate or success",
        "1",
        _ACROSS_K,
        _UNANSWERABLE,
    ),
    Entry("recall_all@k", "1 if all R relevant observations are in the first k, else 0", "1", _ACROSS_K, _UNANSWERABLE),
    Entry("precision@k", "relevant observations in the first k", "k, however few were returned", _ACROSS_K, _UNANSWERABLE),
    Entry(
        "ndcg@k",
        "sum over the first k of gain / log2(rank + 1); the gain is the grade, with gain=exp it is 2^grade − 1",
        "the same sum over the perfect ranking of all R, cut at k",
        _ANY_RANK,
        _UNANSWERABLE,
    ),
    Entry(
        "mrr",
        "1 / rank of the first relevant observation in the whole list (mrr@k: in the first k), 0 without one",
        "1",
        _ANY_RANK,
        _UNANSWERABLE,
    ),
    Entry(
        "map",
        "sum over the relevant observations returned (map@k: in the first k) of the precision at their rank",
        "R",
        _ANY_RANK,
        _UNANSWERABLE,
    ),
    Entry("r_precision", "relevant observations in the first R", "R", "only ties across rank R move it", _UNANSWERABLE),
    Entry(
        "ndcg_longmemeval@k",
        "LongMemEval's own nDCG, not nDCG: binary gain, undiscounted at ranks 1 and 2, then divided by log2(rank)",
        "the same sum over the perfect ranking of all R, cut at k",
        _ANY_RANK,
        _UNANSWERABLE,
    ),
    Entry(
        "stale@k",
        "1 if a superseded observation stands in the first k and what superseded it stands below it or not in them, else 0",
        "1",
        _ANY_RANK,
        "queries whose answer superseded nothing",
    ),
    Entry("future_leaks", "returned observations later than the moment of the question", "1", "none", "queries without such a moment"),
    Entry(
        "as_of_recall@k",
        "recall@k of the relevant observations that existed at the moment of the question",
        "how many of them existed",
        _ACROSS_K,
        "queries for which none existed",
    ),
)
"""Every measure that can appear in a report."""

RULES = (
    Rule("canonical ranking", f"all measures of a query see one list: a repeated id counts at its first place; {TIE_RULE}; NaN is refused"),
    Rule("relevant", "grade 1 or more (with rel=g: g or more); lower grades gain 0; R counts all relevant observations, found or not"),
    Rule(
        "ceiling",
        "what a perfect ranking scores: min(k, R) / R for recall, min(k, R) / k for precision; what the corpus lacks is out of reach",
    ),
    Rule("nothing returned", "the query scores 0 and stays in the mean"),
    Rule("unanswerable", "a query without a relevant observation is left out of the means; it is answered well when nothing comes back"),
    Rule("failed", "a query whose retriever raised scores 0, is counted and named, and the run ends with exit code 4"),
    Rule("tie interval", "the worst, the expected and the best value over all orders of equal scores, computed exactly"),
    Rule("mean", "over the n answerable queries, with a 95 % bootstrap interval over queries"),
    Rule(
        "difference",
        "paired by query, with its interval, p by paired randomisation, Holm-corrected over the table, and the smallest detectable effect",
    ),
    Rule("tokens/query", "tokens of the text really returned, by a named counter; chars4 is characters / 4, rounded up"),
    Rule("latency", "per query after warm-up; cold start and indexing apart"),
)
"""What holds for all of them."""
