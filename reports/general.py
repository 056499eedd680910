"""The Markdown report of a run: head to head, how sure, where, why, at what cost, and how to make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..evaluation.judging.compare import Difference
from ..evaluation.measures.contract import CONTRACT, RULES
from ..evaluation.record import Run
from .figures import budget_figure, category_figure, quality_figure
from .findings import Steps, findings, recommendation, shown
from .table import HEADLINE, NONE, bounds, interval, latency, markdown, milliseconds, percent, qualified, sign

Section = tuple[str, str]


def write_report(run: Run, path: Path) -> str:
    """Write the figures of a run beside `path` and return its report as Markdown that links them."""
    steps = Steps.of(run)
    folder = path.parent / "figures"
    stem = path.stem.lower()
    figures = {name: folder / f"{stem}-{name}.svg" for name in ("quality", "categories", "budget")}
    quality_figure(run, figures["quality"], run.systems)
    category_figure(run, figures["categories"], steps.main)
    budget_figure(run, figures["budget"], steps.main)
    links = {name: figure.relative_to(path.parent).as_posix() for name, figure in figures.items()}
    parts = [f"# {run.config['report']['title']}", _opening(run)]
    parts += [f"## {title}\n\n{body}" for title, body in _sections(run, steps, links) if body]
    return "\n\n".join(parts) + "\n"


def _sections(run: Run, steps: Steps, links: Mapping[str, str]) -> Iterator[Section]:
    yield "Head to head", _head_to_head(run, steps)
    yield "How sure these numbers are", _how_sure(run, links["quality"])
    yield "What each step adds", _steps(steps)
    yield "By category", _by_category(run, steps, links["categories"])
    yield "Query by query", _queries(run, steps)
    yield "The parts and the controls", _others(run, steps)
    yield "What each arm contributed", _ledger(run, steps)
    yield "Time, ties and disputed labels", _time_and_ties(run)
    yield "What went wrong", _wrong(run)
    yield "Tokens", _tokens(run, steps, links["budget"])
    yield "Embedding", _embedding(run)
    yield "Latency by stage", _latency(run, steps)
    yield "Key findings", "\n".join(f"{number}. {finding}" for number, finding in enumerate(findings(run, steps), start=1))
    yield "Recommendation", recommendation(run, steps)
    yield "The metric contract", _contract()
    yield "The data set", _dataset(run)
    yield "The environment", _environment(run)
    yield "How to reproduce it", _reproduce(run)


def _opening(run: Run) -> str:
    data = run.manifest["dataset"]
    models = ", ".join(run.manifest["models"]) or "no model"
    return (
        f"{data['observations']} observations, {data['queries']} queries ({run.summary['answerable']} with an answer, "
        f"{run.summary['unanswerable']} without), {models}, the first {run.manifest['k']} hits of every query. "
        "Every number below is computed from one run directory; every mean has its n and its 95 % interval further down."
    )


def _head_to_head(run: Run, steps: Steps) -> str:
    measures = [measure for measure in HEADLINE if measure in run.measures]
    rows = [["system", *(HEADLINE[measure] for measure in measures), "latency, ms", "tokens/query"]]
    for name in steps.main:
        system = run.summary["systems"][name]
        quality = [percent(system["measures"][measure]["mean"]) for measure in measures]
        rows.append([qualified(steps.label(name), run, name), *quality, latency(system, "mean"), f"{system['tokens']['mean']:,.0f}"])
    return (
        markdown(rows)
        + f"\n\nIn percent; n = {run.summary['answerable']} answerable queries. Latency is the mean per query after warm-up, "
        f"embedding included. Tokens are those of the first {run.manifest['tokens_at']} observations really returned."
    )


def _how_sure(run: Run, figure: str) -> str:
    measures = [measure for measure in HEADLINE if measure in run.measures]
    rows = [["system", *(HEADLINE[measure] for measure in measures)]]
    rows += [[name, *(interval(run.summary["systems"][name]["measures"][measure]) for measure in measures)] for name in run.systems]
    rows.append(["**the best attainable**", *(percent(run.summary["ceilings"][measure]) for measure in measures)])
    shares = [["share of it reached", *(HEADLINE[measure] for measure in measures)]]
    shares += [[name, *(f"{_share(run, name, measure)} %" for measure in measures)] for name in run.systems]
    return (
        f"![Quality by system]({figure})\n\n{markdown(rows)}\n\n"
        "With R relevant observations and k places no system can do better than min(k, R)/R in recall and min(k, R)/k in precision; "
        f"the means of these bounds stand in the last row.\n\n{markdown(shares)}"
    )


def _share(run: Run, system: str, measure: str) -> str:
    mean, ceiling = run.summary["systems"][system]["measures"][measure]["mean"], run.summary["ceilings"][measure]
    return percent(mean / ceiling) if mean is not None and ceiling else NONE


def _steps(steps: Steps) -> str:
    rows = [["step", "measure", "difference, pp", "95 % interval", "p", "p (Holm)", "wins/ties/losses", "detectable, pp", "verdict"]]
    for step in steps.steps:
        for measure, found in step.differences.items():
            rows.append([step.title, HEADLINE.get(measure, measure), *_difference(found)])
    return (
        markdown(rows, left=(0, 1, 8))
        + "\n\nPaired by query. The interval is a bootstrap one, p comes from paired randomisation, corrected after Holm: the tests on "
        "R@10 as one family, with those of the best system's lead over each other one, and the tests on the other measures as another. "
        "*Detectable* is the smallest true change that this many queries would show with 80 % probability. A verdict counts as shown "
        "where the corrected p is below .05."
    )


def _difference(found: Difference) -> list[str]:
    detectable = NONE if found.detectable is None else percent(found.detectable)
    verdict = "no change" if not found.wins + found.losses else "not shown" if not shown(found) else "gain" if found.mean > 0 else "loss"
    record = f"{found.wins}/{found.ties}/{found.losses}"
    return [sign(found.mean), bounds(found), f"{found.p:.4f}", f"{found.adjusted:.4f}", record, detectable, verdict]


def _by_category(run: Run, steps: Steps, figure: str) -> str:
    measure = "recall@10" if "recall@10" in run.measures else run.measures[0]
    rows = [["category", "n", *(steps.label(name) for name in steps.main)]]
    for category, total in run.summary["categories"].items():
        cells = [run.summary["systems"][name]["categories"][category][measure] for name in steps.main]
        if cells[0]["n"]:
            rows.append([category or NONE, str(cells[0]["n"]), *(interval(cell) for cell in cells)])
        else:
            rows.append([category or NONE, str(total), *("answered by silence" for _ in cells)])
    silent = [["a query without an answer", *(steps.label(name) for name in steps.main)]]
    counts = [run.summary["systems"][name]["unanswerable"] for name in steps.main]
    silent.append(["nothing came back", *(f"{count['silent']} of {count['n']}" for count in counts)])
    body = f"{HEADLINE.get(measure, measure)} in percent.\n\n![{HEADLINE.get(measure, measure)} by category]({figure})\n\n{markdown(rows)}"
    return body + (f"\n\n{markdown(silent)}" if run.summary["unanswerable"] else "")


def _queries(run: Run, steps: Steps) -> str:
    measure = "recall@10"
    values = {(row["system"], row["query"]): row[measure] for row in run.per_query}
    core = [query for query in run.queries.values() if query.answerable and "core" in query.tags]
    head = ["query", "category", "relevant", *(steps.label(name) for name in steps.main)]

    def rows(queries: Sequence[Any]) -> str:
        cells = [[q.text, q.category, str(len(q.relevant)), *(percent(values[name, q.id]) for name in steps.main)] for q in queries]
        return markdown([head, *cells], left=(0, 1))

    everything = [query for query in run.queries.values() if query.answerable]
    shown = f"R@10 of the {len(core)} core queries that have an answer.\n\n{rows(core)}\n\n" if core else ""
    return shown + f"<details><summary>All {len(everything)} queries that have an answer</summary>\n\n{rows(everything)}\n\n</details>"


def _others(run: Run, steps: Steps) -> str:
    rest = [name for name in run.systems if name not in steps.main]
    if not rest:
        return ""
    measures = [measure for measure in HEADLINE if measure in run.measures]
    rows = [["system", *(HEADLINE[measure] for measure in measures), "latency, ms", "tokens/query"]]
    for name in rest:
        system = run.summary["systems"][name]
        quality = [percent(system["measures"][measure]["mean"]) for measure in measures]
        rows.append([qualified(steps.label(name), run, name), *quality, latency(system, "mean"), f"{system['tokens']['mean']:,.0f}"])
    return markdown(rows)


def _ledger(run: Run, steps: Steps) -> str:
    rows = [["system", "arm", "answered", "candidates/query", "gold in its first 10", "only it found", "lost on the way"]]
    for name in steps.main:
        for arm, row in run.summary["systems"][name]["arms"].items():
            counts = [str(row[key]) for key in ("found", "only", "lost")]
            rows.append([name, arm, f"{row['answered']} of {row['asked']}", f"{row['candidates']:.1f}", *counts])
    return (
        markdown(rows, left=(0, 1))
        + "\n\nGold: judged-relevant observations, summed over all queries. *Only it found*: in no other arm's first ten. "
        "*Lost on the way*: in the arm's first ten and not in the answer's, because fusion or a stage ranked other things higher."
    )


def _time_and_ties(run: Run) -> str:
    disputed = any(run.summary["systems"][name]["undisputed"] for name in run.systems)
    rows = [["system", "stale@10 (n)", "from the future", "as-of R@10", "R@10: worst–best order of ties"]]
    rows[0] += ["R@10 without disputed labels"] * disputed
    for name in run.systems:
        system = run.summary["systems"][name]
        time, ties = system["time"], system["ties"]["recall@10"]
        stale = f"{interval(time['stale@10'])} ({time['stale@10']['n']})"
        cells = [
            stale,
            str(time["future_leaks"]),
            percent(time["as_of_recall@10"]["mean"]),
            f"{percent(ties['worst'])}–{percent(ties['best'])}",
        ]
        rows.append([name, *cells, *([percent(system["undisputed"]["recall@10"]["mean"])] if disputed else [])])
    return (
        f"{markdown(rows)}\n\n*Stale*: something superseded stands above its successor, in percent of the queries whose answer superseded "
        "something. *From the future*: observations returned that are later than the question. *As of*: recall of what existed when it "
        "was asked."
    )


def _wrong(run: Run) -> str:
    lines = [
        f"- **{f['system']}** failed on {f['queries']} queries, the first {f['query']}: {f['error']}" for f in run.manifest["failures"]
    ]
    for name in run.systems:
        system = run.summary["systems"][name]
        lines += [f"- {name}: {note} ({count} queries)" for note, count in {**system["notes"], **system["faults"]}.items()]
    return "\n".join(lines)


def _tokens(run: Run, steps: Steps, figure: str) -> str:
    whole, counter = run.summary["memory_tokens"], run.manifest["tokens_counter"]
    rows = [["system", "tokens/query", "saved against loading everything"]]
    for name in steps.main:
        mean = run.summary["systems"][name]["tokens"]["mean"]
        rows.append([steps.label(name), f"{mean:,.0f}", f"{percent(1 - mean / whole)} %"])
    return (
        f"Loading the whole memory would cost {whole:,} tokens a query, counted by {counter}.\n\n{markdown(rows)}\n\n"
        f"![Recall against tokens read]({figure})"
    )


def _embedding(run: Run) -> str:
    rows = [["system", "model", "dimensions", "batch", "documents", "seconds", "ms/document"]]
    for name, found in run.manifest["embedding"].items():
        model = str(found["model"]).partition("@")[0]
        each = found["document_ms"] / found["documents"] if found["documents"] else 0.0
        cells = [str(found[key]) for key in ("dimensions", "batch_size", "documents")]
        rows.append([name, model, *cells, f"{found['document_ms'] / 1e3:.2f}", f"{each:.1f}"])
    if len(rows) == 1:
        return ""
    return (
        f"{markdown(rows, left=(0, 1))}\n\nA text is embedded once and kept on disk with the time that it took; "
        "a later run counts that time, so that it measures the memory system and not the cache."
    )


def _latency(run: Run, steps: Steps) -> str:
    rows = [["system", "span", "p50, ms", "p95, ms", "p99, ms"]]
    index = [["system", "indexing, ms", "first query, ms"]]
    for name in steps.main:
        times = run.summary["systems"][name]["latency"]
        for span in sorted(times["spans"], key=lambda span: (span != "total", span)):
            rows.append([name, span.removeprefix("total."), *(milliseconds(times["spans"][span][p]) for p in ("p50", "p95", "p99"))])
        index.append([name, milliseconds(times["index_ms"]), milliseconds(times["cold_ms"])])
    return f"{markdown(rows, left=(0, 1))}\n\n{markdown(index)}"


def _contract() -> str:
    measures = [["measure", "what it is", "divided by", "ties", "left out"], *(list(entry) for entry in CONTRACT)]
    rules = [["term", "rule"], *(list(rule) for rule in RULES)]
    return f"{markdown(measures, left=range(5))}\n\n{markdown(rules, left=range(2))}"


def _dataset(run: Run) -> str:
    data = run.manifest["dataset"]
    rows = [
        ["fact", "value"],
        ["name", data["name"]],
        ["licence", data["licence"] or NONE],
        ["fingerprint (SHA-256)", f"`{data['fingerprint']}`"],
    ]
    rows += [["observations", str(data["observations"])], ["queries", str(data["queries"])]]
    rows += [[f"– {category or 'without category'}", str(count)] for category, count in run.summary["categories"].items()]
    relevant = [len(query.relevant) for query in run.queries.values() if query.answerable]
    if relevant:
        rows.append(["relevant observations a query", f"{min(relevant)}–{max(relevant)}, mean {sum(relevant) / len(relevant):.1f}"])
    return markdown(rows, left=(0, 1))


def _environment(run: Run) -> str:
    manifest = run.manifest
    rows = [["fact", "value"], ["recallmeter", manifest["recallmeter"]]]
    if manifest["git"]["commit"]:
        rows.append(["commit", f"`{manifest['git']['commit'][:12]}`{' with changes' if manifest['git']['dirty'] else ''}"])
    rows += [["configuration (SHA-256)", f"`{manifest['shaped_by']['settings']}`"], ["seed", str(manifest["seed"])]]
    rows += [[f"model {name} (SHA-256)", f"`{sha}`"] for name, sha in manifest["models"].items()]
    rows += [["Python", manifest["python"]], ["packages", ", ".join(f"{name} {version}" for name, version in manifest["packages"].items())]]
    rows += [["machine", f"{manifest['cpu']}, {manifest['cores']} cores, {manifest['platform']}"], ["run started", manifest["started"]]]
    return markdown(rows, left=(0, 1))


def _reproduce(run: Run) -> str:
    return (
        "```\nmake report\n```\n\nIt sets up a virtual environment from pinned versions, runs every system above and writes this file "
        f"and its figures. By hand, and with anything changed: `recallmeter run experiment={run.config['report']['experiment']} …`, "
        "then `recallmeter report RUN -o FILE`. "
        "Two runs of one configuration give identical files but for times and machine facts."
    )
