"""The report on memory systems that others make: one table a data set, ordered by recall, and what explains it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from statistics import median
from typing import Any

from ..evaluation.audits.truncation import ModelWindow
from ..evaluation.judging.compare import Difference, compare, pair, results_of
from ..evaluation.measures.numbers import NONE, amount, probability, shift
from ..evaluation.record import Run
from .standing import shown
from .table import bounds, interval, latency, markdown, milliseconds, timing
from .truncation import what_was_read

COSTS_FILE = "index_costs.json"
"""System → ``index_s`` and ``memory_mb``, beside the files of a run."""

BASELINE, EXACT = "bm25_plain", "vector"
RANKED_BY, ALSO = "recall@10", "ndcg@10"
VECTOR_STORES = ("chroma", "qdrant", "lancedb", "mem0", "langchain", "llamaindex")
TERM_INDEXES = ("sqlite_fts5", "tantivy", "bm25s")


def render(runs: Sequence[Run], window: ModelWindow) -> str:
    """Return the report in Markdown.

    Args:
        runs: one a data set, all of the preset ``memory_systems``.
        window: what the embedder of all of them reads.
    """
    parts = [f"# {runs[0].config['report']['title']}", _opening(runs)]
    for run in runs:
        parts += [f"## {run.manifest['dataset']['name']}", _facts(run), _table(run), "\n".join(f"- {line}" for line in _findings(run))]
    parts += ["## What the embedder read", what_was_read(runs, EXACT, window), "## Terms", _TERMS, "## Environment", _environment(runs)]
    parts += ["## How to make it again", _AGAIN]
    return "\n\n".join(parts) + "\n"


def _opening(runs: Sequence[Run]) -> str:
    systems = [name for name in runs[0].systems if name in VECTOR_STORES + TERM_INDEXES]
    names = ", ".join(_label(runs[0], name) for name in systems)
    data = " and ".join(run.manifest["dataset"]["name"] for run in runs)
    return f"{names}, beside our own parts, on {data}: who finds more, and what it costs."


def _facts(run: Run) -> str:
    data, embedding = run.manifest["dataset"], run.manifest["embedding"][EXACT]
    return (
        f"{data['observations']:,} observations, {run.summary['answerable']} answerable queries, k = {run.manifest['k']}. In percent, by "
        f"R@10, with 95 % bootstrap intervals; Δ in percentage points against {_label(run, BASELINE)}, paired by query, p by paired "
        f"randomisation, Holm-corrected over the table. *p50* and *p95* are the latency of a query with its embedding, *search* is the p50 "
        f"without it. Index times and memory are without embedding, which is the same for all: {milliseconds(embedding['document_ms'])} ms "
        f"for these texts. {timing(run)}"
    )


def _table(run: Run) -> str:
    costs, differences, search = _costs(run), _differences(run), _search_ms(run)
    quality = ["R@10", "Δ R@10", "p (Holm)", "NDCG@10", "MRR"]
    rows = [["system", "version", *quality, "p50 ms", "p95 ms", "search ms", "tokens/query", "index s", "memory MB"]]
    for name in _ordered(run):
        system = run.summary["systems"][name]
        measures, failed = system["measures"], system["status"].get("failed", 0)
        against = differences.get(name)
        rows.append(
            [
                _label(run, name) + (f" ({failed} failed)" if failed else ""),
                _version(run, name),
                interval(measures[RANKED_BY]),
                NONE if against is None else f"{shift(against.mean)} {bounds(against)}",
                NONE if against is None else probability(against.adjusted),
                interval(measures[ALSO]),
                amount(measures["mrr"]["mean"]),
                latency(system),
                latency(system, "p95"),
                milliseconds(search[name]) if name in search else NONE,
                f"{system['tokens']['mean']:,.0f}",
                f"{costs[name]['index_s']:,.2f}" if name in costs else NONE,
                f"{costs[name]['memory_mb']:,.0f}" if name in costs else NONE,
            ]
        )
    return markdown(rows, left=(0, 1))


def _findings(run: Run) -> Iterator[str]:
    systems, differences = run.summary["systems"], _differences(run)
    highest = systems[_ordered(run)[0]]["measures"][RANKED_BY]
    best = [name for name in _ordered(run) if isclose(systems[name]["measures"][RANKED_BY]["mean"], highest["mean"], abs_tol=1e-9)]
    ahead = [name for name, found in differences.items() if shown(found) and found.mean > 0]
    behind = [name for name, found in differences.items() if shown(found) and found.mean < 0]
    yield f"The highest R@10 is {interval(highest)}: {_listed(run, best)}."
    yield f"Better than {_label(run, BASELINE)} beyond chance: {_listed(run, ahead)}. Worse beyond chance: {_listed(run, behind)}."
    exact = {query: {hit.id for hit in hits[:10]} for query, hits in run.rankings[EXACT].items()}
    overlaps = {name: _overlap(exact, run, name) for name in VECTOR_STORES if name in systems}
    if overlaps:
        told = ", ".join(f"{_label(run, name)} {amount(share)} %" for name, share in sorted(overlaps.items(), key=lambda item: -item[1]))
        yield f"Of the first ten hits of our exact vectors the stores that were given the same vectors return: {told}."
    terms = [name for name in (BASELINE, *TERM_INDEXES) if name in systems]
    scores = ", ".join(f"{_label(run, name)} {amount(systems[name]['measures'][ALSO]['mean'])}" for name in terms)
    yield f"NDCG@10 of the term indexes: {scores}."
    for failure in run.manifest["failures"]:
        yield f"{_label(run, failure['system'])} failed on {failure['queries']} queries, which count 0; the first: {failure['error']}."
    for name in systems:
        report = systems[name]["report"]
        if "chunks" in report:
            yield f"{_label(run, name)} made {report['chunks']:,} chunks of {report['observations']:,} observations."


def _overlap(exact: Mapping[str, set[str]], run: Run, name: str) -> float:
    """Return the mean share of the exact first ten that a system has in its own first ten."""
    found = {query: {hit.id for hit in hits[:10]} for query, hits in run.rankings[name].items()}
    return sum(len(ids & found.get(query, set())) / len(ids) for query, ids in exact.items()) / len(exact)


_TERMS = """\
Every system got the same observations under opaque ids, scope by scope, and was asked for the same k; tokens are counted by one counter
over what came back. Term indexes read the same text as our BM25, vector stores the same text and the same vectors as our exact search
(`docs/protocol.md`). Settings are each system's own defaults unless the protocol page says otherwise. mem0 was given the texts as they are
(`infer=False`): no language model took part, and without spaCy's and fastembed's models, which are downloaded, it searches by vectors alone
and drops what scores below 0.1. LangChain's retrievers give an order without scores.

*index s* and *memory MB* are measured in a process of its own for each system, its packages already imported: what one pass takes, and by
how much the process grows at most meanwhile."""

_AGAIN = """\
```sh
pip install "recallmeter[bm25s,chroma,lancedb,langchain,llamaindex,mem0,qdrant,tantivy]"
python -m recallmeter.experiments.studies.memory_systems --scifact FOLDER -o reports/MEMORY-SYSTEMS.md
```

FOLDER holds SciFact in BEIR layout. Without `--scifact` only the first data set is measured. Runs that are there already are not made
again; the preset is `experiment=memory_systems`."""


def _environment(runs: Sequence[Run]) -> str:
    found = runs[0].manifest
    models = ", ".join(f"{name} ({sha256[:12]})" for name, sha256 in found["models"].items())
    packages = ", ".join(f"{name} {number}" for name, number in found["packages"].items())
    fingerprints = ", ".join(f"{run.manifest['dataset']['name']} {run.manifest['dataset']['fingerprint'][:12]}" for run in runs)
    return (
        f"{found['cpu']}, {found['cores']} cores, {found['platform']}, Python {found['python']}. {packages}. Model: {models}. "
        f"Data: {fingerprints}. A fixed piece of work took {_calibrations(runs)} ms while this was measured."
    )


def _calibrations(runs: Sequence[Run]) -> str:
    return " and ".join(milliseconds(run.manifest["calibration_ms"]) for run in runs)


def _ordered(run: Run) -> list[str]:
    means = {name: run.summary["systems"][name]["measures"][RANKED_BY]["mean"] for name in run.systems}
    return sorted(means, key=lambda name: (-means[name], name))


def _differences(run: Run) -> dict[str, Difference]:
    others = [name for name in _ordered(run) if name != BASELINE]
    baseline = results_of(run, BASELINE)
    found = compare([pair(baseline, results_of(run, name)) for name in others], [RANKED_BY])
    return {name: comparison.overall[0] for name, comparison in zip(others, found, strict=True)}


def _search_ms(run: Run) -> dict[str, float]:
    """Return the median milliseconds of a query that are not its embedding, by system."""
    left: dict[str, dict[str, float]] = {}
    for system, query, span, ms in run.timings:
        if span == "total" or span.endswith(".embed"):
            answers = left.setdefault(system, {})
            answers[query] = answers.get(query, 0.0) + (ms if span == "total" else -ms)
    return {system: median(answers.values()) for system, answers in left.items()}


def _costs(run: Run) -> Mapping[str, Mapping[str, float]]:
    path = run.path / COSTS_FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _version(run: Run, name: str) -> str:
    packages: Mapping[str, Any] = run.summary["systems"][name]["report"].get("packages", {"recallmeter": run.manifest["recallmeter"]})
    return next(iter(packages.values()))


def _label(run: Run, name: str) -> str:
    return run.config["report"]["labels"].get(name, name)


def _listed(run: Run, names: Sequence[str]) -> str:
    return ", ".join(_label(run, name) for name in names) or "none"
