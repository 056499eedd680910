"""Any program as a memory: JSON lines on its standard input and output. The protocol is in docs/protocol.md."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from select import select
from time import monotonic
from typing import IO, Any, cast
from weakref import finalize

from ...datasets.errors import InputError
from .adapter import Adapter, Found, positive
from .answers import excerpt, read_hits
from .catalogue import Partition
from .deadline import deadline
from .failure import ExternalError

LONGEST_LINE = 64 * 2**20
LAST_LINES = 20
_GLANCE = 0.05
"""Seconds after which it is looked whether a program that says nothing still runs."""
PATIENCE = 5.0
"""Seconds that a program has to end by itself when asked to."""


class Process(Adapter):
    """A memory that runs as a program of its own.

    The program is started afresh for every index. When it ends, hangs or gives what is no answer, it is ended, and every
    later search fails at once, with the reason; the first one also tells its last words on standard error.

    Args:
        command: the program and its arguments, as a list or as one line for a shell-like split.
        cwd: where it runs; None stays here.
        env: variables added to the environment.
        index_timeout: seconds for taking in one scope.
        search_timeout: seconds for one search.
        chunked: the program answers with chunks, so one observation may come more than once.
        oversample: how many times k a chunked program is asked for.

    Raises:
        InputError: no such program, or a number out of range.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        index_timeout: float = 600.0,
        search_timeout: float = 30.0,
        chunked: bool = False,
        oversample: int = 1,
    ) -> None:
        self.command = shlex.split(command) if isinstance(command, str) else [str(part) for part in command]
        self.cwd, self.env = cwd, dict(env or {})
        self.index_timeout, self.search_timeout = positive("index_timeout", index_timeout), positive("search_timeout", search_timeout)
        self.chunked, self.oversample = chunked, int(positive("oversample", oversample))
        if not self.command:
            raise InputError("no command given", where="command", remedy='such as systems.process.command="node memory.mjs"')
        if cwd is not None and not Path(cwd).is_dir():
            raise InputError("no such folder", where=f"cwd {cwd}")
        program = self.command[0] if cwd is None or os.sep not in self.command[0] else str(Path(cwd, self.command[0]))
        if shutil.which(program) is None:
            raise InputError(f"no program {self.command[0]!r} here", where="command", remedy="install it, or give its full path")
        self._child: _Child | None = None

    def open(self) -> None:
        """Start the program."""
        self._child = _Child(self.command, self.cwd, self.env)

    def close(self) -> None:
        """Ask the program to end, and end it if it doesn't."""
        super().close()
        if self._child is not None:
            self._child.end()
            self._child = None

    def build(self, partition: Partition) -> _Scope:
        """Send one scope whole."""
        assert self._child is not None
        documents = [document.as_record() for document in partition.documents]
        self._child.ask({"op": "index", "scope": partition.name, "observations": documents}, self.index_timeout)
        return _Scope(self._child, partition.name, self.search_timeout)


class _Scope:
    def __init__(self, child: _Child, name: str, timeout: float) -> None:
        self.child, self.name, self.timeout = child, name, timeout

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        moment = asked_at.isoformat() if asked_at else None
        answer = self.child.ask({"op": "search", "scope": self.name, "query": query, "k": k, "asked_at": moment}, self.timeout)
        return read_hits(self.child.name, answer)


class _Child:
    """One running program: a question a line, an answer a line."""

    def __init__(self, command: Sequence[str], cwd: str | None, env: Mapping[str, str]) -> None:
        self.name = shlex.join(command)
        try:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **env},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that what the program starts itself ends with it
            )
        except OSError as error:
            raise ExternalError(self.name, f"can't be started: {error.strerror}") from error
        self._stdin, self._stdout = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._words: deque[str] = deque(maxlen=LAST_LINES)
        self._listener = threading.Thread(target=_listen, args=(cast(IO[bytes], self._process.stderr), self._words), daemon=True)
        self._listener.start()
        self._kill = finalize(self, _kill_group, self._process)
        self._number, self._failure, self._read = 0, "", bytearray()

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a message, return its answer.

        Raises:
            ExternalError: the program says that it failed; or it ended, hung, or gave what is no answer to this message.
                Then it is ended, since whatever it says next could be taken for the answer to another message.
        """
        if self._failure:
            raise ExternalError(self.name, f"not asked any more, since it {self._failure}")
        self._number += 1
        line = self._exchange({"n": self._number, **message}, str(message["op"]), seconds)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise self._failed(f"printed what is not JSON: {excerpt(line)}") from None
        if not isinstance(answer, dict) or answer.get("n") != self._number:
            raise self._failed(f"gave no answer to message {self._number} but {excerpt(line)}")
        if "error" in answer:
            raise ExternalError(self.name, f"says {str(answer['error'])[:300]!r}")
        return answer

    def end(self) -> None:
        """Ask the program to end, wait a little, end it."""
        if not self._failure:
            with deadline(PATIENCE, self._kill), suppress(OSError):
                self._stdin.write(b'{"op": "close"}\n')
                self._stdin.close()
                self._process.wait()
        self._shut()

    def _exchange(self, message: dict[str, Any], op: str, seconds: float) -> bytes:
        line, limit = b"", monotonic() + seconds
        # ending the program closes its end of the pipe, which ends a blocked write
        with deadline(seconds, self._kill) as hung, suppress(OSError):
            self._stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self._stdin.flush()
            line = self._line(limit)
        if hung.is_set() or (monotonic() >= limit and not line.endswith(b"\n")):
            raise self._failed(f"gave no answer to {op} within {seconds:g} s")
        if not line:
            raise self._failed(f"ended during {op}{self._exit()}")
        if not line.endswith(b"\n"):
            raise self._failed(f"broke off its answer to {op} after {len(line)} bytes{self._exit()}")
        return line

    def _line(self, limit: float) -> bytes:
        """Read a line, or what comes of it before the time is up or the program has ended.

        What the program started and left behind may hold its end of the pipe open, so that the end of it alone tells nothing.
        """
        ended = b"\n" in self._read
        while not ended and len(self._read) < LONGEST_LINE:
            if not select([self._stdout], [], [], max(0.0, min(_GLANCE, limit - monotonic())))[0]:
                if monotonic() >= limit or (self._process.poll() is not None and not select([self._stdout], [], [], 0)[0]):
                    break
                continue
            part = os.read(self._stdout.fileno(), 2**16)
            if not part:
                break
            self._read += part
            ended = b"\n" in part
        line, newline, rest = bytes(self._read).partition(b"\n")
        self._read = bytearray(rest)
        return line + newline

    def _failed(self, what: str) -> ExternalError:
        """Note why the program is done for, end it, and return the exception with its last words."""
        self._failure = what
        self._shut()
        words = " | ".join(self._words)
        return ExternalError(self.name, f"{what}; its last words: {words}" if words else what)

    def _exit(self) -> str:
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return ""
        return f" by signal {-code}" if code < 0 else f" with exit code {code}"

    def _shut(self) -> None:
        self._kill()
        self._process.wait()
        self._listener.join(1.0)  # what the program left behind may hold that pipe open too
        for pipe in (self._stdin, self._stdout):
            with suppress(OSError):  # what could not be written before
                pipe.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started and left in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()


def _listen(stderr: IO[bytes], words: deque[str]) -> None:
    with stderr:
        for line in iter(lambda: stderr.readline(2**16), b""):
            if text := line.decode("utf-8", "replace").strip():
                words.append(text[:300])
