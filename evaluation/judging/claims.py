"""What an experiment claims, held against a run: each claim holds, fails, or stays open at this number of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ...datasets.errors import InputError
from ..inference.clusters import Clusters, Floats
from ..inference.power import non_inferiority
from ..inference.statistics import paired_t
from ..measures.grammar import parse_measure
from ..measures.metrics import score
from ..record import Run
from .compare import DIGITS, Difference, Results, compare, pair

Expectation = Literal["higher", "lower", "kept"]
Outcome = Literal["holds", "fails", "open"]

ALPHA = 0.05
"""The level of all claims of an experiment together."""

MANY = 5
"""From this number of relevant observations on, a query is said to have many."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One sentence that a run can support or refute.

    Attributes:
        says: the claim in words.
        system: what it is claimed of, compared to `baseline`.
        measure: any that the grammar reads, or one of `SET_MEASURES`.
        expect: the mean is ``higher``, ``lower``, or ``kept``, which is no lower than by `margin`.
        by: how much higher or lower at least, as a share of the baseline's mean.
        margin: how much lower a measure may be and still count as kept, in its own unit.
    """

    says: str
    system: str
    baseline: str
    measure: str
    expect: Expectation
    by: float = 0.0
    margin: float = 0.0


@dataclass(frozen=True)
class ClaimVerdict:
    """A claim with the paired difference that decides it; p is adjusted over all claims of the experiment."""

    claim: Claim
    difference: Difference
    outcome: Outcome


SET_MEASURES: Mapping[str, str] = {
    "recall": "share of the relevant observations that the whole answer has",
    "precision": "share of the answer that is relevant, 0 for an empty answer",
    "returned": "observations in the answer",
    "returned_of_many": f"observations in the answer where {MANY} or more are relevant",
    "tokens": "tokens of the answer, over all queries",
}
"""Measures of an answer as a set, whatever its length, beside those of the contract."""


def meaning(measure: str) -> str:
    """Return in words what a measure is that a claim can name."""
    return SET_MEASURES.get(measure) or parse_measure(measure).contract.definition


def claims_of(run: Run) -> tuple[Claim, ...]:
    """Read the claims in a run's configuration; a claim that names no baseline has that of the experiment.

    Raises:
        InputError: a claim without what it needs, or about a system that the run does not have.
    """
    block = run.config["claim"]
    claims = []
    for number, given in enumerate(block["claims"], start=1):
        where = f"claim.claims[{number}]"
        try:
            claim = Claim(**{"baseline": block["baseline"], **given})
        except TypeError as error:
            raise InputError(f"not a claim ({error})", where=where, remedy="give says, system, measure and expect") from error
        if claim.expect not in get_args(Expectation):
            raise InputError(f"expect is {claim.expect!r}", where=where, remedy=f"use one of {', '.join(get_args(Expectation))}")
        for system in (claim.system, claim.baseline):
            if system not in run.systems:
                raise InputError(f"there is no system {system!r}", where=where, remedy=f"there are {', '.join(run.systems)}")
        claims.append(claim)
    return tuple(claims)


def judge(run: Run, claims: Sequence[Claim]) -> list[ClaimVerdict]:
    """Decide each claim by a paired test over the queries; all of them are one family at `ALPHA`.

    A claim whose measure no query of the data set is there for is left out.
    A plain direction is decided by the randomisation test with Holm's correction. A claim with `by` or `margin` holds by the
    cautious t-test of `non_inferiority` against that bound and fails by the plain one, each one-sided at the level shared
    out among all claims.
    """
    claims = [claim for claim in claims if _values(run, claim.system, claim.measure)]
    pairings = [pair(_results(run, c.baseline, c.measure), _results(run, c.system, c.measure)) for c in claims]
    verdicts = []
    for claim, pairing, comparison in zip(claims, pairings, compare(pairings, alpha=ALPHA), strict=True):
        before, after = pairing.values(claim.measure, pairing.queries)
        units = pairing.clusters(pairing.queries)
        outcome = _outcome(claim, comparison.overall[0], before, after, units, ALPHA / len(claims))
        verdicts.append(ClaimVerdict(claim, comparison.overall[0], outcome))
    return verdicts


def measured(run: Run, system: str, measure: str) -> Floats:
    """Return a system's value of a measure on each query it is defined for, by query id; shape (queries,)."""
    return _results(run, system, measure).values[measure]


def _outcome(claim: Claim, difference: Difference, before: Floats, after: Floats, units: Clusters, alpha: float) -> Outcome:
    sign = -1 if claim.expect == "lower" else 1
    if claim.expect != "kept" and not claim.by:
        if difference.adjusted < ALPHA:
            return "holds" if sign * difference.mean > 0 else "fails"
        return "open" if difference.wins or difference.losses else "fails"
    surplus = after - before + claim.margin if claim.expect == "kept" else sign * (after - (1 + sign * claim.by) * before)
    if not surplus.any() or non_inferiority(surplus, 0.0, alpha, clusters=units, reach=max(1.0, float(np.abs(surplus).max()))).shown:
        return "holds"
    return "fails" if paired_t(surplus, clusters=units, alternative="less") < alpha else "open"


def _results(run: Run, system: str, measure: str) -> Results:
    """Return one measure of one system as what `compare` takes, over the queries that the measure is defined for."""
    values = dict(sorted(_values(run, system, measure).items()))
    return Results(
        system,
        run.manifest["dataset"]["fingerprint"],
        tuple(values),
        {measure: np.array(list(values.values()), np.float64).round(DIGITS)},
        {},
        {query: run.queries[query].category for query in values},
        {query: run.queries[query].group for query in values},
    )


def _values(run: Run, system: str, measure: str) -> dict[str, float]:
    rows = [row for row in run.per_query if row["system"] == system]
    answerable = [row for row in rows if row["answerable"]]
    if measure == "tokens":
        return {row["query"]: row["tokens"] for row in rows}
    if measure in ("recall", "precision"):
        return {
            row["query"]: _found(run, row) / (row["relevant"] if measure == "recall" else max(1, row["returned"])) for row in answerable
        }
    if measure == "returned_of_many":
        return {row["query"]: row["returned"] for row in answerable if row["relevant"] >= MANY}
    if measure == "returned":
        return {row["query"]: row["returned"] for row in answerable}
    if measure in run.measures:
        return {row["query"]: row[measure] for row in rows if row[measure] is not None}
    try:
        asked = parse_measure(measure)
    except InputError as error:
        raise InputError(error.what, where="claim", remedy=f"{error.remedy}, {', '.join(SET_MEASURES)}") from None
    scores = score({q.id: q.judgments for q in run.queries.values()}, run.rankings[system], [asked], run.context(system))
    found = next(iter(scores.values.values())).tolist()
    return {query: value for query, value in zip(scores.query_ids, found, strict=True) if not math.isnan(value)}


def _found(run: Run, row: Mapping[str, Any]) -> int:
    relevant = run.queries[row["query"]].relevant
    return sum(hit.id in relevant for hit in run.rankings[row["system"]].get(row["query"], ()))
