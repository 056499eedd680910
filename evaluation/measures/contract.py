"""The metric contract: what every number means, in the words that each report prints.

Rows come from the measures themselves; rows and rules are plain tuples of text, so that Markdown, HTML and the terminal render the
one source.
"""

from __future__ import annotations

from typing import NamedTuple

from .canonical import TIE_RULE
from .grammar import known_measures


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


CONTRACT = tuple(Entry(kind.form(), *kind.contract) for kind in known_measures())
"""Every measure that can be asked for by name."""

RULES = (
    Rule(
        "canonical ranking",
        f"all measures of a query see one list: a repeated id counts once, with its highest score; {TIE_RULE}; NaN is refused",
    ),
    Rule("relevant", "grade 1 or more (with rel=g: g or more); lower grades gain 0; R counts all relevant observations, found or not"),
    Rule(
        "ceiling",
        "what a perfect ranking scores: min(k, R) / R for recall, min(k, R) / k for precision; what the corpus lacks is out of reach",
    ),
    Rule("nothing returned", "the query scores 0 and stays in the mean"),
    Rule(
        "unanswerable",
        "a query without a relevant observation is left out of all means but those of silence; it is answered well when nothing comes back",
    ),
    Rule("failed", "a query whose retriever raised scores the worst, is counted and named, and the run ends with exit code 4"),
    Rule(
        "tie interval",
        "the worst, the expected and the best value over all orders of equal scores, computed exactly; of the measures of time, and of "
        "one's own, over at most 120 orders a query",
    ),
    Rule("mean", "over the n queries that the measure does not leave out, with a 95 % bootstrap interval over queries"),
    Rule(
        "difference",
        "paired by query, with its interval, p by paired randomisation, Holm-corrected over the table, and the smallest detectable effect",
    ),
    Rule("tokens/query", "tokens of the text really returned, by a named counter; chars4 is characters / 4, rounded up"),
    Rule("latency", "per query after warm-up; cold start and indexing apart"),
)
"""What holds for all of them."""
