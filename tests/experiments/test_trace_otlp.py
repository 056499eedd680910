"""Spans of a run reach an OpenTelemetry collector."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A server that takes OTLP over HTTP: its address, and the bodies that were sent to it."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.integration
def test_a_run_sends_a_span_for_each_part_of_each_search(collector: tuple[str, list[bytes]], tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs the extra otel")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    address, bodies = collector
    command = "import sys; from recallmeter.experiments.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["run", "system=bm25", "trace=otlp", "protocol.repeats=1", "protocol.warm_up=0", "hydra.run.dir=out"]
    environment = os.environ | {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    subprocess.run([sys.executable, "-c", command, *arguments], cwd=tmp_path, env=environment, check=True, capture_output=True)
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies]
    names = [span.name for r in requests for resource in r.resource_spans for scope in resource.scope_spans for span in scope.spans]
    queries = len((tmp_path / "out" / "queries.jsonl").read_text().splitlines())
    assert names.count("recallmeter.total") == names.count("recallmeter.total.bm25") == queries
