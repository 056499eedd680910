"""One measurement: a resolved configuration becomes a data set and systems, and these become answers and scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

from ..datasets.errors import InputError
from ..datasets.model import Dataset
from ..evaluation.audits import controls
from ..evaluation.environment import environment, load
from ..evaluation.loop import Protocol, SystemResult, evaluate
from ..evaluation.measures.grammar import measure_of, parse_measure
from ..evaluation.measures.measure import Measure
from ..evaluation.measures.metrics import Scores, dangling, score
from ..evaluation.notices import Notice, Reads, notices_of
from ..evaluation.record import shaping
from ..evaluation.summary import context_of
from ..retrieval.embedders.embedding import CachedEmbedder
from ..retrieval.identity import identity
from ..retrieval.isolation.isolated import Isolated, Limits
from ..retrieval.ranking import Control, Retriever
from ..retrieval.text.scripts import UNSPACED_SCRIPTS
from .composition import CONF, build

OURS = "recallmeter."
_NAME = re.compile(r"[\w-][\w.-]*")
LONGEST_NAME = 100


@dataclass(frozen=True)
class Measurement:
    """What a configuration gave: answers and scores by system, and the manifest of how they came about."""

    protocol: Protocol
    results: Sequence[SystemResult]
    scores: Mapping[str, Scores]
    manifest: Mapping[str, Any]


def build_dataset(settings: Mapping[str, Any]) -> Dataset:
    """Build the data set that resolved settings name.

    Raises:
        InputError: it can't be built, or has no observations or no queries.
    """
    dataset = build(_group(settings, "dataset"), "dataset")
    if not isinstance(dataset, Dataset):
        raise InputError(
            f"{type(dataset).__name__} is no data set", where="dataset._target_", remedy="name a function that returns a Dataset"
        )
    for what, records in (("observations", dataset.observations), ("queries", dataset.queries)):
        if not records:
            raise InputError(f"the data set has no {what}", where=f"dataset {dataset.name}", remedy="see `recallmeter data check`")
    return dataset


def _group(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    group = settings.get(key)
    if not isinstance(group, Mapping):
        raise InputError(
            f"{group!r} is not a group of settings", where=key, remedy="see `recallmeter run --cfg job` for what belongs there"
        )
    return group


def build_systems(settings: Mapping[str, Any], make: Callable[[Any, str], Retriever] = build) -> dict[str, Retriever]:
    """Build every system that resolved settings name; one set to null is left out.

    Args:
        make: builds one from its specification and its configuration key.

    Raises:
        InputError: one can't be built, or there is none.
    """
    for group in ("system", "experiment"):
        if settings.get(group) is not None:
            package = "systems.NAME" if group == "system" else "_global_"
            remedy = f"begin its YAML with the line `# @package {package}`"
            raise InputError(
                f"what a file of this group says is read by nothing there ({_first(settings[group])})", where=group, remedy=remedy
            )
    specifications = _group({"systems": {}, **settings}, "systems")
    protocol = _protocol(settings)
    limits = Limits(protocol.index_timeout, protocol.search_timeout, protocol.memory_mb)

    def made(spec: Any, name: str) -> Retriever:
        system = make(spec, f"systems.{name}")
        check_systems({name: system})
        return system

    systems: dict[str, Retriever] = {}
    for name, spec in specifications.items():
        if spec is not None:
            apart = isolated(spec, protocol)
            systems[name] = Isolated(name, partial(made, spec, name), facts, limits) if apart else made(spec, name)
    check_systems(systems)
    return systems


def _first(settings: Any) -> str:
    return ", ".join(map(str, settings))[:80] if isinstance(settings, Mapping) else repr(settings)[:80]


def check_systems(systems: Mapping[str, Any]) -> None:
    """Raise `InputError` unless there is a system to evaluate and each has the two methods of a `Retriever`."""
    for name, system in systems.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            remedy = f"use letters, digits, '.', '_' and '-', at most {LONGEST_NAME}, and begin with no dot"
            raise InputError(f"{name!r} can't name a system, since files are called by it", where="systems", remedy=remedy)
        kind = system if isinstance(system, type) else type(system)
        if not all(callable(getattr(system, method, None)) for method in ("index", "search")):
            raise InputError(f"{kind.__name__} has no index and search", where=f"systems.{name}", remedy="a system needs both methods")
        if kind is system:
            raise InputError(f"{kind.__name__} is a class", where=f"systems.{name}", remedy=f"make an object of it: {kind.__name__}(…)")
    if not systems:
        raise InputError("no system to evaluate", where="system", remedy="for example system=[grep,bm25]")


def defaults(k: int) -> dict[str, Any]:
    """Return the settings of `recallmeter run` that no group has a part in, with the measures that `k` hits are enough for."""
    import yaml

    settings = yaml.safe_load((CONF / "config.yaml").read_text(encoding="utf-8"))
    enough = [text for text in settings["measures"] if (parse_measure(text).k or 0) <= k]
    return {**{key: value for key, value in settings.items() if key not in ("defaults", "hydra")}, "k": k, "measures": enough}


def isolated(spec: Any, protocol: Protocol) -> bool:
    """Return whether a system runs in a process of its own: as the protocol says, or where a part of it is not ours."""
    if protocol.isolate == "always":
        return not _is_control(spec)
    return protocol.isolate == "auto" and any(not target.startswith(OURS) for target in _targets(spec))


def _targets(spec: Any) -> Iterator[str]:
    if isinstance(spec, Mapping):
        yield from (str(value) for key, value in spec.items() if key == "_target_")
        spec = list(spec.values())
    if isinstance(spec, list):
        for part in spec:
            yield from _targets(part)


def _is_control(spec: Mapping[str, Any]) -> bool:
    """Controls are told the labels, which leave this process for no other."""
    name = str(spec.get("_target_", "")).removeprefix(OURS)
    return issubclass(vars(controls).get(name, object), Control)


def facts(system: Retriever) -> dict[str, Any]:
    """Return what a run records of the models in a system, and of what they embedded."""
    names = {part.model for part in _parts(system) if isinstance(getattr(part, "model", None), str)}
    arms = getattr(system, "arms", None)
    readers = [_reads(arm) for arm in arms.values()] if isinstance(arms, Mapping) else [_reads(system)]
    models = dict(sorted(name.partition("@")[::2] for name in names))
    return {"models": models, "embedding": _embedding(system), "reads": readers}


def _reads(part: Any) -> dict[str, Any]:
    """Return which scripts a part of a system can read, as `Reads` takes it."""
    inside = _parts(part)
    scripts = next((found for p in inside if isinstance(found := getattr(p, "scripts", None), list | tuple)), None)
    spaced = any(getattr(p, "needs_spaces", False) is True for p in inside)
    return {"made_for": None if scripts is None else [*map(str, scripts)], "unread": list(UNSPACED_SCRIPTS) if spaced else []}


def measure(
    settings: Mapping[str, Any],
    dataset: Dataset,
    systems: Mapping[str, Retriever],
    *,
    notices: Sequence[Notice] = (),
    progress: bool = True,
) -> Measurement:
    """Evaluate the systems on the data set as the resolved settings say.

    Args:
        notices: what is already known to be worth saying.

    Raises:
        InputError: a setting out of range, or a measure that does not exist.
    """
    protocol = _protocol(settings)
    measures = _measures(settings, protocol.k)
    shaped = identity(shaping(settings), dataset.fingerprint)
    started, before = _now(), load()
    results = evaluate(dataset, systems, protocol, progress=progress)
    qrels = {query.id: query.judgments for query in dataset.queries}
    scores = {r.name: score(qrels, {q: a.hits for q, a in r.answers.items()}, measures, context_of(dataset, r)) for r in results}
    lost = len(dangling(qrels, {observation.id for observation in dataset.observations}))
    readers = {name: [Reads(**reads) for reads in _facts(system).get("reads", ())] for name, system in systems.items()}
    manifest = {
        "status": "complete",
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "observations": len(dataset.observations),
            "queries": len(dataset.queries),
            "answerable": sum(query.answerable for query in dataset.queries),
            "dangling": lost,
            "licence": dataset.licence,
        },
        "identity": shaped.key,
        "shaped_by": shaped.parts,
        "unknown": list(shaped.unknown),
        **_environment(),
        "models": models(systems),
        "embedding": {name: found for name, system in systems.items() if (found := _facts(system).get("embedding"))},
        "seed": settings["seed"],
        "k": protocol.k,
        "tokens_counter": protocol.tokens_counter,
        "tokens_at": protocol.tokens_at,
        "failures": _failures(results),
        "notices": [notice._asdict() for notice in (*notices, *notices_of(dataset, readers, protocol.k, lost))],
        "load": {"before": before, "after": load()},
        "started": started,
        "ended": _now(),
    }
    return Measurement(protocol, results, scores, manifest)


def _protocol(settings: Mapping[str, Any]) -> Protocol:
    seed = settings["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed is {seed!r}", where="seed", remedy="give a whole number of at least 0")
    try:
        return Protocol(k=settings["k"], seed=seed, **_group(settings, "protocol"))
    except TypeError as error:
        raise InputError(str(error).partition(") ")[2], where="protocol", remedy="see `recallmeter run --cfg job`") from error


def _measures(settings: Mapping[str, Any], k: int) -> list[Measure]:
    texts = settings["measures"]
    if not isinstance(texts, list) or not texts:
        raise InputError(f"{texts!r} is not a list of measures", where="measures", remedy="for example measures=[recall@5,ndcg@10]")
    given = [(f"measures[{place}]", value) for place, value in enumerate(texts)]
    measures = [measure_of(build(value, where) if isinstance(value, Mapping) else value, where) for where, value in given]
    for measure in measures:
        if measure.k is not None and measure.k > k:
            raise InputError(
                f"{measure} looks at {measure.k} hits, and only k = {k} are asked for",
                where="measures",
                remedy=f"set k={measure.k} or name others",
            )
    return measures


def models(systems: Mapping[str, Retriever]) -> dict[str, str]:
    """Return name → SHA-256 of every model that a part of a system embeds or ranks with."""
    return dict(sorted(found for system in systems.values() for found in _facts(system).get("models", {}).items()))


def _facts(system: Any) -> Mapping[str, Any]:
    if isinstance(system, Isolated):
        return system.facts
    try:
        return facts(system)
    except Exception:  # a plug-in's attributes may do anything
        return {}


@cache
def _environment() -> dict[str, Any]:
    """Return what does not change while a process lives; asking git and package metadata costs more than a small point."""
    return environment()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _embedding(system: Any) -> dict[str, Any] | None:
    """Return what the embedder of a system has embedded; None for a system that has none."""
    found = [part.statistics() for part in _parts(system) if isinstance(part, CachedEmbedder)]
    return found[0] if found else None


def _parts(value: Any, depth: int = 4) -> list[Any]:
    """Return an object and the objects it is composed of, as far as a composition in YAML can reach."""
    if not depth:
        return [value]
    children = value.values() if isinstance(value, Mapping) else vars(value).values() if hasattr(value, "__dict__") else ()
    return [value, *(part for child in children for part in _parts(child, depth - 1))]


def _failures(results: Sequence[SystemResult]) -> list[dict[str, Any]]:
    failures = []
    for result in results:
        failed = [(query, answer.error) for query, answer in result.answers.items() if answer.status == "failed"]
        if failed:
            failures.append({"system": result.name, "queries": len(failed), "query": failed[0][0], "error": failed[0][1]})
        elif result.error:
            failures.append({"system": result.name, "queries": 0, "query": "", "error": result.error})
    return failures
