"""`recallmeter systems`: what can be measured here, and what an extra would add."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...datasets.errors import InputError
from ..paths import CONF

OURS = "recallmeter.retrieval.external."
"""Where the adapters live."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the door."""
    parser.add_argument("--config-dir", type=Path, metavar="DIR", help="a folder of your own YAML; its systems are listed too")
    parser.epilog = (
        "Choose with `recallmeter run system=[bm25,NAME]`; a system of your own is a YAML file in a folder named by --config-dir."
    )


def execute(arguments: argparse.Namespace) -> int:
    """Print a line a system: its name, whether it can run, what it is."""
    folders = [CONF]
    if own := arguments.config_dir:
        if not own.is_dir():
            raise InputError("no such folder", where=f"--config-dir {own}", remedy="name the folder that holds system/NAME.yaml")
        sys.path.extend(folder for folder in (str(Path.cwd()), str(own.absolute())) if folder not in sys.path)
        folders.append(own)
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted((folder / "system").glob("*.yaml")):
            found.setdefault(path.stem, path)  # a run, too, takes the packaged one of two
    rows = [("system", "state", "what it is"), *((name, _state(path), _description(path)) for name, path in sorted(found.items()))]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, state, what in rows:
        print(f"{name:<{widths[0]}}  {state:<{widths[1]}}  {what}")
    return 0


def _state(path: Path) -> str:
    from omegaconf import OmegaConf

    spec: Any = OmegaConf.load(path)
    target = str(spec.get("_target_", ""))
    if unset := [key for key in spec if OmegaConf.is_missing(spec, key)]:
        return "set " + " ".join(f"systems.{path.stem}.{key}" for key in unset)
    module, _, name = target.rpartition(".")
    if not module:
        return "ready"  # another system's YAML, with something changed
    try:
        adapter = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        return f"can't be imported ({error})"
    if not adapter.__module__.startswith(OURS):
        return "ready"
    found = dict(_installed(adapter.packages))
    if missing := [package for package, number in found.items() if number is None]:
        extra = adapter.__module__.rpartition(".")[2]  # the extra of an adapter is called as its module is
        return f'pip install "recallmeter[{extra}]"  (no {", ".join(missing)})'
    return f"ready ({', '.join(f'{package} {number}' for package, number in found.items())})" if found else "ready"


def _installed(packages: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    for package in packages:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, None


def _description(path: Path) -> str:
    """Return the comment that a system's YAML begins with, after the line for Hydra."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    words = []
    for line in lines:
        if not line.startswith("#"):
            break
        words.append(line.lstrip("# "))
    return " ".join(words)
