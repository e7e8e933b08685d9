"""Derives each capability's status from the probes: from documents and answers to findings. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from contracts.base import Quality
from contracts.discovery.capabilities import CapabilityState, Status, Way
from contracts.discovery.registry import NOT_ANSWERING, SETTINGS, Finding, is_set_by_settings

NO_DATA = "no_data"
DEGRADED = "degraded"
TOO_MANY_REQUESTS = 429

Verdict = tuple[Status, str | None]
Request = tuple[str, str]
"""Method and path."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The service's answers at its public address.

    `silent` is the reason why it could not be probed (`not_answering`, `not_ready`, `another_service`). `health` is the
    body of `/health`. `statuses` contains a status by method and path, or None if there was no answer.
    """

    silent: str | None = None
    health: Mapping[str, Any] = field(default_factory=dict)
    statuses: Mapping[Request, int | None] = field(default_factory=dict)


def requests_needed(states: Mapping[str, CapabilityState]) -> list[Request]:
    """Returns the requests to send in addition to `/health`, each once."""
    requests = [
        (state.capability.judged.what[0], state.capability.judged.what[1])
        for state in states.values()
        if state.live and state.capability.judged.way == "asked"
    ]
    return list(dict.fromkeys(request for request in requests if request != ("GET", "/health")))


def documents_needed(states: Mapping[str, CapabilityState]) -> list[str]:
    """Returns the paths of the documents to read, each once."""
    paths = (
        state.capability.judged.what[0]
        for state in states.values()
        if state.live and state.capability.judged.way == "document"
    )
    return list(dict.fromkeys(paths))


def judged_by_answers(states: Mapping[str, CapabilityState]) -> list[str]:
    """Returns the capabilities that only the service's answers can judge."""
    return [
        id_
        for id_, state in states.items()
        if not is_set_by_settings(state) and state.capability.judged.way != "document"
    ]


def judge(
    states: Mapping[str, CapabilityState],
    documents: Mapping[str, Mapping[str, Any]],
    answers: Answers | None,
    now: datetime,
) -> dict[str, Finding]:
    """Returns findings by capability; there are none without `answers`, or if a rate limit refused the request."""
    return {finding.capability: finding for finding in _judge(states, documents, answers, now)}


def _judge(
    states: Mapping[str, CapabilityState],
    documents: Mapping[str, Mapping[str, Any]],
    answers: Answers | None,
    now: datetime,
) -> Iterator[Finding]:
    for id_, state in states.items():
        way, what = state.capability.judged.way, state.capability.judged.what
        if is_set_by_settings(state):
            yield Finding(id_, state.status, state.reason, "settings", SETTINGS, now)
        elif way == "document":
            yield Finding(id_, *_of_document(documents[what[0]], what[1]), "warehouse", what[0], now)
        elif answers is not None:
            verdict = _of_answers(answers, way, what)
            if verdict is not None:
                yield Finding(id_, *verdict, "http", _request_of(way, what), now)


def _request_of(way: Way, what: tuple[Any, ...]) -> str:
    if way == "health":
        return f"GET /health: {', '.join(name for name, _ in what)}"
    return f"{what[0]} {what[1]}"


def _of_document(fields: Mapping[str, Any], needed: str | None) -> Verdict:
    """Judges a document: live unless its number is unavailable, or, without a freshness block, if the field exists."""
    if needed is not None:
        return (Status.LIVE, None) if fields.get(needed) else (Status.OFF, NO_DATA)
    if fields["quality"] == Quality.UNAVAILABLE:
        return Status.OFF, fields["reason"] or NO_DATA
    return Status.LIVE, fields["reason"]


def _of_answers(answers: Answers, way: Way, what: tuple[Any, ...]) -> Verdict | None:
    if answers.silent is not None:
        return Status.OFF, answers.silent
    if way == "health":
        as_expected = all(answers.health.get(name) == value for name, value in what)
        return (Status.LIVE, None) if as_expected else (Status.OFF, DEGRADED)
    method, path, expected = what
    if (method, path) == ("GET", "/health"):
        return Status.LIVE, None
    status = answers.statuses.get((method, path))
    if status == TOO_MANY_REQUESTS:
        return None
    if status is None:
        return Status.OFF, NOT_ANSWERING
    return (Status.LIVE, None) if status == expected else (Status.OFF, f"http_{status}")
