"""The doctor for data sets: what is wrong with the records, the labels and the texts, each with place, count and remedy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from ..assembly import Assembly, Reader
from ..errata import corrected
from ..faults import Collected, Example, Finding, Judgment, Kind, Severity
from ..model import Dataset, Observation, Query, moment
from .leakage import ceiling, concept_recall, telling_words
from .twins import COMPARED_AT_MOST, equal_texts, near_twins, searched_text

NO_OBSERVATIONS = Kind("no-observations", Severity.ERROR, "check the path and the format")
NO_QUERIES = Kind("no-queries", Severity.ERROR, "add queries: there is nothing to ask")
FINGERPRINT = Kind("fingerprint-differs", Severity.ERROR, "restore the files, or delete the fingerprint if the change is meant")
DANGLING = Kind(
    "dangling-judgment", Severity.ERROR, "add the observation or delete the judgment; until then it counts into R and nobody can find it"
)
NORMAL_FORM = Kind("dangling-by-normal-form", Severity.ERROR, "write judged and observed ids in one Unicode normal form, such as NFC")
ALIKE = Kind("ids-alike-in-nfc", Severity.ERROR, "write ids in NFC, and give these two different ones")
OTHER_SCOPE = Kind("gold-outside-scope", Severity.ERROR, "judge an observation of the query's own scope, or correct the scope")
FUTURE = Kind("gold-after-asked", Severity.ERROR, "correct asked_at or the timestamp: what is not yet known cannot be found")
NO_TEXT_ASKED = Kind("empty-query", Severity.ERROR, "write the question")
EMPTY_SCOPE = Kind("query-of-empty-scope", Severity.ERROR, "correct the query's scope: it has no observation")
SUCCESSOR = Kind("successor-unknown", Severity.ERROR, "correct superseded_by: it names another observation of the same scope")
SUCCESSOR_OLDER = Kind("successor-older", Severity.WARNING, "correct the timestamps or superseded_by: a successor comes later")
STALE_GOLD = Kind("gold-superseded", Severity.NOTE, "judge the successor, unless the question is about the past")
NO_TEXT = Kind("empty-observation", Severity.WARNING, "write a text or delete it: it can be found by nothing")
LONG_TEXT = Kind("very-long-text", Severity.WARNING, "split it: embedders read its beginning alone")
EQUAL_TEXT = Kind("duplicate-text", Severity.WARNING, "delete the copies, or judge them alike")
UNEQUAL_TWINS = Kind("duplicate-text-judged-unlike", Severity.WARNING, "judge equal texts alike: who finds the twin is marked wrong")
NEAR_TWINS = Kind("near-duplicate-text", Severity.WARNING, "make them more distinct, or judge them alike")
NOT_COMPARED = Kind("texts-not-compared", Severity.NOTE, f"nothing: of a larger scope the first {COMPARED_AT_MOST:,} texts are compared")
SAME_QUESTION = Kind("same-question", Severity.WARNING, "merge the two, or word them apart")
ID_TELLS = Kind("id-tells-relevance", Severity.WARNING, "rename the ids, or measure systems that never see them")
CONCEPTS_TELL = Kind("concepts-tell-relevance", Severity.WARNING, "label from what happened, not from the words that retrievers index")
CEILING = Kind(
    "ceiling-below-1",
    Severity.WARNING,
    "judge at most ten observations a query relevant, all within reach, or read scores beside the ceiling",
)
UNANSWERABLE = Kind("unanswerable", Severity.NOTE, "nothing, if it is meant: these queries are counted apart")
ALL_BELOW_1 = Kind("unanswerable-by-grade", Severity.NOTE, "nothing, if it is meant: all its grades are below 1")
UNASKED = Kind("scope-never-asked", Severity.NOTE, "nothing: no query searches it")
SHARED_ID = Kind("query-id-is-observation-id", Severity.NOTE, "nothing: neither is taken for the other")

LONG = 100_000
"""Characters from which a text counts as very long."""

_TELLING = 0.5
"""The share of the R@10 ceiling that a keyword match on concepts must reach to be called a leak."""


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes:
        counts: how many observations, queries, answerable queries, judgments and scopes there are.
        measures: ``recall@5`` and ``recall@10`` of the best possible ranking, ``concepts_recall@10`` of a keyword match
            on concepts, and the share of observations with a near twin; as far as they are defined.
        findings: errors first, then warnings, then notes.
    """

    name: str
    counts: Mapping[str, int]
    measures: Mapping[str, float]
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(finding.kind.severity is Severity.ERROR for finding in self.findings)

    def as_record(self) -> dict[str, Any]:
        """Return the report as JSON-ready values."""
        findings = [
            {
                "name": finding.kind.name,
                "severity": finding.kind.severity.value,
                "count": finding.count,
                "remedy": finding.kind.remedy,
                "examples": [example._asdict() for example in finding.examples],
            }
            for finding in self.findings
        ]
        return {"name": self.name, "counts": dict(self.counts), "measures": dict(self.measures), "findings": findings}


def check(read: Reader, *, name: str, fingerprint: str = "", errata: str | None = None) -> Report:
    """Read a whole source, however faulty, and tell everything that is wrong with it.

    Args:
        read: yields the records, such as a format's reader with its path.
        fingerprint: what the data set's own description says it should be; "" for nothing.
        errata: a file of corrections to lay over the labels first.

    Raises:
        InputError: a file that cannot be opened, or a faulty errata file.
    """
    faults = Collected()
    assembly, places = Assembly(faults), _Places()
    for placed in read(faults):
        if assembly.add(placed):
            places.add(placed.record, placed.where)
    dataset = assembly.dataset(name)
    if fingerprint and dataset.fingerprint != fingerprint:
        faults.report(FINGERPRINT, name, f"the content has {dataset.fingerprint[:12]}…, the description says {fingerprint[:12]}…")
    dataset = corrected(dataset, errata)
    _check_observations(dataset, places, faults)
    _check_queries(dataset, assembly, places, faults)
    _check_labels(dataset, places, faults)
    measures = {**_twins(dataset, places, faults), **_reach(dataset, places, faults)}
    counts = {
        "observations": len(dataset.observations),
        "queries": len(dataset.queries),
        "answerable": sum(query.answerable for query in dataset.queries),
        "judgments": sum(len(query.relevant) for query in dataset.queries),
        "scopes": len({o.scope for o in dataset.observations}),
    }
    order = list(Severity)
    findings = sorted(faults.findings.values(), key=lambda finding: (order.index(finding.kind.severity), finding.kind.name))
    return Report(name, counts, measures, tuple(findings))


class _Places:
    """Where each record was read."""

    def __init__(self) -> None:
        self.observations: dict[str, str] = {}
        self.queries: dict[str, str] = {}
        self._judgments: dict[tuple[str, str], str] = {}

    def add(self, record: Any, where: str) -> None:
        if isinstance(record, Judgment):
            self._judgments[record.query, record.observation] = where
        elif isinstance(record, Observation):
            self.observations[record.id] = where
        else:
            self.queries[record.id] = where

    def judgment(self, query: str, observation: str) -> str:
        return self._judgments.get((query, observation)) or self.queries[query]  # an erratum has no line of its own


def _check_observations(dataset: Dataset, places: _Places, faults: Collected) -> None:
    if not dataset.observations:
        faults.report(NO_OBSERVATIONS, dataset.name, "there is no observation that can be used")
    by_id = {o.id: o for o in dataset.observations}
    normal: dict[str, str] = {}
    for o in dataset.observations:
        where = places.observations[o.id]
        text = searched_text(o)
        if not text.strip():
            faults.report(NO_TEXT, where, f"{o.id!r} has no text")
        if len(text) > LONG:
            faults.report(LONG_TEXT, where, f"{o.id!r} has {len(text):,} characters")
        if (before := normal.setdefault(normalize("NFC", o.id), o.id)) != o.id:
            faults.report(ALIKE, where, f"{o.id!a} and {before!a} look the same")
        if o.superseded_by is not None:
            successor = by_id.get(o.superseded_by)
            if successor is None or successor is o or successor.scope != o.scope:
                faults.report(
                    SUCCESSOR, where, f"{o.id!r} is superseded by {o.superseded_by!r}, which is no other observation of its scope"
                )
            elif successor.timestamp < o.timestamp:
                faults.report(SUCCESSOR_OLDER, where, f"{o.id!r} is superseded by {successor.id!r}, which is older")


def _question(query: Query) -> tuple[str, str, str | None]:
    """Return what is asked; at one moment "today" is another day in another zone."""
    return query.scope, " ".join(query.text.lower().split()), moment(query.asked_at)


def _check_queries(dataset: Dataset, assembly: Assembly, places: _Places, faults: Collected) -> None:
    if not dataset.queries:
        faults.report(NO_QUERIES, dataset.name, "there is no query that can be used")
    observed = {o.id for o in dataset.observations}
    scopes = Counter(o.scope for o in dataset.observations)
    asked: dict[tuple[str, str, str | None], str] = {}
    for query in dataset.queries:
        where = places.queries[query.id]
        if not query.text.strip():
            faults.report(NO_TEXT_ASKED, where, f"{query.id!r} has no text")
        elif (before := asked.setdefault(_question(query), query.id)) != query.id:
            faults.report(SAME_QUESTION, where, f"{query.id!r} asks what {before!r} asks")
        if query.scope not in scopes and dataset.observations:
            faults.report(EMPTY_SCOPE, where, f"{query.id!r} searches the scope {query.scope!r}")
        if query.id in observed:
            faults.report(SHARED_ID, where, f"{query.id!r} is also the id of an observation")
        if not query.answerable:
            judged = assembly.judged.get(query.id)
            faults.report(ALL_BELOW_1 if judged else UNANSWERABLE, where, f"nothing is judged relevant for {query.id!r}")
    for scope in sorted(scopes.keys() - {query.scope for query in dataset.queries}):
        faults.report(UNASKED, f"scope {scope!r}", f"{scopes[scope]} observations")


def _check_labels(dataset: Dataset, places: _Places, faults: Collected) -> None:
    by_id = {o.id: o for o in dataset.observations}
    normal = {normalize("NFC", identifier): identifier for identifier in by_id}
    for query in dataset.queries:
        for identifier in query.relevant:
            where = places.judgment(query.id, identifier)
            o = by_id.get(identifier)
            if o is None:
                known = normal.get(normalize("NFC", identifier))
                if known is None:
                    faults.report(DANGLING, where, f"{query.id!r} names {identifier!r}, which is no observation")
                else:
                    faults.report(NORMAL_FORM, where, f"{query.id!r} names {identifier!a}, the observation is {known!a}")
                continue
            if o.scope != query.scope:
                faults.report(OTHER_SCOPE, where, f"{query.id!r} of scope {query.scope!r} names {identifier!r} of {o.scope!r}")
            if query.asked_at is not None and o.timestamp > query.asked_at:
                faults.report(
                    FUTURE,
                    where,
                    f"{query.id!r} is asked at {query.asked_at:%Y-%m-%d %H:%M}, {identifier!r} is of {o.timestamp:%Y-%m-%d %H:%M}",
                )
            successor = by_id.get(o.superseded_by or "")
            if successor and (query.asked_at is None or successor.timestamp <= query.asked_at):
                faults.report(STALE_GOLD, where, f"{query.id!r} names {identifier!r}, which {successor.id!r} superseded")


def _twins(dataset: Dataset, places: _Places, faults: Collected) -> dict[str, float]:
    judged = defaultdict(set)
    for query in dataset.queries:
        for identifier in query.relevant:
            judged[identifier].add(query.id)
    for group in equal_texts(dataset.observations):
        for copy in group[1:]:
            faults.report(EQUAL_TEXT, places.observations[copy], f"{copy!r} has the text of {group[0]!r}")
        for query in sorted(set.union(*(judged[i] for i in group)) - set.intersection(*(judged[i] for i in group))):
            yes, no = (next(i for i in group if (query in judged[i]) is relevant) for relevant in (True, False))
            faults.report(
                UNEQUAL_TWINS, places.judgment(query, yes), f"for {query!r}, {yes!r} is relevant and {no!r}, of the same text, is not"
            )
    pairs, left_out = near_twins(dataset.observations)
    faults.sum_up(NOT_COMPARED, left_out, [Example(dataset.name, f"{left_out:,} texts were not looked at")])
    for first, second, overlap in pairs:
        faults.report(NEAR_TWINS, places.observations[second], f"{second!r} shares {overlap:.0%} of the words with {first!r}")
    near = {identifier for first, second, _ in pairs for identifier in (first, second)}
    return {"near_twins": len(near) / len(dataset.observations)} if dataset.observations else {}


def _reach(dataset: Dataset, places: _Places, faults: Collected) -> dict[str, float]:
    """Tell how far any ranking can get, and how far one gets by cheating."""
    for word, told in telling_words(dataset):
        faults.report(ID_TELLS, "ids", f"the word {word!r} is in {told}")
    answerable = [query for query in dataset.queries if query.answerable]
    if not answerable:
        return {}
    by_id = {o.id: o for o in dataset.observations}
    ceilings = {k: [ceiling(query, by_id, k) for query in answerable] for k in (5, 10)}
    below = [(query, share) for query, share in zip(answerable, ceilings[10], strict=True) if share < 1]
    examples = [
        Example(places.queries[query.id], f"{query.id!r}: R@10 can reach {share:.1%} (R = {len(query.relevant)})") for query, share in below
    ]
    faults.sum_up(CEILING, len(below), examples)
    measures = {f"recall@{k}": sum(values) / len(values) for k, values in ceilings.items()}
    recalls = concept_recall(dataset, answerable, 10)
    if recalls:
        reached = measures["concepts_recall@10"] = sum(recalls) / len(recalls)
        if reached >= _TELLING * measures["recall@10"]:
            what = f"a keyword match on concepts reaches R@10 {reached:.1%} of a possible {measures['recall@10']:.1%}"
            whole = sum(got >= possible for got, possible in zip(recalls, ceilings[10], strict=True))
            faults.sum_up(CONCEPTS_TELL, whole, [Example(dataset.name, what)])
    return measures
