"""Any server as a memory: one URL to index, one to search. What it is sent and what it answers is spelt out in YAML."""

from __future__ import annotations

import json
import os
import string
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import quote, urlsplit

from ...datasets.errors import InputError
from ...datasets.secrets import name_secret
from .adapter import Adapter, Found, positive
from .answers import excerpt, read_hits
from .catalogue import Partition
from .deadline import deadline
from .failure import ExternalError

LARGEST_ANSWER = 64 * 2**20
TIME_OUTS = 3
"""After as many time-outs in a row a server is not asked any more."""

INDEX_BODY = {"scope": "$scope", "observations": "$observations"}
SEARCH_BODY = {"scope": "$scope", "query": "$query", "k": "$k", "asked_at": "$asked_at"}
OBSERVATION = {"id": "$id", "session": "$session", "timestamp": "$timestamp", "importance": "$importance", "text": "$text"}


class Http(Adapter):
    """A memory behind HTTP; every request is a POST of JSON.

    URLs and bodies are templates: a text that is ``$name`` and nothing else stands for the value itself, and ``$name``
    within a longer text for its characters, percent-encoded in a URL. ``$scope`` is known everywhere; ``$observations`` when
    indexing, and with ``batch: 1`` also the fields of the one observation; ``$query``, ``$k`` and ``$asked_at`` when searching.

    Args:
        index_url: takes observations in.
        search_url: answers a query.
        reset_url: asked once before anything is indexed, to empty the server; None asks nothing.
        index_body: template of an index request.
        search_body: template of a search request.
        observation: template of one of ``$observations``.
        batch: observations an index request; None sends a scope whole.
        concurrency: index requests at a time.
        hits: path to the list of hits in the answer, such as ``data.results``; "" when the answer is the list.
        id: path inside a hit to the id that the observation was indexed under, such as ``metadata.id``.
        score: path inside a hit to its score; null takes 1 / rank.
        distance: the score is a distance, so less is better; it is negated.
        headers: sent with every request.
        headers_env: header → environment variable that holds its value, which then stands in no configuration and no run.
        index_timeout: seconds an index request.
        search_timeout: seconds a search.
        chunked: the server answers with chunks, so one observation may come more than once.
        oversample: how many times k a chunked server is asked for.

    Raises:
        InputError: a URL that is none, a template with an unknown name, a variable that is not set, or a number out of range.
    """

    remote = True

    def __init__(
        self,
        index_url: str,
        search_url: str,
        *,
        reset_url: str | None = None,
        index_body: Any = INDEX_BODY,
        search_body: Any = SEARCH_BODY,
        observation: Any = OBSERVATION,
        batch: int | None = None,
        concurrency: int = 1,
        hits: str = "hits",
        id: str = "id",
        score: str | None = "score",
        distance: bool = False,
        headers: Mapping[str, str] | None = None,
        headers_env: Mapping[str, str] | None = None,
        index_timeout: float = 600.0,
        search_timeout: float = 30.0,
        chunked: bool = False,
        oversample: int = 1,
    ) -> None:
        self.index_url, self.search_url, self.reset_url = index_url, search_url, reset_url
        self.index_body, self.search_body, self.observation = index_body, search_body, observation
        self.batch = None if batch is None else int(positive("batch", batch))
        self.concurrency = int(positive("concurrency", concurrency))
        self.hits, self.id, self.score, self.distance = hits, id, score, distance
        self.index_timeout, self.search_timeout = positive("index_timeout", index_timeout), positive("search_timeout", search_timeout)
        self.chunked, self.oversample = chunked, int(positive("oversample", oversample))
        secret = {name: _variable(variable) for name, variable in (headers_env or {}).items()}
        self._server = _Server({"Content-Type": "application/json", "Accept": "application/json", **(headers or {}), **secret})
        self._check()

    def open(self) -> None:
        """Empty the server, if it was said how."""
        self._server = _Server(self._server.headers)
        if self.reset_url is not None:
            self._server.post(self.reset_url, {}, self.index_timeout)

    def close(self) -> None:
        """Close the connections."""
        super().close()
        self._server.close()

    def build(self, partition: Partition) -> _Scope:
        """Send one scope, `concurrency` requests at a time."""
        requests = list(self._index_requests(partition))
        with ThreadPoolExecutor(min(self.concurrency, len(requests))) as pool:
            pending = [pool.submit(self._server.post, url, body, self.index_timeout) for url, body in requests]
            try:
                for answer in pending:
                    answer.result()
            except ExternalError:
                pool.shutdown(cancel_futures=True)
                raise
        return _Scope(self, partition.name)

    def ask(self, scope: str, query: str, k: int, asked_at: datetime | None) -> Found:
        """Search one scope on the server."""
        values = {"scope": scope, "query": query, "k": k, "asked_at": asked_at.isoformat() if asked_at else None}
        url = fill_url(self.search_url, values)
        answer = self._server.post(url, fill(self.search_body, values), self.search_timeout)
        found = read_hits(_named(url), answer, hits=self.hits, id=self.id, score=self.score)
        return [(identifier, -score) for identifier, score in found] if self.distance else found

    def _index_requests(self, partition: Partition) -> Iterator[tuple[str, Any]]:
        size = self.batch or len(partition.documents)
        for start in range(0, len(partition.documents), size):
            records = [document.as_record() for document in partition.documents[start : start + size]]
            values = {"scope": partition.name, "observations": [fill(self.observation, record) for record in records]}
            if self.batch == 1:
                values |= records[0]
            yield fill_url(self.index_url, values), fill(self.index_body, values)

    def _check(self) -> None:
        one: dict[str, Any] = dict.fromkeys(OBSERVATION)
        indexing: dict[str, Any] = {"scope": None, "observations": None, **(one if self.batch == 1 else {})}
        searching: dict[str, Any] = dict.fromkeys(SEARCH_BODY)
        fill(self.observation, one, "observation")
        for name, template, known in (("index", self.index_body, indexing), ("search", self.search_body, searching)):
            fill(template, known, f"{name}_body")
            _check_url(fill_url(getattr(self, f"{name}_url"), known, f"{name}_url"), f"{name}_url")
        if self.reset_url is not None:
            _check_url(self.reset_url, "reset_url")


class _Scope:
    def __init__(self, server: Http, name: str) -> None:
        self.server, self.name = server, name

    def search(self, query: str, k: int, asked_at: datetime | None) -> Found:
        return self.server.ask(self.name, query, k, asked_at)


class _Server:
    """Connections kept alive, one a thread and host, so that no search pays for a handshake but the first."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self._local = threading.local()
        self._connections: list[HTTPConnection] = []
        self._time_outs = 0

    def post(self, url: str, body: Any, seconds: float) -> Any:
        """Send JSON, return the JSON that comes back; None for an empty answer.

        Raises:
            ExternalError: no connection, no answer in time, a status other than 2xx, or no JSON.
        """
        system = _named(url)
        if self._time_outs >= TIME_OUTS:
            raise ExternalError(system, f"not asked any more, after {TIME_OUTS} time-outs in a row")
        try:
            status, content = self._request(url, json.dumps(body).encode("ascii"), seconds)
        except TimeoutError as error:
            self._time_outs += 1
            raise ExternalError(system, f"gave no answer within {seconds:g} s") from error
        except (OSError, HTTPException) as error:
            raise ExternalError(system, f"failed: {error or type(error).__name__}") from error
        self._time_outs = 0
        if not 200 <= status < 300:
            raise ExternalError(system, f"answered with status {status}: {excerpt(content)}")
        try:
            return json.loads(content) if content.strip() else None
        except (ValueError, RecursionError):
            raise ExternalError(system, f"answered what is not JSON: {excerpt(content)}") from None

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def _request(self, url: str, body: bytes, seconds: float) -> tuple[int, bytes]:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = self._connection(parts.scheme, parts.netloc)
        reused = connection.sock is not None
        try:
            return _exchange(connection, target, body, self.headers, seconds)
        except TimeoutError:
            raise
        except (OSError, HTTPException):
            if not reused:
                raise
        # a server may close an idle connection at any time; a new one shows whether it is there
        return _exchange(connection, target, body, self.headers, seconds)

    def _connection(self, scheme: str, host: str) -> HTTPConnection:
        known: dict[tuple[str, str], HTTPConnection] = self._local.__dict__.setdefault("connections", {})
        if (scheme, host) not in known:
            known[scheme, host] = (HTTPSConnection if scheme == "https" else HTTPConnection)(host)
            self._connections.append(known[scheme, host])
        return known[scheme, host]


def _exchange(connection: HTTPConnection, target: str, body: bytes, headers: Mapping[str, str], seconds: float) -> tuple[int, bytes]:
    def hang_up() -> None:
        if connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(SHUT_RDWR)

    connection.timeout = seconds
    with deadline(seconds, hang_up) as late:
        try:
            connection.request("POST", target, body, headers)
            response = connection.getresponse()
            content = response.read(LARGEST_ANSWER)
            if response.length:
                raise HTTPException(f"broke off its answer after {len(content)} of {len(content) + response.length} bytes")
            if not response.isclosed() and response.read(1):
                raise HTTPException(f"gave an answer of more than {LARGEST_ANSWER} bytes")
            return response.status, content
        except (OSError, HTTPException) as error:
            connection.close()
            if late.is_set():
                raise TimeoutError from error
            raise


def fill(template: Any, values: Mapping[str, Any], where: str = "template") -> Any:
    """Return the template with every ``$name`` replaced.

    Raises:
        InputError: a name that `values` does not have.
    """
    if isinstance(template, Mapping):
        return {key: fill(value, values, where) for key, value in template.items()}
    if isinstance(template, Sequence) and not isinstance(template, str):
        return [fill(value, values, where) for value in template]
    if not isinstance(template, str):
        return template
    try:
        if template.startswith("$") and template[1:] in values:
            return values[template[1:]]
        return string.Template(template).substitute(values)
    except (KeyError, ValueError) as error:
        known = ", ".join(f"${name}" for name in values)
        raise InputError(f"{template!r} can't be filled in: {error}", where=where, remedy=f"known are {known}; $$ is a dollar") from error


def fill_url(template: str, values: Mapping[str, Any], where: str = "template") -> str:
    """Return a URL with every ``$name`` replaced by its percent-encoded value; raises as `fill` does."""
    return str(fill(template, {name: quote(str(value), safe="") for name, value in values.items()}, where))


def _variable(name: str) -> str:
    if name not in os.environ:
        raise InputError(f"the environment variable {name} is not set", where="headers_env", remedy="set it to the header's value")
    name_secret(name)
    value = os.environ[name].strip()  # a secret that is mounted as a file often ends in a newline
    if not value.isprintable() or not value.isascii():
        what = f"the environment variable {name} holds what no header can"
        raise InputError(what, where="headers_env", remedy="set it to printable ASCII")
    return value


def _check_url(url: str, where: str) -> None:
    remedy = "such as http://localhost:8000/search"
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it is what checks it
    except ValueError as error:
        raise InputError(f"no URL: {error}", where=where, remedy=remedy) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("no http or https URL", where=where, remedy=remedy)
    if parts.username is not None:
        raise InputError("credentials in a URL end up in logs", where=where, remedy="name a variable in headers_env")


def _named(url: str) -> str:
    """Return what to call a server in an error: no query string, no credentials."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
