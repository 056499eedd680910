"""The explorer in a real browser: every view, by mouse, keys and links; hostile and meagre data; every number; accessibility."""

from __future__ import annotations

import base64
import csv
import io
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recallmeter.datasets.errata import corrected
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.judging.compare import compare, pair, results_of
from recallmeter.evaluation.measures.numbers import amount as percent
from recallmeter.evaluation.measures.numbers import shift as sign
from recallmeter.evaluation.record import Run, load_run
from recallmeter.evaluation.sweeps.leaderboard import Leaderboard
from recallmeter.evaluation.sweeps.points import Point, read_points, write_point
from recallmeter.experiments.cli import main
from recallmeter.reports.table import HEADLINE, bounds, interval, milliseconds

pytestmark = pytest.mark.integration

DATA = Path(__file__).resolve().parents[2] / "data"
CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-ipc-flooding-protection", "--disable-component-update", "--disable-sync", "--window-size=1280,900"),
)
HOSTILE = "</script><script>window.broken=1</script><img src=x onerror=window.broken=1> \u202egnitset\u202c &amp; {{data}}"
WHEN = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs the extra `browser`")
    driver = shutil.which("chromedriver")
    if not CHROMIUM or not driver:
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


class Page:
    """A file of the explorer in the browser; leaving it asserts that nothing was complained of and nothing fetched."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.browser, self.url = browser, path.as_uri()

    def __enter__(self) -> Page:
        self.browser.get_log("browser"), self.browser.get_log("performance")
        return self.open("")

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            assert self.browser.get_log("browser") == []
            events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
            asked = {e["params"]["request"]["url"].partition("#")[0] for e in events if e["method"] == "Network.requestWillBeSent"}
            # what a page makes of its own data, such as a figure on its way to a PNG, comes from no network, nor does the browser's own
            assert {url for url in asked if not url.startswith(("data:", "blob:", "chrome:"))} == {self.url}

    def open(self, fragment: str) -> Page:
        self.browser.get("about:blank")
        self.browser.get(f"{self.url}#{fragment}" if fragment else self.url)
        return self

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def text(self, selector: str = "main") -> str:
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def rows(self, selector: str) -> list[list[str]]:
        script = "return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))"
        return self.run(script, selector)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()
        self.run("return new Promise(done => setTimeout(done, 60))")

    def choose(self, label: str, value: str) -> None:
        script = """const field = [...document.querySelectorAll('label.field')].find(one => one.innerText.startsWith(arguments[0]));
            const box = field.querySelector('select, input'); box.value = arguments[1];
            box.dispatchEvent(new Event(box.tagName === 'SELECT' ? 'change' : 'input'));
            return new Promise(done => setTimeout(done, 60))"""
        self.run(script, label, value)

    @property
    def hash(self) -> str:
        return self.run("return location.hash")


REPORT = {"report": {"title": "A test", "experiment": None, "main": None, "controls": ["random"], "labels": {}, "steps": None}}


@pytest.fixture
def runs(write_run) -> list[Path]:
    """Two runs of two systems; the sixteen queries that "poor" answers half give means that end in a tie of the last digit."""
    answers = {f"q{i:02}": ["o39", "o38", f"o{i:02}"] for i in range(1, 20, 2)} | {"q99": ["o01"], "q03": [], "q06": []}
    worse = {f"q{i:02}": [] for i in range(14)}
    return [
        write_run("first", {"good": {}, "poor": answers}, config=REPORT),
        write_run("second", {"good": {}, "poor": worse}, config=REPORT),
    ]


def sweep(folder: Path, run: Path) -> Path:
    """Write a sweep of six points over a weight and a kind, made of a run's values."""
    loaded = load_run(run)
    results = results_of(loaded, "poor")
    for n in range(6):
        values = [[[value * (n + 1) / 6 for value in results.values["recall@10"]]]]
        key = f"{n}" * 20
        point = Point(
            key,
            {"systems.poor.weight": n / 5, "systems.poor.kind": HOSTILE if n % 2 else None},
            "complete",
            systems=("poor",),
            measures=("recall@10",),
            queries=results.queries,
            tokens={"poor": 100.0 + n},
            latency={"poor": {"p50": 2.0, "p95": 3.0}},
            manifest={"dataset": {"fingerprint": "f"}},
        )
        write_point(folder / key, replace(point, values=np.array(values)))
    return folder


def explorer(path: Path, *inputs: Path) -> Path:
    assert main(["report", *map(str, inputs), "--html", str(path)]) == 0
    return path


def shown(cell: dict[str, Any]) -> list[str]:
    return [percent(cell["mean"]), *([] if cell["low"] is None else [f"[{percent(cell['low'])}, {percent(cell['high'])}]"])]


def assert_numbers(page: Page, run: Run) -> None:
    """Compare every number of the overview with the summary."""
    script = (
        "return [...document.querySelectorAll(arguments[0])].map(cell => [cell.dataset.system, cell.dataset.%s, cell.innerText.trim()])"
    )
    cells = {f"{name}|{measure}": text for name, measure, text in page.run(script % "measure", "#head-to-head td[data-measure]")}
    measures = [measure for measure in HEADLINE if measure in run.measures]
    for name, system in run.summary["systems"].items():
        for measure in measures:
            assert cells.pop(f"{name}|{measure}").split(" ", 1) == shown(system["measures"][measure])
        total = system["latency"]["spans"].get("total")
        assert cells.pop(f"{name}|p50") == ("–" if total is None else milliseconds(total["p50"]))
        assert cells.pop(f"{name}|tokens") == f"{system['tokens']['mean']:,.0f}"
    assert cells == {f"|{measure}": percent(run.summary["ceilings"][measure]) for measure in measures}
    for row, system in zip(page.rows("#readings"), run.summary["systems"].values(), strict=True):
        time, ties = system["time"], system["ties"]["recall@10"]
        assert row[1] == f"{interval(time['stale@10'])} ({time['stale@10']['n']})"
        assert row[2:4] == [str(time["future_leaks"]), percent(time["as_of_recall@10"]["mean"])]
        assert row[4] == f"{percent(ties['worst'])}–{percent(ties['best'])}"
    for measure in run.measures:
        page.choose("Measure", measure)
        for name, category, text in page.run(script % "category", "#by-category td[data-category]"):
            assert text == percent(run.summary["systems"][name]["categories"][category][measure]["mean"])


def test_every_number_is_that_of_the_summary(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    first, second = map(load_run, runs)
    with Page(browser, explorer(tmp_path / "page.html", *runs)) as page:
        assert_numbers(page.open("view=overview&run=first"), first)
        assert_numbers(page.open("view=overview&run=second"), second)
        page.open("view=data")
        assert [row[1] for row in page.rows("#ceilings")] == [percent(first.summary["ceilings"][m]) for m in first.measures]
        page.open("view=compare&a=first:poor&b=second:poor")
        (found,) = compare([pair(results_of(first, "poor"), results_of(second, "poor"))], list(HEADLINE))
        for row, expected in zip(page.rows("#differences"), found.overall, strict=True):
            assert row[2:6] == [percent(expected.before), percent(expected.after), sign(expected.mean), bounds(expected)]
            assert row[9] == f"{expected.wins}/{expected.ties}/{expected.losses}"
        page.open("view=compare&a=second:poor&b=first:poor")
        for row, expected in zip(page.rows("#differences"), found.overall, strict=True):
            low, high, _ = expected.interval
            assert row[4:6] == [sign(-expected.mean), f"[{sign(-high)}, {sign(-low)}]"]
            assert row[9] == f"{expected.losses}/{expected.ties}/{expected.wins}"
        page.open("view=query&run=first&query=q05&a=first:poor")
        values = next(row for row in first.per_query if (row["system"], row["query"]) == ("poor", "q05"))
        assert page.rows("#values")[0][2:-3] == [percent(values[measure]) for measure in first.measures]


def test_numbers_are_rounded_as_python_rounds_them(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    path = explorer(tmp_path / "page.html", runs[0])
    values = [n / 1600 for n in range(1601)] + [n / 7 for n in range(8)] + [0.30449999, 0.0005, 1e-9]
    times = [n / 64 for n in range(0, 7000, 37)] + [9.995, 99.95, 1234.5, 1235.5]
    text = path.read_text(encoding="utf-8")
    policy = text.index("<meta http-equiv")  # it would not let the script be changed
    text = text[:policy] + text[text.index("\n", policy) :]
    path.write_text(text.replace('"use strict";', '"use strict"; window.seen = () => ({ percent, signed, milliseconds });', 1), "utf-8")
    with Page(browser, path) as page:
        assert page.run("return arguments[0].map(seen().percent)", values) == [percent(value) for value in values]
        both = [*values, *(-value for value in values)]
        assert page.run("return arguments[0].map(seen().signed)", both) == [sign(value) for value in both]
        assert page.run("return arguments[0].map(seen().milliseconds)", times) == [milliseconds(value) for value in times]


def test_every_query_of_every_built_in_set_opens(browser: Any, tmp_path: Path) -> None:
    # a word with a hyphen once made a pattern that no browser takes, and the page stayed empty
    for name in ("webapp", "zh_memory"):
        run = tmp_path / name
        assert main(["run", f"dataset={name}", "system=[bm25]", f"hydra.run.dir={run}"]) == 0
        assert_every_query_opens(browser, run, tmp_path)


@pytest.mark.parametrize(
    "overrides",
    [("dataset=beir", "dataset.path={}/data/scifact"), ("dataset=locomo", "dataset.path={}/data/locomo-3/locomo_3.json")],
    ids=["scifact", "locomo"],
)
def test_every_query_of_real_sets_opens(overrides: tuple[str, ...], shared: Path, browser: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    chosen = [override.format(shared) for override in overrides]
    assert main(["run", *chosen, "system=[bm25]", "protocol.repeats=1", f"hydra.run.dir={run}"]) == 0
    assert_every_query_opens(browser, run, tmp_path)


def assert_every_query_opens(browser: Any, run: Path, folder: Path) -> None:
    script = """const [view, ids, done] = arguments; const empty = []; let at = 0;
        const next = () => {
          if (at) { const main = document.getElementById('main');
            if (!main.querySelector('h1') || !main.querySelector('#side-by-side')) empty.push(ids[at - 1]); }
          if (at === ids.length) return done(empty);
          location.hash = view + encodeURIComponent(ids[at++]); setTimeout(next, 1);
        }; next();"""
    ids = list(load_run(run).queries)
    browser.set_script_timeout(60)
    with Page(browser, explorer(folder / f"{run.name}.html", run)) as page:
        assert len(ids) > 30
        for start in range(0, len(ids), 25):  # a few at a time, so that a busy machine only makes it longer
            assert page.browser.execute_async_script(script, "#view=query&query=", ids[start : start + 25]) == []


def test_views_filters_links_and_keys(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    with Page(browser, explorer(tmp_path / "page.html", runs[0])) as page:
        assert page.text("h1").startswith("A test")
        assert [row[0] for row in page.rows("#head-to-head")] == ["good", "poor", "The best attainable"]
        page.run("[...document.querySelectorAll('.sort')][0].click()")
        page.run("return new Promise(done => setTimeout(done, 60))")
        page.run("[...document.querySelectorAll('.sort')][0].click(); return new Promise(done => setTimeout(done, 60))")
        assert [row[0] for row in page.rows("#head-to-head")] == ["poor", "good", "The best attainable"]
        assert page.run("return document.querySelector('th[aria-sort]').ariaSort") == "descending"

        page.press("/")
        page.press("q1")
        assert "text=q1" in page.hash
        assert page.rows("#query-list")[0][0] == "q10"
        assert len(page.rows("#query-list")) == 10
        page.choose("Category", "semantic")
        assert {row[0] for row in page.rows("#query-list")} == {"q11", "q13", "q15", "q17", "q19"}
        page.open("view=queries&a=good&b=poor")
        page.choose("Show", "better")
        better = [row[0] for row in page.rows("#query-list")]
        assert {"q03", "q06"} <= set(better)
        page.choose("Show", "unanswerable")
        assert page.rows("#query-list") == [["q99", "unheard of exact", "0", "silent", "returned 1"]]
        page.choose("Show", "worse")
        assert "No query passes" in page.text()
        page.choose("Show", "fail")
        assert page.rows("#query-list") == []

        page.open("view=queries")
        page.press("j", "j", "j", "k", Keys.ENTER)
        assert page.text("h1") == "question 1"
        page.press("j")
        assert page.text("h1") == "question 2"
        page.press("k")
        assert page.text("h1") == "question 1"
        assert page.run("return document.querySelectorAll('.lines path.relevant').length") == 1
        page.run("document.querySelector('li.hit button').focus()")
        page.press(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        focused = "const item = document.activeElement.closest('li'); return [item.dataset.id, item.closest('section').ariaLabel]"
        assert page.run(focused) == ["o01", "poor"]
        page.press(Keys.ENTER)
        assert page.run("return document.querySelector('dialog').open")
        assert "obs=" in page.hash
        page.press(Keys.ESCAPE)
        assert not page.run("return document.querySelector('dialog').open")
        assert page.run("return document.activeElement.closest('section').ariaLabel") == "poor"
        page.press(Keys.ESCAPE)
        assert page.text("h1") == "Queries"

        page.open("query=q17&a=poor&b=good")
        columns = "return [...document.querySelectorAll('.column')].map(one => one.ariaLabel)"
        assert page.run(columns) == ["poor", "good"]
        browser.refresh()
        assert page.run(columns) == ["poor", "good"]
        page.run("document.querySelector('nav a').click(); return new Promise(done => setTimeout(done, 60))")
        assert page.text("h1").startswith("A test")
        browser.back()
        page.run("return new Promise(done => setTimeout(done, 60))")
        assert page.run(columns) == ["poor", "good"]
        assert page.rows("#gold") == [["note 29", "2", "not returned", "1"], ["note 17", "1", "3", "2"]]

        page.run("dispatchEvent(new Event('beforeprint'))")
        assert page.text("h1") == "question 17"


VIEWS = ("view=overview", "view=queries", "query=q05", "view=compare", "view=sweep", "view=data")


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_exports_prints_and_goes_back(view: str, browser: Any, runs: list[Path], tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(saved)})
    with Page(browser, explorer(tmp_path / "page.html", *runs, sweep(tmp_path / "sweep", runs[0]))) as page:
        page.open(view)
        shown = page.text()
        script = """const menus = [...document.querySelectorAll('.tools')]; menus.forEach(menu => { menu.open = true; });
            const one = (text) => menus.flatMap(m => [...m.querySelectorAll('button')]).find(b => b.innerText === text);
            const found = ['Save CSV', 'Save Markdown', 'Save LaTeX', 'Save SVG', 'Save PNG'].map(text => [text, one(text)]);
            found.forEach(([, button]) => button?.click());
            return new Promise(done => setTimeout(() => done(found.filter(([, button]) => button).map(([text]) => text)), 900))"""
        asked = page.run(script)
        assert asked[:3] == ["Save CSV", "Save Markdown", "Save LaTeX"]
        endings = {"Save CSV": ".csv", "Save Markdown": ".md", "Save LaTeX": ".tex", "Save SVG": ".svg", "Save PNG": ".png"}
        wanted = sorted(endings[one] for one in asked)
        wait(lambda: sorted(path.suffix for path in saved.iterdir()) == wanted)
        for path in saved.iterdir():
            content = path.read_bytes()
            assert len(content) > 40
            begins = {".svg": b"<svg", ".png": b"\x89PNG", ".tex": b"\\begin{tabular}", ".md": b"| "}.get(path.suffix, b"")
            assert content.startswith(begins)
            if path.suffix == ".csv":
                table = list(csv.reader(io.StringIO(content.decode())))
                assert len({len(row) for row in table}) == 1
        pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
        assert pdf.startswith(b"%PDF")
        assert page.text("h1") in shown
        page.run("location.hash = arguments[0]; return new Promise(done => setTimeout(done, 60))", "view=queries&text=zzz")
        browser.back()
        page.run("return new Promise(done => setTimeout(done, 60))")
        assert page.text("h1") in shown


def wait(done: Callable[[], bool]) -> None:
    """Wait until something has come about, at most five seconds."""
    end = time.monotonic() + 5
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_table_is_exported_as_its_numbers_stand(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(saved)})
    run = load_run(runs[0])
    with Page(browser, explorer(tmp_path / "page.html", runs[0])) as page:
        page.run(
            "const menu = document.querySelector('#head-to-head').closest('.frame').previousElementSibling; menu.open = true;"
            "[...menu.querySelectorAll('button')].find(b => b.innerText === 'Save CSV').click()"
        )
        wait(lambda: any(path.suffix == ".csv" for path in saved.iterdir()))
        (path,) = saved.iterdir()
        head, good, poor, best = list(csv.reader(io.StringIO(path.read_text())))
        assert head[:3] == ["system", "the best leads by", "R@5"]
        cell = run.summary["systems"]["poor"]["measures"]["recall@5"]
        assert poor[2] == " ".join(shown(cell))
        assert good[0] == "good"
        assert best[2] == percent(run.summary["ceilings"]["recall@5"])


def test_a_fault_is_named_and_the_other_views_open(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    path = explorer(tmp_path / "page.html", runs[0])
    text = path.read_text(encoding="utf-8")
    policy = text.index("<meta http-equiv")  # it would not let the script be changed
    text = text[:policy] + text[text.index("\n", policy) :]
    path.write_text(text.replace("function categoryMap(", 'function categoryMap() { throw new TypeError("no luck"); } function unused(', 1))
    with Page(browser, path) as page:
        assert page.text("h1") == "Overview can't be shown"
        assert "TypeError: no luck" in page.text("[role=alert]")
        assert page.open("view=queries").text("h1") == "Queries"


def test_wrong_links_say_so_and_filters_are_cleared(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    with Page(browser, explorer(tmp_path / "page.html", runs[0])) as page:
        for fragment, words in (
            ("view=overview&run=gone", "no run gone"),
            ("view=queries&a=gone", "no system gone"),
            ("view=overview&measure=gone", "no measure gone"),
            ("view=gone", "no view gone"),
            ("query=gone", "There is no query gone"),
        ):
            assert words in page.open(fragment).text("[role=alert]")
        page.open("query=q05&obs=gone")
        assert page.text("#told") == "There is no observation gone in this run."
        page.open("view=queries&text=zzz&category=exact")
        assert page.rows("#query-list") == []
        page.run(
            "[...document.querySelectorAll('main button')].find(b => b.innerText === 'Clear the filters').click();"
            "return new Promise(done => setTimeout(done, 60))"
        )
        assert len(page.rows("#query-list")) == 25


def test_search_covers_the_texts_of_what_answers(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    with Page(browser, explorer(tmp_path / "page.html", runs[0])) as page:
        page.open("view=queries&text=note 17")
        assert [row[0] for row in page.rows("#query-list")] == ["q05", "q17"]


def test_hits_are_judged_and_saved_as_errata_that_data_reads(browser: Any, runs: list[Path], memory: Dataset, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(saved)})
    press = """const item = document.querySelector(`.column[aria-label=poor] li[data-id=${arguments[0]}]`);
        item.querySelectorAll('.marks button')[arguments[1]].click()"""
    with Page(browser, explorer(tmp_path / "page.html", runs[0])) as page:
        page.open("query=q05&a=poor&b=good&judge=1")
        page.run(press, "o39", 0)
        page.run(press, "o05", 1)
        page.run(press, "o38", 2)
        page.run(press, "o38", 2)
        page.run(press, "o38", 2)
        assert page.text("#marks p").startswith("3 marks on 1 query.")
        browser.refresh()
        assert page.text("#marks p").startswith("3 marks on 1 query.")
        page.run("[...document.querySelectorAll('#marks button')][0].click()")
        wait(lambda: any(path.suffix == ".json" for path in saved.iterdir()))
        (path,) = saved.iterdir()
        page.run("[...document.querySelectorAll('#marks button')][1].click()")
    changed = {query.id: query for query in corrected(memory, str(path)).queries}["q05"]
    assert changed.relevant == {"o17": 2, "o39": 1}
    assert changed.tags == ("corrected", "disputed")


def test_pulling_along_an_axis_keeps_what_crosses_there(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    with Page(browser, explorer(tmp_path / "page.html", sweep(tmp_path / "sweep", runs[0]))) as page:
        assert page.text("#parallel [role=status]") == "6 configurations of 6 kept"
        handle = browser.find_element("css selector", ".handle[data-axis='1']")
        page.run("arguments[0].scrollIntoView({block: 'center'})", handle)
        height = handle.rect["height"]
        steps = ActionChains(browser).move_to_element_with_offset(handle, 0, int(-height / 2) + 2).click_and_hold()
        steps.move_by_offset(0, int(height / 2) - 6).release().perform()
        page.run("return new Promise(done => setTimeout(done, 80))")
        assert page.text("#parallel [role=status]") == "3 configurations of 6 kept"
        assert "brush=1" in page.hash
        assert len(page.rows("#leaderboard")) == 3
        browser.refresh()
        assert page.text("#parallel [role=status]") == "3 configurations of 6 kept"
        page.run(
            "[...document.querySelectorAll('#parallel button')].find(b => b.innerText === 'Clear').click();"
            "return new Promise(done => setTimeout(done, 60))"
        )
        assert page.text("#parallel [role=status]") == "6 configurations of 6 kept"


@pytest.fixture
def traced(write_run, seal) -> Path:
    """A run of three hostile observations whose fused system lost one on the way, and whose other one failed."""
    observations = tuple(
        Observation(
            id=f"o{n}",
            session_id="<s>",
            timestamp=WHEN + timedelta(days=n),
            type="note",
            title=f"{HOSTILE} {n}",
            narrative=f"The test {HOSTILE}",
            facts=(HOSTILE,),
            concepts=(HOSTILE,),
            files=("a.py",),
            superseded_by="o2" if n == 1 else None,
        )
        for n in range(3)
    )
    query = Query(id="q<1>", text=f"tests {HOSTILE}", category=HOSTILE, relevant={"o1": 2, "o2": 1, "gone": 1})
    dataset = Dataset(HOSTILE, observations, (query, Query(id="q2", text="", category="__proto__", relevant={"o0": 1})))
    run = write_run("traced", {"fused": {"q<1>": ["o0", "o1"]}, "broken": {"q<1>": None, "q2": None}}, dataset=dataset, config=REPORT)
    trace = {
        "query": "q<1>",
        "arms": {"words": {"ids": ["o2", "o0"], "scores": [2.5, 1.0]}, "vectors": {"ids": ["o0", "o1"], "scores": [0.5, 0.25]}},
        "dropped": {"diversity": ["o2"]},
        "notes": [HOSTILE],
    }
    (run / "traces" / "fused.jsonl").write_text(json.dumps(trace) + "\n")
    with (run / "timings.csv").open("a") as file:
        file.write("fused,q<1>,total.words,0.5000\nfused,q<1>,total.vectors,0.2500\nfused,q<1>,total.vectors.embed,0.2000\n")
    return seal(run)


def test_hostile_text_is_text_and_one_query_is_explained(browser: Any, traced: Path, seal: Any, tmp_path: Path) -> None:
    with Page(browser, explorer(tmp_path / "page.html", traced, sweep(tmp_path / "sweep", seal(traced_values(traced))))) as page:
        asked = "query=q%3C1%3E"
        for fragment in ("view=overview", "view=queries", asked, f"{asked}&obs=o1", "view=compare", "view=sweep", "view=data"):
            page.open(fragment)
            assert page.run("return [window.broken ?? null, document.images.length]") == [None, 0]
            assert "\u202e" not in page.run("return document.body.innerText")
        page.open("query=q%3C1%3E")
        assert "<img src=x onerror=window.broken=1> ⟨U+202E⟩gnitset⟨U+202C⟩ &amp; {{data}}" in page.text("h1")
        gold = page.rows("#gold")
        assert [row[1:] for row in gold] == [
            ["2", "2", "the system failed"],
            ["1", "not in the memory", "not in the memory"],
            ["1", "dropped by diversity; in words 1", "the system failed"],
        ]
        assert page.run("return [...document.querySelectorAll('li.hit mark')].map(one => one.innerText)") != []
        assert "words 2 (1) · vectors 1 (0.5)" in page.text("li.hit")
        parts = [(row[0], row[1], row[3]) for row in page.rows(".waterfall")]
        found = "2 candidates"
        assert parts[:4] == [("total", "1.00", ""), ("words", "0.50", found), ("vectors", "0.25", found), ("embed", "0.20", "")]
        page.open("query=q%3C1%3E&obs=o1")
        neighbours = page.rows("dialog .frame:last-child")
        assert len(neighbours) == 2
        assert "superseded" in neighbours[0][1]


def traced_values(run: Path) -> Path:
    """The fused system under the name that the sweep takes its values from."""
    copy = run.with_name("values")
    shutil.copytree(run, copy)
    for path in (copy / "summary.json", copy / "per_query.csv"):
        path.write_text(path.read_text().replace("fused", "poor"))
    for folder, suffix in (("rankings", "trec"), ("traces", "jsonl")):
        (copy / folder / f"fused.{suffix}").rename(copy / folder / f"poor.{suffix}")
    return copy


@pytest.mark.parametrize("what", ["empty", "one"])
def test_meagre_runs_are_shown(what: str, browser: Any, write_run, tmp_path: Path) -> None:
    observation = Observation(id="o1", session_id="", timestamp=WHEN, type="note", title="only")
    dataset = {
        "empty": Dataset("empty", (), (Query(id="q1", text="what"),)),
        "one": Dataset("one", (observation,), (Query(id="q1", text="what", relevant={"o1": 1}),)),
    }[what]
    run = write_run(what, {"alone": {}}, dataset=dataset, config=REPORT)
    with Page(browser, explorer(tmp_path / "page.html", run)) as page:
        assert [row[0] for row in page.rows("#head-to-head")] == ["alone", "The best attainable"]
        assert page.run("return [...document.querySelectorAll('nav a')].map(one => one.innerText)") == ["Overview", "Queries", "Data"]
        for fragment in ("view=queries", "view=query", "query=q1", "query=nothing", "view=compare", "view=data", "view=nonsense&run=x&a=y"):
            assert page.open(fragment).text("h1")


def test_a_sweep_alone_is_its_leaderboard(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    folder = sweep(tmp_path / "sweep", runs[0])
    board = Leaderboard(read_points([folder]), "recall@10")
    with Page(browser, explorer(tmp_path / "page.html", folder)) as page:
        assert page.text("h1") == "Sweep sweep"
        rows = page.rows("#leaderboard")
        assert [row[4:6] for row in rows] == [[percent(row.mean), f"[{percent(row.low)}, {percent(row.high)}]"] for row in board.rows]
        assert page.run("return document.querySelectorAll('.parallel path').length") == 6


def test_every_view_is_accessible_and_fits_a_small_screen(browser: Any, runs: list[Path], tmp_path: Path) -> None:
    axe = (DATA / "axe" / "axe.min.js").read_text(encoding="utf-8")
    views = ("view=overview", "view=queries", "query=q05", "query=q05&obs=o05", "view=compare", "view=sweep", "view=data")
    with Page(browser, explorer(tmp_path / "page.html", *runs, sweep(tmp_path / "sweep", runs[0]))) as page:
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390), ("light", 2560), ("dark", 2560)):
            feature = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for view in views:
                page.open(view)
                assert page.run("return document.documentElement.scrollWidth <= innerWidth"), f"{view} is wider than {width}"
                page.run(axe)
                found = browser.execute_async_script("axe.run().then(arguments[0])")
                assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == [], f"{view} in {scheme} at {width}"
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_script_is_free_of_what_the_policy_forbids() -> None:
    parts = Path(__file__).resolve().parents[3] / "reports" / "explorer" / "page"
    for path in parts.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest"):
            assert word not in text, f"{word} in {path.name}"
    if node := shutil.which("node"):
        for path in parts.glob("*.js"):
            subprocess.run([node, "--check", str(path)], check=True)
