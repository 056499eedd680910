"""`recallmeter data`: list, build, check and import, from the command line."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.beir import load_beir
from recallmeter.datasets.formats.catalogue import FORMATS
from recallmeter.datasets.formats.jsonl import load_jsonl
from recallmeter.datasets.formats.locomo import load_locomo
from recallmeter.experiments.cli import main
from recallmeter.experiments.composition import build, input_errors, plain
from recallmeter.experiments.paths import CONF

SAMPLE = str(Path(__file__).parents[2] / "data" / "locomo_sample.json")
OBSERVATION = '{"id": "o1", "session_id": "s", "timestamp": "2026-01-01T00:00:00Z", "type": "t", "title": "npm workspaces"}'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "observations.jsonl").write_text(OBSERVATION)
    (folder / "queries.jsonl").write_text('{"id": "q1", "text": "Which package manager?", "relevant": {"o1": 1}}')
    return folder


def test_list_shows_every_configuration_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "list"]) == 0
    table = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in table] == sorted(path.stem for path in (CONF / "dataset").glob("*.yaml"))
    assert {*FORMATS, "webapp"} <= {line.split()[0] for line in table}
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in table)


def test_list_tells_what_an_extra_would_add(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("recallmeter.experiments.doors.data.find_spec", lambda name: None)
    main(["data", "list"])
    assert "[not installed: ir_datasets (pip install 'recallmeter[ir-datasets]')]" in capsys.readouterr().out


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_configuration_that_composes_and_names_what_is_missing(name: str) -> None:
    with input_errors(), initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", [f"dataset={name}"])
        key = {"ir_datasets": "id", "hugging_face": "name"}.get(name, "path")
        with pytest.raises(InputError, match=rf"dataset\.{key}: a value is needed; add dataset\.{key}=…"):
            plain(config)
        config.dataset[key] = "/no/such/place"
        with pytest.raises(InputError, match="/no/such/place"):
            build(config.dataset, "dataset")


def test_check_of_a_sound_data_set(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", str(small)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("small (jsonl): observations 1, scopes 1, queries 1, answerable 1, judgments 1\n")
    assert "best attainable R@10 100.0%" in told
    assert told.endswith("nothing found\n")


def test_check_of_a_faulty_one_ends_with_2_and_tells_place_count_and_remedy(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (small / "queries.jsonl").write_text(
        '{"id": "q1", "text": "?", "relevant": {"oX": 1}}\n\n{"id": "\ud83d"}'.encode("utf-8", "replace").decode()
    )
    assert main(["data", "check", str(small)]) == 2
    told = capsys.readouterr().out
    assert "error         1 × dangling-judgment: add the observation or delete the judgment" in told
    assert "\n                  queries.jsonl:1: 'q1' names 'oX', which is no observation\n" in told
    assert main(["data", "check", str(small), "--json"]) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    dangling = next(finding for finding in findings if finding["name"] == "dangling-judgment")
    assert dangling["examples"] == [{"where": f"{small}/queries.jsonl:1", "what": "'q1' names 'oX', which is no observation"}]


def test_check_with_errata(small: Path, tmp_path: Path) -> None:
    (small / "queries.jsonl").write_text('{"id": "q1", "text": "?", "relevant": {"oX": 1}}')
    errata = tmp_path / "errata.json"
    errata.write_text('{"q1": {"relevant": {"o1": 1}}}')
    assert main(["data", "check", str(small)]) == 2
    assert main(["data", "check", str(small), "--errata", str(errata)]) == 0


def test_check_tells_formats_apart_and_takes_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", SAMPLE]) == 2
    assert "(locomo): observations 12, scopes 2, queries 11" in capsys.readouterr().out
    assert main(["data", "check", SAMPLE, "--set", "split=test"]) == 2
    assert "no option 'split=test'; there are: adversarial" in capsys.readouterr().err
    assert main(["data", "check", SAMPLE, "--format", "longmemeval", "--set", "granularity=word"]) == 2
    assert "no granularity 'word'; use session or turn" in capsys.readouterr().err


def test_import_writes_our_own_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out"
    assert main(["data", "import", "locomo", SAMPLE, "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    assert load_jsonl(str(target)) == load_locomo(SAMPLE)
    assert main(["data", "import", "locomo", SAMPLE, "-o", str(target)]) == 2
    assert "the folder is not empty" in capsys.readouterr().err


def test_a_failed_import_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "import", "longmemeval", SAMPLE, "-o", str(tmp_path / "out")]) == 2
    assert "locomo_sample.json[1]: " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    (tmp_path / "memories.csv").write_text("id,text,time\n001,Postgres was chosen,2026-03-01 10:00\n002,Redis holds sessions,\n")
    (tmp_path / "questions.csv").write_text("question,relevant\nWhich database?,001\nWhich cache?,9\n")
    return tmp_path


def test_import_of_a_table_shows_what_was_understood_before_it_writes(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["data", "import", "table", str(tables / "memories.csv"), "--questions", str(tables / "questions.csv")]
    assert main([*line, "--dry-run"]) == 0
    preview = capsys.readouterr().out
    assert "memories.csv: 2 rows; id, text, time\n" in preview
    assert "1 × dangling-judgment" in preview
    assert "1 × time-without-zone: nothing if it is UTC" in preview
    assert main([*line, "-o", str(tables / "mine")]) == 0
    assert capsys.readouterr().out == f"{preview}{tables / 'mine'}\n"
    dataset = load_jsonl(str(tables / "mine"))
    assert [o.id for o in dataset.observations] == ["001", "002"]
    assert [dict(query.relevant) for query in dataset.queries] == [{"001": 1}, {"9": 1}]
    assert main(["run", "dataset=jsonl", f"dataset.path={tables / 'mine'}", "system=[bm25]", f"hydra.run.dir={tables / 'run'}"]) == 0


def test_import_of_a_database(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(tables / "m.db") as connection:
        connection.execute("create table m (nr text, what text)")
        connection.execute("insert into m values ('007', 'the name')")
    connection.close()
    line = ["data", "import", "table", "--from", f"sqlite:///{tables / 'm.db'}", "--query", "select * from m", "-o", str(tables / "mine")]
    assert main(line) == 2
    assert "no column holds the id; name it with --id; there are nr, what" in capsys.readouterr().err
    assert main([*line, "--id", "nr", "--text", "what"]) == 0
    assert load_jsonl(str(tables / "mine")).observations[0].id == "007"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["locomo", SAMPLE, "--id", "x", "-o", "out"], "these options are of a table"),
        (["table", "-o", "out"], "nothing to import"),
        (["table", "memories.csv"], "no place to write to"),
    ],
)
def test_import_refuses_what_does_not_go_together(line: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "import", *line]) == 2
    assert told in capsys.readouterr().err


def test_a_table_is_checked_and_run_without_importing_it(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tables / "questions.csv").write_text("question,relevant\nWhich database was chosen?,001\n")
    questions = tables / "questions.csv"
    assert main(["data", "check", str(tables / "memories.csv"), "--set", f"questions={questions}"]) == 0
    assert "(table): observations 2, scopes 1, queries 1" in capsys.readouterr().out
    chosen = ["dataset=table", f"dataset.path={tables / 'memories.csv'}", f"dataset.questions={questions}", "system=[bm25]"]
    assert main(["run", *chosen, f"hydra.run.dir={tables / 'run'}"]) == 0
    assert "100.0" in capsys.readouterr().out


def test_build_writes_both_layouts_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main(["data", "build", "webapp", "-o", str(tmp_path / name), "--seed", "3"]) == 0
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert [str(path) for path in files] == [
        "beir/corpus.jsonl",
        "beir/qrels/test.tsv",
        "beir/queries.jsonl",
        "dataset.json",
        "observations.jsonl",
        "queries.jsonl",
    ]
    assert all((tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes() for path in files)
    ours, beir = load_jsonl(str(tmp_path / "one")), load_beir(str(tmp_path / "one" / "beir"))
    assert [o.id for o in ours.observations] == [o.id for o in beir.observations]
    assert {q.id: q.relevant for q in ours.queries} == {q.id: q.relevant for q in beir.queries}
    assert main(["data", "check", str(tmp_path / "one")]) == 0


def test_the_door_opens_fast(tmp_path: Path) -> None:
    code = (
        "import sys; from recallmeter.experiments.cli import main; main(['data', 'list'])\n"
        "print(sorted({'hydra', 'numpy', 'pandas', 'torch', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
