"""What can't be evaluated or written is refused before anything is evaluated, in one line, and the data check finds it too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from recallmeter.datasets.errata import corrected
from recallmeter.datasets.errors import InputError
from recallmeter.evaluation.judging.baseline import read_baseline
from recallmeter.evaluation.record import load_run
from recallmeter.evaluation.seal import sealed
from recallmeter.evaluation.sweeps.points import read_point
from recallmeter.experiments import measurement
from recallmeter.experiments.cli import main

PLUGIN = """
class P:
    def index(self, o): self.o = list(o)
    def search(self, query, k, *, scope="", asked_at=None): return [(self.o[0].id, 1.0)]
"""
DATA = ["dataset=jsonl", "dataset.path=d", "measures=[mrr]", "protocol.repeats=1"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "c" / "system").mkdir(parents=True)
    (tmp_path / "c" / "experiment").mkdir()
    (tmp_path / "c" / "plugmod.py").write_text(PLUGIN)
    observations = [
        {"id": f"o{n}", "session_id": "s", "timestamp": f"2026-01-0{n + 1}T10:00:00Z", "type": "note", "title": f"car {n}"}
        for n in range(4)
    ]
    write(tmp_path, "observations", observations)
    write(tmp_path, "queries", [{"id": "q1", "text": "car", "relevant": {"o1": 1}}])
    return tmp_path


def write(here: Path, name: str, records: list[dict[str, object]]) -> None:
    (here / "d" / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def change(here: Path, name: str, row: int, **fields: object) -> None:
    records = [json.loads(line) for line in (here / "d" / f"{name}.jsonl").read_text().splitlines()]
    records[row] |= fields
    write(here, name, records)


@pytest.fixture
def unevaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(*_: object, **__: object) -> None:
        pytest.fail("something was evaluated")

    monkeypatch.setattr(measurement, "evaluate", evaluate)


@pytest.mark.parametrize("name", ["../../pwned", "a b", ".hidden", "", "a/b", "a\\b", "a\nb", "x" * 101])
def test_a_name_that_no_file_can_have(name: str, here: Path, unevaluated: None, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "c" / "system" / "t.yaml").write_text(f"# @package systems\n{json.dumps(name)}: {{_target_: plugmod.P}}\n")
    before = sorted(here.rglob("*"))
    assert main(["run", "--config-dir", "c", "system=[bm25,t]", *DATA, "hydra.run.dir=in/out"]) == 2
    assert "can't name a system" in capsys.readouterr().err
    assert [path for path in sorted(here.rglob("*")) if path not in before and "__pycache__" not in path.parts and path.name != "in"] == []


@pytest.mark.parametrize("name", ["bm25", "my-system_2.1", "检索", "-x"])
def test_names_that_are_good(name: str) -> None:
    class Good:
        def index(self, observations: object) -> None: ...
        def search(self, *arguments: object) -> None: ...

    measurement.check_systems({name: Good()})


@pytest.mark.parametrize(("group", "line"), [("system", "# @package systems.NAME"), ("experiment", "# @package _global_")])
def test_a_file_without_its_package_line(group: str, line: str, here: Path, unevaluated: None, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "c" / group / "p.yaml").write_text("_target_: plugmod.P\n")
    chosen = "system=[bm25,p]" if group == "system" else "experiment=p"
    assert main(["run", "--config-dir", "c", chosen, *DATA, "hydra.run.dir=out"]) == 2
    assert line in capsys.readouterr().err


def circle(here: Path) -> None:
    change(here, "observations", 0, superseded_by="o1")
    change(here, "observations", 1, superseded_by="o0")


def long_circle(here: Path) -> None:
    for n in range(3):
        change(here, "observations", n, superseded_by=f"o{(n + 1) % 3}")
    change(here, "observations", 3, superseded_by="o0")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (circle, "'o0' → 'o1' → 'o0' supersede one another"),
        (long_circle, "'o0' → 'o1' → 'o2' → 'o0' supersede one another"),
        (lambda here: change(here, "queries", 0, relevant={"o1": 1001}), "the grade 1001 is above 1000"),
        (lambda here: change(here, "queries", 0, relevant={"o1": "2000"}), "is above 1000"),
    ],
)
def test_faults_of_data_are_found_by_the_check_and_refused_by_a_run(
    fault: Callable[[Path], None], told: str, here: Path, unevaluated: None, capsys: pytest.CaptureFixture[str]
) -> None:
    fault(here)
    assert main(["data", "check", "d"]) == 2
    checked = capsys.readouterr().out
    assert told in checked
    assert "observations.jsonl:1" in checked or "queries.jsonl:1" in checked
    assert main(["run", "system=[bm25]", *DATA, "hydra.run.dir=out"]) == 2
    assert told in capsys.readouterr().err
    assert not (here / "out").exists()


def test_a_chain_of_successors_is_no_circle(here: Path) -> None:
    for n in range(3):
        change(here, "observations", n, superseded_by=f"o{n + 1}")
    assert main(["run", "system=[bm25]", *DATA, "hydra.run.dir=out"]) == 0


def test_errata_that_name_a_query_twice(here: Path) -> None:
    from recallmeter import load_jsonl

    (here / "errata.yaml").write_text("q1: {disputed: true}\nq1: {relevant: {o2: 1}}\n")
    with pytest.raises(InputError, match=r"errata.yaml:2: the key 'q1' occurs twice"):
        corrected(load_jsonl(str(here / "d")), str(here / "errata.yaml"))


@pytest.mark.parametrize("position", [0.2, 0.4, 0.6, 0.8])
def test_a_manifest_with_a_flipped_bit_is_no_result(position: float, write_run: Callable[..., Path]) -> None:
    path = write_run("run", {"main": {}}) / "run.json"
    content = bytearray(path.read_bytes())
    content[int(len(content) * position)] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"run\.json"):
        load_run(path.parent)


@pytest.mark.parametrize("field", ["failures", "dataset", "k", "identity", "files", "digest", "ended"])
def test_a_manifest_without_a_field_is_no_result(field: str, write_run: Callable[..., Path]) -> None:
    path = write_run("run", {"main": {}}) / "run.json"
    manifest = json.loads(path.read_text())
    del manifest[field]
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="was changed after the run, or is damaged; run it again"):
        load_run(path.parent)


LONGEST = ("dataset", "fingerprint"), ("load", "before"), ("failures",), ("started",), ("cores",), ("packages",), ("k",), ("seed",)


@pytest.mark.parametrize("place", LONGEST)
@pytest.mark.parametrize("odd", ["missing", None, [[]], {"x": {}}, "yesterday"])
def test_an_odd_field_of_a_manifest_that_is_sealed_is_one_line(
    place: tuple[str, ...], odd: object, write_run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run("run", {"main": {}}) / "run.json"
    manifest = json.loads(path.read_text())
    del manifest["digest"]
    inside = manifest
    for name in place[:-1]:
        inside = inside[name]
    if odd == "missing":
        del inside[place[-1]]
    else:
        inside[place[-1]] = odd
    path.write_text(json.dumps(sealed(manifest)))
    if place == ("dataset", "fingerprint") and odd == "yesterday":
        return
    for command in (["report", str(path.parent), "-o", str(path.parent / "r.md")], ["compare", str(path.parent)]):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"run.json: {'.'.join(place)} is " in line or f"run.json: {place[0]}" in line
        assert line.endswith("; run it again")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"format": ' + "9" * 5000 + "}", "\ufeff", "null", "[]", "\x00"])
@pytest.mark.parametrize("name", ["run.json", "baseline.json", "point.json"])
def test_a_stored_file_that_is_no_record_is_one_line(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    read = {"run.json": load_run, "baseline.json": lambda folder: read_baseline(folder / name), "point.json": read_point}[name]
    with pytest.raises(InputError) as told:
        read(tmp_path)
    assert "\n" not in str(told.value)
    assert name in str(told.value)


def test_a_point_with_flipped_bits_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "system=bm25", *DATA, "systems.bm25.arms.bm25.k1=0.5,2.0", "name=w"]) == 0
    (one, other) = sorted((here / "multirun" / "w").glob("*/values.npy"))
    content = bytearray(one.read_bytes())
    content[-1] ^= 0x30
    one.write_bytes(content)
    record = other.with_name("point.json")
    record.write_text(record.read_text().replace('"tokens"', '"token5"', 1))
    for path in (one, other):
        with pytest.raises(InputError, match="damaged point"):
            read_point(path.parent)
    assert main(["leaderboard", "multirun/w", "-m", "mrr"]) == 2
    assert "a damaged point" in capsys.readouterr().err
