"""The one exception that bad input raises, on every floor of the house."""

from __future__ import annotations


class InputError(ValueError):
    """Bad usage, configuration or data, told in one line; the command line turns it into exit code 2.

    Args:
        what: what is wrong, in the user's terms.
        where: the place: ``file:line``, a configuration key, a query id.
        remedy: what the user can do about it.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        line = f"{where}: {what}" if where else what
        super().__init__(" ".join(f"{line}; {remedy}".split()) if remedy else " ".join(line.split()))

    def at(self, where: str) -> InputError:
        """Return the same error with its place named."""
        return InputError(self.what, where=where, remedy=self.remedy)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.what, self.where, self.remedy)


def _rebuild(what: str, where: str, remedy: str) -> InputError:
    return InputError(what, where=where, remedy=remedy)
