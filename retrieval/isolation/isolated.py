"""A retriever in a process of its own: whatever it does, it does to itself alone.

The process is forked before anything is evaluated, and the retriever is built in it, so that not even its module is imported here. Its
times are measured where it runs; what the way there and back costs is left out of them.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakSet, finalize

from ...datasets.errors import InputError
from ...datasets.model import Observation
from ..external.failure import ExternalError, RelayedError
from ..ranking import Ranking, Retriever
from ..timing import clock
from .inmate import serve
from .plain import from_record

LAST_LINES = 20
LONGEST_ANSWER = 2**28
PATIENCE = 5.0
"""Seconds in which a retriever may report and close."""

_HEAD = struct.Struct("<q")
_GLANCE = 0.05

_all: WeakSet[_Child] = WeakSet()


@dataclass(frozen=True)
class Limits:
    """What a retriever in a process of its own may use.

    Attributes:
        index_timeout: seconds for being built, and for indexing.
        search_timeout: seconds for one search.
        memory_mb: MiB of memory that it may take beyond what it begins with; None for as much as there is.
    """

    index_timeout: float = 3600.0
    search_timeout: float = 60.0
    memory_mb: int | None = None


class Isolated:
    """A retriever that is built, indexed and asked in a child process.

    One that raises, fails as it would here. One that ends its process, hangs, or gives what is no answer is ended, and every later search
    fails at once; the first failure tells its last words on standard error.

    Args:
        name: how errors call it.
        make: builds it; called in the child.
        describe: what is to be known of it here once it has been asked, JSON-ready; called in the child.

    Raises:
        InputError: it refused its settings.
    """

    def __init__(
        self, name: str, make: Callable[[], Retriever], describe: Callable[[Retriever], Mapping[str, Any]], limits: Limits | None = None
    ) -> None:
        self.facts: Mapping[str, Any] = {}
        self._limits = limits or Limits()
        self._child = _Child(name, lambda connection: serve(connection, make, describe, self._limits.memory_mb))
        try:
            built = self._child.hear(self._limits.index_timeout, "being built")
        except ExternalError:
            return  # told when it is asked to index
        if "refused" in built:
            self._child.end()
            what, where, remedy = built["refused"]
            raise InputError(what, where=where, remedy=remedy)
        if "error" in built:
            self._child.fail(f"could not be built: {built['error']}")

    def index(self, observations: Sequence[Observation]) -> None:
        """Hand the memory over."""
        self._charged(("index", tuple(observations)), self._limits.index_timeout)

    def search(self, query: str, k: int, *, scope: str = "", asked_at: datetime | None = None) -> Ranking:
        """Ask it."""
        asked = self._charged(("search", query, k, scope, asked_at, clock.is_live()), self._limits.search_timeout)
        with clock.uncharged():
            return from_record(asked["ranking"])

    def report(self) -> Mapping[str, Any]:
        """Return what it has to say of itself, and learn the facts."""
        self.facts = self._asked(("describe",), PATIENCE)["facts"]
        return self._asked(("report",), PATIENCE)["report"]

    def close(self) -> None:
        """Have it close, and end its process."""
        try:
            self._asked(("close",), PATIENCE)
        finally:
            self._child.end()

    def _charged(self, message: tuple[Any, ...], seconds: float) -> Mapping[str, Any]:
        with clock.uncharged():
            answer = self._asked(message, seconds)
        clock.charge(answer["ms"])
        return answer

    def _asked(self, message: tuple[Any, ...], seconds: float) -> Mapping[str, Any]:
        answer = self._child.ask(message, seconds)
        if "error" in answer:
            raise RelayedError(str(answer["error"]))
        return answer


class _Child:
    """A forked process at the other end of a socket: a pickled message there, a JSON answer back."""

    def __init__(self, name: str, main: Callable[[socket.socket], None]) -> None:
        self.name, self._failure, self._number = name, "", 0
        self._socket, theirs = socket.socketpair()
        words, their_words = os.pipe()
        self.process = os.fork()
        if not self.process:
            _become(theirs, their_words, (self._socket.fileno(), words))
            main(theirs)
            os._exit(0)
        theirs.close()
        os.close(their_words)
        self._words: deque[str] = deque(maxlen=LAST_LINES)
        self._listener = threading.Thread(target=_listen, args=(words, self._words), daemon=True)
        self._listener.start()
        self.end = finalize(self, _end, self.process, self._socket, os.getpid())
        _all.add(self)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What a later child must not hold open."""
        return (self._socket.fileno(),) if self.end.alive else ()

    def ask(self, message: tuple[Any, ...], seconds: float) -> Mapping[str, Any]:
        """Send a message, return its answer.

        Raises:
            ExternalError: the process ended, hung, or gave what is no answer to this message; it is ended.
        """
        if self._failure:
            raise ExternalError(self.name, self._failure)
        self._number += 1
        text = pickle.dumps((self._number, *message))
        limit = time.monotonic() + seconds
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(_HEAD.pack(len(text)) + text)
        except TimeoutError:
            raise self._lost(f"took in no question within {seconds:g} s") from None
        except OSError:
            pass  # it ended: told when it is listened to
        return self.hear(max(0.0, limit - time.monotonic()), message[0], seconds)

    def hear(self, seconds: float, what: str, told: float | None = None) -> Mapping[str, Any]:
        """Return the next answer; see `ask`."""
        limit = time.monotonic() + seconds
        (length,) = _HEAD.unpack(self._read(_HEAD.size, limit, what, told or seconds))
        if not 0 <= length <= LONGEST_ANSWER:
            raise self._lost(f"broke off the talk during {what}")
        answer: Any = None
        with suppress(ValueError, RecursionError):
            answer = json.loads(self._read(length, limit, what, told or seconds))
        if not isinstance(answer, dict) or answer.get("n") != self._number:
            raise self._lost(f"gave no answer to {what}")
        return answer

    def fail(self, why: str) -> None:
        """Give it up."""
        self._failure = why
        self.end()

    def _read(self, size: int, limit: float, what: str, seconds: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = limit - time.monotonic()
            if left <= 0:
                raise self._lost(f"gave no answer to {what} within {seconds:g} s")
            # whatever it started itself may hold its end of the socket open: its own end has to be looked for
            if select.select([self._socket], [], [], min(left, _GLANCE))[0]:
                with suppress(OSError):
                    if part := self._socket.recv(min(size - len(data), 2**20)):
                        data += part
                        continue
                raise self._lost(f"ended during {what}{self._exit()}")
            if _exited(self.process) and not select.select([self._socket], [], [], 0)[0]:
                raise self._lost(f"ended during {what}{self._exit()}")
        return bytes(data)

    def _exit(self) -> str:
        for _ in range(20):
            if _exited(self.process):
                code = os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                ended = code is not None and code.si_code == os.CLD_EXITED
                return "" if code is None else f" {'with exit code' if ended else 'by signal'} {code.si_status}"
            time.sleep(_GLANCE)
        return ""

    def _lost(self, what: str) -> ExternalError:
        self._listener.join(_GLANCE)
        words = " | ".join(self._words)
        self.fail(f"not asked any more, since it {what}")
        return ExternalError(self.name, f"{what}; its last words: {words}" if words else what)


def _become(connection: socket.socket, words: int, others: Sequence[int]) -> None:
    """Turn the forked process into one of its own: session, streams, signals, and no way to its siblings."""
    os.setsid()
    _end_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for descriptor in (*others, *(d for child in _all for d in child.descriptors)):
        with suppress(OSError):
            os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor, stands_for in ((nothing, 0), (words, 1), (words, 2)):
        os.dup2(descriptor, stands_for)
    os.close(words)
    connection.setblocking(True)


def _end_with_parent() -> None:
    """Ask Linux to end this process with the one that forked it, whatever it is busy with then."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _exited(process: int) -> bool:
    try:
        return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _end(process: int, connection: socket.socket, owner: int) -> None:
    """End a process and what it started and left in its session; in a fork of this process nothing is to be ended."""
    if os.getpid() != owner:
        return
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(process, 0)
    connection.close()


def _listen(pipe: int, words: deque[str]) -> None:
    """Keep the last lines that come; whoever holds the pipe open keeps this thread, and nothing else."""
    rest = b""
    with suppress(OSError):
        while part := os.read(pipe, 2**16):
            *lines, rest = (rest + part).split(b"\n")
            rest = rest[-(2**12) :]
            words.extend(text for line in lines[-LAST_LINES:] if (text := line.decode("utf-8", "replace").strip()[:300]))
    if text := rest.decode("utf-8", "replace").strip()[:300]:
        words.append(text)
    os.close(pipe)
