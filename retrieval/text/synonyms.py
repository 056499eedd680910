"""Synonym groups: terms that mean the same, so that a question finds what was worded otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...datasets.errors import InputError
from ...datasets.yaml_file import read_yaml
from .analysis import Analysis

SOFTWARE = "software"
"""The name of the packaged groups, for software work."""

Group = tuple[str, ...]


class Synonyms:
    """The groups as an analyzer sees them.

    A member of several words stands for all of them: it is met when the question holds every one, and adds every one.
    """

    def __init__(self, groups: Iterable[Sequence[str]], analyzer: Analysis) -> None:
        self._met: defaultdict[str, list[tuple[Group, list[Group]]]] = defaultdict(list)
        for group in groups:
            members = list(dict.fromkeys(filter(None, (tuple(analyzer.terms(member)) for member in group))))
            for member in members:
                self._met[member[0]].append((member, [other for other in members if other != member]))

    def of(self, terms: Iterable[str]) -> list[str]:
        """Return the terms that mean the same as some of `terms` and are not among them, each once, in their order."""
        known = dict.fromkeys(terms)
        found: dict[str, None] = {}
        for term in known:
            for member, others in self._met.get(term, ()):
                if all(word in known for word in member):
                    found.update(dict.fromkeys(word for other in others for word in other if word not in known))
        return list(found)


def load_groups(source: str | Path) -> tuple[Group, ...]:
    """Read the packaged groups, or one's own from a YAML or JSON file: a list of lists of words.

    Raises:
        InputError: no such file, or anything else in it.
    """
    path, place = Path(__file__).with_name("synonyms.yaml") if source == SOFTWARE else Path(source), str(source)
    groups = read_yaml(path, "the file of synonyms", remedy=f"name a YAML or JSON file, or {SOFTWARE!r}")
    if not isinstance(groups, list):
        raise InputError("the synonyms are not a list of groups", where=place, remedy="write one list of words a group")
    for number, group in enumerate(groups, start=1):
        if not isinstance(group, list) or not all(isinstance(word, str) for word in group):
            raise InputError(f"group {number} is {group!r}, not a list of words", where=place, remedy="quote words such as 'on'")
    return tuple(tuple(group) for group in groups)
