"""Configuration to objects: Hydra composes, we instantiate, and what is wrong is told in one line."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import formatannotation, signature
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NamedTuple

from ..datasets.errors import InputError
from ..datasets.hub import hub_access
from ..datasets.secrets import learn_secrets
from .paths import CONF

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override
    from omegaconf import DictConfig

Job = Callable[["DictConfig", Path], int]


def launch(job: Job, overrides: Sequence[str], *, command: str) -> int:
    """Compose ``conf/config.yaml`` with `overrides` and call ``job(config, run_directory)``; return its exit code.

    Raises:
        InputError: an unknown key, a misspelt choice, a broken override or a broken YAML file.
    """
    from hydra.core.hydra_config import HydraConfig

    codes: list[int] = []
    failures: list[BaseException] = []  # Hydra would print them itself, in words of its own

    def task(config: DictConfig) -> None:
        folder = Path(HydraConfig.get().runtime.output_dir)
        _remove_if_empty(folder)  # Hydra has just made it, and whoever is killed leaves nothing that looks like a run
        try:
            find_plug_ins()
            leave_unchosen(config)
            codes.append(job(config, folder))
        except BaseException as error:
            failures.append(error)

    _call(task, overrides, command)
    if failures:
        with input_errors():
            raise failures[0]
    return max(codes, default=0)


def composed(overrides: Sequence[str]) -> DictConfig:
    """Compose ``conf/config.yaml`` with `overrides` outside a Hydra run, so without a run directory.

    Raises:
        InputError: as `launch`.
    """
    from hydra import compose, initialize_config_dir

    hub_access(allowed=False)
    with input_errors(), initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides))


class Sweep(NamedTuple):
    """What a multirun is going to do: where, over how many points, whether a sweeper searches for them, and the first one's config."""

    folder: Path
    points: int
    searched: bool
    first: DictConfig


def multirun(task: Callable[[DictConfig], Any], overrides: Sequence[str], *, command: str, begin: Callable[[Sweep], bool]) -> None:
    """Call ``task(config)`` for every point that `overrides` span, through Hydra's sweeper and launcher.

    Args:
        begin: told what is going to be done, before the first point runs; returns whether it has to be.

    Raises:
        InputError: as `launch`, or the folder can't be written.
    """
    parsed = _parsed(_sorted_out(overrides)[1])
    spans = [_values(o) if o.is_sweep_override() else None for o in parsed]
    for override, values in zip(parsed, spans, strict=True):
        if values == []:
            raise InputError(f"the sweep {override.input_line!r} spans nothing", remedy="give it at least one value")
    firsts = [f"{o.get_key_element()}={values[0]}" if values else str(o.input_line) for o, values in zip(parsed, spans, strict=True)]
    first = _first(firsts, overrides)
    trials = first.hydra.sweeper.get("n_trials")
    points = trials or math.prod(len(values) for values in spans if values)
    _look_in([Path.cwd(), *config_folders(overrides)[1:]])
    folder = Path(first.hydra.sweep.dir).absolute()
    try:
        if begin(Sweep(folder, points, trials is not None, first)):
            _call(task, ["--multirun", *overrides], command)
    finally:
        _remove_if_empty(folder)  # a sweep that was ended before its first point leaves nothing that looks like one


def _values(override: Override) -> list[str]:
    """Return the values that a sweep override spans; of an interval its start, since a searching sweeper draws the others."""
    return [str(override.value().start)] if override.is_interval_sweep() else list(override.sweep_string_iterator())  # type: ignore[union-attr]


def _first(overrides: Sequence[str], arguments: Sequence[str]) -> DictConfig:
    """Return the configuration of the first point, with Hydra's own; the folder that it sweeps into is made and seen to be writable."""
    from hydra import compose, initialize_config_dir

    searched = [f"hydra.searchpath=[file://{folder}]" for folder in config_folders(arguments)[1:]]
    with input_errors(), initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("config", overrides=[*overrides, *searched], return_hydra_config=True)
        folder = Path(config.hydra.sweep.dir).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
        _remove_if_empty(folder)  # what writes there makes it again
    except OSError as error:
        raise InputError(f"can't write there ({error.strerror})", where=str(folder), remedy="choose another hydra.sweep.dir") from error
    return config


def _call(task: Callable[[DictConfig], Any], arguments: Sequence[str], command: str) -> None:
    import hydra

    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises instead of printing and exiting
    hub_access(allowed=False)
    options, overrides = _sorted_out(arguments)
    _check_options(options, command)
    _parsed(overrides)
    before, sys.argv = sys.argv, [f"recallmeter {command}", *options, *overrides]
    try:
        with input_errors():
            hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(task)()
    finally:
        sys.argv = before  # a notebook goes on after a sweep


def command_line() -> list[str]:
    """Return the words of the command line that the job that runs now was launched with, but for where it writes."""
    return [*sys.argv[0].split(), *(word for word in sys.argv[1:] if word.partition("=")[0].lstrip("+") != "hydra.run.dir")]


def parameters() -> dict[str, Any]:
    """Return the overrides of the job that runs now, key → value, without those that only steer the sweep."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed = OverridesParser.create().parse_overrides(list(HydraConfig.get().overrides.task))
    return {o.key_or_group: _simple(o.value()) for o in parsed if not o.key_or_group.startswith("sweep.")}


def _simple(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def build(spec: Any, key: str) -> Any:
    """Instantiate the object that `spec` names by ``_target_``; errors name the configuration key."""
    from hydra.utils import instantiate

    with input_errors(key):
        _check_texts(spec, key)
        return instantiate(_without_versions(spec), _convert_="all")


def _check_texts(spec: Any, key: str) -> None:
    """Refuse true and false where a target takes a text: YAML reads ``no``, Norwegian's code, as false."""
    from hydra.utils import get_object

    if isinstance(spec, list | tuple):
        for position, item in enumerate(spec):
            _check_texts(item, f"{key}.{position}")
    if not isinstance(spec, Mapping):
        return
    for name, value in spec.items():
        _check_texts(value, f"{key}.{name}")
    truths = [name for name, value in spec.items() if isinstance(value, bool)]
    if truths and isinstance(spec.get("_target_"), str):
        try:
            taken = signature(get_object(spec["_target_"])).parameters
        except Exception:
            return  # building it says what is wrong
        for name in truths:
            kinds = {kind.strip() for kind in formatannotation(taken[name].annotation).strip("'").split("|")} if name in taken else set()
            if "str" in kinds and "bool" not in kinds:
                what = f"a text is needed, and YAML reads a bare {'yes, on or true as true' if spec[name] else 'no, off or false as false'}"
                raise InputError(what, where=f"{key}.{name}", remedy=f'quote it: {name}: "{"yes" if spec[name] else "no"}"')


def _without_versions(spec: Any) -> Any:
    """Return a specification without each ``version`` that its target does not take: it is there for the identity of what is built."""
    from hydra.utils import get_object

    if isinstance(spec, list):
        return [_without_versions(item) for item in spec]
    if not isinstance(spec, Mapping):
        return spec
    inside = {name: _without_versions(value) for name, value in spec.items()}
    if "version" in inside and isinstance(inside.get("_target_"), str):
        taken = signature(get_object(inside["_target_"])).parameters.values()
        if not any(p.name == "version" or p.kind is p.VAR_KEYWORD for p in taken):
            del inside["version"]
    return inside


def plain(config: Any) -> dict[str, Any]:
    """Return a configuration as plain dicts and lists, interpolations resolved.

    Raises:
        InputError: a mandatory value is missing, or an interpolation leads nowhere.
    """
    from omegaconf import OmegaConf

    with input_errors():
        resolved = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    learn_secrets(resolved)
    return resolved  # type: ignore[return-value]


def stored(config: Any) -> dict[str, Any]:
    """Return a configuration as a run or a sweep keeps it: as `plain` does, but interpolations of the environment stay as they are.

    What a variable holds may be a secret; the text that names it is read again where the configuration is used again.
    """
    from omegaconf import OmegaConf
    from omegaconf.resolvers import oc

    def written(*arguments: Any) -> str:
        return f"${{oc.env:{','.join(map(_argument, arguments))}}}"

    OmegaConf.register_new_resolver("oc.env", written, replace=True)
    try:
        return plain(config)
    finally:
        OmegaConf.register_new_resolver("oc.env", oc.env, replace=True)


def _argument(value: Any) -> str:
    """Write an argument of an interpolation."""
    text = "null" if value is None else str(value)
    return text if re.fullmatch(r"[\w./:-]+", text) else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def leave_unchosen(config: DictConfig) -> None:
    """Leave aside what an experiment sets of systems that exist and were not chosen with it."""
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import DictConfig, open_dict

    runtime = HydraConfig.get().runtime
    chosen = runtime.choices.get("system")
    names = {chosen} if isinstance(chosen, str) else set(chosen or ())
    folders = [Path(source.path) for source in runtime.config_sources if source.schema == "file"]
    systems = config.get("systems")
    if not isinstance(systems, DictConfig):
        return
    for name in [str(name) for name in systems if str(name) not in names]:
        spec = systems._get_node(name)
        settings_alone = isinstance(spec, DictConfig) and not spec._is_none() and "_target_" not in spec
        if settings_alone and any((folder / "system" / f"{name}.yaml").is_file() for folder in folders):
            with open_dict(systems):
                del systems[name]


def set_all(config: DictConfig, group: str, settings: Mapping[str, Any]) -> None:
    """Set what is named in a group of a composed configuration; a mapping changes what it names and leaves the rest.

    Raises:
        InputError: the group has no such setting.
    """
    from omegaconf import OmegaConf

    with input_errors(group):
        for name, value in settings.items():
            known = OmegaConf.select(config, group)
            if name not in known:
                raise InputError(f"there is no setting {name!r}", remedy=f"there are {', '.join(map(str, known))}")
            OmegaConf.update(config, f"{group}.{name}", value, merge=True)


@contextmanager
def input_errors(key: str = "") -> Iterator[None]:
    """Turn what Hydra and OmegaConf raise into an `InputError`."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import MarkedYAMLError, YAMLError

    try:
        yield
    except InputError as error:
        raise error.at(error.where or key) from error
    except (HydraException, OmegaConfBaseException) as error:
        raise _in_one_line(error, key) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{mark.name}:{mark.line + 1}" if mark else key
        twice = re.match(r"found duplicate key (.*)", error.problem or "")
        what = f"the key {twice[1]!r} occurs twice in one mapping" if twice else f"not valid YAML ({error.problem})"
        raise InputError(what, where=where, remedy="keep one of the two" if twice else "correct it") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"a configuration file is not YAML in UTF-8 ({error})", where=key, remedy="mend it") from error
    except RecursionError as error:
        raise InputError("a configuration file, or an override, is nested too deeply", where=key, remedy="mend it") from error
    except ValueError as error:  # Hydra checks what a group is set to with plain ValueErrors
        raise InputError(str(error), where=key, remedy="see `recallmeter run --cfg job` for what belongs there") from error
    except OSError as error:
        where = str(error.filename or key)
        raise InputError(
            error.strerror or str(error), where=where, remedy="see that it can be read and written, or name another"
        ) from error
    except SystemExit as error:
        raise InputError(f"a plug-in called sys.exit({error.code!r})", where=key, remedy="let it raise an exception instead") from error


def _in_one_line(error: Exception, key: str) -> InputError:
    from hydra.errors import OverrideParseException
    from omegaconf.errors import MissingMandatoryValue

    cause: BaseException | None = error
    while cause is not None:  # Hydra wraps what a constructor raised
        if isinstance(cause, InputError):
            return cause.at(_place(cause.where, key, str(error)))
        cause = cause.__cause__
    text = str(error)
    if match := re.search(r"Could not find '([^']+)'\s+Available options in '([^']+)':\n((?:\t\S+\n?)*)", text):
        wanted, group, options = match.group(1), match.group(2), match.group(3).split()
        return _unknown(f"no choice {wanted.rpartition('/')[2]!r}", group, wanted.rpartition("/")[2], options)
    if match := re.search(r"Could not load '([^']+)/([^'/]+)'", text):
        group, wanted = match.groups()
        return _unknown(f"no choice {wanted!r}", group, wanted, sorted(path.stem for path in (CONF / group).glob("*.yaml")))
    if match := re.search(r"Could not override '([^']+)'", text):
        return InputError("unknown configuration key", where=match.group(1), remedy="see `recallmeter run --cfg job` for what there is")
    if isinstance(error, MissingMandatoryValue):
        missing = ".".join(filter(None, (key, str(error.full_key or text.rpartition(": ")[2]))))
        return InputError("a value is needed", where=missing, remedy=f"add {missing}=…")
    if match := re.match(r"Key '([^']*)' is not in struct", text):
        return InputError(
            f"the key {match[1]!r} is not in the configuration, or is no text in its file", where=key, remedy=f'quote it: "{match[1]}": …'
        )
    if type(error).__name__ == "ConfigCompositionException" and not text:
        told = " ".join(f"{root}".split()) if (root := error.__cause__) is not None else ""
        return InputError(
            f"a configuration file can't be composed{told and f' ({told})'}",
            where=key,
            remedy="see that every key in it is a text: quote null, ~, true and numbers",
        )
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


def _place(where: str, key: str, text: str) -> str:
    """Return the configuration key of what a constructor refused: it names its parameter, Hydra's text the part of the specification."""
    from hydra.utils import get_object

    part = re.search(r"full_key: (\S+)", text)
    prefix = ".".join(filter(None, (key, part and part[1])))
    target = re.search(r"Error in call to target '([^']+)'", text)
    parameters = signature(get_object(target[1])).parameters if target else ()
    return ".".join(filter(None, (prefix, where))) if not where or where.partition(".")[0] in parameters else where


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__


def _unknown(what: str, where: str, wanted: str, options: list[str]) -> InputError:
    from difflib import get_close_matches

    close = get_close_matches(wanted, options, n=1)
    return InputError(what, where=where, remedy=f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(options)}")


def find_plug_ins() -> None:
    """Let ``_target_`` name a module that lies in the folder of the call or beside the user's own YAML, in whichever process this is."""
    from hydra.core.hydra_config import HydraConfig

    runtime = HydraConfig.get().runtime
    _look_in([runtime.cwd, *(source.path for source in runtime.config_sources if source.schema == "file" and source.provider != "main")])


def _look_in(folders: Sequence[str | Path]) -> None:
    sys.path.extend(folder for folder in map(str, folders) if folder not in sys.path)


def config_folders(arguments: Sequence[str]) -> list[Path]:
    """Return the folders of YAML that a command line searches, the packaged one first."""
    folders = [CONF]
    for position, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name in ("--config-dir", "-cd"):
            folders.append(Path(value or (arguments[position + 1] if position + 1 < len(arguments) else "")).absolute())
    return folders


def _check_options(options: Sequence[str], command: str) -> None:
    """Refuse what Hydra's own parser would end the process for."""
    from argparse import ArgumentError

    from hydra._internal.utils import get_args_parser

    parser, remedy = get_args_parser(), f"see `recallmeter {command} --help`"
    parser.exit_on_error = False
    try:
        unknown = [word for word in parser.parse_known_args([*options])[1] if word.startswith("-")]
    except ArgumentError as error:
        raise InputError(str(error), where=f"recallmeter {command}", remedy=remedy) from error
    if unknown:
        from importlib import import_module

        from .cli import known_words, nearest

        import_module(f".doors.{command}", __package__).configure(parser)
        hint = nearest(unknown[0].partition("=")[0], known_words(parser))
        raise InputError(f"no option {unknown[0]!r}", where=f"recallmeter {command}", remedy=hint or remedy)


def _parsed(overrides: Sequence[str]) -> list[Override]:
    """Parse overrides; refuse what Hydra takes for no text where a group is told which files to choose, such as ``nan`` or ``1``."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import ChoiceSweep

    with input_errors():
        parsed = OverridesParser.create().parse_overrides([*overrides])
    for override in parsed:
        if (override.value() is None and override.is_delete()) or not (CONF / override.key_or_group).is_dir():
            continue
        value = override._value
        listed = value.list if isinstance(value, ChoiceSweep) else [value]
        for choice in [inner for outer in listed for inner in (outer if isinstance(outer, list) else [outer])]:
            if choice is None or isinstance(choice, bool | int | float | list):
                told = "null" if choice is None else str(choice).lower() if isinstance(choice, bool) else str(choice)
                remedy = f"quote it for Hydra and the shell if a file has that name: {override.key_or_group}='\"{told}\"'"
                raise InputError(f"{told} is read as {type(choice).__name__}, not as a name", where=override.key_or_group, remedy=remedy)
    return parsed


def _sorted_out(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return options and overrides apart; Hydra's parser refuses overrides on both sides of an option."""
    valued = ("--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn", "--cfg", "-c", "--package", "-p")
    optional = [argument.startswith("-") or before in valued for before, argument in pairwise(["", *arguments])]
    options, overrides = ([a for a, is_option in zip(arguments, optional, strict=True) if is_option is wanted] for wanted in (True, False))
    return options, overrides


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and folder != Path.cwd() and not any(folder.iterdir()):
        folder.rmdir()
