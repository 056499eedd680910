"""Where the time of a search went."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from recallmeter.retrieval import telemetry
from recallmeter.retrieval.telemetry import slow_part
from recallmeter.retrieval.trace import Trace


class TestSlowPart:
    def test_the_part_that_took_longest_by_itself_is_to_blame(self) -> None:
        assert slow_part({"total.vector.embed": 540.0, "total.vector": 560.0, "total.bm25": 30.0, "total": 612.0}) == (
            "vector.embed",
            540.0,
        )

    def test_time_between_the_parts_is_the_whole_searchs_own(self) -> None:
        assert slow_part({"total.bm25": 30.0, "total": 612.0}) == ("total", 582.0)

    def test_half_a_second_is_not_yet_slow(self) -> None:
        assert slow_part({"total": 500.0}) is None
        assert slow_part({"total": 500.1}) == ("total", 500.1)

    def test_a_search_without_spans_is_not_slow(self) -> None:
        assert slow_part({}) is None


def search(trace: Trace) -> None:
    with trace.span("total"):
        with trace.span("vector"):
            trace.replay("embed", 25.0)
        with trace.span("fusion"):
            pass


class TestOpenTelemetry:
    @pytest.fixture
    def exported(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
        pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel")
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
        yield exporter
        provider.shutdown()

    def test_each_part_of_a_search_is_a_span_inside_the_whole(self, exported) -> None:
        search(Trace())
        spans = {span.name: span for span in exported.get_finished_spans()}
        assert list(spans) == [
            "recallmeter.total.vector.embed",
            "recallmeter.total.vector",
            "recallmeter.total.fusion",
            "recallmeter.total",
        ]
        whole = spans["recallmeter.total"]
        assert whole.parent is None
        assert spans["recallmeter.total.vector"].parent.span_id == whole.context.span_id
        assert spans["recallmeter.total.vector.embed"].parent.span_id == spans["recallmeter.total.vector"].context.span_id

    def test_work_replayed_from_a_cache_has_the_time_it_takes_and_says_so(self, exported) -> None:
        search(Trace())
        span = next(span for span in exported.get_finished_spans() if span.name.endswith("embed"))
        assert span.end_time - span.start_time == 25_000_000
        assert span.attributes == {"recallmeter.replayed": True}

    def test_an_error_ends_the_span(self, exported) -> None:
        trace = Trace()
        with pytest.raises(ZeroDivisionError), trace.span("total"):
            _ = 1 / 0
        assert not exported.get_finished_spans()[0].status.is_ok

    def test_nobody_listening_costs_no_span(self) -> None:
        pytest.importorskip("opentelemetry", reason="needs the OpenTelemetry API")
        assert telemetry._tracer() is None

    def test_without_the_api_searches_are_timed_all_the_same(self) -> None:
        program = (
            "import sys; sys.modules['opentelemetry'] = None\n"
            "from recallmeter.retrieval.trace import Trace\n"
            "trace = Trace()\n"
            "with trace.span('total'): trace.replay('embed', 5.0)\n"
            "print(sorted(trace.spans))\n"
            "from recallmeter.retrieval.telemetry import export_spans\n"
            "try: export_spans()\n"
            "except ValueError as error: print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == [
            "['total', 'total.embed']",
            "trace: OpenTelemetry's SDK is not installed; pip install 'recallmeter[otel]'",
        ]
