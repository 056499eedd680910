"""What would be silent is said: in the last lines of a run, and in its report, once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.beir import load_beir
from recallmeter.datasets.model import EPOCH, Dataset, Observation, Query
from recallmeter.evaluation.notices import Reads, notices_of
from recallmeter.evaluation.record import load_run
from recallmeter.experiments.cli import main

PLUGIN = """
class P:
    def index(self, o): self.o = list(o)
    def search(self, query, k, *, scope="", asked_at=None): return [(self.o[0].id, 1.0)]
"""
QUICK = ["protocol.repeats=1", "protocol.warm_up=0", "measures=[mrr]", "k=2"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c" / "system").mkdir(parents=True)
    (tmp_path / "c" / "plugmod.py").write_text(PLUGIN)
    return tmp_path


def lay(folder: Path, documents: list[dict], queries: list[dict]) -> Path:
    """Write a folder in BEIR layout in which query n is answered by document n."""
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "title": "", "text": "car bike"} | document for n, document in enumerate(documents)]
    queries = [{"_id": f"q{n}", "text": "car"} | query for n, query in enumerate(queries)]
    for name, records in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "qrels" / "test.tsv").write_text("".join(f"q{n}\td{n}\t1\n" for n in range(len(queries))))
    return folder


def told(here: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Run, and return the notices of its last lines; the report and the record must say the same."""
    assert main(["run", "--config-dir", "c", *QUICK, "hydra.run.dir=out", *arguments]) == 0
    lines = [line.removeprefix("NOTE ") for line in capsys.readouterr().err.splitlines() if line.startswith("NOTE ")]
    assert len(set(lines)) == len(lines)
    notices = load_run(here / "out").manifest["notices"]
    assert lines == [f"{notice['system'] and notice['system'] + ': '}{notice['text']}" for notice in notices]
    assert main(["report", "out", "-o", "report.json"]) == 0
    assert json.loads((here / "report.json").read_text())["manifest"]["notices"] == notices
    assert main(["report", "out", "-o", "report.md"]) == 0
    assert (here / "report.md").read_text().count("## To know before reading on") == bool(notices)
    return lines


@pytest.mark.parametrize("inside", [False, True])
def test_groups_that_are_pooled_and_fields_that_are_not_read(inside: bool, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    groups = [{"group": group} for group in "aabb"]
    records = [{"metadata": group} if inside else group for group in groups]
    lay(here / "b", records, records)
    (line,) = told(here, capsys, "system=bm25", "dataset=beir", "dataset.path=b")
    assert (
        line
        == f"data set b: field-not-read '{'metadata' if inside else 'group'}' 8, group-not-read 'group' 1; see `recallmeter data check`"
    )
    assert main(["data", "check", "b"]) == 0
    out = capsys.readouterr().out
    assert "documents and queries have 'group', of 2 values, and all are searched as one memory" in out
    assert "dataset.scope=group" in out
    scoped = load_beir(str(here / "b"), scope="group")
    assert [o.scope for o in scoped.observations] == [q.scope for q in scoped.queries] == ["a", "a", "b", "b"]
    assert scoped.notes == ()


@pytest.mark.parametrize(
    "queries", [[{"lang": "en"}] * 3, [{"group": "b"}, {"group": "a"}, {"group": "a"}], [{"lang": "en"}, {"group": "a"}, {}]]
)
def test_a_field_that_sorts_nothing_is_no_group(queries: list[dict], here: Path) -> None:
    lay(here / "b", [{"group": group, "lang": "en"} for group in "abb"], queries)
    assert not any("group-not-read" in note for note in load_beir(str(here / "b")).notes)


def test_a_scope_that_a_record_lacks_is_refused(here: Path) -> None:
    lay(here / "b", [{"group": "a"}, {"group": None}], [{"group": "a"}])
    with pytest.raises(InputError, match=r"corpus\.jsonl:2: the field 'group', which is its scope, is None"):
        load_beir(str(here / "b"), scope="group")


CHINESE = [{"text": f"黑豹队的防守丢了{n}分"} for n in range(3)]


def test_systems_that_can_not_read_the_script(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("bm25s")
    lay(here / "b", CHINESE, CHINESE)
    lines = told(here, capsys, "system=[bm25,bm25s,bm25_okapi,grep,agentmemory_bm25,random]", "dataset=beir", "dataset.path=b")
    assert [line.partition(":")[0] for line in lines] == ["bm25s", "bm25_okapi", "grep"]
    assert all("finds words by spaces, which are not written in CJK (100% of the questions' letters)" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "arms", "said"),
    [
        ("防守丢了分", [Reads(["LATIN"])], "not made for CJK"),
        ("防守丢了分", [Reads(["LATIN"]), Reads()], ""),
        ("防守丢了分", [Reads(["LATIN", "CJK"])], ""),
        ("防守丢了分", [Reads(None, ["CJK"]), Reads(["LATIN"])], "not written in CJK"),
        ("防守 car car car car car car", [Reads(["LATIN"])], "CJK (10%"),
        ("分 what did the defence lose in all", [Reads(["LATIN"])], ""),
        ("Что потеряла защита", [Reads(["LATIN"])], "not made for CYRILLIC"),
        ("Что потеряла защита", [Reads(None, ["CJK"])], ""),
        ("何をしたか", [Reads(None, ["CJK", "HIRAGANA"])], "HIRAGANA and CJK"),
        ("123 ?!", [Reads(["LATIN"])], ""),
        ("防守丢了分", [], ""),
    ],
)
def test_a_script_is_told_where_no_arm_reads_it(text: str, arms: list[Reads], said: str) -> None:
    dataset = Dataset("d", (observation("o"),), (Query(id="q", text=text),))
    notices = notices_of(dataset, {"x": arms}, 1, 0)
    assert [said in notice.text for notice in notices] == ([True] if said else [])


def observation(identifier: str, scope: str = "") -> Observation:
    return Observation(id=identifier, session_id="", timestamp=EPOCH, type="", title="t", scope=scope)


def test_memories_smaller_than_k() -> None:
    queries = (Query(id="q1", text="a", scope="one"), Query(id="q2", text="a", scope="two"), Query(id="q3", text="a", scope="one"))
    dataset = Dataset("d", (observation("a", "one"), observation("b", "one"), observation("c", "two")), queries)
    (some,), (whole,), none = (notices_of(dataset, {}, k, 0) for k in (2, 3, 1))
    assert some.text.startswith("1 of 3 queries search fewer observations than the k = 2 asked for (at least 1)")
    assert whole.text.startswith("all queries search fewer observations than the k = 3")
    assert none == []


EMPTY = {"nothing": "", "a comment": "# x\n", "a package": "# @package systems.p\n", "a text": "# @package systems.p\nhello\n",
         "a list": "# @package systems.p\n- a\n", "a bare list": "- a\n", "an empty mapping": "# @package systems\n{}\n"}  # fmt: skip


@pytest.mark.parametrize("what", EMPTY)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_file_that_adds_no_system_is_refused(what: str, command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "c" / "system" / "p.yaml").write_text(EMPTY[what])
    lay(here / "b", [{}], [{}])
    code = main([command, "--config-dir", "c", *QUICK, "system=[bm25,p]", "dataset=beir", "dataset.path=b", "hydra.run.dir=out"])
    assert code == (2 if command == "run" else 4)
    error = capsys.readouterr().err
    assert "p.yaml: it names no system" in error
    assert "systems.NAME" in error


def test_a_choice_that_changes_another_one_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "c" / "system" / "p.yaml").write_text("# @package systems.bm25\narms: {bm25: {k1: 0.3}}\n")
    (here / "c" / "system" / "q.yaml").write_text("# @package systems\nq: null\n")
    lay(here / "b", [{}, {}], [{}, {}])
    lines = told(here, capsys, "system=[bm25,p,q]", "dataset=beir", "dataset.path=b")
    assert lines == ["system=p adds no system of its own: it changes bm25, which bm25 adds", "q is set to null and left out"]


NAMES = {
    "nan": "system: nan is read as float, not as a name; quote it",
    "null": "system: null is read as NoneType",
    "[null]": "system: null is read as NoneType",
    "[bm25,1]": "system: 1 is read as int",
    "[true]": "system: true is read as bool",
    "[[bm25]]": "",
    '["nan"]': "system: no choice 'nan'",
    "[a/b]": "no choice 'b'",
    "[检索]": "can't be read",
    "x" * 300: "no choice",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_an_odd_name_of_a_choice_is_no_fault_of_ours(name: str, command: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([command, f"system={name}", *QUICK, "dataset=jsonl", "dataset.path=nowhere", "hydra.run.dir=out"])
    error = capsys.readouterr().err
    assert code in (2, 4)
    assert "a fault of recallmeter" not in error
    assert NAMES[name] in error


@pytest.mark.parametrize("name", ["nan", "null", "true", "1e3", "on", "检索", "-x", "_"])
def test_an_odd_name_of_a_system_is_a_name_everywhere(
    name: str, here: Path, write_run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "c" / "system" / "p.yaml").write_text(f'# @package systems\n"{name}": {{_target_: plugmod.P}}\n')
    lay(here / "b", [{}, {}], [{}, {}])
    data = ["--config-dir", "c", *QUICK, "dataset=beir", "dataset.path=b"]
    assert main(["run", *data, "system=[bm25,p]", "hydra.run.dir=out"]) == 0
    assert load_run(here / "out").systems == ("bm25", name)
    for command in (
        ["report", "out", "--html", "x.html"],
        ["compare", "out"],
        ["baseline", "out", "-o", "b.json"],
        ["gate", "out", "--baseline", "b.json", "-m", "mrr"],
        ["sweep", *data, "system=p", "seed=0,1", "name=w"],
        ["leaderboard", "multirun/w", "-m", "mrr", f"--system={name}"],
    ):
        assert main(command) == 0, (command, capsys.readouterr().err)


@pytest.mark.parametrize("key", ["null", "~", "1", "true", "1.5"])
def test_a_key_that_is_no_text_is_named(key: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "c" / "system" / "p.yaml").write_text(f"# @package systems\n{key}: {{_target_: plugmod.P}}\n")
    assert main(["run", "--config-dir", "c", "system=[bm25,p]", "hydra.run.dir=out"]) == 2
    assert "quote" in capsys.readouterr().err


def test_a_key_twice_has_its_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "c" / "system" / "p.yaml").write_text("# @package systems.p\n_target_: plugmod.P\n_target_: plugmod.Q\n")
    assert main(["run", "--config-dir", "c", "system=[bm25,p]", "hydra.run.dir=out"]) == 2
    assert "p.yaml:3: the key '_target_' occurs twice in one mapping; keep one of the two" in capsys.readouterr().err
