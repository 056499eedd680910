"""The providers behind HTTP, against a real server on loopback that speaks each one's format and misbehaves on demand."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recallmeter.datasets.errors import InputError
from recallmeter.retrieval.embedders.choice import PROVIDERS
from recallmeter.retrieval.embedders.embedding import CachedEmbedder
from recallmeter.retrieval.embedders.http import HTTPEncoder
from recallmeter.retrieval.embedders.openai import OpenAIEncoder
from recallmeter.retrieval.embedders.transport import Transport
from recallmeter.retrieval.unavailable import UnavailableError

pytest.importorskip("httpx", reason="the extra http is not installed")

SECRET = "sk-never-shown-4711"
QUICK = Transport(timeout=0.15, retries=2, backoff=0.01, patience=5)


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float = field(default_factory=time.monotonic)


class Provider:
    """A server that answers in the format of the path it is asked at; `misbehave` queues what it does instead."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.faults: list[Any] = []
        self.released = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.requests.append(Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                status, headers, content = provider.answer(provider.requests[-1], provider.faults.pop(0) if provider.faults else None)
                if status == 0:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def stop(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request: Request, fault: Any) -> tuple[int, dict[str, str], bytes]:
        if isinstance(fault, tuple):
            status, headers = fault
            return status, headers, json.dumps({"error": f"no: {sent_key(request)}"}).encode()
        if fault == "hang":
            self.released.wait(5)
            return 0, {}, b""
        if fault == "drop":
            return 0, {}, b""
        vectors = [vector(text) for text in texts_of(request)]
        if fault == "short":
            vectors = vectors[:-1]
        if fault == "wrong dimension":
            vectors = [v[:-1] for v in vectors]
        if fault == "one wrong dimension":
            vectors[0] = vectors[0][:-1]
        if fault == "NaN":
            vectors[-1][0] = float("nan")
        content = json.dumps(formatted(request.path, vectors)).encode()
        return 200, {}, {"truncated": content[: len(content) // 2], "other format": b'{"hello": 1}'}.get(fault, content)


def sent_key(request: Request) -> str | None:
    return request.headers.get("authorization") or request.headers.get("x-goog-api-key")


def vector(text: str) -> list[float]:
    return np.random.default_rng(list(text.encode())).standard_normal(6).tolist()


def texts_of(request: Request) -> list[str]:
    body = request.body
    if "requests" in body:
        return [entry["content"]["parts"][0]["text"] for entry in body["requests"]]
    return body.get("texts") or body["input"]


def formatted(path: str, vectors: list[list[float]]) -> dict[str, Any]:
    if path.endswith(":batchEmbedContents"):
        return {"embeddings": [{"values": v} for v in vectors]}
    if path.endswith("/embed"):
        return {"id": "x", "embeddings": {"float": vectors}}
    entries = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
    return {"object": "list", "data": entries[::-1]}  # the index tells the order, not the position


@pytest.fixture
def provider() -> Iterator[Provider]:
    started = Provider()
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OPENAI_")]:
        monkeypatch.delenv(name)
    for encoder in PROVIDERS.values():
        monkeypatch.setenv(encoder.key.variables[0], SECRET)


def encoder(name: str, provider: Provider, **settings: Any) -> HTTPEncoder:
    return PROVIDERS[name](**{"base_url": provider.url + "/v1", "transport": QUICK} | settings)


# what each provider is asked

ASKED = {
    "openai": ("/v1/embeddings", "authorization", f"Bearer {SECRET}", {"model": "text-embedding-3-small", "dimensions": 6}),
    "openrouter": ("/v1/embeddings", "authorization", f"Bearer {SECRET}", {"model": "openai/text-embedding-3-small", "dimensions": 6}),
    "voyage": (
        "/v1/embeddings",
        "authorization",
        f"Bearer {SECRET}",
        {"model": "voyage-3.5", "output_dimension": 6, "input_type": "query"},
    ),
    "cohere": (
        "/v1/embed",
        "authorization",
        f"Bearer {SECRET}",
        {"model": "embed-v4.0", "output_dimension": 6, "input_type": "search_query", "embedding_types": ["float"]},
    ),
    "gemini": ("/v1/models/gemini-embedding-001:batchEmbedContents", "x-goog-api-key", SECRET, {}),
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_is_asked_in_its_own_format(name: str, provider: Provider) -> None:
    path, header, value, settings = ASKED[name]
    found = encoder(name, provider, dimensions=6).encode(["one", "two", "three"], "query")
    request = provider.requests[0]
    assert (request.path, request.headers[header]) == (path, value)
    assert settings.items() <= request.body.items()
    assert texts_of(request) == ["one", "two", "three"]
    np.testing.assert_allclose(found, [vector(text) for text in ("one", "two", "three")], rtol=1e-6)


def test_gemini_is_told_the_task_and_the_dimensions_of_each_text(provider: Provider) -> None:
    built = encoder("gemini", provider, dimensions=6)
    built.encode(["a"], "document")
    built.encode(["b"], "query")
    settings = [request.body["requests"][0] for request in provider.requests]
    assert [s["taskType"] for s in settings] == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
    assert all(s["outputDimensionality"] == 6 and s["model"] == "models/gemini-embedding-001" for s in settings)
    assert SECRET not in provider.requests[0].path


def test_a_provider_is_not_asked_for_dimensions_that_nobody_named(provider: Provider) -> None:
    encoder("openai", provider).encode(["a"], "document")
    assert "dimensions" not in provider.requests[0].body


def test_texts_go_out_in_batches_and_come_back_in_order(provider: Provider) -> None:
    texts = [f"text {i}" for i in range(7)]
    found = encoder("openai", provider, batch_size=3).encode(texts, "document")
    assert [len(texts_of(request)) for request in provider.requests] == [3, 3, 1]
    np.testing.assert_allclose(found, [vector(text) for text in texts], rtol=1e-6)


def test_an_empty_text_and_a_lone_surrogate_are_sent_as_something_that_providers_take(provider: Provider) -> None:
    encoder("openai", provider).encode(["", "a\ud800b"], "document")
    assert texts_of(provider.requests[0]) == [" ", "a?b"]


def test_vectors_are_normalised_by_the_embedder(provider: Provider, tmp_path: Path) -> None:
    vectors = CachedEmbedder(encoder("voyage", provider), cache=str(tmp_path)).embed(["a", "b"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


# servers that speak OpenAI's interface


@pytest.mark.parametrize(
    ("base_url", "asked"),
    [
        ("http://h:1", "http://h:1/v1/embeddings"),
        ("http://h:1/", "http://h:1/v1/embeddings"),
        ("http://h:1/api/v1/", "http://h:1/api/v1/embeddings"),
        ("https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1/embeddings"),
        (
            "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
            "https://x.openai.azure.com/openai/deployments/d/embeddings?api-version=2024-10-21",
        ),
    ],
)
def test_base_urls(base_url: str, asked: str) -> None:
    assert OpenAIEncoder(base_url=base_url)._url() == asked


def test_azure_takes_the_key_in_its_own_header() -> None:
    assert OpenAIEncoder(base_url="https://x.openai.azure.com").key.header == "api-key"
    assert OpenAIEncoder().key.header == "Authorization"


def test_the_environment_says_what_the_configuration_does_not(monkeypatch: pytest.MonkeyPatch, provider: Provider) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
    monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "nomic-embed-text")
    monkeypatch.setenv("OPENAI_EMBEDDING_DIMENSIONS", "6")
    OpenAIEncoder(transport=QUICK).encode(["a"], "query")
    assert provider.requests[0].path == "/v1/embeddings"
    assert provider.requests[0].body == {"model": "nomic-embed-text", "input": ["a"], "dimensions": 6}
    assert OpenAIEncoder(model="other", dimensions=3).model.startswith("openai/other/3 (127.0.0.1:")


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch, provider: Provider) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    encoder("openai", provider).encode(["a"], "query")
    assert "authorization" not in provider.requests[0].headers


@pytest.mark.parametrize("name", PROVIDERS)
def test_without_a_key_a_provider_is_not_even_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROVIDERS[name].key.variables[0])
    with pytest.raises(UnavailableError, match=rf"{name}: no key; set \${PROVIDERS[name].key.variables[0]}"):
        PROVIDERS[name]().encode(["a"], "query")


@pytest.mark.parametrize("value", ["0", "-3", "many", "1.5"])
def test_dimensions_that_are_no_number_are_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_EMBEDDING_DIMENSIONS", value)
    with pytest.raises(InputError, match="OPENAI_EMBEDDING_DIMENSIONS"):
        OpenAIEncoder()


@pytest.mark.parametrize(
    "settings",
    [{"dimensions": 0}, {"batch_size": 10_000}, {"base_url": "ftp://h"}, {"base_url": "https://me:word@h/v1"}, {"base_url": "h:80"}],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"embedder\.encoder\.") as caught:
        OpenAIEncoder(**settings)
    assert "word" not in str(caught.value)


def test_the_identity_tells_models_dimensions_and_servers_apart() -> None:
    variants = [{}, {"model": "m"}, {"dimensions": 8}, {"base_url": "http://a/v1"}, {"base_url": "http://b/v1"}]
    assert len({OpenAIEncoder(**settings).model for settings in variants}) == len(variants)
    assert "api-version" not in OpenAIEncoder(base_url="http://a/v1?api-version=1").model


# misbehaviour

RETRIED = {
    "429": (429, {}),
    "500": (500, {}),
    "503": (503, {}),
    "hang": "hang",
    "dropped connection": "drop",
}


@pytest.mark.parametrize("fault", RETRIED.values(), ids=RETRIED)
def test_what_may_pass_is_tried_again(fault: Any, provider: Provider) -> None:
    provider.faults = [fault, fault]
    found = encoder("openai", provider).encode(["a"], "query")
    np.testing.assert_allclose(found, [vector("a")], rtol=1e-6)
    assert len(provider.requests) == 3


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ((429, {}), "openai: HTTP 429 at the last of 3 tries"),
        ((500, {}), "openai: HTTP 500 at the last of 3 tries"),
        ("hang", "openai: no answer within 0.15 s at the last of 3 tries"),
        ("drop", "openai: no connection (RemoteProtocolError) at the last of 3 tries"),
    ],
)
def test_what_does_not_pass_is_told_after_three_tries(fault: Any, told: str, provider: Provider) -> None:
    provider.faults = [fault] * 3
    with pytest.raises(UnavailableError) as caught:
        encoder("openai", provider).encode(["a"], "query")
    assert str(caught.value) == told
    assert len(provider.requests) == 3


def test_a_server_that_is_not_there_is_told(provider: Provider) -> None:
    provider.stop()
    with pytest.raises(UnavailableError, match=r"no connection \(ConnectError\) at the last of 3 tries"):
        encoder("openai", provider).encode(["a"], "query")


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("short", "3 texts gave 2 vectors"),
        ("wrong dimension", "a vector of 5 dimensions where 6 are expected"),
        ("one wrong dimension", "the answer holds no vectors"),
        ("NaN", "a vector holds NaN or infinity"),
        ("truncated", "the answer is not JSON, or was cut short"),
        ("other format", "the answer holds no vectors in the expected place"),
        ((400, {}), "HTTP 400"),
        ((401, {}), "HTTP 401, the key in $"),
        ((307, {"Location": "http://127.0.0.1:9/"}), "HTTP 307"),
    ],
)
def test_nonsense_is_refused_at_once(name: str, fault: Any, told: str, provider: Provider) -> None:
    provider.faults = [fault]
    with pytest.raises(UnavailableError) as caught:
        encoder(name, provider, dimensions=6).encode(["a", "b", "c"], "document")
    assert str(caught.value).startswith(f"{name}: ")
    assert told in str(caught.value)
    assert len(provider.requests) == 1


def test_a_dimension_that_changes_between_calls_is_refused(provider: Provider) -> None:
    built = encoder("openai", provider)
    built.encode(["a"], "document")
    provider.faults = ["wrong dimension"]
    with pytest.raises(UnavailableError, match="a vector of 5 dimensions where 6 are expected"):
        built.encode(["b"], "query")


# waiting


@pytest.mark.parametrize("kind", ["seconds", "date"])
def test_a_retry_after_is_obeyed(kind: str, provider: Provider) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=1.5)  # a header's date has whole seconds: 0.5 to 1.5 from now
    header = "0.4" if kind == "seconds" else format_datetime(moment, usegmt=True)
    provider.faults = [(429, {"Retry-After": header})]
    encoder("openai", provider).encode(["a"], "query")
    first, second = provider.requests
    assert 0.39 <= second.at - first.at < 1.9


def test_a_retry_after_beyond_patience_ends_the_request(provider: Provider) -> None:
    provider.faults = [(429, {"Retry-After": "3600"})]
    with pytest.raises(UnavailableError, match="HTTP 429, to be tried again in 3600 s, which is too long"):
        encoder("openai", provider).encode(["a"], "query")
    assert len(provider.requests) == 1


@pytest.mark.parametrize("header", ["soon", "", "nan"])
def test_a_retry_after_that_says_nothing_is_not_obeyed(header: str, provider: Provider) -> None:
    provider.faults = [(503, {"Retry-After": header})]
    encoder("openai", provider).encode(["a"], "query")
    assert len(provider.requests) == 2


def test_waits_grow_and_are_scattered(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("recallmeter.retrieval.embedders.transport.time.sleep", waits.append)
    built = encoder("openai", provider, transport=Transport(backoff=1))
    for _ in range(30):
        provider.faults = [(500, {}), (500, {})]
        built.encode(["a"], "query")
    firsts, seconds = waits[::2], waits[1::2]
    assert all(0.5 <= wait <= 1.5 for wait in firsts)
    assert all(1.0 <= wait <= 3.0 for wait in seconds)
    assert len(set(waits)) > 50


# keys


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("fault", ["drop", "truncated", "NaN", (400, {}), (401, {}), (429, {}), (500, {})], ids=str)
def test_a_key_is_in_no_log_error_traceback_or_repr(name: str, fault: Any, provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider.faults = [fault] * 3  # the server quotes the key in what it answers
    built = encoder(name, provider)
    with pytest.raises(UnavailableError) as caught:
        built.encode(["a", "b"], "query")
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    seen = [str(caught.value), repr(caught.value), *frames.format(), caplog.text, repr(built), repr(vars(built)), built.model]
    assert not [text for text in seen if SECRET in text]
    assert SECRET in str(provider.requests[0].headers)  # it was sent, or this test would show nothing


def test_a_key_is_in_no_output_and_no_file_of_a_run(provider: Provider, tmp_path: Path) -> None:
    provider.faults = [(401, {})] * 1000
    run = tmp_path / "run"
    command = "import sys; from recallmeter.experiments.cli import main; sys.exit(main())"
    overrides = ["system=[semantic,vector]", "embedder=openai", f"embedder.encoder.base_url={provider.url}", f"hydra.run.dir={run}"]
    environment = os.environ | {"OPENAI_API_KEY": SECRET, "RECALLMETER_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", command, "--debug", "run", *overrides],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4, done.stderr  # vectors alone failed; the semantic mode fell back
    assert SECRET in str(provider.requests[0].headers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"config.yaml", "run.json", "semantic.jsonl"} <= {path.name for path in files}
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert SECRET not in done.stdout + done.stderr
    trace = json.loads((run / "traces" / "semantic.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert trace["notes"] == ["fell back: openai: HTTP 401, the key in $OPENAI_API_KEY is refused"]
    assert trace["arms"]["semantic"]["ids"]
