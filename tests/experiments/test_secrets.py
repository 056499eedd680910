"""No secret stands in anything that is shown or stored, whichever door it came in by."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from recallmeter.datasets import secrets
from recallmeter.datasets.secrets import learn_secrets, name_secret, redacted, redacted_message
from recallmeter.experiments.cli import main
from recallmeter.experiments.sweeping import reuse

SECRET = "SEKRET-91/x"

LEAKY = """
import os, sys
SECRET = "SEKRET-91/x"

class P:
    def __init__(self, where, api_key=None):
        self.where = where
        if where == "init": raise RuntimeError("no luck with " + SECRET)
    def index(self, observations):
        print("printed", SECRET); print("printed", SECRET, file=sys.stderr)
        self.o = list(observations)
        if self.where == "index": raise ConnectionError("https://user:" + SECRET + "@host/?api_key=" + SECRET)
    def search(self, query, k, *, scope="", asked_at=None):
        if self.where == "search": raise RuntimeError(SECRET)
        if self.where == "id": return [(SECRET, 1.0)]
        return [(self.o[0].id, 1.0)]
    def report(self):
        return {"said": SECRET}
"""

PROGRAM = "import sys, os; print(os.environ['MY_KEY'], file=sys.stderr, flush=True); sys.exit(3)"


class Echo(BaseHTTPRequestHandler):
    """Answers with whatever it was sent, as a debug page does."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        data = f"no: {self.headers.get('Authorization')} {self.path}".encode()
        self.send_response(400)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, value in {"TOK": f"{SECRET}\n", "OPENAI_API_KEY": SECRET, "RECALLMETER_CACHE": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)
    for name in ("_known", "_named"):
        monkeypatch.setattr(secrets, name, type(getattr(secrets, name))())
    monkeypatch.setattr(reuse, "WORKER", reuse.Worker())
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "observations.jsonl").write_text(json.dumps(OBSERVATION) + "\n")
    (tmp_path / "d" / "queries.jsonl").write_text('{"id": "q1", "text": "car", "relevant": {"a": 1}}\n')
    (tmp_path / "leaky.py").write_text(LEAKY)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


OBSERVATION = {"id": "a", "session_id": "s", "timestamp": "2026-01-01T10:00:00Z", "type": "note", "title": "car"}
DATA = ["dataset=jsonl", "dataset.path=d", "protocol.repeats=1", "measures=[mrr]"]
PLUGIN = ["system=[bm25]", "+systems.p._target_=leaky.P", "+systems.p.api_key=${oc.env:TOK}"]
HTTP = ["system=[bm25,http]", "systems.http.index_url='{server}/i?api_key=SEKRET-91%2Fx'", "systems.http.search_url={server}/s"]
DOORS = {
    "an exception of init": [*PLUGIN, "+systems.p.where=init"],
    "an exception of index": [*PLUGIN, "+systems.p.where=index"],
    "an exception of search": [*PLUGIN, "+systems.p.where=search"],
    "an id": [*PLUGIN, "+systems.p.where=id"],
    "a report": [*PLUGIN, "+systems.p.where=nowhere"],
    "a literal key": [*PLUGIN[:2], f"+systems.p.api_key='{SECRET}'", "+systems.p.where=search"],
    "a program's last words": [
        "system=[bm25,process]",
        f'systems.process.command="{sys.executable} program.py"',
        "+systems.process.env.MY_KEY=${oc.env:TOK}",
    ],
    "a server that quotes headers": [*HTTP, "+systems.http.headers_env={{Authorization: TOK}}"],
    "a server that quotes a literal header": [*HTTP, f"+systems.http.headers={{{{Authorization: 'Bearer {SECRET}'}}}}"],
    "a provider's key": [
        "system=vector",
        "embedder=openai",
        "embedder.encoder.base_url={server}/v1",
        "embedder.encoder.transport.retries=0",
    ],
}


def found(here: Path, printed: str) -> list[str]:
    """Return where a secret stands, in any writing."""
    writings = [SECRET, "SEKRET-91%2Fx", "SEKRET-91\\/x", b64encode(SECRET.encode()).decode().rstrip("=")]
    texts = {"printed": printed}
    texts |= {str(p.relative_to(here)): p.read_bytes().decode("utf-8", "replace") for p in here.rglob("*") if p.is_file()}
    given = ("leaky.py", "__pycache__")
    return [name for name, text in texts.items() if any(w in text for w in writings) and not any(part in name for part in given)]


@pytest.mark.parametrize("door", DOORS)
def test_a_run_shows_and_stores_no_secret(door: str, here: Path, server: str, capfd: pytest.CaptureFixture[str]) -> None:
    overrides = [o.replace("{server}", server).replace("{{", "{").replace("}}", "}") for o in DOORS[door]]
    code = main(["--debug", "run", *DATA, *overrides, "hydra.run.dir=out"])
    printed = "".join(capfd.readouterr())
    assert code == {"a report": 0}.get(door, 4), printed
    assert "***" in printed + "".join(p.read_text() for p in here.rglob("out/**/*.*") if p.is_file())
    assert found(here, printed) == []


def test_a_sweep_and_a_report_store_no_secret(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    overrides = [*PLUGIN, "+systems.p.where=search,index", f"+systems.p.url='https://h/?token={SECRET}'"]
    assert main(["sweep", *DATA, *overrides, "name=w"]) == 4
    assert main(["run", *DATA, "measures=[recall@10]", *PLUGIN, "+systems.p.where=search", "hydra.run.dir=out"]) == 4
    assert main(["report", "out", "-o", "r.md", "--html", "x.html"]) == 0
    assert main(["baseline", "out", "-o", "b.json"]) == 2
    assert found(here, "".join(capfd.readouterr())) == []


def test_what_a_variable_holds_is_hidden_however_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", ' a"b<c>é/ \n')
    name_secret("MINE")
    for writing in ('a"b<c>é/', 'a\\"b<c>\\u00e9/', "a&quot;b&lt;c&gt;é/", "a%22b%3Cc%3E%C3%A9%2F"):
        assert redacted(f"[{writing}]") == "[***]", writing
    monkeypatch.setenv("MINE", "")
    assert redacted("nothing") == "nothing"


def test_what_is_no_secret_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", "/home/me/project-1")
    assert redacted_message("/home/me/project-1/d: no such file") == "/home/me/project-1/d: no such file"
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    monkeypatch.setenv("KEYBOARD", "de-latin1-nodeadkeys")
    learn_secrets({"tokens_at": 10, "tokens_counter": "chars4", "key": "recall", "name": "run", "session_key_env": None})
    text = json.dumps({"tokens_counter": "chars4", "key": "recall", "layout": "de-latin1-nodeadkeys", "x": "false"})
    assert redacted_message(text) == text


def test_urls_in_messages_lose_what_they_carry_and_data_keeps_it() -> None:
    text = "GET https://me:pw@h.org/a?x=1&api_key=abc&sig=d failed"
    assert redacted_message(text) == "GET https://***@h.org/a?x=1&api_key=***&sig=*** failed"
    assert redacted(text) == text
