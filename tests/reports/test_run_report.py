"""The report of a run: the verdict that it begins with, what its tables carry, and text of the data that stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from recallmeter.datasets.model import Dataset, Query
from recallmeter.evaluation.record import Run, load_run
from recallmeter.reports.document import Document, Section, Table, plain
from recallmeter.reports.formats.writing import write_document
from recallmeter.reports.inert import at_line_start, in_latex, in_markdown
from recallmeter.reports.sections.run_report import run_report
from recallmeter.reports.standing import Standing, verdict

WriteRun = Callable[..., Path]
HOSTILE = "zzz <script>alert(1)</script> ![x](http://evil/x.png) [c](javascript:1) | `tick` *bold* a@b.example www.evil.example"


def config(**report: Any) -> dict[str, Any]:
    return {"report": {"title": "A test", "main": None, "controls": ["random"], "labels": {}, "steps": None, **report}}


def of(path: Path) -> tuple[Run, Document]:
    run = load_run(path)
    return run, run_report(run)


def section(document: Document, title: str) -> Section:
    return next(one for one in document.sections if one.title == title)


def rows(found: Section) -> list[list[str]]:
    """Return the cells of a section's table, without the row of ceilings."""
    table = next(block for block in found.blocks if isinstance(block, Table))
    return [cells for row in table.rows if (cells := [plain(cell) for cell in row])[0] != "the best attainable"]


def worse(memory: Dataset, n: int) -> Mapping[str, list[str]]:
    return {query.id: [] for query in memory.queries[:n]}


def test_the_card_says_which_by_how_much_how_sure_and_on_what(write_run: WriteRun, memory: Dataset) -> None:
    run, document = of(write_run("run", {"good": {}, "near": worse(memory, 1), "poor": worse(memory, 16)}, config=config()))
    first, second, third = (plain(line) for line in verdict(run, Standing.of(run)))
    assert first == "Use good: best with 100.0 [86.2, 100.0] % R@10."
    assert second.startswith("good is not separable from near (+4.2 pp")
    assert "; good is shown to be better than poor, the nearest by +66.7 pp" in second
    assert third.startswith("On small: 24 queries with an answer (n) and 1 without an answer, 40 observations, no model, the first 20")
    assert [row[0] for row in rows(section(document, "Head to head"))] == ["system", "good", "near", "poor"]
    assert document.numbers["verdict"]["recommended"] == "good"


def test_the_winner_stands_in_every_table_whatever_the_main_systems_are(write_run: WriteRun, memory: Dataset) -> None:
    path = write_run("run", {"poor": worse(memory, 16), "bad": worse(memory, 20), "good": {}}, config=config(main=["bad", "poor"]))
    _, document = of(path)
    assert [row[0] for row in rows(section(document, "Head to head"))][1:] == ["good", "poor", "bad"]
    assert rows(section(document, "By category"))[0] == ["category", "n", "good", "poor", "bad"]
    assert [row[0] for row in rows(section(document, "Tokens"))][1:] == ["good", "poor", "bad", "all that a query may search"]


def test_ties_are_called_ties_and_few_queries_recommend_nothing(write_run: WriteRun, memory: Dataset) -> None:
    three = replace(memory, queries=memory.queries[:3])
    path = write_run("run", {"a": {"q00": []}, "b": {"q01": []}, "c": {"q02": []}}, dataset=three, config=config())
    run, document = of(path)
    standing = Standing.of(run)
    assert standing.recommended is None
    assert standing.tied == ("a", "b", "c")
    told = [plain(line) for line in verdict(run, standing)]
    assert told[0].startswith("No recommendation: 3 queries settle nothing (at least 20 are needed). a, b and c tie at 66.7")
    assert [row[-3] for row in rows(section(document, "Head to head"))][1:] == ["tied"] * 3
    assert not any("Use " in line or "How to use" in line for line in [*told, *(one.title for one in document.sections)])


def test_a_tie_of_many_queries_recommends_the_fewest_parts_and_says_so(write_run: WriteRun) -> None:
    run, _ = of(write_run("run", {"a": {}, "b": {}}, config=config()))
    run.summary["systems"]["a"]["arms"] = {"x": {}, "y": {}}
    standing = Standing.of(run)
    assert standing.recommended == "b"
    first, second, _ = (plain(line) for line in verdict(run, standing))
    assert first == "Use b: a and b tie at 100.0 [86.2, 100.0] % R@10, and it has the fewest parts."
    assert second == "Nothing separates them."


def test_nothing_answerable_is_reported_as_that(write_run: WriteRun, memory: Dataset) -> None:
    silent = replace(memory, queries=(Query(id="q1", text="unheard of"),))
    _, document = of(write_run("run", {"a": {}, "b": {"q1": ["o01"]}}, dataset=silent, config=config()))
    assert plain(document.opening[0].text).startswith("There is nothing to rank. None of the 1 queries has an answer")  # type: ignore[union-attr]
    head, *told = rows(section(document, "Head to head"))
    assert (head[:2], [row[:2] for row in told]) == (["system", "stayed silent on"], [["a", "1 of 1"], ["b", "0 of 1"]])
    assert not list(document.pictures)


def test_the_main_measure_is_the_runs_own(write_run: WriteRun, memory: Dataset) -> None:
    late = {query.id: ["o39", *sorted(query.relevant)] for query in memory.queries}
    path = write_run("run", {"late": late, "half": worse(memory, 6)}, config=config(measure="mrr"))
    run, document = of(path)
    assert Standing.of(run).measure == "mrr"
    assert Standing.of(run).best == "half"
    assert rows(section(document, "Head to head"))[0][-3] == "behind the best, pp of MRR"


def test_so_few_groups_recommend_nothing_and_are_named(write_run: WriteRun, memory: Dataset) -> None:
    talks = replace(memory, queries=tuple(replace(query, group=f"talk {n % 3}") for n, query in enumerate(memory.queries)))
    run, _ = of(write_run("run", {"a": {}, "b": worse(memory, 6)}, dataset=talks, config=config()))
    first, _, last = (plain(line) for line in verdict(run, Standing.of(run)))
    assert first.startswith("No recommendation: 24 queries in 3 groups settle nothing (at least 6 groups are needed).")
    assert "24 queries with an answer (n) in 3 groups, the units of chance, and 1 without an answer" in last


def test_what_a_query_may_search_is_its_own_scope(write_run: WriteRun, memory: Dataset) -> None:
    halves = [replace(o, scope="even" if n % 2 else "odd") for n, o in enumerate(memory.observations)]
    whole = load_run(write_run("whole", {"a": {}}, config=config())).summary["memory_tokens"]
    asked = tuple(replace(query, scope="odd", relevant={}) for query in memory.queries)
    scoped = replace(memory, observations=tuple(halves), queries=asked)
    half = load_run(write_run("half", {"a": {q.id: [] for q in asked}}, dataset=scoped, config=config())).summary["memory_tokens"]
    assert abs(half / whole - 0.5) < 0.02


def test_a_failure_is_told_before_the_tables_that_it_moves(write_run: WriteRun) -> None:
    _, document = of(write_run("run", {"a": {}, "b": {"q00": None, "q01": None}}, config=config()))
    assert [one.title for one in document.sections][:2] == ["Head to head", "Failed: these queries count 0"]
    assert rows(section(document, "Head to head"))[2][0] == "b (2 failed)"


def test_where_one_wins_has_the_largest_ten_each_way(write_run: WriteRun, memory: Dataset) -> None:
    before, after = worse(memory, 12), {query.id: [] for query in memory.queries[13:16]}
    path = write_run("run", {"bm25": before, "vector": after}, config=config(contrast={"title": "Where vectors win", "from": "bm25"}))
    _, document = of(path)
    table = rows(section(document, "Where vectors win"))
    assert table[0] == ["query", "category", "bm25", "vector", "Δ pp"]
    assert [row[-1] for row in table[1:]] == ["+100.0"] * 10 + ["-100.0"] * 3


def test_it_is_short_and_says_nothing_twice(write_run: WriteRun, memory: Dataset, tmp_path: Path) -> None:
    _, document = of(write_run("run", {"good": {}, "poor": worse(memory, 16), "near": worse(memory, 2)}, config=config()))
    text = write_document(document, tmp_path / "report.md", "markdown")
    opened = text.split("<details>")[0]
    assert opened.count("\n") < 200
    sentences = re.findall(r"[A-Z][^.|\n]{25,}\.", opened)
    assert len(sentences) == len(set(sentences))


def test_a_run_with_changes_is_not_called_reproducible(write_run: WriteRun, seal: Any) -> None:
    path = write_run("run", {"a": {}, "b": {}}, config=config() | {"systems": {"a": {"_target_": "x.A", "k": 7, "off": None}}})

    def told(**manifest: Any) -> str:
        stored = json.loads((path / "run.json").read_text())
        (path / "run.json").write_text(json.dumps(stored | manifest))
        return write_document(of(seal(path))[1], path / "report.md", "markdown")

    command = ["recallmeter", "run", "system=[a,b]", "dataset.name=two words"]
    dirty = told(git={"commit": "c" * 40, "dirty": True}, command=command)
    assert "**This run can't be reproduced from a commit.**" in dirty
    assert "git checkout" not in dirty
    clean = told(git={"commit": "c" * 40, "dirty": False})
    assert f"git checkout {'c' * 40}" in clean
    assert "recallmeter run 'system=[a,b]' 'dataset.name=two words' hydra.run.dir=again" in clean
    assert "| a | `a` | A(k=7) | – | – |" in clean


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("R@10 of snake_case, a[0] and 50 % of $5", r"R@10 of snake_case, a[0] and 50 % of \$5"),
        ("<b>", "&lt;b&gt;"),
        ("[x](y)", r"[x\](y)"),
        ("https://x.example", "https<span></span>://x.example"),
        ("ask @you, a@b.example", "ask @<span></span>you, a@<span></span>b.example"),
        ("_emphasis_ &amp; `code`", r"\_emphasis\_ &amp;amp; \`code\`"),
        ("\u202egnitset", "⟨U+202E⟩gnitset"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_is_inert_in_markdown(text: str, written: str) -> None:
    assert in_markdown(text) == written


def test_text_is_inert_at_the_start_of_a_line_and_in_latex() -> None:
    assert [at_line_start(text) for text in ("# a", "- a", "1. a", "a # b", "> a")] == ["\\# a", "\\- a", "1\\. a", "a # b", "\\> a"]
    assert in_latex(r"50 % of a_b \input{x}") == r"50 \% of a\_b \textbackslash{}input\{x\}"


class Tags(HTMLParser):
    """The elements of a page, and the addresses in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses |= {value or "" for name, value in attrs if name in ("src", "href") and not (value or "").startswith("#")}


def hostile(write_run: WriteRun, memory: Dataset) -> Document:
    query = replace(memory.queries[0], text=HOSTILE, category="<img src=x onerror=alert(1)>")
    dataset = replace(memory, queries=(query, *memory.queries[1:]))
    return of(write_run("run", {"good": {}, "poor": {**worse(memory, 1), "q01": []}}, dataset=dataset, config=config()))[1]


def test_hostile_text_makes_no_element_image_or_link(write_run: WriteRun, memory: Dataset, tmp_path: Path) -> None:
    document = hostile(write_run, memory)
    text = write_document(document, tmp_path / "report.md", "markdown")
    shown = [line for line in text.splitlines() if "evil" in line]
    assert len(shown) == 2
    for line in shown:
        assert not re.search(r"<(?!/?span>)|(?<!\\)\]\(|(?<!\\)`|\bhttps?:|\bwww\.|\w@\w", line), line
    assert not re.search(r"<(?!/?(span|details|summary)>)", text)
    page = Tags(write_document(document, tmp_path / "report.html", "html"))
    assert not page.names & {"script", "img", "a", "iframe", "object", "link"}
    assert not {address for address in page.addresses if "evil" in address or "javascript" in address}


@pytest.mark.parametrize("form", ["markdown", "html", "latex", "json"])
def test_every_format_carries_the_same_numbers(form: str, write_run: WriteRun, memory: Dataset, tmp_path: Path) -> None:
    _, document = of(write_run("run", {"good": {}, "poor": worse(memory, 16)}, config=config()))
    text = write_document(document, tmp_path / "out" / "Report.txt", form)
    figures = {path.name for path in (tmp_path / "out" / "figures").glob("*")}
    if form == "json":
        told = json.loads(text)
        assert told["systems"]["poor"]["measures"]["recall@10"]["mean"] == pytest.approx(1 / 3)
        assert told["leads"]["poor"]["mean"] == pytest.approx(2 / 3)
        assert figures == set()
        return
    assert "33.3" in text
    assert "Use good" in text
    assert figures == {f"report-{name}.{ending}" for name in ("quality", "categories", "budget") for ending in ("svg", "png")}
    if form == "html":
        figure = text[text.index("<svg") : text.index("</svg>") + 6]
        assert ElementTree.fromstring(figure).tag.endswith("svg")
    if form == "latex":
        assert text.count("{") == text.count("}")
        assert r"\includegraphics[width=\linewidth]{figures/report-quality.png}" in text


def test_nothing_is_drawn_as_certain_of_fewer_than_five(write_run: WriteRun, memory: Dataset) -> None:
    from matplotlib.figure import Figure

    def faces(n: int) -> set[str]:
        few = replace(memory, queries=memory.queries[:n])
        _, document = of(write_run(f"run{n}", {"good": {}, "poor": {"q01": []}}, dataset=few, config=config()))
        picture = next(picture for picture in document.pictures if picture.name == "quality")
        figure = Figure(figsize=picture.size)
        picture.draw(figure)
        assert ("hollow" in picture.says) is (n < 5)
        marks = [line for panel in figure.axes for line in panel.lines if line.get_marker() not in ("None", None)]
        return {"hollow" if line.get_markerfacecolor() == "white" else "full" for line in marks}

    assert faces(4) == {"hollow"}
    assert faces(6) == {"full"}


def test_the_numbers_stand_on_the_figure_of_quality(write_run: WriteRun, memory: Dataset) -> None:
    from matplotlib.figure import Figure

    _, document = of(write_run("run", {"good": {}, "poor": worse(memory, 16)}, config=config()))
    picture = next(picture for picture in document.pictures if picture.name == "quality")
    figure = Figure(figsize=picture.size)
    picture.draw(figure)
    assert {text.get_text() for text in figure.axes[0].texts} == {"100.0", "33.3"}
