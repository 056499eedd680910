"""What the explorer holds of a run: its summary, and query by query what every system returned and how it came about."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...datasets.checks.check import check
from ...datasets.formats.jsonl import read_jsonl
from ...datasets.model import Observation, Query
from ...evaluation.measures.numbers import shift
from ...evaluation.record import Run
from ...evaluation.sweeps.leaderboard import pareto
from ...retrieval.text.analysis import Analyzer
from ...retrieval.text.segmentation import is_unspaced
from ..document import Code, Rich, Strong, pieces
from ..standing import Standing, main_measure, shown, step_words, verdict
from ..table import bounds, timing

ARM_DEPTH = 50
"""How many candidates of an arm are kept; below, only what is relevant, with its rank."""

TEXTS, NARRATIVE = 20_000_000, 1_000
"""Of a memory with more characters than the first, each narrative is cut to the second, so that the page still opens."""

_WORD = re.compile(r"[\w/.-]+")


def run_model(run: Run, label: str) -> dict[str, Any]:
    """Return a run as JSON-ready values; observations and queries are named by their position in the two lists."""
    queries = list(run.queries.values())
    known = sorted(run.observations)
    # what is judged or returned and not among the observations still has a row and a name
    named = {i for q in queries for i in q.relevant} | {
        hit.id for found in run.rankings.values() for hits in found.values() for hit in hits
    }
    ids = [*known, *sorted(named - set(known))]
    rows = {identifier: row for row, identifier in enumerate(ids)}
    return {
        "label": label,
        "manifest": {name: value for name, value in run.manifest.items() if name != "files"},
        "summary": run.summary,
        "report": run.config.get("report") or {},
        "config": (run.path / "config.yaml").read_text(encoding="utf-8"),
        **_said(run),
        "fronts": _fronts(run),
        "timing": timing(run),
        "check": _check(run),
        "observations": [*_observations([run.observations[i] for i in known]), *({"id": i, "unknown": True} for i in ids[len(known) :])],
        "queries": [_query(query, rows, words) for query, words in zip(queries, _matching_words(queries, run.observations), strict=True)],
        "systems": {name: _system(run, name, queries, rows) for name in run.systems},
    }


def _check(run: Run) -> dict[str, Any]:
    """Check the records that the run kept; places are named within the run's folder."""
    report = check(partial(read_jsonl, run.path), name=run.manifest["dataset"]["name"]).as_record()
    for finding in report["findings"]:
        for example in finding["examples"]:
            example["where"] = example["where"].removeprefix(f"{run.path}/")
    return report


def _said(run: Run) -> dict[str, Any]:
    """Return what the report says in words, and how sure the lead of the best system over each other one is."""
    standing = Standing.of(run)
    return {
        "measure": main_measure(run),
        "verdict": [_pieces(line) for line in verdict(run, standing)],
        "findings": [_pieces(step_words(step, standing.measure)) for step in standing.steps],
        "main": list(standing.main),
        "ranked": list(standing.ranked),
        "best": standing.best if standing.n else None,
        "tied": list(standing.tied) if standing.n else [],
        "recommended": standing.recommended,
        "leads": {
            name: {"shown": shown(row), "lead": shift(row.mean, row.measure), "interval": bounds(row), "p": row.adjusted}
            for name, row in standing.leads.items()
        },
    }


def _fronts(run: Run) -> dict[str, list[str]]:
    """Return, by what is paid, the systems that no other is both better and cheaper than; controls are no choice."""
    measure, controls = main_measure(run), (run.config.get("report") or {}).get("controls") or ()
    costs = {
        "tokens": lambda system: system["tokens"]["mean"],
        "latency": lambda system: system["latency"]["spans"].get("total", {}).get("p50"),
    }
    found = {}
    for name, cost in costs.items():
        pairs = {s: (row["measures"][measure]["mean"], cost(row)) for s, row in run.summary["systems"].items() if s not in controls}
        known = {system: pair for system, pair in pairs.items() if None not in pair}
        rows = np.array([(-quality, paid) for quality, paid in known.values()], np.float64).reshape(-1, 2)
        found[name] = [system for system, kept in zip(known, pareto(rows), strict=True) if kept]
    return found


def _pieces(text: Rich) -> list[list[str]]:
    """Return a sentence piece by piece, each with what it is."""
    kinds = {Strong: "strong", Code: "code"}
    return [["", piece] if isinstance(piece, str) else [kinds[type(piece)], piece.text] for piece in pieces(text)]


def _observations(observations: Sequence[Observation]) -> Iterator[dict[str, Any]]:
    """Yield the records; one that is cut says how many characters are missing."""
    cut = NARRATIVE if sum(len(o.narrative) for o in observations) > TEXTS else None
    for o in observations:
        record = _lean(o.as_record())
        if cut and len(o.narrative) > cut:
            record |= {"narrative": o.narrative[:cut], "cut": len(o.narrative) - cut}
        yield record


def _lean(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value not in ("", [], None)}


def _query(query: Query, rows: Mapping[str, int], words: Sequence[str]) -> dict[str, Any]:
    relevant = sorted(query.relevant.items(), key=lambda item: (-item[1], item[0]))
    return {**_lean(query.as_record()), "relevant": [[rows[i], grade] for i, grade in relevant], "words": words}


def _matching_words(queries: Sequence[Query], observations: Mapping[str, Observation]) -> list[list[str]]:
    """Return, for each query, the words of the observations that have a term in common with it, function words apart.

    In scripts without spaces these are the query's own terms of two characters or more, which are to be found inside the text.
    """
    analyzer = Analyzer()
    by_term: dict[str, set[str]] = defaultdict(set)
    for word in {word for o in observations.values() for word in _words(o)}:
        terms = analyzer.terms(word)
        for term in terms:
            if len(terms) == 1 or not is_unspaced(term):
                by_term[term].add(word)
    asked = [sorted(set(analyzer.terms(query.text))) for query in queries]
    unspaced = [[term for term in terms if len(term) > 1 and is_unspaced(term)] for terms in asked]
    return [sorted({word for term in terms for word in by_term[term]}.union(inside)) for terms, inside in zip(asked, unspaced, strict=True)]


def _words(o: Observation) -> Iterable[str]:
    for text in (o.title, o.subtitle, o.narrative, *o.facts, *o.concepts, *o.files):
        for word in _WORD.findall(unicodedata.normalize("NFC", text).lower()):
            yield word.strip("/.-")


def _system(run: Run, name: str, queries: Sequence[Query], rows: Mapping[str, int]) -> dict[str, Any]:
    """Return one system's answers in columns, each with an entry a query."""
    answers = {row["query"]: row for row in run.per_query if row["system"] == name}
    traces = run.traces(name)
    rankings = [run.rankings[name].get(query.id, ()) for query in queries]
    found = [traces.get(query.id, {"arms": {}, "dropped": {}, "notes": []}) for query in queries]
    return {
        "status": [answers[query.id]["status"] for query in queries],
        "tokens": [answers[query.id]["tokens"] for query in queries],
        "values": {m: [_rounded(answers[query.id][m]) for query in queries] for m in run.measures},
        "hits": [[rows[hit.id] for hit in hits] for hits in rankings],
        "scores": [[_short(hit.score) for hit in hits] for hits in rankings],
        "arms": _arms(found, queries, rows, run.manifest["k"]),
        "dropped": _dropped(found, rows),
        "notes": {n: trace["notes"] for n, trace in enumerate(found) if trace["notes"]},
        "errors": {n: trace["error"] for n, trace in enumerate(found) if trace.get("error")},
        "spans": _spans(run, name, queries),
    }


def _arms(traces: Sequence[Mapping[str, Any]], queries: Sequence[Query], rows: Mapping[str, int], k: int) -> dict[str, Any]:
    """Return, arm by arm, candidates and scores; the scores of a single arm are those of the answer and left out."""
    names = list(dict.fromkeys(arm for trace in traces for arm in trace["arms"]))
    arms: dict[str, Any] = {}
    for arm in names:
        ids = [trace["arms"].get(arm, {"ids": []})["ids"] for trace in traces]
        deep = {
            n: [[rows[i], rank] for rank, i in enumerate(found[ARM_DEPTH:], ARM_DEPTH + 1) if i in query.relevant]
            for n, (found, query) in enumerate(zip(ids, queries, strict=True))
        }
        scores = [trace["arms"].get(arm, {"scores": []})["scores"][:k] for trace in traces]
        arms[arm] = {
            "ids": [[rows[i] for i in found[:ARM_DEPTH] if i in rows] for found in ids],
            "deep": {n: found for n, found in deep.items() if found},
            "scores": [list(map(_short, given)) for given in scores] if len(names) > 1 else [],
        }
    return arms


def _dropped(traces: Sequence[Mapping[str, Any]], rows: Mapping[str, int]) -> dict[str, dict[int, list[int]]]:
    stages: dict[str, dict[int, list[int]]] = {}
    for n, trace in enumerate(traces):
        for stage, ids in trace["dropped"].items():
            if ids:
                stages.setdefault(stage, {})[n] = [rows[i] for i in ids if i in rows]
    return stages


def _spans(run: Run, name: str, queries: Sequence[Query]) -> dict[str, list[float | None]]:
    places = {query.id: n for n, query in enumerate(queries)}
    spans: dict[str, list[float | None]] = {}
    for system, query, span, milliseconds in run.timings:
        if system == name and query in places:
            spans.setdefault(span, [None] * len(queries))[places[query]] = _short(milliseconds)
    return spans


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _short(value: float) -> float:
    """Keep four significant digits, which is what the explorer shows."""
    return float(f"{value:.4g}")
