"""The evaluation loop: every system is asked the same queries, and what happens is written down, failures included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from random import Random
from typing import Any, Literal, get_args

from tqdm import tqdm

from ..datasets.errors import InputError
from ..datasets.model import Dataset, Observation, Query
from ..retrieval.isolation.plain import plain_ranking, plain_report, told
from ..retrieval.ranking import Control, Hit, Ranking, Retriever
from ..retrieval.text.rendering import render
from ..retrieval.text.tokens import count
from ..retrieval.timing import clock
from ..retrieval.trace import Trace
from .measures.canonical import canonical
from .sentinels import Faults, inspect

Status = Literal["ok", "empty", "failed"]
Retime = Literal["sample", "all", "none"]
Isolate = Literal["auto", "always", "never"]

SAMPLE = 30
"""How many queries are asked live where answers that come from a cache have no time."""


@dataclass(frozen=True)
class Answer:
    """What one system gave for one query.

    Attributes:
        hits: the canonical ranking.
        tokens: tokens of the text really returned in the first `Protocol.tokens_at` hits.
        spans: span → milliseconds measured in this run, the median over the repeats; empty where something came from a cache.
        error: why it failed; "" when it did not.
        faults: breaches of the retriever's contract that were repaired, by name.
    """

    status: Status
    hits: tuple[Hit, ...] = ()
    tokens: int = 0
    spans: Mapping[str, float] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    error: str = ""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemResult:
    """One system's answers to every query, by query id; `report` is what the system itself has to say.

    The times of indexing and of the first query are None where they are not known: documents that an earlier run embedded, no warm-up.
    """

    name: str
    answers: Mapping[str, Answer]
    index_ms: float | None
    cold_ms: float | None
    report: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    """What failed once every query was answered: its report, or its end."""


@dataclass(frozen=True)
class Protocol:
    """How a run is conducted.

    Args:
        k: how many observations a query asks for.
        warm_up: queries asked before any is timed.
        repeats: how often each query is timed; the median counts.
        retime: which queries are asked live where a cache would answer a part: a sample of them, all, or none, who then have no time.
        seed: of the sample.
        isolate: which systems are built and run in a process of their own: ``auto`` those with a part that is not ours, ``always`` all but
            the controls, ``never`` none.
        index_timeout, search_timeout, memory_mb: seconds and MiB that such a system may take, see `Limits`.
        tokens_at: how many of the first hits are counted as read.
        tokens_counter: how tokens are counted.
        strict: a breach of the retriever's contract fails the query; otherwise it is repaired and counted.

    Raises:
        InputError: a number out of range.
    """

    k: int = 20
    warm_up: int = 3
    repeats: int = 3
    tokens_at: int = 10
    tokens_counter: str = "chars4"
    strict: bool = True
    retime: Retime = "sample"
    seed: int = 0
    isolate: Isolate = "auto"
    index_timeout: float = 3600.0
    search_timeout: float = 60.0
    memory_mb: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("k", 1), ("warm_up", 0), ("repeats", 1), ("tokens_at", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"{name} is {value!r}", where=name, remedy=f"give a whole number of at least {least}")
        if not isinstance(self.strict, bool):
            raise InputError(f"strict is {self.strict!r}", where="protocol.strict", remedy="give true or false")
        for name, choices in (("retime", get_args(Retime)), ("isolate", get_args(Isolate))):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} is {getattr(self, name)!r}", where=f"protocol.{name}", remedy=f"give {', '.join(choices)}")
        for name in ("index_timeout", "search_timeout", "memory_mb"):
            value = getattr(self, name)
            unlimited = value is None and name == "memory_mb"
            if not unlimited and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
                raise InputError(f"{name} is {value!r}", where=f"protocol.{name}", remedy="give a number above 0")

    def retimed(self, queries: Sequence[Query]) -> frozenset[str]:
        """Return the ids of the queries that are asked live where a cache would answer a part."""
        ids = sorted(query.id for query in queries)
        if self.retime == "sample":
            ids = Random(self.seed).sample(ids, min(SAMPLE, len(ids)))
        return frozenset(ids if self.retime != "none" else ())


def evaluate(dataset: Dataset, systems: Mapping[str, Retriever], protocol: Protocol, *, progress: bool = True) -> list[SystemResult]:
    """Ask every system every query, in the order of the queries; a system that raises fails alone."""
    texts = _Texts(dataset.observations, protocol.tokens_counter)
    results = []
    with tqdm(total=len(systems) * len(dataset.queries), desc="evaluating", unit="query", disable=None if progress else True) as bar:
        for name, system in systems.items():
            bar.set_description(name)
            results.append(_evaluate_one(name, system, dataset, protocol, texts, bar.update))
    return results


class _Texts:
    """What the observations cost to read, counted once each."""

    def __init__(self, observations: Sequence[Observation], counter: str) -> None:
        self._observations = {o.id: o for o in observations}
        self._counter = counter
        self._counts: dict[str, int] = {}
        self.scopes = {o.id: o.scope for o in observations}
        self.times = {o.id: o.timestamp for o in observations}

    def tokens(self, identifiers: Iterable[str]) -> int:
        total = 0
        for identifier in identifiers:
            if identifier not in self._counts:
                self._counts[identifier] = count(render(self._observations[identifier]), self._counter)
            total += self._counts[identifier]
        return total


def memory_tokens(dataset: Dataset, counter: str) -> float:
    """Return the mean tokens of all that a query may search, which is what loading everything would cost."""
    by_scope: Counter[str] = Counter()
    for observation in dataset.observations:
        by_scope[observation.scope] += count(render(observation), counter)
    scopes = [query.scope for query in dataset.queries] or list(by_scope)
    return sum(by_scope[scope] for scope in scopes) / max(1, len(scopes))


def _evaluate_one(
    name: str, system: Retriever, dataset: Dataset, protocol: Protocol, texts: _Texts, tick: Callable[[int], object]
) -> SystemResult:
    if isinstance(system, Control):
        system.reveal(dataset.queries)
    clock.next_system()
    try:
        with clock.stopwatch() as indexing:
            system.index(dataset.observations)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plug-in may raise anything, and call sys.exit; it fails alone
        tick(len(dataset.queries))
        failed = Answer("failed", error=f"index: {told(error)}")
        _finished(system)
        return SystemResult(name, {query.id: failed for query in dataset.queries}, None, None)
    cold_ms = _warm_up(system, dataset.queries, protocol)
    answers, retimed = {}, protocol.retimed(dataset.queries)
    for query in dataset.queries:
        answers[query.id] = _ask(system, query, protocol, texts, query.id in retimed)
        tick(1)
    return SystemResult(name, answers, indexing.ms, cold_ms, *_finished(system))


def _finished(system: Retriever) -> tuple[Mapping[str, Any], str]:
    """Ask a system for its report and close it; return the report, and what went wrong."""
    report, errors = {}, []
    for name in ("report", "close"):
        try:
            method: Callable[[], Any] | None = getattr(system, name, None)
            if callable(method):
                found = method()
                report = plain_report(found) if name == "report" else report
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            errors.append(f"{name}: {told(error)}")
    return report, "; ".join(errors)


def _warm_up(system: Retriever, queries: Sequence[Query], protocol: Protocol) -> float | None:
    """Ask the first queries live and uncounted; return the milliseconds of the very first, the cold start."""
    cold: list[float | None] = []
    try:
        with clock.live(protocol.retime != "none"):
            for query in queries[: protocol.warm_up]:
                cold.append(_search(system, query, protocol)[1].get("total"))
    except KeyboardInterrupt:
        raise
    except BaseException:  # the timed pass records it
        pass
    return cold[0] if cold else None


def _search(system: Retriever, query: Query, protocol: Protocol) -> tuple[Ranking, Mapping[str, float]]:
    """Ask once; return the answer with its spans, which are none where a part of it came from a cache."""
    with clock.stopwatch() as watch:
        found = system.search(query.text, protocol.k, scope=query.scope, asked_at=query.asked_at)
    found = plain_ranking(found)
    if watch.ms is None or protocol.retime == "none":
        return found, {}
    return found, {**(found.trace.spans if found.trace else {}), "total": watch.ms}


def _ask(system: Retriever, query: Query, protocol: Protocol, texts: _Texts, retimed: bool) -> Answer:
    spans: list[Mapping[str, float]] = []
    ranking, faults, hits = Ranking(), Faults({}, ()), ()
    try:
        for repeat in range(protocol.repeats):
            found, times = _search(system, query, protocol)
            spans.append(times)
            if repeat == 0:
                ranking = found
                faults = inspect(ranking.hits, query, protocol.k, scopes=texts.scopes, times=texts.times)
                hits = _accepted(ranking.hits, faults, query, protocol)
            elif not _alike(found.hits, ranking.hits):
                raise InputError("two searches for one query gave different answers", where=f"query {query.id}", remedy="seed the system")
        if retimed and not all(spans):
            with clock.live():
                spans = [_search(system, query, protocol)[1] for _ in range(protocol.repeats)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plug-in may raise anything, and call sys.exit; the query is counted and named
        return Answer("failed", error=told(error))
    return Answer(
        "ok" if hits else "empty",
        hits,
        texts.tokens(hit.id for hit in hits[: protocol.tokens_at]),
        _medians([times for times in spans if times]),
        ranking.trace or Trace(),
        faults=faults.names,
    )


def _alike(one: Sequence[Hit], other: Sequence[Hit]) -> bool:
    """Whether two answers agree up to the last digits of float32, which depend on where vectors lie in memory.

    One id that only one of them has may have tied for the last place; two would be another answer.
    """
    if one == other or len(one) != len(other):
        return one == other
    scores = {hit.id: hit.score for hit in other}
    if sum(hit.id not in scores for hit in one) > 1:
        return False
    return all(isclose(hit.score, scores.get(hit.id, other[-1].score), rel_tol=1e-5, abs_tol=1e-6) for hit in one)


def _accepted(hits: Sequence[Hit], faults: Faults, query: Query, protocol: Protocol) -> tuple[Hit, ...]:
    if faults and protocol.strict:
        raise InputError(str(faults), where=f"query {query.id}", remedy="mend the retriever, or set strict=false to repair and count")
    return canonical(faults.repaired(hits), query.id)


def _medians(spans: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for measured in spans for name in measured)
    return {name: sorted(measured.get(name, 0.0) for measured in spans)[len(spans) // 2] for name in names}
