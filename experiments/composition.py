"""Configuration to objects: Hydra composes, we instantiate, and what is wrong is told in one line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..datasets.errors import InputError

if TYPE_CHECKING:
    from omegaconf import DictConfig

CONF = Path(__file__).resolve().parents[1] / "conf"
"""The packaged configuration; beside this floor in a checkout and in an installed wheel alike."""

Job = Callable[["DictConfig", Path], int]


def launch(job: Job, overrides: Sequence[str], *, command: str) -> int:
    """Compose ``conf/config.yaml`` with `overrides` and call ``job(config, run_directory)``; return its exit code.

    Raises:
        InputError: an unknown key, a misspelt choice, a broken override or a broken YAML file.
    """
    import hydra
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises instead of printing and exiting
    os.environ["HF_HUB_OFFLINE"] = "1"
    codes: list[int] = []
    failures: list[BaseException] = []  # Hydra would print them itself, in words of its own

    @hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")
    def main(config: DictConfig) -> None:
        folder = Path(HydraConfig.get().runtime.output_dir)
        try:
            codes.append(job(config, folder))
        except BaseException as error:
            _remove_if_empty(folder)  # Hydra made it before the job began
            failures.append(error)

    _find_plug_ins(overrides)
    sys.argv = [f"recallmeter {command}", *overrides]
    with told_in_one_line():
        main()
        if failures:
            raise failures[0]
    return max(codes, default=0)


def build(spec: Any, key: str) -> Any:
    """Instantiate the object that `spec` names by ``_target_``; errors name the configuration key."""
    from hydra.utils import instantiate

    with told_in_one_line(key):
        return instantiate(spec, _convert_="all")


def plain(config: Any) -> dict[str, Any]:
    """Return a configuration as plain dicts and lists, interpolations resolved.

    Raises:
        InputError: a mandatory value is missing, or an interpolation leads nowhere.
    """
    from omegaconf import OmegaConf

    with told_in_one_line():
        return OmegaConf.to_container(config, resolve=True, throw_on_missing=True)  # type: ignore[return-value]


@contextmanager
def told_in_one_line(key: str = "") -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise into an `InputError`."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except InputError as error:
        raise error.at(error.where or key) from error
    except (HydraException, OmegaConfBaseException) as error:
        raise _in_one_line(error, key) from error


def _in_one_line(error: Exception, key: str) -> InputError:
    from hydra.errors import OverrideParseException
    from omegaconf.errors import MissingMandatoryValue

    cause: BaseException | None = error
    while cause is not None:  # Hydra wraps what a constructor raised
        if isinstance(cause, InputError):
            return cause.at(cause.where or key)
        cause = cause.__cause__
    text = str(error)
    if match := re.search(r"Could not find '([^']+)'\s+Available options in '([^']+)':\n((?:\t\S+\n?)*)", text):
        wanted, group, options = match.group(1), match.group(2), match.group(3).split()
        return _unknown(f"no choice {wanted.rpartition('/')[2]!r}", group, wanted.rpartition("/")[2], options)
    if match := re.search(r"Could not override '([^']+)'", text):
        return InputError("unknown configuration key", where=match.group(1), remedy="see `recallmeter run --cfg job` for what there is")
    if isinstance(error, MissingMandatoryValue):
        missing = ".".join(filter(None, (key, str(error.full_key or text.rpartition(": ")[2]))))
        return InputError("a value is needed", where=missing, remedy=f"add {missing}=…")
    if match := re.search(r"Error locating target '([^']+)'", text):
        return InputError(
            f"can't import {match.group(1)!r} ({_root(error)})",
            where=key,
            remedy="check the spelling of _target_, and that it is on the Python path",
        )
    if match := re.search(r"Error in call to target '([^']+)':\s*(.*)", text, re.DOTALL):
        return InputError(
            f"{match.group(1)} refused its settings ({match.group(2).splitlines()[0]})", where=key, remedy="check its parameters"
        )
    if isinstance(error, OverrideParseException):
        return InputError(
            f"the override {error.override!r} can't be read", remedy="write key=value, quoted for the shell where it has brackets or spaces"
        )
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return InputError(first, where=key, remedy="see `recallmeter run --cfg job`")


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__


def _unknown(what: str, where: str, wanted: str, options: list[str]) -> InputError:
    from difflib import get_close_matches

    close = get_close_matches(wanted, options, n=1)
    return InputError(what, where=where, remedy=f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(options)}")


def _find_plug_ins(overrides: Sequence[str]) -> None:
    """Let ``_target_`` name a module that lies in the current folder or beside the user's own YAML."""
    folders = [os.getcwd()]
    for position, argument in enumerate(overrides):
        name, _, value = argument.partition("=")
        if name in ("--config-dir", "-cd"):
            folders.append(os.path.abspath(value or (overrides[position + 1] if position + 1 < len(overrides) else "")))
    sys.path.extend(folder for folder in folders if folder not in sys.path)


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
