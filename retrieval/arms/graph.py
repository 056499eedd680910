"""The graph arm: observations that share what the question names, and what the best hits of another arm hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Question
from ..text.analysis import Analysis, Analyzer
from ..topk import top_k
from .entities import entities, parts
from .knowledge import KINDS, KnowledgeGraph


class Graph:
    """Walk the knowledge graph from the nodes that the question names and from the best hits of an earlier arm.

    A walk gives each observation the best of its paths: 1 when it holds the node itself, else the mean edge weight of the path over
    its length in steps. The score is the sum of the walks, each weighted by how well the question names its node and how specific that is,
    the best of them 1. From a hit of the earlier arm one step is taken, weighted by its share of the best hit's score.

    Args:
        analyzer: what makes parts of names; English with stems when None.
        kinds: kind of node → weight of its edges, 0 leaves the kind out; those not named keep their own.
        earlier: the arm whose best hits are starting points too; none when it did not run.
        expand: how many of them.
        depth: steps from a named node: 1 to its own observations, 2 to their neighbours.
        plain_weight: what an ordinary word of the question counts beside one that it names.
        fan_out: a node that joins more observations than this is never walked through.
        starts: from how many named nodes, the best ones, a walk begins.

    Raises:
        InputError: an unknown kind or a number out of range.
    """

    def __init__(
        self,
        analyzer: Analysis | None = None,
        kinds: Mapping[str, float] | None = None,
        earlier: str = "vector",
        expand: int = 5,
        depth: int = 2,
        plain_weight: float = 0.5,
        fan_out: int = 50,
        starts: int = 12,
    ) -> None:
        self.analyzer = analyzer or Analyzer()
        self.kinds = {**KINDS, **(kinds or {})}
        self.earlier, self.expand, self.depth = earlier, expand, depth
        self.plain_weight, self.fan_out, self.starts = plain_weight, fan_out, starts
        for kind, weight in self.kinds.items():
            if kind not in KINDS:
                raise InputError(f"{kind!r} is not a kind of node", where="kinds", remedy=f"choose from {', '.join(KINDS)}")
            if not 0 <= weight <= 1:
                raise InputError(f"weight {weight} is not in 0–1", where=f"kinds.{kind}")
        for name, least, most in (
            ("expand", 0, np.inf),
            ("depth", 1, 2),
            ("plain_weight", 0, 1),
            ("fan_out", 0, np.inf),
            ("starts", 0, np.inf),
        ):
            if not least <= getattr(self, name) <= most:
                raise InputError(f"{name} {getattr(self, name)} is not in {least}–{most}", where=name)

    def build(self, corpus: Corpus) -> _GraphIndex:
        """Build the graph of one corpus."""
        return _GraphIndex(self, KnowledgeGraph.of(corpus.observations, self.analyzer, self.kinds), len(corpus))


class _Walk(NamedTuple):
    """Rows with the worth of the path to each; of several paths to one row the best comes last."""

    weight: float
    rows: NDArray[np.integer]
    values: NDArray[np.float64]


class _GraphIndex:
    def __init__(self, settings: Graph, graph: KnowledgeGraph, rows: int) -> None:
        self.settings, self.graph = settings, graph
        self._walkable = np.diff(graph.rows.offsets) <= settings.fan_out
        self._all = np.ones(rows, np.bool_)

    def search(self, question: Question, limit: int) -> Candidates:
        visible = self._all if question.visible is None else question.visible
        scores, best = np.zeros(len(visible)), np.zeros(len(visible))
        for walk in (*self._from_names(question.text, visible), *self._from_hits(question, visible)):
            best[walk.rows] = walk.values  # the last of several values for one row stays
            reached = np.unique(walk.rows)
            scores[reached] += walk.weight * best[reached]
        return top_k(scores, limit, question.visible)

    def _from_names(self, text: str, visible: NDArray[np.bool_]) -> Iterator[_Walk]:
        """Walk from the nodes that the question names, the best first."""
        nodes, qualities = self.graph.named_by(self._terms(text))
        weights = qualities * self.graph.weights[nodes]
        starts = Candidates.best(nodes[weights > 0], weights[weights > 0], self.settings.starts)
        for node, weight in zip(starts.rows.tolist(), starts.scores.tolist(), strict=True):
            rows = self.graph.rows.of(node)
            rows = rows[visible[rows]]
            walk = _Walk(weight / starts.scores[0], rows, np.ones(len(rows)))
            if self.settings.depth > 1 and self._walkable[node]:
                further, edges = self._step(rows)
                path = (self.graph.weights[node] + edges) / 2 / 2
                walk = walk._replace(rows=np.concatenate((further, rows)), values=np.concatenate((path, walk.values)))
            yield walk

    def _from_hits(self, question: Question, visible: NDArray[np.bool_]) -> Iterator[_Walk]:
        """Take one step from the best hits of the earlier arm."""
        hits = question.earlier.get(self.settings.earlier, Candidates.none())
        for row, score in zip(hits.rows[: self.settings.expand], hits.scores[: self.settings.expand], strict=True):
            if score <= 0:
                break
            rows, edges = self._step(np.array([row]))
            others = (rows != row) & visible[rows]
            yield _Walk(score / hits.scores[0], rows[others], edges[others])

    def _step(self, rows: NDArray[np.integer]) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
        """Return the neighbours of rows, each with the weight of the edge to it, in rising order of weight."""
        nodes = np.unique(self.graph.nodes.of_all(rows))
        nodes = nodes[self._walkable[nodes]]
        nodes = nodes[np.argsort(self.graph.weights[nodes], kind="stable")]
        return self.graph.rows.of_all(nodes), np.repeat(self.graph.weights[nodes], self.graph.rows.degrees(nodes))

    def _terms(self, text: str) -> dict[str, float]:
        """Return the parts of what the question names at weight 1, and those of its other words at the plain weight."""
        analyzer = self.settings.analyzer
        plain = dict.fromkeys(parts(text, analyzer), self.settings.plain_weight)
        return plain | {part: 1.0 for entity in entities(text) for part in parts(entity, analyzer)}
