"""What a report rests on: the metric contract, the data set, the environment."""

from __future__ import annotations

from ...evaluation.measures.contract import CONTRACT, RULES
from ...evaluation.measures.numbers import NONE, amount
from ...evaluation.record import Run
from ..document import Code, Row, Section, Table
from ..figures import headline
from ..standing import Standing
from ..table import name_of


def contract(run: Run, standing: Standing) -> Section:
    """Return what every measure means, and what holds for all of them."""
    measures: list[Row] = [["measure", "what it is", "divided by", "ties", "left out"], *(list(entry) for entry in CONTRACT)]
    rules: list[Row] = [["term", "rule"], *(list(rule) for rule in RULES)]
    return Section("The metric contract", [Table(measures, range(5)), Table(rules, range(2))], collapsed=True)


def dataset(run: Run, standing: Standing) -> Section:
    """Return what was searched and asked, and the best that any ranking could reach with these labels."""
    data = run.manifest["dataset"]
    rows: list[Row] = [
        ["fact", "value"],
        ["name", data["name"]],
        ["licence", data["licence"] or NONE],
        ["fingerprint (SHA-256)", Code(data["fingerprint"])],
        ["observations", f"{data['observations']:,}"],
        ["queries", f"{data['queries']:,}"],
        *([f"– {category or 'without category'}", f"{count:,}"] for category, count in run.summary["categories"].items()),
    ]
    relevant = [len(query.relevant) for query in run.queries.values() if query.answerable]
    if relevant:
        low, high = min(relevant), max(relevant)
        spread = f"{low}–{high}, mean {sum(relevant) / len(relevant):.1f}" if low < high else str(low)
        rows.append(["relevant observations a query", spread])
    if data.get("dangling"):
        rows.append(["judgments of observations that it lacks", f"{data['dangling']:,}, which count as not found"])
    limits = {measure: amount(run.summary["ceilings"][measure], measure) for measure in headline(run)}
    ceilings = [f"{name_of(measure)} {limit}" for measure, limit in limits.items() if limit != "100.0"]
    if standing.n and ceilings:
        rows.append(["attainable at most, %", f"{', '.join(ceilings)}: with R relevant, recall@k ≤ min(k, R)/R, precision@k ≤ min(k, R)/k"])
    return Section("The data set", [Table(rows, (0, 1))], collapsed=True)


def environment(run: Run, standing: Standing) -> Section:
    """Return code, packages and machine."""
    manifest = run.manifest
    git = manifest.get("git") or {}
    rows: list[Row] = [["fact", "value"], ["recallmeter", manifest["recallmeter"]]]
    if git.get("commit"):
        rows.append(["commit", [Code(git["commit"][:12]), " with uncommitted changes" if git.get("dirty") else ""]])
    rows += [["configuration (SHA-256)", Code(manifest["shaped_by"]["settings"])], ["seed", str(manifest["seed"])]]
    rows += [[f"model {name} (SHA-256)", Code(sha)] for name, sha in manifest["models"].items()]
    rows += [["packages", ", ".join(f"{name} {version}" for name, version in manifest["packages"].items())]]
    machine = [str(manifest[key]) for key in ("cpu", "platform") if manifest.get(key)]
    rows += [["Python", str(manifest.get("python") or NONE)], ["machine", ", ".join(machine) or NONE], ["run started", manifest["started"]]]
    return Section("The environment", [Table(rows, (0, 1))], collapsed=True)
