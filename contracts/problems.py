"""The one error body: RFC 9457 problem details with what an agent branches on."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field

from contracts.base import Document
from contracts.errors import RequestProblem

PROBLEM_MEDIA_TYPE = "application/problem+json"


class ProblemError(Document):
    """One part of a request that can't be used."""

    pointer: str = Field(description="JSON pointer into the body, or `/query/<name>`, `/path/<name>`, `/header/<name>`")
    detail: str


class Problem(Document):
    """Why a request was not served."""

    ok: Literal[False] = False
    type: str = Field(description="Identifies the kind of problem; one URN for each `code`")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    instance: str = Field(description="The path that was asked for")
    code: str = Field(description="Stable, for programs")
    retryable: bool = Field(description="Whether the same request may succeed later")
    request_id: str
    errors: list[ProblemError]


def problem_body(problem: RequestProblem, instance: str, request_id: str) -> bytes:
    """The body of `problem` as it is sent."""
    return json.dumps(
        {
            "ok": False,
            "type": f"urn:svc:problem:{problem.code}",
            "title": problem.title,
            "status": problem.status,
            "detail": problem.detail,
            "instance": instance,
            "code": problem.code,
            "retryable": problem.retryable,
            "requestId": request_id,
            "errors": [{"pointer": pointer, "detail": detail} for pointer, detail in problem.errors],
        },
        separators=(",", ":"),
        ensure_ascii=False,
    ).encode()
