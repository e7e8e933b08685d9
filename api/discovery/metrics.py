"""Renders the facts of `/health` as OpenMetrics text, with counts that only operators see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from contracts.discovery.health import ServiceFacts
from warehouse.discovery.processes import Answered, ProcessFigures

MEDIA_TYPE = CONTENT_TYPE_LATEST


def openmetrics(
    facts: ServiceFacts,
    claims: Mapping[str, int],
    answered: Mapping[str, Answered],
    parts: Iterable[ProcessFigures],
) -> bytes:
    """Returns the text. `claims` counts claims by state; `answered` has each worker's answer counts by its pid; `parts`
    are the processes of the service on this machine."""
    families = _Families([*_families(facts, claims, answered), *_processes(list(parts))])
    text: bytes = generate_latest(families)  # type: ignore[no-untyped-call]
    return text


class _Families(Collector):
    """The finished families of one answer, in the form that the library writes."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _families(facts: ServiceFacts, claims: Mapping[str, int], answered: Mapping[str, Answered]) -> Iterator[Metric]:
    info = InfoMetricFamily("svc_generation", "The served generation")
    info.add_metric((), {"id": facts.generation})
    yield info
    yield _gauge("svc_up", "1 if nothing is known that needs an operator's attention", [((), facts.is_fine)])
    yield _gauge("svc_generation_age_seconds", "Age of the served generation", [((), facts.age_s)])

    documents = sorted(facts.documents.items())
    yield _gauge(
        "svc_document_age_seconds",
        "Seconds since the inputs of a published document last changed",
        [((path,), age_s) for path, (age_s, _) in documents],
        ["document"],
    )
    yield _gauge(
        "svc_document_stale",
        "1 if a published document is overdue or marked stale",
        [((path,), stale) for path, (_, stale) in documents],
        ["document"],
    )

    yield _counter("svc_job_runs", "Finished runs of a job", [((job.name,), job.runs) for job in facts.jobs], ["job"])
    yield _counter(
        "svc_job_failures", "Failed runs of a job", [((job.name,), job.failures) for job in facts.jobs], ["job"]
    )
    yield _gauge(
        "svc_job_consecutive_failures",
        "Failed runs of a job since its last success",
        [((job.name,), job.consecutive_failures) for job in facts.jobs],
        ["job"],
    )
    yield _gauge(
        "svc_job_last_run_seconds",
        "Duration of the newest run of a job",
        [((job.name,), job.last_seconds) for job in facts.jobs],
        ["job"],
    )
    yield _gauge(
        "svc_job_last_success_timestamp_seconds",
        "When the newest successful run of a job ended",
        [((job.name,), job.last_success_at.timestamp()) for job in facts.jobs if job.last_success_at],
        ["job"],
    )

    yield _gauge(
        "svc_check_passed",
        "1 if the checks of a table passed",
        [((table,), passed) for table, passed in sorted(facts.checks.items())],
        ["table"],
    )
    yield _gauge(
        "svc_rpc_node_answering",
        "1 if an RPC node answered the last request; nodes are numbered as in SVC_RPC_URLS",
        [((str(number),), answering) for number, answering in enumerate(facts.nodes_answering)],
        ["node"],
    )
    yield _gauge("svc_ledger_reachable", "1 if the ledger can be read", [((), facts.ledger_reachable)])
    yield _gauge(
        "svc_guardrail_usable", "1 if the guardrail's rules are valid", [((), facts.guardrail_problem is None)]
    )
    if facts.clock_skew_s is not None:
        yield _gauge(
            "svc_clock_skew_seconds",
            "Seconds by which our clock is ahead of the chain's newest block",
            [((), facts.clock_skew_s)],
        )
    yield _gauge("svc_claims", "Claims by state", [((state,), count) for state, count in claims.items()], ["state"])
    yield _counter(
        "svc_answers",
        "Answers of each API process",
        [
            ((process, by, str(status)), count)
            for process, counts in sorted(answered.items())
            for (by, status), count in sorted(counts.items())
        ],
        ["process", "by", "status"],
    )


def _processes(parts: Sequence[ProcessFigures]) -> Iterator[Metric]:
    labels = ["part"]
    yield _counter(
        "svc_process_cpu_seconds",
        "CPU time of a part of the service, including its child processes",
        [((part.name,), part.cpu_s) for part in parts],
        labels,
    )
    yield _gauge(
        "svc_process_resident_bytes",
        "Resident memory of a part of the service",
        [((part.name,), part.resident_bytes) for part in parts],
        labels,
    )
    yield _gauge(
        "svc_process_start_time_seconds",
        "When a part of the service started",
        [((part.name,), part.started_at) for part in parts],
        labels,
    )


Samples = Iterable[tuple[tuple[str, ...], float | bool]]


def _gauge(name: str, text: str, samples: Samples, labels: Iterable[str] = ()) -> Metric:
    return _filled(GaugeMetricFamily(name, text, labels=tuple(labels)), samples)


def _counter(name: str, text: str, samples: Samples, labels: Iterable[str] = ()) -> Metric:
    return _filled(CounterMetricFamily(name, text, labels=tuple(labels)), samples)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, samples: Samples) -> Metric:
    for labels, value in samples:
        family.add_metric(labels, float(value))
    return family
