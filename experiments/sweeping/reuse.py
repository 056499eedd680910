"""A point of a sweep: run once, kept by the hash of everything that its values depend on, and reused ever after."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ...datasets.errors import InputError
from ...datasets.model import Dataset
from ...evaluation.record import shaping
from ...evaluation.sweeps.points import KEY_LENGTH, Condensed, Point, condensed, point_of, read_point, write_point
from ...retrieval.arms.stored import CandidateStore
from ...retrieval.cache import Cache
from ...retrieval.corpus import Arm
from ...retrieval.embedders.embedding import CachedEmbedder
from ...retrieval.identity import Identity, canonical, identity
from ...retrieval.ranking import Retriever
from ..composition import build
from ..measurement import build_dataset, build_systems, measure, models

DATASETS = 16
"""How many data sets a process keeps in memory."""
PIPELINE = "recallmeter.Pipeline"


class Outcome(NamedTuple):
    """What became of a point: ``ran``, ``reused``, ``failed`` or ``left`` (known to fail, and not to be tried again)."""

    status: str
    point: Point
    seconds: float


@dataclass
class Worker:
    """All that a process keeps from point to point of a sweep; each process has one, since a launcher may start it anywhere.

    Attributes:
        store, datasets, arms: what points share: what arms found, data sets, arms with their indexes.
        given: what whole systems gave, by identity.
        unwritable: why the folder of the sweep can't be written, once that is known.
        unreported: lines that the session's log could not take.
    """

    store: CandidateStore = field(default_factory=lambda: CandidateStore(Cache("candidates")))
    datasets: dict[str, Dataset] = field(default_factory=dict)
    arms: dict[str, Arm] = field(default_factory=dict)
    given: dict[str, Condensed] = field(default_factory=dict)
    unwritable: InputError | None = None
    unreported: list[dict[str, Any]] = field(default_factory=list)

    def dataset(self, settings: Mapping[str, Any]) -> Dataset:
        """Return the data set of resolved settings, built once."""
        described = canonical(settings["dataset"])
        if described not in self.datasets:
            if len(self.datasets) >= DATASETS:
                del self.datasets[next(iter(self.datasets))]
            self.datasets[described] = build_dataset(settings)
        return self.datasets[described]

    def systems(self, settings: Mapping[str, Any], dataset: Dataset) -> dict[str, Retriever]:
        """Build the systems; the arms of pipelines answer from the store."""
        return build_systems(
            settings, lambda spec, key: self._pipeline(spec, key, dataset) if spec.get("_target_") == PIPELINE else build(spec, key)
        )

    def _pipeline(self, spec: Mapping[str, Any], key: str, dataset: Dataset) -> Retriever:
        arms, upstream = {}, dict[str, Any]()
        for arm, settings in spec["arms"].items():
            arms[arm] = None
            if settings is not None:
                upstream[arm] = settings  # a later arm may start from what the earlier ones found
                found = identity(upstream, dataset.fingerprint)
                arms[arm] = self.store.arm(found.key, self._arm(settings, f"{key}.arms.{arm}"), None if found.unknown else arm)
        without_arms = {name: value for name, value in spec.items() if name != "arms"}
        return build({**without_arms, "_partial_": True}, key)(arms=arms)

    def _arm(self, settings: Mapping[str, Any], key: str) -> Arm:
        found = identity(settings).key
        if found not in self.arms:
            self.arms[found] = build(settings, key)
        return self.arms[found]

    def work(self) -> dict[str, int]:
        """Return how many questions arms had to answer, and how many texts were embedded, so far."""
        embedders = [part for arm in self.arms.values() for part in vars(arm).values() if isinstance(part, CachedEmbedder)]
        return {"arm_searches": self.store.searches, "embedded": sum(embedder.computed for embedder in embedders)}


WORKER = Worker()
"""That of this process."""


def run_point(
    settings: Mapping[str, Any], parameters: Mapping[str, Any], folder: Path, *, retry_failed: bool = False, only_failed: bool = False
) -> Outcome:
    """Run the point of resolved settings, or reuse the one that stands below `folder`; two processes never run the same one.

    Once `folder` can't be written this process measures nothing more, so that no work is lost there.

    Raises:
        InputError: `folder` can't be written.
    """
    if WORKER.unwritable:
        raise WORKER.unwritable
    try:
        return _run_point(settings, parameters, folder, retry_failed, only_failed)
    except InputError as error:
        WORKER.unwritable = error
        raise


def _run_point(settings: Mapping[str, Any], parameters: Mapping[str, Any], folder: Path, retry_failed: bool, only_failed: bool) -> Outcome:
    began = perf_counter()
    settings = {key: value for key, value in settings.items() if key != "sweep"}
    try:
        dataset = WORKER.dataset(settings)
        shaped = identity(shaping(settings), dataset.fingerprint)
        key = shaped.key
    except InputError as error:
        key = hashlib.sha256(canonical(settings).encode()).hexdigest()
        return _kept(folder, Point(key, parameters, "failed", error=str(error)), began)
    place = folder / key[:KEY_LENGTH]
    with _locked(folder, key):
        try:
            there = read_point(place)
            if there is not None and there.key != key:
                raise InputError("a point of another configuration stands here", where=str(place), remedy="sweep into another folder")
        except InputError as error:  # never mixed in, never overwritten
            return Outcome("failed", Point(key, parameters, "failed", error=str(error)), perf_counter() - began)
        if there is not None and there.status == "complete" and not shaped.unknown:
            return Outcome("reused", there, perf_counter() - began)
        if there is not None and there.status == "failed" and not (retry_failed or only_failed):
            return Outcome("left", there, perf_counter() - began)
        if there is None and only_failed:
            nothing = Point(key, parameters, "failed", error="not run: only failed points were asked for")
            return Outcome("left", nothing, perf_counter() - began)
        return _kept(folder, _measured(shaped, settings, parameters, dataset), began)


def _measured(shaped: Identity, settings: Mapping[str, Any], parameters: Mapping[str, Any], dataset: Dataset) -> Point:
    key, before = shaped.key, WORKER.work()
    shared = {name: settings[name] for name in ("k", "measures", "protocol")}
    systems = {name: spec for name, spec in settings["systems"].items() if spec is not None}
    identities = {name: identity({**shared, "system": spec}, dataset.fingerprint).key for name, spec in systems.items()}
    fresh = {name: spec for name, spec in systems.items() if identities[name] not in WORKER.given}
    try:
        built = WORKER.systems({**settings, "systems": fresh}, dataset) if fresh or not systems else {}
        measured = measure(settings, dataset, built, progress=False)
    except InputError as error:
        return Point(key, parameters, "failed", error=str(error))
    except Exception as error:  # one failing point must not stop the others
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Point(key, parameters, "failed", error=f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})")
    WORKER.store.flush()
    if measured.manifest["failures"]:
        first = measured.manifest["failures"][0]
        return Point(key, parameters, "failed", error=f"{first['system']} failed on {first['queries']} queries: {first['error']}")
    for result in measured.results:
        found = models({result.name: built[result.name]})
        WORKER.given[identities[result.name]] = condensed(result, measured.scores[result.name], found)
    work = {name: count - before[name] for name, count in WORKER.work().items()}
    strata = {query.id: [query.category, query.group] for query in dataset.queries if query.answerable}
    manifest = {**measured.manifest, **work, **_node(), "unknown": shaped.unknown, "strata": strata}
    del manifest["embedding"]  # counts from the start of the process; `embedded` those of this point
    return point_of(key, parameters, {name: WORKER.given[identity] for name, identity in identities.items()}, manifest)


def _kept(folder: Path, point: Point, began: float) -> Outcome:
    seconds = perf_counter() - began
    if point.manifest:
        point = replace(point, manifest={**point.manifest, "seconds": round(seconds, 3)})
    write_point(folder / point.key[:KEY_LENGTH], point)
    return Outcome("ran" if point.status == "complete" else "failed", point, seconds)


def point_key(settings: Mapping[str, Any]) -> str:
    """Return the key of the point that resolved settings describe; the data set is built for its fingerprint."""
    return identity(shaping(settings), WORKER.dataset(settings).fingerprint).key


def _node() -> dict[str, str]:
    """Return the node of a Ray cluster that this process works on, if any."""
    ray = sys.modules.get("ray")
    return {"node": ray.get_runtime_context().get_node_id()} if ray is not None and ray.is_initialized() else {}


@contextmanager
def _locked(folder: Path, key: str) -> Iterator[None]:
    """Hold the lock of a point; the operating system lets go of it when a process dies, however it dies."""
    locks = folder / ".locks"
    try:
        locks.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(locks / key[:KEY_LENGTH], os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"can't write there ({error.strerror})", where=str(folder), remedy="choose another hydra.sweep.dir") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
