"""TREC folders: topics, judgments and documents."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.formats.trec import load_trec

BLOCKS = """<top>
<num> Number: 301
<title> International   Organized Crime &amp; law
<desc> Description:
Identify organizations
</top>
<top><num>302</num><title>Poliomyelitis</title></top>
"""
XML = (
    '<topics task="x">\n<topic number="301">\n<query>crime</query>\n</topic>\n<topic number="302"><query>polio</query></topic>\n</topics>\n'
)


def lay(folder: Path, **files: str) -> str:
    contents = {
        "topics.tsv": "301\tcrime\n302\tpolio\n",
        "qrels.txt": "301 0 d1 2\n302 0 d2 0\n",
        "documents.tsv": "d1\tA title\tabout crime\nd2\tabout polio\n",
        **{name.replace("__", "."): text for name, text in files.items()},
    }
    for name, text in contents.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")
    return str(folder)


def test_tables_load(tmp_path: Path) -> None:
    loaded = load_trec(lay(tmp_path))
    assert [(o.id, o.title, o.narrative) for o in loaded.observations] == [("d1", "A title", "about crime"), ("d2", "", "about polio")]
    assert [(q.id, q.text, dict(q.relevant)) for q in loaded.queries] == [("301", "crime", {"d1": 2}), ("302", "polio", {})]


@pytest.mark.parametrize(
    ("topics", "texts"), [(BLOCKS, ["International Organized Crime & law", "Poliomyelitis"]), (XML, ["crime", "polio"])]
)
def test_topic_blocks_load(tmp_path: Path, topics: str, texts: list[str]) -> None:
    loaded = load_trec(lay(tmp_path, topics__tsv="", topics__xml=topics))
    assert [(query.id, query.text) for query in loaded.queries] == [("301", texts[0]), ("302", texts[1])]


def test_documents_may_be_json_lines_and_gzip(tmp_path: Path) -> None:
    records = [{"docno": "d1", "contents": "x", "url": "…"}, {"id": "d2", "title": "T", "text": "y"}]
    lay(tmp_path, documents__tsv="")
    (tmp_path / "collection.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    assert [(o.id, o.title, o.narrative) for o in load_trec(str(tmp_path)).observations] == [("d1", "", "x"), ("d2", "T", "y")]


def test_files_may_be_named(tmp_path: Path) -> None:
    lay(tmp_path, topics__more="303\tmeasles\n")
    with pytest.raises(InputError, match=r"can't tell which file holds the topics: topics\.more and topics\.tsv; name it with topics=FILE"):
        load_trec(str(tmp_path))
    assert len(load_trec(str(tmp_path), topics="topics.tsv").queries) == 2


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"topics__tsv": "301 crime\n"}, "topics.tsv:1: a topic is an id, a tab and a text"),
        ({"topics__tsv": "<top>\n<num> 301\n"}, "topics.tsv:1: the <top> block does not end"),
        ({"topics__tsv": "<top>\n<num> 301\n</top>\n"}, "topics.tsv:1: a topic block needs a <num> and a <title>"),
        ({"documents__tsv": "d1\n"}, "documents.tsv:1: a document has an id"),
        ({"documents__tsv": "", "documents__jsonl": '{"id": "d1"}\n'}, "documents.jsonl:1: a document needs one of"),
        (
            {"documents__tsv": "", "documents__jsonl": '{"id": 1, "text": "x"}\n'},
            "documents.jsonl:1: id, title and text of a document are strings",
        ),
        ({"qrels__txt": "301 0 d1\t2\n"}, "qrels.txt:1: a judgment has 3 or 4 columns, this line has 2"),
        ({"qrels__txt": ""}, "no file whose name begins with qrels"),
    ],
)
def test_faults_are_named(tmp_path: Path, files: dict[str, str], told: str) -> None:
    with pytest.raises(InputError) as caught:
        load_trec(lay(tmp_path, **files))
    assert told in str(caught.value)
    with pytest.raises(InputError, match="no such folder"):
        load_trec(str(tmp_path / "nowhere"))
