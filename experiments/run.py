"""`recallmeter run`: resolve the configuration, evaluate every system, write one run directory."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..datasets.errors import InputError
from ..datasets.model import Dataset
from ..retrieval.embedding import CachedEmbedder

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from ..evaluation.record import Run
    from ..retrieval.ranking import Retriever

TAKES_OVERRIDES = True
EXIT_FAILED = 4


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door; everything else on its command line is Hydra's."""
    parser.usage = "recallmeter run [--config-dir DIR] [--cfg job] [OVERRIDE …]"
    parser.epilog = (
        "OVERRIDE is Hydra's: system=[grep,dual]  dataset=beir dataset.path=DIR  systems.dual.fusion.k=20  dataset.seed=7  "
        "experiment=NAME  hydra.run.dir=DIR.  The last line printed is the run directory."
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run once; return 0, or 4 when a system failed."""
    from .composition import launch

    return launch(evaluate_config, arguments.overrides, command="run")


def evaluate_config(config: DictConfig, folder: Path) -> int:
    """Evaluate one resolved configuration, write its run to `folder`, print the table and the path."""
    from ..reports.table import aligned, head_to_head

    run = record_run(config, folder)
    print(aligned(head_to_head(run)))
    for failure in run.manifest["failures"]:
        print(
            f"FAILED {failure['system']} on {failure['queries']} queries, the first {failure['query']}: {failure['error']}", file=sys.stderr
        )
    print(os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else folder)
    return EXIT_FAILED if run.manifest["failures"] else 0


def record_run(config: DictConfig, folder: Path) -> Run:
    """Build the data set and the systems that `config` names, evaluate them, write the run directory and load it."""
    from ..evaluation.record import check_free
    from .composition import build

    check_free(folder)
    dataset: Dataset = build(config.dataset, "dataset")
    systems = {name: build(spec, f"systems.{name}") for name, spec in config.systems.items() if spec is not None}
    if not systems:
        raise InputError("no system to evaluate", where="system", remedy="for example system=[grep,bm25]")
    return record(config, dataset, systems, folder)


def record(config: DictConfig, dataset: Dataset, systems: Mapping[str, Retriever], folder: Path) -> Run:
    """Evaluate `systems` on `dataset` by the rest of `config`, write the run directory and load it."""
    from omegaconf import OmegaConf

    from ..evaluation.environment import calibration_ms, environment
    from ..evaluation.loop import Protocol, evaluate
    from ..evaluation.measures import parse_measure
    from ..evaluation.metrics import score
    from ..evaluation.record import config_hash, load_run, write_record
    from ..evaluation.summary import summarise
    from .composition import plain

    protocol = Protocol(k=config.k, **plain(config.protocol))
    measures = [parse_measure(text) for text in config.measures]
    if not dataset.queries:
        raise InputError("the data set has no queries", where=f"dataset {dataset.name}", remedy="see `recallmeter data check`")
    started, calibration = _now(), calibration_ms()
    results = evaluate(dataset, systems, protocol)
    qrels = {query.id: query.relevant for query in dataset.queries}
    scores = {r.name: score(qrels, {q: answer.hits for q, answer in r.answers.items()}, measures) for r in results}
    manifest: dict[str, Any] = {
        "status": "complete",
        "name": config.name,
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "observations": len(dataset.observations),
            "queries": len(dataset.queries),
            "answerable": sum(query.answerable for query in dataset.queries),
            "licence": dataset.licence,
        },
        "config_hash": config_hash(plain(config)),
        **environment(),
        "models": _models(systems),
        "embedding": {name: found for name, system in systems.items() if (found := _embedding(system))},
        "seed": config.seed,
        "k": config.k,
        "tokens_counter": protocol.tokens_counter,
        "tokens_at": protocol.tokens_at,
        "calibration_ms": calibration,
        "failures": _failures(results),
        "started": started,
        "ended": _now(),
    }
    summary = summarise(dataset, results, scores, protocol, seed=config.seed)
    yaml = OmegaConf.to_yaml(OmegaConf.create(plain(config)))
    write_record(folder, config_yaml=yaml, manifest=manifest, dataset=dataset, results=results, scores=scores, summary=summary)
    return load_run(folder)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _models(systems: Mapping[str, Any]) -> dict[str, str]:
    """Return name → SHA-256 of every model that a part of a system embeds or ranks with."""
    names = {part.model for system in systems.values() for part in _parts(system) if isinstance(getattr(part, "model", None), str)}
    return dict(sorted(name.partition("@")[::2] for name in names))


def _embedding(system: Any) -> dict[str, Any] | None:
    """Return what the embedder of a system has embedded; None for a system that has none."""
    found = [part.statistics() for part in _parts(system) if isinstance(part, CachedEmbedder)]
    return found[0] if found else None


def _parts(value: Any, depth: int = 0) -> list[Any]:
    """Return an object and the objects it is composed of, as far as a composition in YAML can reach."""
    if depth > 4:
        return []
    children = value.values() if isinstance(value, dict) else vars(value).values() if hasattr(value, "__dict__") else ()
    return [value, *(part for child in children for part in _parts(child, depth + 1))]


def _failures(results: list[Any]) -> list[dict[str, Any]]:
    failures = []
    for result in results:
        failed = [(query, answer.error) for query, answer in result.answers.items() if answer.status == "failed"]
        if failed:
            failures.append({"system": result.name, "queries": len(failed), "query": failed[0][0], "error": failed[0][1]})
    return failures
