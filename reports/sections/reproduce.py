"""How this very run is made again, what each system was set to, and how the recommended one is used."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ...evaluation.measures.numbers import NONE
from ...evaluation.record import Run
from ..document import Block, Code, Items, Listing, Paragraph, Row, Section, Strong, Table
from ..standing import Standing


def use(run: Run, standing: Standing) -> Section | None:
    """Return how the recommended system is turned on."""
    name = standing.recommended
    spec = run.config.get("systems", {}).get(name) if name else None
    if not name or not spec:
        return None
    words = "Measure it on your own data; its settings as YAML, from which your own code can build it, stand among the collapsed sections."
    blocks = [Paragraph(words), Listing(f"recallmeter run 'system=[{name}]' dataset=jsonl dataset.path=FOLDER", "bash")]
    return Section(f"How to use {standing.label(name)}", blocks)


def recommended(run: Run, standing: Standing) -> Section | None:
    """Return the settings of the recommended system as the YAML file that builds it."""
    name = standing.recommended
    spec = run.config.get("systems", {}).get(name) if name else None
    if not name or not spec:
        return None
    return Section(f"{standing.label(name)} as YAML", [Listing(_yaml(f"# @package systems.{name}", spec), "yaml")], collapsed=True)


def again(run: Run, standing: Standing) -> Section:
    """Return commit and command line of this run, or why it cannot be made again to the letter."""
    git, command = run.manifest.get("git") or {}, run.manifest.get("command")
    blocks: list[Block] = []
    if git.get("dirty"):
        words = f" Files that git tracks differed from commit {git['commit'][:12]}: commit them and run again before you publish this."
        blocks.append(Paragraph([Strong("This run can't be reproduced from a commit."), words]))
    elif not command:
        blocks.append(Paragraph("It was made from a program, not from a command line: its configuration stands in the run directory."))
    else:
        blocks.append(Listing("\n".join(_commands(run, git.get("commit"), command)), "bash"))
        blocks.append(
            Paragraph("Everything but times is the same then; the fingerprint of the data set and the settings below are to agree.")
        )
    if unknown := run.manifest.get("unknown"):
        blocks += [Paragraph("What shapes these numbers and can't be known, so that it may differ another time:"), Items([*unknown])]
    return Section("How to reproduce it", blocks)


def _commands(run: Run, commit: str | None, command: list[str]) -> Iterator[str]:
    if commit:
        yield f"git checkout {commit}"
        yield 'pip install -c constraints.txt -e ".[all]"'
    else:
        yield f"pip install recallmeter=={run.manifest['recallmeter']}"
    yield f"{shlex.join(command)} hydra.run.dir=again"
    yield "recallmeter report again"


def settings(run: Run, standing: Standing) -> Section | None:
    """Return what each system is made of and set to: a column for its arms, its fusion and its stages, where it has such."""
    rows: list[Row] = [["system", "name", "made of", "fusion", "stages"]]
    for name in run.systems:
        spec = (run.config.get("systems") or {}).get(name)
        if isinstance(spec, Mapping):
            made_of = _all(spec["arms"]) if isinstance(spec.get("arms"), Mapping) else _written(spec)
            cells = [made_of, _written(spec["fusion"]) if spec.get("fusion") else NONE, _all(spec.get("stages")) or NONE]
            rows.append([standing.label(name), Code(name), *cells])
    return Section("Settings", [Table(rows, range(5))]) if len(rows) > 1 else None


def _all(parts: Any) -> str:
    """Write named or listed parts one after another, those that are turned off left out."""
    values = parts.values() if isinstance(parts, Mapping) else parts or ()
    return ", ".join(_written(part) for part in values if part is not None)


def _written(part: Any, deep: bool = True) -> str:
    """Write a part as its class and settings, such as ``WeightedRRF(k=60)``; what it holds in turn by its name or class alone."""
    if isinstance(part, Mapping) and "_target_" in part:
        name = str(part["_target_"]).rpartition(".")[2]
        if not deep:
            return _model(part) or name
        settings = [f"{k}={_written(v, False)}" for k, v in part.items() if not k.startswith("_") and v is not None]
        return f"{name}({', '.join(settings)})" if settings else name
    if isinstance(part, Mapping):
        return "{" + ", ".join(f"{k}: {_written(v, False)}" for k, v in part.items() if v is not None) + "}"
    return "[" + ", ".join(_written(item, False) for item in part) + "]" if isinstance(part, list) else str(part)


def _model(part: Mapping[str, Any]) -> str:
    """Return the name of the model that an embedder or a scorer reads with, wherever in it that stands."""
    inner = [value for value in part.values() if isinstance(value, Mapping)]
    return next((found for found in (str(part.get("name") or part.get("model") or ""), *map(_model, inner)) if found), "")


def _yaml(head: str, spec: Mapping[str, Any]) -> str:
    import yaml

    return f"{head}\n{yaml.safe_dump(_told(spec), sort_keys=False, allow_unicode=True)}"


def _told(spec: Any) -> Any:
    """Return settings with the class of each part first, without those that are not set."""
    if isinstance(spec, Mapping):
        order = sorted(spec.items(), key=lambda item: item[0] != "_target_")
        return {key: _told(value) for key, value in order if value is not None}
    return [_told(item) for item in spec] if isinstance(spec, list) else spec
