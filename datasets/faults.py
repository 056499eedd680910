"""What can be wrong with data: every kind of fault with its weight and its remedy, and two ways to take one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from .errors import InputError
from .model import Observation, Query


class Severity(StrEnum):
    """An error makes scores wrong or a record unusable, a warning must be known to read the scores, a note need not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Kind(NamedTuple):
    """One kind of fault: its name, its weight, and what the owner of the data can do about it."""

    name: str
    severity: Severity
    remedy: str


class Faults(Protocol):
    """Where a reader reports what it meets."""

    def report(self, kind: Kind, where: str, what: str, *, variant: str = "") -> None:
        """Take one fault; a reader that comes back from here leaves the faulty record out.

        Args:
            variant: what tells this fault from others of its kind, such as the field; "": its wording.
        """
        ...


@dataclass
class Refused:
    """Takes faults for a loader: the first error ends it, what shapes the values is counted, for `Dataset.notes`."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def report(self, kind: Kind, where: str, what: str, *, variant: str = "") -> None:
        """Raise an error as `InputError`; count a warning, and what is not read."""
        if kind.severity is Severity.ERROR:
            raise InputError(what, where=where, remedy=kind.remedy)
        if kind.severity is Severity.WARNING or kind is FIELD_NOT_READ:
            key = kind.name, variant
            self.counts[key] = self.counts.get(key, 0) + 1

    def notes(self) -> tuple[str, ...]:
        """Return what was counted, in one line; none where there is nothing."""
        told = [f"{kind}{variant and f' {variant!r}'} {count:,}" for (kind, variant), count in sorted(self.counts.items())]
        return (f"{', '.join(told)}; see `recallmeter data check`",) if told else ()


class Example(NamedTuple):
    """One fault's place, and what is wrong there."""

    where: str
    what: str


@dataclass
class Finding:
    """All faults of one kind: how many there are, and the first of them, the first of each variant before all others."""

    kind: Kind
    count: int = 0
    firsts: dict[str, Example] = field(default_factory=dict)
    others: list[Example] = field(default_factory=list)

    @property
    def examples(self) -> list[Example]:
        """One of each variant, then further ones."""
        return [*self.firsts.values(), *self.others]


@dataclass
class Collected:
    """Takes faults for a check: none ends it, all are counted, the first `keep` of a kind or more are kept with their places."""

    keep: int = 20
    findings: dict[str, Finding] = field(default_factory=dict)

    def report(self, kind: Kind, where: str, what: str, *, variant: str = "") -> None:
        """Count one fault."""
        self.sum_up(kind, 1, [Example(where, what)], variant=variant)

    def sum_up(self, kind: Kind, count: int, examples: Iterable[Example], *, variant: str = "") -> None:
        """Count several faults of one kind at once; none at all is no finding."""
        if count:
            finding = self.findings.setdefault(kind.name, Finding(kind))
            finding.count += count
            for example in examples:
                told = variant or _SHAPES.sub("", example.what)
                if told not in finding.firsts and len(finding.firsts) < self.keep:
                    finding.firsts[told] = example
                elif len(finding.firsts) + len(finding.others) < self.keep:
                    finding.others.append(example)


_SHAPES = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
"""What differs between messages of one wording."""


class Judgment(NamedTuple):
    """How well one observation answers one query; a grade below 1 says that it does not."""

    query: str
    observation: str
    grade: int


class Placed(NamedTuple):
    """A record and the place that it was read from."""

    where: str
    record: Observation | Query | Judgment


BYTE_ORDER_MARK = Kind("byte-order-mark", Severity.NOTE, "accepted; save without it for other tools' sake")
CRLF = Kind("crlf", Severity.NOTE, "accepted; save with LF for other tools' sake")
BLANK_LINE = Kind("blank-line", Severity.NOTE, "accepted; delete it for other tools' sake")
FIELD_NOT_READ = Kind("field-not-read", Severity.NOTE, "nothing, unless retrieval should see it: then move it into a field that is read")
GROUP_POOLED = Kind(
    "group-not-read", Severity.WARNING, "name the field as the scope, such as dataset.scope=group, if each query is asked of its own group"
)
NOT_RELEVANT = Kind("judged-not-relevant", Severity.NOTE, "nothing: it gains nothing and does not count into R, but counts as judged")
NOT_IN_SPLIT = Kind("query-not-in-split", Severity.NOTE, "nothing, if another split judges it; if none does, give it a row of grade 0")

NOT_TEXT = Kind("not-utf8", Severity.ERROR, "save the file as UTF-8, or unpack it again")
BROKEN = Kind("broken-record", Severity.ERROR, "correct or delete this record")
REPEATED_KEY = Kind("repeated-key", Severity.ERROR, "keep one of the two")
UNKNOWN_FIELD = Kind("unknown-field", Severity.ERROR, "correct its name, or delete it")
MISSING_FIELD = Kind("missing-field", Severity.ERROR, "add it")
BAD_VALUE = Kind("bad-value", Severity.ERROR, "correct this value")
BAD_ID = Kind("bad-id", Severity.ERROR, "give it an id that is not empty and has no white space or control character")
BAD_GRADE = Kind("bad-grade", Severity.ERROR, "use whole grades: 0 for not relevant, 1 and up for relevant")
CIRCLE = Kind("superseded-in-a-circle", Severity.ERROR, "break the circle of superseded_by: what is newer is superseded by nothing older")
LONE_SURROGATE = Kind("lone-surrogate", Severity.ERROR, "replace the half of a character by U+FFFD, or by what was meant")
TIME_WITHOUT_ZONE = Kind("time-without-zone", Severity.WARNING, "nothing if it is UTC; if not, write the zone, such as +02:00")
NUL = Kind("nul-character", Severity.WARNING, "delete it: some stores cut the text there")
SAME_RECORD_TWICE = Kind("duplicate-id", Severity.ERROR, "delete one of the two: they are equal")
ID_TAKEN = Kind("duplicate-id-other-content", Severity.ERROR, "give one of the two an id of its own, and look at what is judged")
SAME_JUDGMENT_TWICE = Kind("duplicate-judgment", Severity.WARNING, "delete one of the two: they agree, and count once")
CONFLICT = Kind("conflicting-judgments", Severity.ERROR, "decide which grade holds and delete the other")
UNKNOWN_QUERY = Kind("judged-query-unknown", Severity.ERROR, "add the query's text, or delete its judgments")
