"""A retriever composed of parts: arms find candidates, a fusion makes them one list, stages refine it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..datasets.errors import InputError
from ..datasets.model import Observation
from .corpus import Arm, ArmIndex, Bindable, Candidates, Corpus, Fusion, Question, Stage
from .ranking import Hit, Ranking
from .rounding import below, reaches
from .trace import Trace


@dataclass(frozen=True)
class _Shard:
    """One scope, indexed by every arm, with the stages bound to it."""

    corpus: Corpus
    arms: Mapping[str, ArmIndex]
    stages: Mapping[str, Stage]


class Pipeline:
    """Arms → fusion → stages → the best k, scope by scope.

    Args:
        arms: name → arm, run in this order; a later arm may start from what an earlier one found.
        fusion: how their candidates become one list; needed as soon as there are two arms.
        stages: name → stage, applied in this order; a stage set to null is switched off.
        depth: each arm gives ``depth × k`` candidates, so that fusion and stages have something to choose from.

    Raises:
        InputError: no arm, two arms without a fusion, or a depth below 1.
    """

    def __init__(
        self,
        arms: Mapping[str, Arm | None],
        fusion: Fusion | None = None,
        stages: Mapping[str, Stage | Bindable | None] | None = None,
        depth: int = 2,
    ) -> None:
        self.arms = {name: arm for name, arm in arms.items() if arm is not None}
        self.stages = {name: stage for name, stage in (stages or {}).items() if stage is not None}
        self.fusion, self.depth = fusion, depth
        if not self.arms:
            raise InputError("a pipeline needs at least one arm", where="arms")
        if len(self.arms) > 1 and fusion is None:
            raise InputError(f"{len(self.arms)} arms but no fusion", where="fusion", remedy="name one, such as WeightedRRF")
        if unknown := sorted(set(getattr(fusion, "weights", {})) - set(arms)):
            raise InputError(f"there is no arm {unknown[0]!r}", where=f"fusion.weights.{unknown[0]}", remedy=f"there are {', '.join(arms)}")
        if not isinstance(depth, int) or depth < 1:
            raise InputError(f"depth {depth} is below 1", where="depth")
        self._shards: dict[str, _Shard] = {}

    def index(self, observations: Sequence[Observation]) -> None:
        """Build every arm for every scope; a second call replaces the first."""
        by_scope: dict[str, list[Observation]] = defaultdict(list)
        for observation in observations:
            by_scope[observation.scope].append(observation)
        shards = {}
        for scope in sorted(by_scope):
            corpus = Corpus.of(by_scope[scope])
            arms = {name: arm.build(corpus) for name, arm in self.arms.items()}
            stages = {name: stage.bind(corpus) if isinstance(stage, Bindable) else stage for name, stage in self.stages.items()}
            shards[scope] = _Shard(corpus, arms, stages)
        self._shards = shards

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return the best `k` of the scope, with the trace; nothing when nothing matches, the scope is unknown or k < 1."""
        trace = Trace()
        shard = self._shards.get(scope)
        if shard is None or k < 1:
            return Ranking(trace=trace)
        with trace.span("total"):
            question = Question(query, asked_at, shard.corpus.visible(asked_at), trace=trace)
            found = self._gather(question, shard, self.depth * k)
            candidates = self._refine(self._fuse(found, trace), replace(question, earlier=found), shard, k)
            hits = _in_score_order(candidates.take(range(min(k, len(candidates)))), shard.corpus)
        return Ranking(hits, trace)

    def _gather(self, question: Question, shard: _Shard, limit: int) -> dict[str, Candidates]:
        found: dict[str, Candidates] = {}
        for name, arm in shard.arms.items():
            with question.trace.span(name):
                found[name] = arm.search(replace(question, earlier=found), limit)
            question.trace.arms[name] = found[name].traced(shard.corpus)
        return found

    def _fuse(self, found: Mapping[str, Candidates], trace: Trace) -> Candidates:
        if self.fusion is None:
            return next(iter(found.values()))
        with trace.span("fusion"):
            return self.fusion.fuse(found)

    def _refine(self, candidates: Candidates, question: Question, shard: _Shard, k: int) -> Candidates:
        for name, stage in shard.stages.items():
            with question.trace.span(name):
                kept = stage.apply(candidates, question, shard.corpus, k)
            survivors = set(kept.rows.tolist())
            dropped = (row for row in candidates.rows.tolist() if row not in survivors)
            question.trace.dropped[name] = tuple(shard.corpus.ids[row] for row in dropped)
            candidates = kept
        return candidates


def _in_score_order(candidates: Candidates, corpus: Corpus) -> tuple[Hit, ...]:
    """Lower the score of a hit that a stage moved down, so that sorting by score gives back the order of the stages."""
    hits: list[Hit] = []
    for row, score in zip(candidates.rows.tolist(), candidates.scores.tolist(), strict=True):
        hit = Hit(corpus.ids[row], score)
        if hits and reaches(score, hits[-1].score):
            tied = score <= hits[-1].score and hit.id > hits[-1].id
            hit = Hit(hit.id, hits[-1].score if tied else below(hits[-1].score))
        hits.append(hit)
    return tuple(hits)
