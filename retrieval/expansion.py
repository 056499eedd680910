"""Query expansion: ask the same thing in several ways and fuse what each finds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

import numpy as np

from ..datasets.errors import InputError
from ..datasets.yaml_file import read_yaml
from .corpus import Candidates
from .fusion import WeightedRRF
from .ranking import Ranking, Retriever, Wrapper
from .text.analysis import Analyzer
from .text.stop_words import FUNCTION_WORDS
from .text.synonyms import SOFTWARE, Synonyms, load_groups
from .trace import ArmTrace, Trace

_JOINT = re.compile(r"[,;]|\band\b|\bor\b", re.IGNORECASE)


class Reformulations(Protocol):
    """What words a question otherwise."""

    def of(self, query: str) -> Mapping[str, str]:
        """Return name → reformulation; none when there is nothing to say otherwise."""
        ...


class Expansion(Wrapper):
    """A retriever asked the question and its reformulations, their rankings fused by reciprocal rank.

    Args:
        retriever: what is asked.
        reformulations: what the question is reformulated by; `ByRules` when None.
        weight: what a reformulation's ranking counts where that of the question counts 1, > 0.
        k: the rank constant of the fusion.

    Raises:
        InputError: a weight that is not positive.
    """

    def __init__(self, retriever: Retriever, reformulations: Reformulations | None = None, weight: float = 0.5, k: float = 60.0) -> None:
        if not weight > 0:
            raise InputError(f"weight {weight} is not positive", where="weight")
        super().__init__(retriever)
        self.reformulations = reformulations or ByRules()
        self.weight, self.k = weight, k

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Return the best `k` of the fusion; the trace has a ranking for each way of asking."""
        trace = Trace()
        with trace.span("total"):
            rankings: dict[str, Ranking] = {}
            for name, text in {"question": query, **self.reformulations.of(query)}.items():
                with trace.span(name):
                    rankings[name] = self.retriever.search(text, k, scope=scope, asked_at=asked_at)
                trace.arms[name] = ArmTrace(rankings[name].ids, tuple(hit.score for hit in rankings[name].hits))
            with trace.span("fusion"):
                return Ranking.of(self._fused(rankings)[:k], trace)

    def _fused(self, rankings: Mapping[str, Ranking]) -> list[tuple[str, float]]:
        ids = sorted({identifier for ranking in rankings.values() for identifier in ranking.ids})
        rows = {identifier: row for row, identifier in enumerate(ids)}
        fusion = WeightedRRF({name: 1.0 if name == "question" else self.weight for name in rankings}, self.k)
        fused = fusion.fuse({name: _as_candidates(ranking, rows) for name, ranking in rankings.items()})
        return [(ids[row], score) for row, score in zip(fused.rows.tolist(), fused.scores.tolist(), strict=True)]


class Given:
    """Reformulations from a YAML or JSON file: question → list of other wordings, such as a language model wrote beforehand.

    Raises:
        InputError: no such file, or anything else in it.
    """

    def __init__(self, path: str) -> None:
        self._wordings = _read(Path(path))

    def of(self, query: str) -> Mapping[str, str]:
        """Return the wordings given for this very question."""
        return {f"given {number}": text for number, text in enumerate(self._wordings.get(query, ()), start=1)}


class ByRules:
    """Reformulations without a model: the content words alone, each half of a question in two parts, and synonyms in place.

    Args:
        synonyms: ``software``, or a YAML or JSON file of groups; None switches that rule off.
    """

    def __init__(self, synonyms: str | Path | None = SOFTWARE) -> None:
        self._analyzer = Analyzer(stem=False)
        self._synonyms = Synonyms(load_groups(synonyms) if synonyms is not None else (), self._analyzer)

    def of(self, query: str) -> Mapping[str, str]:
        """Return those of "keywords", "part 1", "part 2", … and "synonyms" that say something else than the question."""
        terms = [term.strip(".-/") for term in self._analyzer.terms(query)]
        keywords = [term for term in terms if term not in FUNCTION_WORDS]
        found = {"keywords": " ".join(keywords)}
        parts = [part.strip(" ?.!") for part in _JOINT.split(query) if not FUNCTION_WORDS.issuperset(self._analyzer.terms(part))]
        if len(parts) > 1:
            found |= {f"part {number}": part for number, part in enumerate(parts, start=1)}
        if others := self._synonyms.of(keywords):
            found["synonyms"] = " ".join([*keywords, *others])
        return {name: text for name, text in found.items() if text and text.lower() != query.lower()}


def _as_candidates(ranking: Ranking, rows: Mapping[str, int]) -> Candidates:
    return Candidates(
        np.array([rows[identifier] for identifier in ranking.ids], np.int64), np.array([hit.score for hit in ranking.hits], np.float64)
    )


def _read(path: Path) -> dict[str, list[str]]:
    wordings = read_yaml(path, "the file of wordings", remedy="name a YAML or JSON file")
    if not isinstance(wordings, dict) or not all(isinstance(v, list) and all(isinstance(t, str) for t in v) for v in wordings.values()):
        raise InputError("not a mapping of questions to lists of wordings", where=str(path))
    return {str(query): texts for query, texts in wordings.items()}
