"""The knowledge graph of a memory: observations joined by what they name, by session, and by what superseded what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...datasets.model import Observation
from ..indexes.postings import Postings
from ..text.analysis import Analysis
from .entities import entities, parts

KINDS: Mapping[str, float] = {"file": 0.9, "concept": 0.7, "name": 0.8, "session": 0.3, "superseded": 1.0}
"""How strongly a shared node of each kind joins two observations."""

_LONGEST_MENTION = 3


@dataclass(frozen=True)
class Adjacency:
    """Directed edges in flat arrays: those of ``i`` lie at ``offsets[i]:offsets[i + 1]`` of `targets`."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]

    def of(self, source: int) -> NDArray[np.int32]:
        """Return the targets of one source."""
        return self.targets[self.offsets[source] : self.offsets[source + 1]]

    def degrees(self, sources: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return how many targets each source has."""
        return self.offsets[sources + 1] - self.offsets[sources]

    def of_all(self, sources: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the targets of several sources one after another, repeats included."""
        degrees = self.degrees(sources)
        begins = self.offsets[sources] - np.concatenate(([0], np.cumsum(degrees)[:-1]))
        return self.targets[np.repeat(begins, degrees) + np.arange(degrees.sum())]

    def reversed(self, targets: int) -> Adjacency:
        """Return the same edges from the other side."""
        sources = np.repeat(np.arange(len(self.offsets) - 1, dtype=np.int32), np.diff(self.offsets))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(self.targets, minlength=targets))))
        return Adjacency(offsets, sources[np.argsort(self.targets, kind="stable")])


@dataclass(frozen=True)
class KnowledgeGraph:
    """Nodes on one side, observations (rows) on the other; two observations are neighbours when they share a node.

    An edge weighs what its node does: the weight of the node's kind times how specific it is, ln(1 + N / n) / ln(1 + N) for a
    node that joins n of N observations, which is 1 for the rarest and near 0 for what is everywhere.

    Attributes:
        rows: node → the observations that it joins.
        nodes: observation → the nodes that it holds.
        weights: edge weight by node; shape (nodes,).
        names: the nodes whose name holds a part, part by part; its lengths are the parts of each node's name, 0 for no name.
    """

    rows: Adjacency
    nodes: Adjacency
    weights: NDArray[np.float64]
    names: Postings

    @classmethod
    def of(cls, observations: Sequence[Observation], analyzer: Analysis, kinds: Mapping[str, float] = KINDS) -> KnowledgeGraph:
        """Build the graph of a memory.

        A name once known, from a concept, a file or the way it is written, is recognised wherever it is mentioned.

        Args:
            kinds: weight by kind; a kind of weight 0 is left out.
        """
        successors = {observation.superseded_by for observation in observations}
        declared = [list(_declared(observation, observation.id in successors, analyzer)) for observation in observations]
        strongest: dict[str, float] = {}
        for key, kind in chain.from_iterable(declared):
            if key and kinds[kind] > 0:
                strongest[key] = max(kinds[kind], strongest.get(key, 0.0))
        held = Postings.of(
            strongest.keys() & {*(key for key, _ in pairs), *_mentions(observation, analyzer)}
            for pairs, observation in zip(declared, observations, strict=True)
        )
        rows = Adjacency(held.offsets, held.rows)
        total = max(len(observations), 1)
        specificity = np.log1p(total / held.frequencies()) / np.log1p(total)
        weights = np.array([strongest[key] for key in held.vocabulary]) * specificity
        names = Postings.of(dict.fromkeys(_name(key, analyzer)) for key in held.vocabulary)
        return cls(rows, rows.reversed(len(observations)), weights, names)

    def named_by(self, terms: Mapping[str, float]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nodes of whose names at least half of the parts are among `terms`, and how well each is named.

        A node is named as well as the mean over the parts of its name of their weights in `terms`, 0 for a part that is missing.
        """
        found, given = [np.empty(0, np.int32)], [np.empty(0)]
        for term, weight in terms.items():
            found.append(self.names.holders(term))
            given.append(np.full(len(found[-1]), weight))
        nodes, at, matched = np.unique(np.concatenate(found), return_inverse=True, return_counts=True)
        sizes = self.names.lengths[nodes]
        qualities = np.bincount(at, np.concatenate(given), len(nodes)) / np.maximum(sizes, 1)
        enough = 2 * matched >= sizes
        return nodes[enough].astype(np.int64), qualities[enough]


def _declared(observation: Observation, succeeds: bool, analyzer: Analysis) -> Iterator[tuple[str, str]]:
    """Yield (key, kind) of each node that an observation gives rise to; `succeeds` says that it superseded another."""
    o = observation
    for text in (o.title, o.subtitle, o.narrative, *o.facts):
        for entity in entities(text):
            yield _key(entity, analyzer), "name"
    for concept in o.concepts:
        yield _key(concept, analyzer), "concept"
    for file in o.files:
        yield _key(file.rpartition("/")[2], analyzer), "name"
        yield f"file:{file}", "file"
    if o.session_id:
        yield f"session:{o.session_id}", "session"
    if o.superseded_by is not None:
        yield f"superseded:{o.superseded_by}", "superseded"
    if succeeds:
        yield f"superseded:{o.id}", "superseded"


def _mentions(observation: Observation, analyzer: Analysis) -> Iterator[str]:
    """Yield everything in an observation's texts that may be the key of a name."""
    o = observation
    for text in (o.title, o.subtitle, o.narrative, *o.facts):
        terms = parts(text, analyzer)
        for length in range(1, _LONGEST_MENTION + 1):
            yield from map(" ".join, zip(*(terms[start:] for start in range(length)), strict=False))


def _key(name: str, analyzer: Analysis) -> str:
    return " ".join(parts(name, analyzer))


def _name(key: str, analyzer: Analysis) -> Iterable[str]:
    """Return the parts by which a question may name a node; none for a session or a supersession."""
    kind, colon, path = key.partition(":")
    if not colon:
        return key.split()
    return parts(path, analyzer) if kind == "file" else ()
