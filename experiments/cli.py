"""The command line: one door a command, each in a module of its own that is imported only when it is opened."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from typing import Any, NoReturn, TextIO, cast

from ..datasets.errors import InputError
from ..datasets.secrets import Guarded
from ..evaluation.exit_code import MEANING, ExitCode

DOORS = {
    "init": "write a folder in which a memory of your own is measured, gated and tested",
    "run": "build a data set, evaluate systems on it, write a run directory (takes Hydra overrides)",
    "sweep": "run many configurations (takes Hydra overrides)",
    "report": "make a Markdown or HTML report from a run directory",
    "compare": "compare systems and runs: differences, intervals, p-values, queries",
    "history": "write every measure over time: steps, anchor, intervals",
    "gate": "say PASS, REGRESSION or INCONCLUSIVE against a baseline",
    "baseline": "make a baseline from a run",
    "eval": "score a TREC run against judgments",
    "data": "list, build, check and import data sets",
    "systems": "list the systems and what an extra would add",
    "leaderboard": "rank the points of a sweep",
    "cache": "show what was computed before and is kept, clear it, verify it",
    "doctor": "run controls that must land on known values",
}


GRACE = 3.0
"""Seconds that threads which are still there have to end, once all is written."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as SIGINT does: what is half-written is removed first."""


class _Parser(argparse.ArgumentParser):
    """Raises what argparse would exit for, with the nearest of what there is; nothing is guessed: half an option is none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})
        self._given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        raise InputError(message, where=self.prog, remedy=self._nearest(message) or f"see `{self.prog} --help`")

    def _nearest(self, message: str) -> str:
        if found := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            return nearest(found[1], re.findall(r"[\w-]+", found[2]))
        known = known_words(self)
        unknown = (word.partition("=")[0] for word in self._given if word.startswith("--") and word.partition("=")[0] not in known)
        return next((told for word in unknown if (told := nearest(word, known))), "")


def known_words(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options and the commands that a parser knows, those of its commands as well."""
    words = list[str]()
    for action in parser._actions:
        words += action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            words += [word for name, inner in action.choices.items() for word in (name, *known_words(inner))]
    return words


def nearest(word: str, known: Sequence[str]) -> str:
    """Return the hint at the nearest word there is, its dashes aside; "" where none is near."""
    from difflib import get_close_matches

    bare = {name.lstrip("-"): name for name in reversed(known)}
    close = get_close_matches(word.lstrip("-"), bare, n=1)
    return f"did you mean {bare[close[0]]!r}?" if close else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code: 0 pass, 1 regression, 2 bad input, 3 inconclusive, 4 a system failed."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that can't show a character shows its code
    if argv is None and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    # whatever a server, an exception or a plug-in says
    with redirect_stdout(cast(TextIO, Guarded(sys.stdout))), redirect_stderr(cast(TextIO, Guarded(sys.stderr))):
        code = _told(arguments, debug)
    if argv is None and any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        _end_within(GRACE, code)
    return code


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def _end_within(seconds: float, code: int) -> None:
    """End the process at the latest then: pools get the time to end their workers, and a thread that a plug-in left holds nothing up."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    watchdog = threading.Timer(seconds, os._exit, [code])
    watchdog.daemon = True
    watchdog.start()


def _told(arguments: list[str], debug: bool) -> int:
    """Run one command, and tell what went wrong in one line, with `debug` also where; no traceback ends in Python's own exit code, 1."""
    try:
        return _dispatch(arguments)
    except InputError as error:
        if debug:
            traceback.print_exc()
        print(f"recallmeter: {error}", file=sys.stderr)
        return ExitCode.USAGE
    except KeyboardInterrupt as error:
        print("recallmeter: interrupted; nothing half-done was kept", file=sys.stderr)
        return 128 + (signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        if debug:
            traceback.print_exc()
        print(f"recallmeter: {_unforeseen(error)}", file=sys.stderr)
        return ExitCode.USAGE


def _unforeseen(error: Exception) -> str:
    """Tell what no door foresaw in one line; exit code 1 would be read as a regression."""
    if isinstance(error, OSError):
        return str(
            InputError(error.strerror or str(error), where=str(error.filename or "output"), remedy="see that it can be read and written")
        )
    return str(
        InputError(f"{type(error).__name__}: {error}", where="a fault of recallmeter", remedy="--debug shows where; please report it")
    )


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_overview())
        return ExitCode.PASS if arguments else ExitCode.USAGE
    if arguments[0] == "--version":
        from importlib.metadata import version

        print(f"recallmeter {version('recallmeter')}")
        return 0
    name, rest = arguments[0], arguments[1:]
    if name not in DOORS:
        hint = nearest(name, ["--help", "--version", *DOORS] if name.startswith("-") else list(DOORS))
        raise InputError(f"no command {name!r}", remedy=hint or "see `recallmeter --help`")
    door = import_module(f".doors.{name}", __package__)
    parser = _Parser(prog=f"recallmeter {name}", description=DOORS[name])
    door.configure(parser)
    if getattr(door, "WRITES_SHARES", False):
        parser.add_argument("--fraction", action="store_true", help="write shares as fractions such as 0.8413, not in per cent")
    if getattr(door, "TAKES_OVERRIDES", False):
        known, overrides = parser.parse_known_args(rest)
        known.overrides = overrides
    else:
        known = parser.parse_args(rest)
    if not getattr(known, "fraction", False):
        return door.execute(known)
    from ..evaluation.measures.numbers import fractions

    with fractions():
        return door.execute(known)


def _overview() -> str:
    width = max(map(len, DOORS))
    lines = ["usage: recallmeter COMMAND …", "", "Measures how well an AI agent's memory finds what it should.", ""]
    lines += [f"  {name:<{width}}  {what}" for name, what in DOORS.items()]
    lines += ["", "`recallmeter COMMAND --help` says more; --debug shows tracebacks; --version the version.", ""]
    lines += [f"exit codes: {MEANING}"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
