"""What was computed is computed again when anything that shaped it has changed, and never otherwise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from recallmeter.evaluation.sweeps.points import newest, read_points
from recallmeter.experiments.cli import main
from recallmeter.experiments.sweeping import reuse
from recallmeter.retrieval.arms.stored import CandidateStore
from recallmeter.retrieval.cache import Cache

OBSERVATIONS = [
    {"id": "a", "session_id": "s1", "timestamp": "2026-01-01T10:00:00Z", "type": "note", "title": "automobile service due"},
    {"id": "b", "session_id": "s1", "timestamp": "2026-01-02T10:00:00Z", "type": "note", "title": "bicycle repaired"},
]
DATA = ["dataset=jsonl", "dataset.path=d", "measures=[recall@1,mrr]", "k=5"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # before the folders of other tests, whose modules may be called the same
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "observations.jsonl").write_text("".join(json.dumps(o) + "\n" for o in OBSERVATIONS))
    (tmp_path / "d" / "queries.jsonl").write_text('{"id": "q1", "text": "car", "relevant": {"a": 1}}\n')
    return tmp_path


@pytest.fixture
def swept(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, float]]:
    """Sweep as a process of its own would; return what it says and the newest point's recall."""

    def sweep(*overrides: str) -> tuple[str, float]:
        monkeypatch.setattr(reuse, "WORKER", reuse.Worker(CandidateStore(Cache("candidates", here / "cache"))))
        for name in ("plugmod", "inner"):
            sys.modules.pop(name, None)
        capsys.readouterr()
        assert main(["sweep", *DATA, *overrides, "name=w"]) == 0
        point = max(newest(read_points([here / "multirun" / "w"])), key=lambda p: (here / "multirun" / "w" / p.folder).stat().st_mtime_ns)
        return capsys.readouterr().out, point.mean(point.systems[0], "recall@1")

    return sweep


def test_corrected_synonyms_are_read_again(here: Path, swept: Callable[..., tuple[str, float]]) -> None:
    line = ["system=bm25", "systems.bm25.arms.bm25.synonyms=syn.yaml"]
    (here / "syn.yaml").write_text("- [car, bicycle]\n")
    assert swept(*line)[1] == 0
    assert "0 ran, 1 reused" in swept(*line)[0]
    (here / "syn.yaml").write_text("- [car, automobile]\n")
    told, recall = swept(*line)
    assert "1 ran, 0 reused" in told
    assert recall == 1
    (here / "syn.yaml").write_text("- [car, bicycle]\n")  # as it was: that point stands
    assert "0 ran, 1 reused" in swept(*line)[0]


PLUGIN = """
from inner import ANSWER

class P:
    def __init__(self, size=1): pass
    def index(self, observations): pass
    def search(self, query, k, *, scope="", asked_at=None): return [(ANSWER, 1.0)]
"""


def test_an_edited_plug_in_is_run_again(here: Path, swept: Callable[..., tuple[str, float]]) -> None:
    line = ["system=[]", "+systems.p._target_=plugmod.P"]
    (here / "plugmod.py").write_text(PLUGIN)
    (here / "inner.py").write_text('ANSWER = "b"\n')
    assert swept(*line)[1] == 0
    assert "0 ran, 1 reused" in swept(*line)[0]
    (here / "inner.py").write_text('ANSWER = "a"  # corrected\n')
    told, recall = swept(*line)
    assert "1 ran, 0 reused" in told
    assert recall == 1
    (here / "plugmod.py").write_text(PLUGIN.replace("ANSWER, 1.0", '"b", 1.0'))
    assert swept(*line)[1] == 0


PROGRAM = """
import json, sys
from answer import ANSWER
for line in sys.stdin:
    m = json.loads(line)
    if m["op"] == "close": break
    print(json.dumps({"n": m["n"]} | ({"hits": [{"id": HIT[ANSWER], "score": 1}]} if m["op"] == "search" else {})), flush=True)
    if m["op"] == "index": HIT = {o["text"][:1]: o["id"] for o in m["observations"]}
"""


def test_an_edited_program_is_run_again(here: Path, swept: Callable[..., tuple[str, float]]) -> None:
    line = ["system=process", f'systems.process.command="{sys.executable} memory.py"']
    (here / "memory.py").write_text(PROGRAM)
    (here / "answer.py").write_text('ANSWER = "b"\n')
    assert swept(*line)[1] == 0
    assert "0 ran, 1 reused" in swept(*line)[0]
    (here / "answer.py").write_text('ANSWER = "a"  # corrected\n')
    assert swept(*line)[1] == 1


def test_a_packaged_file_counts_as_code(here: Path, swept: Callable[..., tuple[str, float]], monkeypatch: pytest.MonkeyPatch) -> None:
    from recallmeter.retrieval import identity

    assert "1 ran" in swept("system=bm25")[0]
    monkeypatch.setattr(identity, "code_version", lambda: "other synonyms")
    assert "1 ran" in swept("system=bm25")[0]


class Server(BaseHTTPRequestHandler):
    answer = "b"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/i":
            type(self).ids = {o["text"][:1]: o["id"] for o in body["observations"]}
            told = {}
        else:
            told = {"hits": [{"id": self.ids[self.answer], "score": 1}]}
        data = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def test_a_server_is_asked_every_time_unless_its_version_is_given(
    swept: Callable[..., tuple[str, float]], server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["system=http", f"systems.http.index_url={server}/i", f"systems.http.search_url={server}/s"]
    told, recall = swept(*line)
    assert recall == 0
    assert "measured every time: systems.http: what is behind it may change; give it `version: …`" in told
    monkeypatch.setattr(Server, "answer", "a")
    told, recall = swept(*line)
    assert "1 ran, 0 reused" in told
    assert recall == 1
    told, recall = swept(*line, "+systems.http.version=may")
    assert "measured every time" not in told
    monkeypatch.setattr(Server, "answer", "b")
    assert "0 ran, 1 reused" in swept(*line, "+systems.http.version=may")[0]
    assert swept(*line, "+systems.http.version=june")[1] == 0


def test_what_the_environment_sets_counts_by_its_value(
    here: Path, swept: Callable[..., tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["system=bm25", "systems.bm25.arms.bm25.synonyms=${oc.env:WORDS}"]
    (here / "one.yaml").write_text("- [car, bicycle]\n")
    (here / "two.yaml").write_text("- [car, automobile]\n")
    monkeypatch.setenv("WORDS", "one.yaml")
    assert swept(*line)[1] == 0
    monkeypatch.setenv("WORDS", "two.yaml")
    assert swept(*line)[1] == 1
    monkeypatch.setenv("WORDS", "one.yaml")
    assert "0 ran, 1 reused" in swept(*line)[0]
