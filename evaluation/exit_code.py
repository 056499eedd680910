"""What the exit code of a command says; build scripts rely on it, so it is written down once."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """One number for one outcome, on every door."""

    PASS = 0
    REGRESSION = 1
    """A loss is shown; of `recallmeter doctor`: a check failed."""
    USAGE = 2
    """Bad usage, configuration or data."""
    INCONCLUSIVE = 3
    FAILED = 4
    """A system failed while running."""


MEANING = "0 pass, 1 regression found, 2 bad usage, config or data, 3 inconclusive, 4 a system failed while running"
