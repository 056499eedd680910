"""Servers as memories: templates, every way in which a server can misbehave, and one memory through both protocols."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.datasets.model import Dataset, Observation, Query
from recallmeter.evaluation.loop import Protocol, evaluate
from recallmeter.retrieval.external.failure import ExternalError
from recallmeter.retrieval.external.http import Http, fill
from recallmeter.retrieval.external.process import Process

MEMORY = Path(__file__).resolve().parents[3] / "docs" / "examples" / "memory.mjs"
START = datetime(2024, 1, 1, tzinfo=UTC)


def observations(count: int = 5, scope: str = "") -> list[Observation]:
    return [
        Observation(id=f"real-{n}", session_id="s", timestamp=START + timedelta(days=n), type="note", title=f"word{n}", scope=scope)
        for n in range(count)
    ]


class Handler(BaseHTTPRequestHandler):
    """Keeps what it is sent; answers as the last part of the path says."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, dict, dict]]] = []
    running = most = 0
    lock = threading.Lock()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with Handler.lock:
            Handler.seen.append((self.path, body, dict(self.headers)))
        getattr(self, "answer_" + self.path.split("?")[0].rpartition("/")[2])(body)

    def send(self, content: bytes, status: int = 200, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def answer_index(self, body):
        self.send(b"")

    def answer_slow(self, body):
        with Handler.lock:
            Handler.running += 1
            Handler.most = max(Handler.most, Handler.running)
        time.sleep(0.05)
        with Handler.lock:
            Handler.running -= 1
        self.send(b"{}")

    def answer_search(self, body):
        self.send(json.dumps({"hits": [{"id": "o0002", "score": 2}, {"id": "o0001", "score": 1}]}).encode())

    def answer_foreign(self, body):
        self.send(json.dumps({"data": {"docs": [{"meta": {"ref": "o0003"}, "distance": 0.25}]}}).encode())

    def answer_nan(self, body):
        self.send(b'{"hits": [{"id": "o0001", "score": NaN}]}')

    def answer_broken(self, body):
        self.send(b"out of memory", 500)

    def answer_moved(self, body):
        self.send_response(302)
        self.send_header("Location", "/search")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer_html(self, body):
        self.send(b"<html>login</html>")

    def answer_short(self, body):
        self.send(b'{"hits": [', length=500)
        self.close_connection = True

    def answer_gone(self, body):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def answer_hang(self, body):
        time.sleep(2)

    def answer_drip(self, body):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(20):
            time.sleep(0.1)
            try:
                self.wfile.write(b" ")
            except OSError:
                return

    def answer_once(self, body):
        self.answer_search(body)
        self.close_connection = True  # without having said so: the next request meets a dead connection

    def log_message(self, format, *args):
        pass


@pytest.fixture
def base() -> Iterator[str]:
    Handler.seen, Handler.running, Handler.most = [], 0, 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_protocol_by_default(base):
    system = Http(f"{base}/index", f"{base}/search", headers={"Authorization": "Bearer token"})
    system.index(observations(2))
    ranking = system.search("what", 7, asked_at=START)
    system.close()
    assert ranking.hits == (("real-1", 2.0), ("real-0", 1.0))
    (index_path, index_body, headers), (search_path, search_body, _) = Handler.seen
    assert (index_path, search_path) == ("/index", "/search")
    assert headers["Authorization"] == "Bearer token"
    first = {"id": "o0001", "session": "t0001", "timestamp": "2024-01-01T00:00:00+00:00", "importance": 5, "text": "word0 note"}
    assert index_body["scope"] == "s0001"
    assert index_body["observations"][0] == first
    assert search_body == {"scope": "s0001", "query": "what", "k": 7, "asked_at": "2024-01-01T00:00:00+00:00"}


def test_a_secret_comes_from_the_environment_and_is_told_to_the_server_alone(base, monkeypatch):
    monkeypatch.setenv("MEMORY_TOKEN", "Bearer secret")
    system = Http(f"{base}/index", f"{base}/broken", headers_env={"Authorization": "MEMORY_TOKEN"})
    system.index(observations(1))
    with pytest.raises(ExternalError) as caught:
        system.search("what", 5)
    assert [headers["Authorization"] for _, _, headers in Handler.seen] == ["Bearer secret"] * 2
    assert "secret" not in str(caught.value)


def test_a_foreign_server_by_templates(base):
    system = Http(
        f"{base}/collections/$scope/index",
        f"{base}/collections/$scope/foreign?limit=$k&q=$query",
        reset_url=f"{base}/index",
        index_body={"docs": "$observations", "tenant": "user-$scope"},
        search_body={"q": "$query", "filter": {"until": "$asked_at"}, "price": "$$5"},
        observation={"content": "$text", "metadata": {"ref": "$id"}},
        batch=2,
        hits="data.docs",
        id="meta.ref",
        score="distance",
        distance=True,
    )
    system.index(observations(5))
    assert system.search("$k is not a place", 3).hits == (("real-2", -0.25),)
    reset, *indexed, search = Handler.seen
    assert reset[:2] == ("/index", {})
    assert [len(body["docs"]) for _, body, _ in indexed] == [2, 2, 1]
    path, body, _ = indexed[0]
    assert path == "/collections/s0001/index"
    assert body["docs"][0] == {"content": "word0 note", "metadata": {"ref": "o0001"}}
    assert body["tenant"] == "user-s0001"
    assert search[:2] == (
        "/collections/s0001/foreign?limit=3&q=%24k%20is%20not%20a%20place",
        {"q": "$k is not a place", "filter": {"until": None}, "price": "$5"},
    )


def test_one_observation_a_request_and_several_at_a_time(base):
    system = Http(f"{base}/slow", f"{base}/search", index_body={"text": "$text", "ref": "$id"}, batch=1, concurrency=4)
    system.index(observations(8))
    assert sorted(body["ref"] for _, body, _ in Handler.seen) == [f"o{n:04}" for n in range(1, 9)]
    assert 2 <= Handler.most <= 4


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("broken", "answered with status 500: 'out of memory'"),
        ("moved", "answered with status 302"),
        ("html", "answered what is not JSON: '<html>login</html>'"),
        ("short", "failed: broke off its answer after 10 of 500 bytes"),
        ("gone", "failed: Remote end closed connection"),
        ("hang", "gave no answer within 0.3 s"),
        ("drip", "gave no answer within 0.3 s"),
        ("foreign", "no 'hits' in the answer"),
    ],
)
def test_every_misbehaviour_is_named(base, path, told):
    system = Http(f"{base}/index", f"{base}/{path}?key=secret", search_timeout=0.3)
    system.index(observations())
    with pytest.raises(ExternalError) as caught:
        system.search("what", 5)
    assert str(caught.value).startswith(f"{base}/{path}: {told}")
    system.search_url = f"{base}/search"
    assert len(system.search("what", 5).hits) == 2


def test_a_server_that_hangs_is_not_waited_for_at_every_query(base):
    system = Http(f"{base}/index", f"{base}/hang", search_timeout=0.1)
    system.index(observations())
    began = time.monotonic()
    for _ in range(30):
        with pytest.raises(ExternalError):
            system.search("what", 5)
    assert time.monotonic() - began < 1.5
    with pytest.raises(ExternalError, match="not asked any more, after 3 time-outs in a row"):
        system.search("what", 5)
    system.index(observations())
    with pytest.raises(ExternalError, match="gave no answer within"):
        system.search("what", 5)


def test_a_connection_that_went_stale_is_opened_again(base):
    system = Http(f"{base}/index", f"{base}/once")
    system.index(observations())
    assert [len(system.search("what", 5).hits) for _ in range(3)] == [2, 2, 2]


def test_a_server_that_is_not_there(base):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(ExternalError, match=f"{url}/index: failed: .*refused"):
        Http(f"{url}/index", f"{base}/search").index(observations())


def test_nan_comes_through_for_the_loop_to_name(base):
    memory = Dataset(name="m", observations=tuple(observations()), queries=(Query(id="q", text="x", relevant={"real-0": 1}),))
    [result] = evaluate(memory, {"http": Http(f"{base}/index", f"{base}/nan")}, Protocol(k=5), progress=False)
    assert "score not finite ('real-0' at nan)" in result.answers["q"].error


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"index_url": "localhost:8000/index"}, "index_url: no http or https URL"),
        ({"search_url": "http://host:port/"}, "search_url: no URL"),
        ({"search_url": "http://me:pw@host/"}, "search_url: credentials in a URL end up in logs"),
        ({"reset_url": "ftp://host/"}, "reset_url: no http or https URL"),
        (
            {"search_body": {"q": "$question"}},
            r"search_body: '\$question' can't be filled in: 'question'; known are \$scope, \$query, \$k, \$asked_at",
        ),
        ({"index_body": {"text": "$text"}}, "index_body: .*can't be filled in"),
        ({"observation": ["$body"]}, "observation: .*can't be filled in"),
        ({"headers_env": {"Authorization": "NO_SUCH_VARIABLE"}}, "headers_env: the environment variable NO_SUCH_VARIABLE is not set"),
        ({"batch": 0}, "batch is 0"),
        ({"concurrency": 0}, "concurrency is 0"),
    ],
)
def test_settings_are_checked_before_anything_is_sent(settings, told):
    with pytest.raises(InputError, match=told):
        Http(**{"index_url": "http://localhost/index", "search_url": "http://localhost/search", **settings})


def test_a_name_alone_stands_for_the_value_and_within_text_for_its_characters():
    assert fill({"a": ["$k", "k=$k", 3, None]}, {"k": 5}) == {"a": [5, "k=5", 3, None]}
    assert fill("$text", {"text": "$k"}) == "$k"


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_one_memory_in_javascript_ranks_the_same_through_both_protocols():
    words = ["cache", "retry", "index", "token", "deploy", "queue", "schema", "login"]
    memory = tuple(
        Observation(
            id=f"{scope}-{n:03}",
            session_id=f"s{n % 7}",
            timestamp=START + timedelta(hours=n),
            type="note",
            title=" ".join(words[(n * step + scope) % 8] for step in (1, 3, 5)),
            scope=f"scope {scope}",
        )
        for scope in range(3)
        for n in range(100)
    )
    queries = tuple(
        Query(
            id=f"q{n}",
            text=f"{words[n % 8]} or {words[n % 5]}",
            relevant={f"{n % 3}-001": 1},
            scope=f"scope {n % 3}",
            asked_at=START + timedelta(hours=90),
        )
        for n in range(24)
    )
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    server = subprocess.Popen(["node", str(MEMORY), str(port)])
    try:
        _wait_for(port)
        base = f"http://127.0.0.1:{port}"
        systems = {"process": Process(["node", str(MEMORY)]), "http": Http(f"{base}/index", f"{base}/search")}
        process, http = evaluate(Dataset("words", memory, queries), systems, Protocol(k=10), progress=False)
    finally:
        server.kill()
        server.wait()
    assert {answer.error for answer in process.answers.values()} == {""}
    assert {q: a.hits for q, a in process.answers.items()} == {q: a.hits for q, a in http.answers.items()}
    assert all(answer.hits for answer in http.answers.values())


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("the server did not come up")
