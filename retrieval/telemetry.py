"""Where the time of a search went: as OpenTelemetry spans for whoever collects them, and as the part that was slow.

Spans go to the OpenTelemetry API whenever it is installed and the host program has set a tracer provider; without either
they cost nothing. A command-line run sets one with `export_spans`, which needs the extra ``otel``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from time import time_ns
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from ..datasets.errors import InputError

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer, TracerProvider

SLOW_MS = 500.0
"""A search that takes longer is flagged."""


class SlowPart(NamedTuple):
    """The part of a slow search that took longest by itself, and its milliseconds."""

    name: str
    milliseconds: float


def slow_part(spans: Mapping[str, float], limit: float = SLOW_MS) -> SlowPart | None:
    """Return which part to blame when the whole search took over `limit` milliseconds, else None.

    A part's own time is that of its span without the spans inside it.
    """
    if spans.get("total", 0.0) <= limit:
        return None
    own = dict(spans)
    for name, milliseconds in spans.items():
        outer = name.rpartition(".")[0]
        if outer in own:
            own[outer] -= milliseconds
    name = max(own, key=lambda part: own[part])
    return SlowPart(name.removeprefix("total."), own[name])


def span(name: str) -> AbstractContextManager[object]:
    """Open an OpenTelemetry span around what happens inside; do nothing where nobody listens."""
    tracer = _tracer()
    return nullcontext() if tracer is None else tracer.start_as_current_span(f"recallmeter.{name}")


def replayed(name: str, milliseconds: float) -> None:
    """Record work that has just been done, or came from a cache in place of it, as a span of the time that it takes."""
    tracer = _tracer()
    if tracer is not None:
        end = time_ns()
        begin = end - round(milliseconds * 1e6)
        tracer.start_span(f"recallmeter.{name}", start_time=begin, attributes={"recallmeter.replayed": True}).end(end)


def export_spans() -> None:
    """Send the spans of this process over OTLP, to where the standard ``OTEL_*`` variables say.

    Raises:
        InputError: the extra is not installed.
    """
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InputError("OpenTelemetry's SDK is not installed", where="trace", remedy="pip install 'recallmeter[otel]'") from error
    provider = TracerProvider(resource=Resource.create({"service.name": "recallmeter"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


@cache
def _api() -> ModuleType | None:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace


def _tracer() -> Tracer | None:
    api = _api()
    if api is None:
        return None
    provider = api.get_tracer_provider()
    return None if isinstance(provider, api.ProxyTracerProvider) else _tracer_of(provider)


@lru_cache(maxsize=1)
def _tracer_of(provider: TracerProvider) -> Tracer:
    return provider.get_tracer("recallmeter")
