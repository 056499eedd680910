"""How large the page of 500 queries, ten systems and their first twenty hits is, and how long it takes to make, to open and to filter.

Besides, how fast a page of 2,000 points of a sweep opens.

The peer is the run directory itself: its size, and the time to read it.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.judging.compare import results_of
from recallmeter.evaluation.judging.rules import rules_from
from recallmeter.evaluation.loop import Answer, Protocol, SystemResult
from recallmeter.evaluation.measures.grammar import DEFAULT_MEASURES
from recallmeter.evaluation.measures.metrics import score
from recallmeter.evaluation.record import Run, load_run, write_record
from recallmeter.evaluation.summary import summarise
from recallmeter.evaluation.sweeps.points import Point
from recallmeter.experiments.rules import rules_named
from recallmeter.reports.explorer.assembly import explorer
from recallmeter.retrieval.ranking import Hit
from recallmeter.retrieval.trace import ArmTrace, Trace

QUERIES, SYSTEMS, OBSERVATIONS, K, POINTS = 500, 10, 2_000, 20, 2_000
OPEN = "const entry = performance.getEntriesByType('navigation')[0]; return entry.loadEventEnd"
FILTER = """const box = document.querySelector('#search'); const begin = performance.now(); box.value = arguments[0];
    box.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - begin"""


def synthetic(folder: Path) -> Path:
    """Write a run in which half of the systems have two arms."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(3, 9))) for _ in range(4_000)]
    observations = tuple(
        Observation(
            id=f"o{n:05}",
            session_id=f"s{n // 20}",
            timestamp=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=n),
            type="note",
            title=" ".join(chance.choices(words, k=6)),
            narrative=" ".join(chance.choices(words, k=40)),
            concepts=tuple(chance.sample(words[:300], 3)),
        )
        for n in range(OBSERVATIONS)
    )
    ids = [observation.id for observation in observations]
    queries = tuple(
        Query(
            id=f"q{n:03}",
            text=" ".join(chance.choices(words, k=7)),
            category=f"c{n % 8}",
            relevant=dict.fromkeys(chance.sample(ids, chance.randint(1, 6)), 1),
        )
        for n in range(QUERIES)
    )

    def answer(query: Query, system: int) -> Answer:
        pool = list(dict.fromkeys([*chance.sample(ids, 60), *(i for i in query.relevant if chance.random() < 0.3 + 0.06 * system)]))
        chance.shuffle(pool)
        arms = {
            name: ArmTrace(tuple(pool[start:40]), tuple(4.0 - n / 10 for n in range(40 - start)))
            for name, start in (("words", 0), ("vectors", 1))
        }
        trace = Trace(arms=arms if system % 2 else {"words": arms["words"]}, dropped={"diversity": tuple(pool[K : K + 5])})
        return Answer("ok", tuple(Hit(i, 1 / rank) for rank, i in enumerate(pool[:K], 60)), tokens=600, spans={"total": 1.0}, trace=trace)

    dataset = Dataset("synthetic", observations, queries)
    results = [SystemResult(f"system{s}", {q.id: answer(q, s) for q in queries}, index_ms=1.0, cold_ms=1.0) for s in range(SYSTEMS)]
    qrels = {query.id: query.relevant for query in queries}
    scores = {r.name: score(qrels, {q: a.hits for q, a in r.answers.items()}, DEFAULT_MEASURES) for r in results}
    about = {
        "name": "synthetic",
        "fingerprint": dataset.fingerprint,
        "observations": OBSERVATIONS,
        "queries": QUERIES,
        "answerable": QUERIES,
        "licence": "",
    }
    facts = {"packages": {}, "models": {}, "failures": [], "shaped_by": {"settings": ""}, "load": {"before": 0.0, "after": 0.0}}
    names = {"status": "complete", "name": "synthetic", "recallmeter": version("recallmeter"), "identity": "", "tokens_counter": "chars4"}
    numbers = {"seed": 0, "k": K, "tokens_at": 10, "cores": 1, "calibration_ms": 1.0}
    moments = dict.fromkeys(("started", "ended"), "2024-01-01T00:00:00+00:00")
    manifest = {"dataset": about, **facts, **names, **numbers, **moments}
    summary = summarise(dataset, results, scores, Protocol(), seed=0)
    return write_record(folder, config_yaml="k: 20\n", manifest=manifest, dataset=dataset, results=results, scores=scores, summary=summary)


def swept(run: Run) -> Iterator[Point]:
    """Yield the points of a sweep over four parameters, their values those of a system with noise."""
    results, chance = results_of(run, run.systems[0]), np.random.default_rng(0)
    values = results.values["recall@10"]
    for n in range(POINTS):
        settings = {"a.weight": n % 10 / 10, "a.k": n // 10 % 10, "a.depth": n // 100 % 5, "a.kind": "abcd"[n // 500]}
        noisy = np.clip(values + chance.normal(0.02 * settings["a.weight"], 0.1, values.shape), 0, 1)
        cost = {"system": 500.0 + 40 * settings["a.k"] + float(chance.normal(0, 5))}
        yield Point(
            f"{n:020}",
            settings,
            "complete",
            systems=("system",),
            measures=("recall@10",),
            queries=results.queries,
            values=noisy[None, None, :],
            tokens=cost,
            latency={"system": {"p50": float(chance.gamma(4)), "p95": 9.0}},
            manifest={"dataset": {"fingerprint": "f"}},
        )


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Give a browser; None where there is none."""
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    try:
        from selenium import webdriver
    except ImportError:
        webdriver = None
    if not (webdriver and executable and driver):
        yield None
        return
    options = webdriver.ChromeOptions()
    options.binary_location = executable
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield browser
    browser.quit()


def main() -> int:
    """Print sizes and times."""
    with tempfile.TemporaryDirectory() as folder:
        path = synthetic(Path(folder) / "run")
        begin = perf_counter()
        run = load_run(path)
        len(run.per_query), len(run.rankings), len(run.timings), len(run.observations), [len(run.traces(name)) for name in run.systems]
        read = perf_counter() - begin
        begin = perf_counter()
        text = explorer([load_run(path)], {}, rules_from(rules_named("default")))
        made = perf_counter() - begin
        page = Path(folder) / "page.html"
        page.write_text(text, encoding="utf-8")
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        print(f"page {page.stat().st_size / 1e6:.1f} MB, {page.stat().st_size / size:.2f} of its run directory")
        print(
            f"made in {made:.1f} s, with {SYSTEMS * (SYSTEMS - 1) // 2} comparisons; {made / read:.0f} times reading the run ({read:.2f} s)"
        )
        with chromium(Path(folder) / "profile") as browser:
            if browser is None:
                print("opening and filtering not measured: selenium, chromium and chromedriver are needed")
                return 0
            for view in ("overview", "queries", "query&query=q001", "compare", "data"):
                browser.get("about:blank")
                browser.get(f"{page.as_uri()}#view={view}")
                print(f"{view.partition('&')[0]} opened in {browser.execute_script(OPEN):.0f} ms")
            browser.get("about:blank")
            browser.get(f"{page.as_uri()}#view=queries")
            times = [browser.execute_script(FILTER, text) for text in ("a", "ab", "abc", "", "q1", "c")]
            print(f"filtered in {min(times):.0f}–{max(times):.0f} ms")
            points = Path(folder) / "points.html"
            points.write_text(explorer([], {Path("sweep"): list(swept(run))}, rules_from(rules_named("default"))), encoding="utf-8")
            browser.get("about:blank")
            browser.get(points.as_uri())
            drawn = browser.execute_script("return document.querySelectorAll('.parallel path').length")
            print(f"{drawn:,} points of a sweep opened in {browser.execute_script(OPEN):.0f} ms, {points.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
