"""Whether each system that was named is there: a file that adds none is refused, one that only changes another is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..datasets.errors import InputError
from ..datasets.yaml_file import read_yaml
from ..evaluation.notices import Notice

if TYPE_CHECKING:
    from omegaconf import DictConfig

GROUP = "systems"


def chosen_notices(config: DictConfig) -> list[Notice]:
    """Return what is to be said of the systems that a command line names; nothing outside one.

    Raises:
        InputError: a file of a system names none.
    """
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig

    if not HydraConfig.initialized() or not GlobalHydra.instance().is_initialized():
        return []
    hydra, notices, owner = HydraConfig.get(), list[Notice](), dict[str, str]()
    folders = tuple(source.path for source in hydra.runtime.config_sources if source.schema == "file")
    choosing = tuple(word for word in hydra.overrides.task if "." not in word.partition("=")[0])
    for choice, names in _choices(choosing, folders):
        for name in names:
            if owner.get(name, choice) != choice:
                notices.append(Notice("", f"system={choice} adds no system of its own: it changes {name}, which {owner[name]} adds"))
            elif name in config.systems and config.systems[name] is None:
                notices.append(Notice("", f"{name} is set to null and left out"))
            owner.setdefault(name, choice)
    return notices


@cache
def _choices(overrides: Sequence[str], folders: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each file of a system that is chosen, with the names of the systems that it adds; Hydra takes long to tell."""
    from hydra.core.global_hydra import GlobalHydra
    from hydra.types import RunMode

    found = []
    for default in GlobalHydra.instance().config_loader().compute_defaults_list("config", [*overrides], RunMode.RUN).defaults:
        group, _, choice = (default.config_path or "").partition("/")
        path = next((path for folder in folders if (path := Path(folder) / group / f"{choice}.yaml").is_file()), None)
        if group == "system" and path and not str(default.parent).startswith("system/"):  # else a part of another file
            found.append((choice, [*_names(path)]))
    return found


def _names(path: Path) -> Iterator[str]:
    """Yield the names of the systems that a file adds."""
    remedy = "give it `# @package systems.NAME` as its first line and a _target_, see conf/system"
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    package = next((line.partition("@package")[2].strip() for line in lines if line.startswith("#") and "@package" in line), "system")
    content = read_yaml(path)
    if not isinstance(content, Mapping) or not content:
        raise InputError("it names no system", where=str(path), remedy=remedy)
    if package.startswith(f"{GROUP}."):
        yield package.removeprefix(f"{GROUP}.").partition(".")[0]
    elif package == GROUP:
        yield from map(str, content)
