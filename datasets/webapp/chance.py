"""Choices that follow from a seed alone: the same on every machine and in every Python version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeVar

from ..errors import InputError

T = TypeVar("T")

_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Chance:
    """A source of choices, each of which depends on the seed and on its own key, never on the choices before it."""

    seed: int

    def below(self, n: int, *key: object) -> int:
        """Return a number from 0 to n − 1."""
        digest = blake2b("/".join(map(str, (self.seed, *key))).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % n

    def pick(self, options: Sequence[T], *key: object) -> T:
        """Return one of the options; the only one without a throw."""
        return options[0] if len(options) == 1 else options[self.below(len(options), *key)]


@dataclass(frozen=True)
class Wording:
    """Text with slots in braces, made definite: ``{a|b}`` is a choice on the spot, ``{name}`` a value that is the same everywhere.

    Attributes:
        values: name → the options among which the seed decides once.
    """

    chance: Chance
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def settle(self, text: str, key: str) -> str:
        """Fill the slots of one text, `key` being its place in the history; line breaks that are only layout become spaces.

        Raises:
            InputError: a slot names a value that does not exist.
        """
        filled = _SLOT.sub(lambda slot: self._fill(slot.group(1), key, slot.start()), text)
        return " ".join(filled.split())

    def _fill(self, slot: str, key: str, position: int) -> str:
        if "|" in slot:
            return self.chance.pick(slot.split("|"), key, position)
        if slot not in self.values:
            raise InputError(f"the slot {{{slot}}} names no value", where=key)
        return self.chance.pick(self.values[slot], "value", slot)
