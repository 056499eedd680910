"""The child's side of a retriever in a process of its own: build it, answer questions about it, say what it raised."""

from __future__ import annotations

import json
import os
import pickle
import resource
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...datasets.errors import InputError
from ..ranking import Retriever
from ..timing import clock
from .plain import as_record, plain_ranking, plain_report, told

_HEAD = struct.Struct("<q")
_MIB = 2**20

_SETTINGS = (ValueError, TypeError, ImportError, AttributeError, OSError)
"""What a constructor raises that does not take its settings, and a name that leads nowhere; anything else is a failure of its own."""


def serve(
    connection: socket.socket,
    make: Callable[[], Retriever],
    describe: Callable[[Retriever], Mapping[str, Any]],
    memory_mb: int | None,
) -> None:
    """Build a retriever and answer until the other side closes the connection; nothing that it raises gets out of here."""
    process, number = os.getpid(), 0

    def answer(value: Mapping[str, Any]) -> None:
        if os.getpid() != process:  # the retriever forked, and both came back
            os._exit(1)
        text = json.dumps({"n": number, **value}).encode("ascii")
        connection.sendall(_HEAD.pack(len(text)) + text)

    try:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (they stay open as long as the process)
        sys.stdout = sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        _limit(memory_mb)
        try:
            retriever = make()
            answer({})
        except InputError as error:
            refused = isinstance(_root(error), _SETTINGS)
            answer({"refused": [error.what, error.where, error.remedy]} if refused else {"error": told(error)})
            return
        except BaseException as error:
            answer({"error": told(error)})
            return
        while message := _received(connection):
            number, operation, *arguments = pickle.loads(message)
            try:
                result = _OPERATIONS[operation](retriever, describe, *arguments)
            except BaseException as error:
                result = {"error": told(error)}
            answer(result)
    except BaseException as error:
        os.write(2, f"{told(error)}\n".encode("utf-8", "replace"))
    finally:
        if os.getpid() == process:
            os._exit(0)
        os._exit(1)


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _index(retriever: Any, _: Any, observations: Any) -> dict[str, Any]:
    clock.next_system()
    with clock.stopwatch() as watch:
        retriever.index(observations)
    return {"ms": watch.ms}


def _search(retriever: Any, _: Any, query: str, k: int, scope: str, asked_at: Any, live: bool) -> dict[str, Any]:
    with clock.live(live), clock.stopwatch() as watch:
        found = retriever.search(query, k, scope=scope, asked_at=asked_at)
    return {"ms": watch.ms, "ranking": as_record(plain_ranking(found))}


def _describe(retriever: Any, describe: Callable[[Any], Mapping[str, Any]]) -> dict[str, Any]:
    return {"facts": plain_report(describe(retriever))}


def _report(retriever: Any, _: Any) -> dict[str, Any]:
    report = getattr(retriever, "report", None)
    return {"report": plain_report(report()) if callable(report) else {}}


def _close(retriever: Any, _: Any) -> dict[str, Any]:
    close = getattr(retriever, "close", None)
    if callable(close):
        close()
    return {}


_OPERATIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "index": _index,
    "search": _search,
    "describe": _describe,
    "report": _report,
    "close": _close,
}


def _received(connection: socket.socket) -> bytes:
    """Return the next message; nothing once the other side has closed."""
    head = _exactly(connection, _HEAD.size)
    return _exactly(connection, _HEAD.unpack(head)[0]) if head else b""


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), _MIB))
        if not part:
            return b""
        data += part
    return bytes(data)


def _limit(memory_mb: int | None) -> None:
    """Let the process take so many MiB of address space beyond what it has."""
    if memory_mb is None:
        return
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) if Path("/proc/self/statm").exists() else 0
    most = pages * resource.getpagesize() + memory_mb * _MIB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
