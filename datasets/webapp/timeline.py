"""When each observation was made and what it is called: arithmetic on its number, so that any of a million can be placed alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..errors import InputError
from .chance import Chance

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""The Monday morning on which the memory begins."""

_WORKING_DAYS = 5
_DAYS_PER_SESSION = 3
_FULL_DAY = 96
_LAST_SESSION = _WORKING_DAYS * (datetime.max.replace(tzinfo=UTC) - START).days // 7 // _DAYS_PER_SESSION - _WORKING_DAYS


@dataclass(frozen=True)
class Timeline:
    """Sessions on every third working day from `START`, their observations some minutes apart.

    Args:
        sessions: number of sessions, ≥ 1.
        observations_per_session: observations in each, 1–96, so that a session ends within its day.
        seed: settles minutes and ids.

    Raises:
        InputError: a number out of range, or not a whole one.
    """

    sessions: int
    observations_per_session: int
    seed: int

    def __post_init__(self) -> None:
        for name, most in (("sessions", _LAST_SESSION), ("observations_per_session", _FULL_DAY)):
            value = getattr(self, name)
            if not isinstance(value, int) or not 1 <= value <= most:
                raise InputError(f"{value!r} is not a whole number in 1–{most}", where=f"dataset.{name}")
        if not isinstance(self.seed, int):
            raise InputError(f"{self.seed!r} is not a whole number", where="dataset.seed")

    @property
    def total(self) -> int:
        """Number of observations."""
        return self.sessions * self.observations_per_session

    def session(self, number: int) -> str:
        """Return the id of the session in which an observation was made."""
        return f"s{number // self.observations_per_session + 1:04d}"

    def moment(self, number: int) -> datetime:
        """Return when an observation was made; later numbers are later."""
        session, place = divmod(number, self.observations_per_session)
        week, day = divmod(session * _DAYS_PER_SESSION, _WORKING_DAYS)
        pace = min(40, 840 // self.observations_per_session)
        within = place * pace + Chance(self.seed).below(pace // 2, "minute", number)
        return START + timedelta(days=7 * week + day, minutes=within)

    def identifier(self, number: int) -> str:
        """Return an id that tells nothing of the order, so that ties broken by id favour neither old nor new.

        A Feistel network of four rounds over 32 bits: different numbers never get the same id.
        """
        left, right = number >> 16, number & 0xFFFF
        for turn in range(4):
            left, right = right, left ^ Chance(self.seed).below(1 << 16, "id", turn, right)
        return f"o{left:04x}{right:04x}"
