"""Supersession: a later observation that contradicts an earlier one is marked as its successor."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...datasets.model import Observation
from ..text.analysis import Analysis, Analyzer
from .retriever import Intake

_REPLACED = re.compile(
    r"\b(?:replac(?:e|es|ed|ing)|supersed(?:e|es|ed)|retir(?:e|es|ed)|drop(?:s|ped)?|remov(?:e|es|ed)|(?:takes|took) over from"
    r"|instead of|in place of|rather than|no longer)\s+(?P<old>[^,.;:]+)"
    r"|\b(?:from|off)\s+(?P<from>[^,.;:]+?)\s+(?:on)?to\s",
    re.IGNORECASE,
)
_SETTING = re.compile(r"\b(?P<name>[A-Za-z][\w.]*)=(?P<value>[^\s=>,;\"')]+)")


class Supersede:
    """Mark an observation as superseded by the first later one that contradicts it.

    Contradicted is, of the observations that share a file or a concept with the later one, the last whose title has all the
    terms that the later title says are replaced ("Prisma replaces Knex", "moved from npm to pnpm"), and each that gave
    another value to the same setting (``pool=10``, ``pool=20``). Nothing is removed here: `HideSuperseded` hides what was
    superseded when a question was asked.

    Args:
        trust: keep the marks that observations bring along; otherwise they are cleared first and only counted.
        analyzer: what makes terms of titles; English with stems when None.
    """

    def __init__(self, trust: bool = True, analyzer: Analysis | None = None) -> None:
        self.trust, self.analyzer = trust, analyzer or Analyzer()

    def apply(self, observations: Sequence[Observation]) -> Intake:
        """Return the observations with marks; counts are the marks brought along, found, and found as brought along."""
        found = self._found(observations)
        brought = {o.id: o.superseded_by for o in observations if o.superseded_by}
        counts = {
            "brought": len(brought),
            "found": len(found),
            "found_as_brought": sum(brought.get(old) == new for old, new in found.items()),
        }
        marks = {**found, **brought} if self.trust else found
        return Intake(tuple(replace(o, superseded_by=marks.get(o.id)) for o in observations), counts)

    def _found(self, observations: Sequence[Observation]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        titles = [set(self.analyzer.terms(o.title)) for o in observations]
        settings: dict[str, list[tuple[Observation, str]]] = defaultdict(list)
        for position, later in enumerate(observations):
            for old in self._replaced(later.title):
                for earlier, title in zip(reversed(observations[:position]), reversed(titles[:position]), strict=True):
                    if old <= title and _related(earlier, later):
                        found.setdefault(earlier.id, later.id)
                        break
            for name, value in _settings(later):
                for earlier, before in settings[name]:
                    if before != value and _related(earlier, later):
                        found.setdefault(earlier.id, later.id)
                settings[name].append((later, value))
        return found

    def _replaced(self, title: str) -> Iterator[set[str]]:
        for match in _REPLACED.finditer(title):
            if terms := set(self.analyzer.terms(match["old"] or match["from"])):
                yield terms


def _settings(observation: Observation) -> Iterator[tuple[str, str]]:
    for text in (observation.title, observation.narrative, *observation.facts):
        for match in _SETTING.finditer(text):
            yield match["name"], match["value"].rstrip(".")


def _related(a: Observation, b: Observation) -> bool:
    return not set(a.files).isdisjoint(b.files) or not set(a.concepts).isdisjoint(b.concepts)
