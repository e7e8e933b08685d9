"""An OpenTelemetry collector: an HTTP server that decodes requests with the protocol's own messages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue


class CollectedSpan(NamedTuple):
    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, object]


class Collector:
    """What has arrived. `url` is the setting for its senders."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.spans: list[CollectedSpan] = []
        self.metrics: dict[str, set[str]] = {}
        """Names of metrics by service."""

    def named(self, name: str) -> CollectedSpan:
        (span,) = [span for span in self.spans if span.name == name]
        return span

    def take_spans(self, body: bytes) -> None:
        for part in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = str(_attributes(part.resource.attributes)["service.name"])
            self.spans += [
                CollectedSpan(
                    service,
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    _attributes(span.attributes),
                )
                for scope in part.scope_spans
                for span in scope.spans
            ]

    def take_metrics(self, body: bytes) -> None:
        for part in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            service = str(_attributes(part.resource.attributes)["service.name"])
            names = {metric.name for scope in part.scope_metrics for metric in scope.metrics}
            self.metrics.setdefault(service, set()).update(names)


def _attributes(pairs: "list[KeyValue]") -> dict[str, object]:
    return {pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in pairs}


@contextmanager
def collector() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            (made.take_spans if self.path == "/v1/traces" else made.take_metrics)(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Collector(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
