"""Sends spans and metrics of this process to an OpenTelemetry collector, if `SVC_OTLP_URL` names one.

A span names a route, a job, a step or a host, and never a path, an address or a text: those may contain a key or name a
person. Without the setting nothing of OpenTelemetry is imported.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Protocol

from contracts.discovery.service import SERVICE_VERSION
from contracts.logs import log_fields
from contracts.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

Part = Literal["api", "worker", "follower", "publisher"]
"""A kind of process. The collector receives it as the service `svc-<part>`."""

Attribute = str | int | float | bool

Counts = Mapping[tuple[tuple[str, Attribute], ...], int]
"""The counts of a process since its start, by attributes."""

EXPORT_TIMEOUT_S = 3.0
"""An unreachable collector must not delay the end of a process."""

FIGURES = {
    "process.cpu.time": ["user", "system"],
    "process.memory.usage": None,
    "process.open_file_descriptor.count": None,
    "process.thread.count": None,
}
"""The metrics of each process, named by OpenTelemetry's conventions."""


class Span(Protocol):
    """The subset of an open span's interface that callers use."""

    def update_name(self, name: str) -> None: ...

    def set_attribute(self, key: str, value: Attribute) -> None: ...


class _NoSpan:
    def update_name(self, name: str) -> None: ...

    def set_attribute(self, key: str, value: Attribute) -> None: ...


_NO_SPAN = _NoSpan()

_tracer: "Tracer | None" = None


@contextmanager
def span(
    name: str,
    kind: Literal["internal", "server", "client"] = "internal",
    *,
    attributes: Mapping[str, Attribute] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """Opens a span around the block and adds its trace id to the block's log lines. Does nothing without a collector.

    `headers`: fields of a request; its sender's span (W3C `traceparent`) becomes the parent.
    """
    if _tracer is None:
        yield _NO_SPAN
        return
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    parent = None if headers is None else TraceContextTextMapPropagator().extract(dict(headers))
    opened = _tracer.start_as_current_span(
        name,
        parent,
        SpanKind[kind.upper()],
        attributes,
        record_exception=False,
        set_status_on_exception=False,
    )
    with opened as current, log_fields(trace_id=f"{current.get_span_context().trace_id:032x}"):
        try:
            yield current
        except BaseException as error:
            # Its text may contain an address, so only the class is sent.
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(StatusCode.ERROR)
            raise


def trace_process(
    settings: Settings, part: Part, counts: Mapping[str, Callable[[], Counts]] | None = None
) -> Callable[[], None]:
    """Starts sending the spans and metrics of this process, if a collector is set. Returns the function that ends it.

    `counts`: counters of the process by name, such as `svc.answers`; each is read once a minute.
    """
    if settings.otlp_url is None:
        return lambda: None
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.system_metrics import SystemMetricsInstrumentor
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    end_spans = trace_to(
        OTLPSpanExporter(f"{settings.otlp_url}/v1/traces", timeout=EXPORT_TIMEOUT_S), part, settings.host_named
    )
    exporter = OTLPMetricExporter(f"{settings.otlp_url}/v1/metrics", timeout=EXPORT_TIMEOUT_S)
    meters = MeterProvider([PeriodicExportingMetricReader(exporter)], _resource(part, settings.host_named))
    figures = SystemMetricsInstrumentor(config=FIGURES)
    figures.instrument(meter_provider=meters)
    for name, read in (counts or {}).items():

        def observe(_: CallbackOptions, read: Callable[[], Counts] = read) -> list[Observation]:
            return [Observation(count, dict(attributes)) for attributes, count in read().items()]

        meters.get_meter("svc").create_observable_counter(name, [observe])

    def end() -> None:
        end_spans()
        meters.shutdown()
        figures.uninstrument()

    return end


def trace_to(exporter: "SpanExporter", part: Part, host: str) -> Callable[[], None]:
    """Sends the spans of this process to `exporter`. Returns the function that flushes pending spans and stops."""
    global _tracer
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=_resource(part, host))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    _tracer = provider.get_tracer("svc")

    def end() -> None:
        global _tracer
        _tracer = None
        provider.shutdown()

    return end


def _resource(part: Part, host: str) -> "Resource":
    from opentelemetry.sdk.resources import Resource

    return Resource.create(
        {
            "service.name": f"svc-{part}",
            "service.version": SERVICE_VERSION,
            "service.instance.id": f"{host}:{os.getpid()}",
            "host.name": host,
            "process.pid": os.getpid(),
        }
    )
