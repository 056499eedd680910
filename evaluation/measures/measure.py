"""What a measure is: one object that knows its name, how it is written, what it means, and its value on any run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from .gains import Gains, JudgedRun, Seen
from .ties import Groups, Tied, TieInterval

Values = NDArray[np.float64]
Option = Callable[[str], Any]

ACROSS_K = "only ties across rank k move it"
ANY_RANK = "ties of relevant with other observations move it"
NEVER = "none"
UNANSWERABLE = "unanswerable queries"


class Contract(NamedTuple):
    """What a measure means, in the words that each report prints: its value, what it is divided by, what ties can move, who is left out."""

    definition: str
    denominator: str
    ties: str
    exclusions: str = UNANSWERABLE


@dataclass(frozen=True)
class Measure:
    """One way to score a run; ``str()`` gives the canonical name, which the grammar reads back.

    A subclass in a module of this room's folders is known by its `name`; one of a user's own by the place that it is imported from.
    Its dataclass fields are its parameters.

    Attributes:
        k: the cut-off; None for the whole list.
        name: canonical, lower case.
        aliases: its other names, in any case; `meant_by`: words that are not its name, but that people reach for when they mean it.
        cutoff: whether it needs, allows or refuses a cut-off.
        contract: its row in the metric contract.
        options: other names and spellings of parameters: name → (parameter, how its text is read).
        variants: names that stand for it with other parameters: name → parameters.
        lower_is_better: whether a smaller value is the better one.
        worst: what a query is given whose retriever raised; `most`: what no value exceeds.
        by_query: whether it looks at each query's list, for which arrays of where judged documents stand are not enough.
        asks_memory: whether it needs the queries and observations themselves, which judgments in a file do not have.

    Raises:
        InputError: a cut-off that it needs or refuses, or a parameter out of range.
    """

    name: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    meant_by: ClassVar[tuple[str, ...]] = ()
    cutoff: ClassVar[Literal["needed", "allowed", "refused"]] = "needed"
    contract: ClassVar[Contract] = Contract("", "", "")
    options: ClassVar[Mapping[str, tuple[str, Option]]] = {}
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    lower_is_better: ClassVar[bool] = False
    worst: ClassVar[float] = 0.0
    most: ClassVar[float] = 1.0
    by_query: ClassVar[bool] = False
    asks_memory: ClassVar[bool] = False

    k: int | None = None

    @classmethod
    def called(cls) -> str:
        """Return the name that the grammar reads: `name`, or the place of a class that is not of this package."""
        return cls.name if cls.__module__.startswith(f"{__package__}.") else f"{cls.__module__}.{cls.__qualname__}"

    @classmethod
    def from_digits(cls, digits: str) -> dict[str, Any]:
        """Return the parameters that digits behind the name stand for, as in trec_eval's ``P_5`` and ``ndcg_cut_10``: the cut-off."""
        return {"k": int(digits)}

    @classmethod
    def form(cls) -> str:
        """Return how it is written, such as ``recall@k``."""
        return cls.called() + {"needed": "@k", "allowed": "[@k]", "refused": ""}[cls.cutoff]

    @property
    def depth(self) -> int | None:
        """How many of the first hits decide the value; None for all of them."""
        return self.k

    def __post_init__(self) -> None:
        called = self.called()
        if self.cutoff == "needed" and self.k is None:
            raise InputError(f"measure {called!r} needs a cut-off", remedy=f"write {called}@10")
        if self.cutoff == "refused" and self.k is not None:
            raise InputError(f"measure {called!r} takes no cut-off", remedy=f"write {called}")
        if self.k is not None and (not isinstance(self.k, int) or self.k < 1):
            raise InputError(f"cut-off {self.k} of {called!r} is below 1", remedy="give a whole number of at least 1")
        self.check()

    def check(self) -> None:
        """Raise `InputError` where a parameter is out of range."""

    def __str__(self) -> str:
        given = [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "k" and getattr(self, f.name) != f.default]
        options = ",".join(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in given)
        return self.called() + (f"({options})" if options else "") + (f"@{self.k}" if self.k is not None else "")

    def values(self, run: JudgedRun) -> Values:
        """Return the value of each query, shape (queries,); nan for one that the measure leaves out."""
        raise NotImplementedError

    def interval(self, tied: Tied) -> TieInterval:
        """Return the worst, the expected and the best value of each query over all orders of tied scores."""
        raise NotImplementedError

    def ceiling(self, perfect: JudgedRun) -> Values:
        """Return what the perfect ranking scores, shape (queries,)."""
        return self.values(perfect)


@dataclass(frozen=True)
class RelevanceMeasure(Measure):
    """A measure of where the judged documents stand, over whole arrays of queries; a query with nothing relevant is left out.

    Attributes:
        rel: a document is relevant from this grade on; below it, it gains nothing.
        condensed: look at the judged documents alone, as if the others had not been returned (Sakai, SIGIR 2007).
    """

    options: ClassVar[Mapping[str, tuple[str, Option]]] = {"judged_only": ("condensed", str)}

    rel: int = 1
    condensed: bool = False

    def __post_init__(self) -> None:
        if self.rel < 1:
            raise InputError(f"rel={self.rel} of {self.called()!r} is below 1", remedy="a relevant document has grade 1 or more")
        super().__post_init__()

    @property
    def depth(self) -> int | None:
        """How many of the first hits decide the value; those that a condensed list leaves out come on top of k."""
        return None if self.condensed else self.k

    def formula(self, seen: Seen) -> Values:
        """Return the value of each query, shape (queries,); of those with nothing relevant any value."""
        raise NotImplementedError

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return the mean of the value over all orders of tied scores, exactly, shape (queries,)."""
        raise NotImplementedError

    def worth(self, grades: NDArray[np.int64]) -> Values:
        """Return what finding a document of each grade is worth, 0 where it is not relevant."""
        return (grades >= self.rel).astype(np.float64)

    def values(self, run: JudgedRun) -> Values:
        """Return the value of each query, nan where nothing is relevant."""
        seen = run.seen(self.rel, self.condensed)
        return np.where(seen.relevant > 0, self.formula(seen), np.nan)

    def interval(self, tied: Tied) -> TieInterval:
        """Return the bounds, which every relevance measure has where the higher grades of a group come last, and first."""
        worst, best = self.values(tied.worst), self.values(tied.best)
        seen = tied.run.seen(self.rel, self.condensed)
        among = tied.condensed() if self.condensed else tied
        expected = np.where(seen.relevant > 0, self.expected(Groups.of(among, self.rel, self.worth), seen), np.nan)
        return TieInterval(worst, np.clip(expected, np.minimum(worst, best), np.maximum(worst, best)), best)


@dataclass(frozen=True)
class SumMeasure(RelevanceMeasure):
    """A sum over the documents found, each weighing by its rank, over a norm.

    Sums run in rank order on both sides of a fraction, so that a perfect ranking scores exactly 1.
    """

    def discount(self, ranks: NDArray[np.int64]) -> Values | float:
        """Return what a gain at each rank is divided by."""
        return 1.0

    def limit(self, seen: Seen, rows: NDArray[np.int64]) -> NDArray[np.int64] | int | None:
        """Return the last rank that counts: the cut-off."""
        return self.k

    def counted(self, seen: Seen) -> Gains:
        """Return the documents that gain something."""
        return seen.found

    def norm(self, seen: Seen) -> Values | float:
        """Return what the sum is divided by, above 0, shape (queries,)."""
        raise NotImplementedError

    def total(self, seen: Seen, rows: NDArray[np.int64], ranks: NDArray[np.int64], gains: Values) -> Values:
        """Return each query's sum of the gains, discounted by rank."""
        limit = self.limit(seen, rows)
        if limit is not None:
            within = ranks <= limit
            rows, ranks, gains = rows[within], ranks[within], gains[within]
        return np.bincount(rows, gains / self.discount(ranks), minlength=seen.queries).astype(np.float64)

    def formula(self, seen: Seen) -> Values:
        """Return the sum over the norm."""
        found = self.counted(seen)
        return self.total(seen, found.rows, found.ranks, self.worth(found.grades)) / self.norm(seen)

    def expected(self, groups: Groups, seen: Seen) -> Values:
        """Return the sum of the mean gains of the places over the norm, since expectations add up."""
        return self.total(seen, groups.place_rows, groups.place_ranks, groups.gain[groups.place_group]) / self.norm(seen)
