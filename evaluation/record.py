"""The run record: one directory from which every report, comparison and gate is made."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from ..datasets.errors import InputError
from ..datasets.folder import new_folder
from ..datasets.formats.jsonl import load_jsonl
from ..datasets.model import Dataset, Observation, Query
from ..datasets.secrets import redacted, redacted_message, redacted_settings
from ..retrieval.ranking import Hit
from .files.trec import read_run, write_run_file
from .loop import SystemResult
from .measures.gains import Context
from .measures.metrics import Scores
from .seal import check_shape, is_sealed, read_record, sealed
from .shape import Each, Maybe

FORMAT = 3
"""Raised when a run directory changes in a way that older readers would misread."""

MANIFEST = "run.json"

SHAPE = {
    "dataset": {
        "name": str,
        "fingerprint": str,
        "observations": int,
        "queries": int,
        "answerable": int,
        "dangling?": int,
        "licence": str,
    },
    "identity": str,
    "shaped_by": Each(str),
    "unknown?": [str],
    "recallmeter": str,
    "git?": Maybe({"commit": Maybe(str), "dirty": Maybe(bool)}),
    "packages": Each(str),
    "python?": Maybe(str),
    "platform?": Maybe(str),
    "cpu?": Maybe(str),
    "cores": int,
    "threads?": Each(str),
    "models": Each(str),
    "seed": int,
    "k": int,
    "tokens_counter": str,
    "tokens_at": int,
    "failures": [{"system": str, "queries": int, "query": str, "error": str}],
    "notices?": [{"system": str, "text": str}],
    "load": {"before": float, "after": float},
    "started": datetime,
    "ended": datetime,
    "name": str,
    "command?": Maybe([str]),
    "calibration_ms": float,
    "embedding?": Each(
        {
            "model": str,
            "dimensions": Maybe(int),
            "batch_size": int,
            "documents": int,
            "document_ms": Maybe(float),
            "computed": int,
            "reused": int,
        }
    ),
    "files": Each(str),
}
"""What the manifest of a run says, see `shape.misfit`."""

COUNTS = ("system", "query", "category", "scope", "status", "answerable", "relevant", "returned", "tokens")
"""The columns of ``per_query.csv`` before those of the measures."""


def shaping(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved configuration without what only names, reports and steers, which shapes no value."""
    return {key: value for key, value in config.items() if key not in ("name", "report", "sweep", "trace", "fresh")}


# ---------------------------------------------------------------------------------------------------------------- writing


def write_record(
    folder: Path,
    *,
    config_yaml: str,
    manifest: Mapping[str, Any],
    dataset: Dataset,
    results: Sequence[SystemResult],
    scores: Mapping[str, Scores],
    summary: Mapping[str, Any],
) -> Path:
    """Write a whole run directory beside `folder` and rename it there, so that no half-written run is ever seen.

    Raises:
        InputError: `folder` exists and is not empty, or can't be written.
    """
    with new_folder(folder, "the run") as partial:
        (partial / "config.yaml").write_text(config_yaml, encoding="utf-8")
        _write_json(partial / "summary.json", summary)
        _write_lines(partial / "queries.jsonl", (query.as_record() for query in dataset.queries))
        _write_lines(partial / "observations.jsonl", (o.as_record() for o in _mentioned(dataset, results)))
        _write_per_query(partial / "per_query.csv", dataset.queries, results, scores)
        _write_timings(partial / "timings.csv", results)
        (partial / "rankings").mkdir()
        (partial / "traces").mkdir()
        for result in results:
            rankings = {query: answer.hits for query, answer in result.answers.items()}
            write_run_file(partial / "rankings" / f"{result.name}.trec", rankings, tag=result.name)
            _write_lines(partial / "traces" / f"{result.name}.jsonl", _traces(result))
        _write_json(partial / MANIFEST, sealed(redacted_settings({"format": FORMAT, **manifest, "files": hashes_of(partial)})))
    return folder


def hashes_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 (hex) of every file of a run but its manifest, by name within the run; a reader trusts no others."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    path.write_text(text if path.name == MANIFEST else redacted(text), encoding="utf-8")  # a manifest is redacted before it is sealed


def _write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(redacted(json.dumps(record, ensure_ascii=True)) + "\n")


def _mentioned(dataset: Dataset, results: Sequence[SystemResult]) -> Iterator[Observation]:
    """Yield what a reader of the run may want to see: what is relevant, what that superseded, and every candidate."""
    wanted = {identifier for query in dataset.queries for identifier in query.relevant}
    replaced = Context({}, {o.id: o for o in dataset.observations}).superseded
    waiting = list(wanted)
    while waiting:
        older = set(replaced.get(waiting.pop(), ())) - wanted
        wanted |= older
        waiting += older
    for result in results:
        for answer in result.answers.values():
            wanted.update(hit.id for hit in answer.hits)
            for arm in answer.trace.arms.values():
                wanted.update(arm.ids)
    return (o for o in dataset.observations if o.id in wanted)


def _write_per_query(path: Path, queries: Sequence[Query], results: Sequence[SystemResult], scores: Mapping[str, Scores]) -> None:
    measures = list(next(iter(scores.values())).values) if scores else []
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*COUNTS, *measures))
        for result in results:
            rows = {query: row for row, query in enumerate(scores[result.name].query_ids)}
            for query in queries:
                answer = result.answers[query.id]
                values = [float(scores[result.name].values[m][rows[query.id]]) for m in measures]
                writer.writerow(
                    (
                        result.name,
                        query.id,
                        query.category,
                        query.scope,
                        answer.status,
                        int(query.answerable),
                        len(query.relevant),
                        len(answer.hits),
                        answer.tokens,
                        *("" if math.isnan(value) else repr(value) for value in values),
                    )
                )


def _write_timings(path: Path, results: Sequence[SystemResult]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("system", "query", "span", "ms"))
        for result in results:
            for what, ms in (("index", result.index_ms), ("cold", result.cold_ms)):
                if ms is not None:
                    writer.writerow((result.name, "", what, f"{ms:.3f}"))
            for query, answer in result.answers.items():
                writer.writerows((result.name, query, span, f"{ms:.4f}") for span, ms in answer.spans.items())


def _traces(result: SystemResult) -> Iterator[dict[str, Any]]:
    for query, answer in result.answers.items():
        arms = {name: {"ids": list(arm.ids), "scores": list(arm.scores)} for name, arm in answer.trace.arms.items()}
        line: dict[str, Any] = {"query": query, "arms": arms, "dropped": {s: list(ids) for s, ids in answer.trace.dropped.items()}}
        line["notes"] = [redacted_message(note) for note in answer.trace.notes]
        if answer.error:
            line["error"] = redacted_message(answer.error)
        if answer.faults:
            line["faults"] = list(answer.faults)
        yield line


# ---------------------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True)
class Run:
    """A run directory, read; what is large is read when it is first asked for.

    Every attribute raises `InputError` where a file behind it is missing, or is not the one that the run wrote.
    """

    path: Path
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems in the order of the run."""
        return tuple(self.summary["systems"])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures in the order of the contract."""
        return tuple(self.summary["measures"])

    @cached_property
    def config(self) -> dict[str, Any]:
        """The resolved configuration."""
        import yaml

        return yaml.safe_load(self._text("config.yaml")) or {}

    @cached_property
    def queries(self) -> dict[str, Query]:
        """Every query, by id."""
        return {query.id: query for query in self._dataset.queries}

    @cached_property
    def observations(self) -> dict[str, Observation]:
        """The observations that are relevant to a query or were a candidate of any arm, by id."""
        return {o.id: o for o in self._dataset.observations}

    @cached_property
    def _dataset(self) -> Dataset:
        for name in ("queries.jsonl", "observations.jsonl"):
            self._content(name)
        return load_jsonl(str(self.path))

    @cached_property
    def per_query(self) -> list[dict[str, Any]]:
        """The rows of ``per_query.csv``: counts as int, measures as float, None where one leaves the query out."""
        rows = csv.DictReader(io.StringIO(self._text("per_query.csv"), newline=""))
        return [_typed(row, f"{self.path / 'per_query.csv'}:{number}") for number, row in enumerate(rows, start=2)]

    @cached_property
    def rankings(self) -> dict[str, dict[str, tuple[Hit, ...]]]:
        """System → query → hits, best first; a query with no hit is missing."""
        found: dict[str, dict[str, tuple[Hit, ...]]] = {}
        for name in self.systems:
            file = f"rankings/{name}.trec"
            # a system that found nothing at all left an empty file, which is no fault here
            hits = read_run(self.path / file) if self._content(file) else {}
            found[name] = {query: tuple(ranking) for query, ranking in hits.items()}
        return found

    @cached_property
    def timings(self) -> list[tuple[str, str, str, float]]:
        """Rows of (system, query, span, milliseconds); the query is "" for ``index`` and ``cold``."""
        rows = csv.DictReader(io.StringIO(self._text("timings.csv"), newline=""))
        return [(row["system"], row["query"], row["span"], float(row["ms"])) for row in rows]

    def traces(self, system: str) -> dict[str, dict[str, Any]]:
        """Query → its trace: candidates by arm, what each stage dropped, notes, error."""
        lines = self._text(f"traces/{system}.jsonl").splitlines()
        return {trace["query"]: trace for trace in map(json.loads, lines)}

    def context(self, system: str) -> Context:
        """Return what a measure may need to know of one system's answers beyond the judgments."""
        failed = {row["query"] for row in self.per_query if row["system"] == system and row["status"] == "failed"}
        return Context(self.queries, self.observations, failed)

    def _content(self, name: str) -> bytes:
        return _as_written(self.path, name, self.manifest["files"])

    def _text(self, name: str) -> str:
        return self._content(name).decode()


def load_run(path: str | Path) -> Run:
    """Read a run directory.

    Raises:
        InputError: not a run directory, one whose run did not finish, or one whose files were changed since.
    """
    folder = Path(path)
    if not (folder / MANIFEST).exists():
        what = f"not a run directory: there is no {MANIFEST}"
        raise InputError(what, where=str(folder), remedy="name a directory that `recallmeter run` wrote")
    manifest = read_record(folder / MANIFEST, "the manifest", absent="run it again", remedy="run it again")
    if manifest.get("format") != FORMAT:
        raise InputError("another version of recallmeter wrote it", where=str(folder), remedy="run it again with this one")
    if manifest.get("status") != "complete":
        raise InputError("the run did not finish", where=str(folder), remedy="run it again")
    if not is_sealed(manifest):
        raise InputError("was changed after the run, or is damaged", where=str(folder / MANIFEST), remedy="run it again")
    check_shape(manifest, SHAPE, str(folder / MANIFEST), "run it again")
    return Run(folder, manifest, json.loads(_as_written(folder, "summary.json", manifest["files"])))


def _as_written(folder: Path, name: str, hashes: Mapping[str, str]) -> bytes:
    """Read a file of a run and refuse another than the run wrote, so that no report is made of numbers that nothing gave."""
    path = folder / name
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError("this file of the run is missing", where=str(path), remedy="run it again") from error
    except OSError as error:
        raise InputError(f"can't be read ({error.strerror})", where=str(path), remedy="see that you may read it") from error
    if hashlib.sha256(content).hexdigest() != hashes.get(name):
        raise InputError("was changed after the run", where=str(path), remedy="run it again")
    return content


def _typed(row: dict[str, str], where: str) -> dict[str, Any]:
    typed: dict[str, Any] = {}
    try:
        for name, value in row.items():
            if name in ("answerable", "relevant", "returned", "tokens"):
                typed[name] = int(value)
            elif name in COUNTS:
                typed[name] = value
            else:
                typed[name] = float(value) if value else None
    except (TypeError, ValueError) as error:
        raise InputError(f"broken row ({error})", where=where, remedy="run it again") from error
    return typed
