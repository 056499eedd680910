"""A stored run is believed only as it was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.record import Run, load_run

SYSTEMS = {"main": {}, "mute": {f"q{i:02}": [] for i in range(24)} | {"q99": []}}


def read_all(folder: Path) -> Run:
    """Read whatever a run has to be asked for."""
    run = load_run(folder)
    for name in ("config", "queries", "observations", "per_query", "rankings", "timings"):
        getattr(run, name)
    for system in run.systems:
        run.traces(system)
    return run


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")


def test_a_run_is_read_as_it_was_written(write_run) -> None:
    run = read_all(write_run("run", SYSTEMS))
    assert sorted(run.manifest["files"]) == [path.relative_to(run.path).as_posix() for path in files(run.path)]
    assert run.rankings["mute"] == {}


def test_a_file_that_was_changed_emptied_or_lost_is_named(write_run) -> None:
    folder = write_run("run", SYSTEMS)
    assert len(files(folder)) == 10
    for path in files(folder):
        content = path.read_bytes()
        for changed in (content[:-1], b"", content + b"\n", b"\xff\x00"):
            if changed == content:  # the ranking of a system that found nothing
                continue
            path.write_bytes(changed)
            with pytest.raises(InputError, match="was changed after the run") as told:
                read_all(folder)
            assert told.value.where == str(path)
        path.unlink()
        with pytest.raises(InputError, match="this file of the run is missing") as told:
            read_all(folder)
        assert told.value.where == str(path)
        path.mkdir()
        with pytest.raises(InputError, match="can't be read"):
            read_all(folder)
        path.rmdir()
        path.write_bytes(content)


def test_a_manifest_that_lists_no_files_is_refused(write_run) -> None:
    path = write_run("run", SYSTEMS) / "run.json"
    manifest = json.loads(path.read_text())
    for text, told in (
        (json.dumps({**manifest, "files": None}), "was changed after the run, or is damaged"),
        (json.dumps({**manifest, "format": 1}), "another version"),
        ("[]", "not a JSON object"),
        ("", "broken JSON"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=told):
            load_run(path.parent)
