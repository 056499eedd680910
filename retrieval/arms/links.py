"""The link arm: what the knowledge graph joins to the best hits of the arms before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...datasets.errors import InputError
from ..corpus import Candidates, Corpus, Fusion, Question
from ..fusion import ConvexCombination
from ..text.analysis import Analysis, Analyzer
from .knowledge import KINDS, KnowledgeGraph

DECLARED: Mapping[str, float] = {"name": 0.0, "session": 0.0}
"""Kinds of nodes that join nothing here: a name in passing and a session join too much."""


class Links:
    """One step from the first hits to what shares rare nodes with them: the second hop of a question in two parts.

    link(a, b) = min(1, Σ weight⁴ of the nodes that both hold / `enough`), with the weights of `KnowledgeGraph`, which are the greater
    the fewer observations a node joins. A score is Σ over the first hits of `decay`^(rank − 1) × link. The hits are those of the arms
    before, made one list by `fusion`. The idea is spreading activation, of one step.
    Source: Collins and Loftus, A Spreading-Activation Theory of Semantic Processing, 1975.

    Args:
        fusion: makes one list of the arms before; `ConvexCombination` with equal weights when None.
        first: from how many hits links are followed, ≥ 1.
        decay: what the next hit counts beside the one before, 0 to 1.
        enough: the sum of fourth powers of weights that makes a link whole, > 0.
        kinds: kind of node → weight, 0 leaves the kind out; those not named keep their own, but names and sessions are left out.
        fan_out: a node that joins more observations than this joins none.
        analyzer: what makes parts of names; English with stems when None.

    Raises:
        InputError: an unknown kind or a number out of range.
    """

    def __init__(
        self,
        fusion: Fusion | None = None,
        first: int = 1,
        decay: float = 0.5,
        enough: float = 0.45,
        kinds: Mapping[str, float] | None = None,
        fan_out: int = 50,
        analyzer: Analysis | None = None,
    ) -> None:
        self.fusion, self.first, self.decay, self.enough = fusion or ConvexCombination(), first, float(decay), float(enough)
        self.kinds = {**KINDS, **DECLARED, **(kinds or {})}
        self.fan_out, self.analyzer = fan_out, analyzer or Analyzer()
        if first < 1:
            raise InputError(f"first {first} is below 1", where="first")
        if not 0 <= decay <= 1:
            raise InputError(f"decay {decay} is not in 0–1", where="decay")
        if not enough > 0:
            raise InputError(f"enough {enough} is not above 0", where="enough")
        for kind, weight in self.kinds.items():
            if kind not in KINDS:
                raise InputError(f"{kind!r} is not a kind of node", where="kinds", remedy=f"choose from {', '.join(KINDS)}")
            if not 0 <= weight <= 1:
                raise InputError(f"weight {weight} is not in 0–1", where=f"kinds.{kind}")

    def build(self, corpus: Corpus) -> _LinkIndex:
        """Build the graph of one corpus."""
        return _LinkIndex(self, KnowledgeGraph.of(corpus.observations, self.analyzer, self.kinds), len(corpus))


class _LinkIndex:
    def __init__(self, settings: Links, graph: KnowledgeGraph, rows: int) -> None:
        self.settings, self.graph, self.rows = settings, graph, rows
        self._strengths = np.where(np.diff(graph.rows.offsets) <= settings.fan_out, graph.weights**4, 0.0)

    def search(self, question: Question, limit: int) -> Candidates:
        """Return what is linked to the first hits, those hits themselves left out unless they are linked to one another."""
        every = np.zeros(self.rows)
        for rank, row in enumerate(self.settings.fusion.fuse(question.earlier).rows[: self.settings.first].tolist()):
            every += self.settings.decay**rank * self._links(row)
        if question.visible is not None:
            every[~question.visible] = np.nan
        linked = np.flatnonzero(every > 0)
        return replace(Candidates.best(linked, every[linked], limit), every=every)

    def _links(self, row: int) -> np.ndarray:
        nodes = self.graph.nodes.of(row)
        nodes = nodes[self._strengths[nodes] > 0]
        shared = np.repeat(self._strengths[nodes], self.graph.rows.degrees(nodes))
        links = np.bincount(self.graph.rows.of_all(nodes), shared, self.rows) if len(nodes) else np.zeros(self.rows)
        links[row] = 0.0
        return np.minimum(1.0, links / self.settings.enough)
