"""How an external system fails while it runs."""

from __future__ import annotations


class ExternalError(RuntimeError):
    """An external system died, hung, or gave what is no answer; the message is one line and names the system."""

    def __init__(self, system: str, what: str) -> None:
        super().__init__(" ".join(f"{system}: {what}".split()))


class RelayedError(ExternalError):
    """What a retriever raised in a process of its own, as it was told there."""

    def __init__(self, line: str) -> None:
        RuntimeError.__init__(self, line)
