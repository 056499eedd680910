"""Waiting no longer than was agreed, whatever one waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deadline(seconds: float, stop: Callable[[], object]) -> Iterator[threading.Event]:
    """Call `stop` from another thread unless the block ends in time; the event tells whether it came to that.

    `stop` must end what the block waits for, such as by closing the other side of a pipe: no wait in the block can be
    interrupted otherwise, and a time-out a read is none for an answer that comes drop by drop.
    """
    late = threading.Event()

    def time_up() -> None:
        late.set()
        stop()

    timer = threading.Timer(seconds, time_up)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
