"""What a run has to say before its values are read: each thing once, kept in its manifest, told at its end and in its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..datasets.model import Dataset
from ..retrieval.text.scripts import script

SHARE = 0.1
"""From which share of the questions' letters on a script that a system can't read is told."""

_SAMPLE = 1000


class Notice(NamedTuple):
    """One thing to know, and the system that it is about; "" for the data set or the run."""

    system: str
    text: str


def notices_of(dataset: Dataset, readers: Mapping[str, Sequence[Reads]], k: int, dangling: int) -> list[Notice]:
    """Return what is to be known of a data set, and of systems on it.

    Args:
        readers: system → which scripts each of its arms can read.
        k: how many observations a query asks for.
        dangling: how many judgments name observations that there are not.
    """
    told = [Notice("", f"data set {dataset.name}: {note}") for note in dataset.notes]
    if dangling:
        told.append(Notice("", f"{dangling} judgments name observations that the data set does not have; they count as not found"))
    told += _small_pools(dataset, k)
    shares = _scripts(dataset)
    for system, arms in readers.items():
        unread = {name: share for name, share in shares.items() if share >= SHARE and not any(arm.script(name) for arm in arms)}
        if arms and unread:
            named = " and ".join(sorted(unread, key=lambda name: (-unread[name], name)))
            share = f"{sum(unread.values()):.0%} of the questions' letters"
            told.append(Notice(system, f"{arms[0].why} {named} ({share}); its values say little here"))
    return told


class Reads(NamedTuple):
    """Which scripts a system can read: only those of `made_for` (None: all), and none of `unread`."""

    made_for: Collection[str] | None = None
    unread: Collection[str] = ()

    def script(self, name: str) -> bool:
        """Return whether it can read a script."""
        return name not in self.unread and (self.made_for is None or name in self.made_for)

    @property
    def why(self) -> str:
        """Begin to say why it can't."""
        if self.unread:
            return "it finds words by spaces, which are not written in"
        return "its model was not made for"


def _small_pools(dataset: Dataset, k: int) -> list[Notice]:
    pools = Counter(o.scope for o in dataset.observations)
    asked = Counter(query.scope for query in dataset.queries)
    small = {scope: pools[scope] for scope in asked if pools[scope] < k}
    if not small:
        return []
    queries = sum(asked[scope] for scope in small)
    whole = "all" if queries == len(dataset.queries) else f"{queries:,} of {len(dataset.queries):,}"
    words = f"{whole} queries search fewer observations than the k = {k} asked for (at least {min(small.values()):,})"
    return [Notice("", f"{words}: at such depths whoever returns everything finds everything")]


def _scripts(dataset: Dataset) -> dict[str, float]:
    letters: Counter[str] = Counter()
    for query in dataset.queries[:_SAMPLE]:
        letters.update(filter(str.isalpha, query.text))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[script(letter)] += count
    return {name: count / letters.total() for name, count in scripts.items()} if letters else {}
