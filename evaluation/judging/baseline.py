"""The baseline: what a team keeps in its repository of a run that it means to hold."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets.errors import InputError
from ...datasets.file import write_file
from ...datasets.model import Query
from ...datasets.secrets import redacted
from ...retrieval.ranking import Hit
from ..inference.robust import robust_test
from ..inference.statistics import holm
from ..measures.grammar import direction, parse_measure
from ..measures.metrics import score
from ..measures.numbers import amount
from ..record import Run
from ..seal import DIGEST, check_shape, is_sealed, read_record, sealed
from ..shape import Each
from .compare import DEPTH, DIGITS, Results, check_answerable, pair, results_of

FORMAT = 2

_SHAPE = {
    "dataset": {"name": str, "fingerprint": str},
    "identity": str,
    "shaped_by": Each(str),
    "versions": Each(str),
    "models": Each(str),
    "reasons": [str],
    "measures": [str],
    "categories": Each([str]),
    "rolls": int,
    "systems": Each(Each({"values": [], "top": [str]})),
    "anchor": Each(Each([])),
}

_REMEDY = "make it again with `recallmeter baseline RUN -o FILE`, or take it back from version control"


@dataclass(frozen=True)
class Baseline:
    """Per-query values and first ids of each system, and what they were measured on.

    Attributes:
        about: ``dataset`` (name and fingerprint), ``identity`` and what it was ``shaped_by``, ``versions``, ``models``; no time, no path.
        systems: name → results; rankings hold `DEPTH` ids at most.
        reasons: why it was ever lowered, oldest first.
        anchor: the values that were last accepted on purpose, from which `systems` may have rolled away; empty while they are the same.
        rolls: how often it has rolled since.
    """

    about: Mapping[str, Any]
    systems: Mapping[str, Results]
    reasons: tuple[str, ...] = field(default=())
    anchor: Mapping[str, Results] = field(default_factory=dict)
    rolls: int = 0

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of its queries, sorted."""
        return tuple(sorted({category for results in self.systems.values() for category in results.categories.values()}))


def baseline_of(run: Run) -> Baseline:
    """Take a baseline from a run.

    Raises:
        InputError: a system failed in it, or no query has an answer.
    """
    check_answerable(run)
    if run.manifest["failures"]:
        failed = run.manifest["failures"][0]
        raise InputError(
            f"{failed['system']} failed on query {failed['query']} ({failed['error']})",
            where=str(run.path),
            remedy="take a run without failures",
        )
    about = {
        "dataset": {name: run.manifest["dataset"][name] for name in ("name", "fingerprint")},
        "identity": run.manifest["identity"],
        "shaped_by": run.manifest["shaped_by"],
        "versions": {"recallmeter": run.manifest["recallmeter"], **run.manifest["packages"]},
        "models": run.manifest["models"],
    }
    systems = {name: results_of(run, name) for name in sorted(run.systems)}
    return Baseline(about, {name: replace(results, rankings=_first(results.rankings)) for name, results in systems.items()})


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write it as JSON with one line a query and system, so that a changed query is one changed line.

    Raises:
        InputError: the file can't be written.
    """
    write_file(path, _text(baseline), "the baseline")


def read_baseline(path: str | Path) -> Baseline:
    """Read a baseline and check that its values are possible.

    Raises:
        InputError: missing, truncated, of another format, or with a value that no run can have; the place is named.
    """
    absent = "make it with `recallmeter baseline RUN -o FILE`"
    document = read_record(Path(path), "the baseline", absent=absent, remedy=_REMEDY)
    if document.get("format") != FORMAT:
        raise InputError(f"not a baseline of format {FORMAT}", where=str(path), remedy=_REMEDY)
    check_shape(document, _SHAPE, str(path), _REMEDY)
    try:
        about = {name: document[name] for name in ("dataset", "identity", "shaped_by", "versions", "models")}
        fingerprint, categories = about["dataset"]["fingerprint"], document["categories"]
        measures = [str(parse_measure(measure)) for measure in document["measures"]]
        by_query = {query: category for category, queries in categories.items() for query in queries}
        systems = {
            name: _results(name, lines, fingerprint, measures, by_query, str(path)) for name, lines in sorted(document["systems"].items())
        }
        reasons, rolls = tuple(map(str, document["reasons"])), int(document["rolls"])
        anchor = {
            name: _anchored(name, lines, fingerprint, measures, by_query, str(path)) for name, lines in sorted(document["anchor"].items())
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"a part of the baseline is missing or of the wrong kind ({error})", where=str(path), remedy=_REMEDY) from error
    if not systems:
        raise InputError("the baseline holds no system", where=str(path), remedy=_REMEDY)
    if not is_sealed(document):
        raise InputError("it was changed since it was written, or is damaged", where=str(path), remedy=_REMEDY)
    return Baseline(about, systems, reasons, anchor, rolls)


def check_against(baseline: Baseline, queries: Mapping[str, Query], where: str) -> None:
    """Score the baseline's own first ids again, and refuse values that they cannot have given.

    Only measures that look no deeper than the ids kept can be scored again; queries that `queries` lacks are passed over.

    Raises:
        InputError: a value and the ids beside it contradict each other; system, query and measure are named.
    """
    for name, results in baseline.systems.items():
        shallow = [m for m in map(parse_measure, results.values) if m.depth is not None and m.depth <= DEPTH and not m.asks_memory]
        known = [query for query in results.queries if query in queries]
        qrels = {query: queries[query].judgments for query in known}
        run = {query: [Hit(i, -float(rank)) for rank, i in enumerate(results.rankings.get(query, ()))] for query in known}
        again = score(qrels, run, shallow)
        for measure, values in again.values.items():
            kept = results.values[measure][[results.rows[query] for query in again.query_ids]]
            for wrong in np.flatnonzero(np.abs(kept - values) > 10**-DIGITS)[:1]:
                raise InputError(
                    f"{measure} is {kept[wrong]:g}, but the ids beside it give {round(float(values[wrong]), DIGITS):g}",
                    where=f"{where}: {name}, query {again.query_ids[wrong]}",
                    remedy=_REMEDY,
                )


def falls(old: Baseline, new: Baseline) -> list[str]:
    """Return what `new` would give up: means that fall, systems that go, another data set; one line each."""
    if old.about["dataset"]["fingerprint"] != new.about["dataset"]["fingerprint"]:
        return [f"the data set changes from {old.about['dataset']['name']} to {new.about['dataset']['name']} (another fingerprint)"]
    lost = [f"{name} is no longer in it" for name in old.systems if name not in new.systems]
    for name in old.systems:
        for measure, before in old.systems[name].values.items():
            after = new.systems[name].values.get(measure) if name in new.systems else None
            if after is None:
                if name in new.systems:
                    lost.append(f"{name} {measure} is no longer in it")
                continue
            was, now = (float(side[~np.isnan(side)].mean()) for side in (before, after))
            if direction(measure) * (now - was) < -(10**-DIGITS):
                lost.append(f"{name} {measure} {'falls' if now < was else 'rises'} from {amount(was, measure)} to {amount(now, measure)}")
    return lost


def rolled(old: Baseline, new: Baseline) -> Baseline:
    """Return `new` in the place of `old`, with the anchor of `old`: what is rolled to is not accepted on purpose.

    Raises:
        InputError: another data set, other systems, queries or measures than the anchor's.
    """
    anchor = old.anchor or {name: replace(results, rankings={}) for name, results in old.systems.items()}
    for name, results in anchor.items():
        after = new.systems.get(name)
        if (
            old.about["dataset"]["fingerprint"] != new.about["dataset"]["fingerprint"]
            or after is None
            or (after.queries, tuple(after.values)) != (results.queries, tuple(results.values))
        ):
            raise InputError(
                f"{name} was not measured as the anchor was", remedy="accept the new state on purpose with --reason TEXT: a new anchor"
            )
    return replace(new, reasons=old.reasons, anchor=anchor, rolls=old.rolls + 1)


def shows_gain(old: Baseline, new: Baseline, alpha: float = 0.05) -> bool:
    """Return whether any system of `new` is shown to do better: one test a system, of each query's mean over all measures (Holm)."""
    p = []
    for name, results in new.systems.items():
        if name in old.systems:
            pairing = pair(old.systems[name], results)
            rows = np.stack([direction(measure) * pairing.differences(measure, pairing.queries) for measure in pairing.measures])
            if np.nan_to_num(rows).any():
                units = pairing.clusters(pairing.queries)
                p.append(float(robust_test(np.nanmean(rows, axis=0), clusters=units, alternative="greater").p[0]))
    return bool(p) and bool(holm(p).min() <= alpha)


def replaced(old: Baseline, new: Baseline, *, ratchet: bool, reason: str) -> Baseline:
    """Return `new` with the history of `old`, if it may take its place; it is then the anchor.

    Raises:
        InputError: something falls and no reason is given, neither a ratchet nor a reason was asked for, or the ratchet finds no gain
            that is shown: the luckiest of many equal runs would be one that all others fall behind.
    """
    lost = falls(old, new)
    if reason:
        told = f"{reason} ({'; '.join(lost)})" if lost else reason
        return replace(new, reasons=(*old.reasons, told))
    if not ratchet:
        raise InputError("there is a baseline already", remedy="go on from it with --roll, raise it with --ratchet, or give --reason TEXT")
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise InputError(f"{lost[0]}{more}", remedy="a baseline is lowered with --reason TEXT alone, and TEXT is kept in it")
    if not shows_gain(old, new):
        raise InputError("no gain is shown", remedy="leave the baseline as it is, or go on from it with --roll, which keeps its anchor")
    return replace(new, reasons=old.reasons)


def _first(rankings: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    return {query: ids[:DEPTH] for query, ids in rankings.items()}


def _text(baseline: Baseline) -> str:
    some = next(iter(baseline.systems.values()))
    categories: dict[str, list[str]] = {}
    for query in some.queries:
        categories.setdefault(some.categories[query], []).append(query)
    head = {
        "format": FORMAT,
        **baseline.about,
        "reasons": list(baseline.reasons),
        "measures": list(some.values),
        "categories": dict(sorted(categories.items())),
        "rolls": baseline.rolls,
    }
    fields = [f"{_json(name)}: {_json(value)}" for name, value in head.items()]
    systems = [f"{_json(name)}: {{\n" + ",\n".join(_lines(results)) + "\n}" for name, results in baseline.systems.items()]
    anchor = [f"{_json(name)}: {{\n" + ",\n".join(_anchor_lines(results)) + "\n}" for name, results in baseline.anchor.items()]
    body = ",\n".join(fields) + ',\n"systems": {\n' + ",\n".join(systems) + '\n},\n"anchor": {\n' + ",\n".join(anchor) + "\n}\n}\n"
    body = redacted(body)  # before it is sealed
    return f"{{\n{_json(DIGEST)}: {_json(sealed(json.loads('{' + body))[DIGEST])},\n{body}"


def _lines(results: Results) -> Iterator[str]:
    for query, *values in zip(results.queries, *results.values.values(), strict=True):
        short = [None if math.isnan(value) else int(value) if value in (0, 1) else float(value) for value in values]
        yield f"{_json(query)}: {_json({'values': short, 'top': list(results.rankings.get(query, ()))})}"


def _anchor_lines(results: Results) -> Iterator[str]:
    for query, *values in zip(results.queries, *results.values.values(), strict=True):
        yield f"{_json(query)}: {_json([int(value) if value in (0, 1) else float(value) for value in values])}"


def _anchored(
    system: str, lines: Mapping[str, Any], fingerprint: str, measures: Sequence[str], categories: Mapping[str, str], path: str
) -> Results:
    whole = {query: {"values": values, "top": []} for query, values in lines.items()}
    return replace(_results(system, whole, fingerprint, measures, categories, f"{path}: anchor"), label=f"the anchor of {system}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _results(
    system: str, lines: Mapping[str, Any], fingerprint: str, measures: Sequence[str], categories: Mapping[str, str], path: str
) -> Results:
    queries = tuple(sorted(lines))
    if set(queries) != set(categories):
        odd = sorted(set(queries) ^ set(categories))
        raise InputError(
            f"{system} and the categories do not list the same queries ({len(odd)} differ, such as {odd[0]!r})", where=path, remedy=_REMEDY
        )
    for query in queries:
        _check_line(lines[query], measures, f"{path}: {system}, query {query}")
    matrix = np.array([lines[query]["values"] for query in queries], np.float64).reshape(len(queries), len(measures))
    return Results(
        f"{system} in the baseline",
        fingerprint,
        queries,
        dict(zip(measures, matrix.T.round(DIGITS), strict=True)),
        {query: lines[query]["top"] for query in queries if lines[query]["top"]},
        dict(categories),
    )


def _check_line(line: Mapping[str, Any], measures: Sequence[str], where: str) -> None:
    values, top = line["values"], line["top"]
    if len(values) != len(measures):
        raise InputError(f"{len(values)} values for {len(measures)} measures", where=where, remedy=_REMEDY)
    for measure, value in zip(measures, values, strict=True):
        most = parse_measure(measure).most
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most):
            raise InputError(f"{measure} is {value!r}, which is not between 0 and {most:g}", where=where, remedy=_REMEDY)
    if any(not isinstance(identifier, str) for identifier in top) or len(top) > DEPTH:
        raise InputError(f"the ids are not at most {DEPTH} texts", where=where, remedy=_REMEDY)
    repeated = [identifier for identifier, times in Counter(top).items() if times > 1]
    if repeated:
        raise InputError(f"the id {repeated[0]!r} is there twice", where=where, remedy=_REMEDY)
