"""Renders the error body: RFC 9457 problem details with the fields by which an agent branches."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field

from contracts.access.api_keys import redact_keys
from contracts.base import Document
from contracts.errors import RequestProblem
from contracts.publish.routes import BLINK_PREFIX

PROBLEM_MEDIA_TYPE = "application/problem+json"

MOST_ERRORS = 20
"""Maximum number of errors in one answer. A request may have thousands of unusable parts."""

LONGEST_POINTER = 300

QUOTA_TYPE = "https://iana.org/assignments/http-problem-types#quota-exceeded"
"""The registered type of a refusal by a RateLimit policy. It comes with `violated-policies`."""


class ProblemError(Document):
    """One unusable part of a request."""

    pointer: str = Field(description="JSON pointer into the body, or `/query/<name>`, `/path/<name>`, `/header/<name>`")
    detail: str


class Problem(Document):
    """The reason for refusing a request."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    ok: Literal[False]
    type: str = Field(description="Identifies the kind of problem: a registered type, or one URN for each `code`")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    instance: str = Field(description="The requested path")
    code: str = Field(description="Stable, for programs")
    retryable: bool = Field(description="Whether the same request may succeed later")
    request_id: str
    errors: list[ProblemError] = Field(
        max_length=MOST_ERRORS,
        description=f"The first {MOST_ERRORS} at most; `detail` gives the number of further ones",
    )
    violated_policies: list[str] = Field(
        default=[],
        alias="violated-policies",
        description="With 429 only: names of the RateLimit policies that refuse the request",
    )
    claim_id: str = Field(default="", description="With `claim_exists` only: the claim that redeemed the quote")
    case_id: str = Field(
        default="",
        description="With a claim's refusal only: the case of the sent money, which no claim uses",
    )
    sent_units: str = Field(default="", description="With `amount_mismatch` only: what was sent, in smallest units")
    sent: str = Field(default="", description="The same in whole coins, decimal")
    asked_units: str = Field(
        default="", description="With `amount_mismatch` only: the amount of the quote, in smallest units"
    )
    asked: str = Field(default="", description="The same in whole coins, decimal")
    nearest: dict[str, str] = Field(
        default={},
        description="With a refused block or day only: the nearest available `block` and `date` (UTC)",
    )
    links: dict[str, str] = Field(
        default={},
        description="Where to continue, by relation, the nearest step first; a GET can follow each. `plans` and "
        "`quote` buy a key, `trial` explains how a wallet gets one for its signature, `docs` explains the requested "
        "operation, `case` is about money that was sent, `account` about the key, `challenge` returns the challenge "
        "to sign",
    )
    retry_after: int = Field(default=0, ge=0, description="With a Retry-After field only: the same, in seconds")
    message: str = Field(default="", description="Under `/blink/` only: the detail, where wallets look for it")
    proof: dict[str, Any] = Field(
        default={}, description="With `payer_proof_required` only: the EIP-712 typed data that the payer must sign"
    )
    next: dict[str, Any] = Field(
        default={},
        description="With `payer_proof_required` only: the same request again, as `quote` or `claim`, with the place "
        "for the signature",
    )


def problem_body(problem: RequestProblem, instance: str, request_id: str, links: Mapping[str, str]) -> bytes:
    """Returns the body of `problem`. Redacts API keys that the request contained by mistake.

    `links` contains all of its links, including its own.
    """
    more = len(problem.errors) - MOST_ERRORS
    detail = f"{problem.detail} ({more:,} more errors are not listed.)" if more > 0 else problem.detail
    quota = {"violated-policies": problem.violated_policies} if problem.violated_policies else {}
    body = json.dumps(
        {
            "ok": False,
            "type": QUOTA_TYPE if quota else f"urn:svc:problem:{problem.code}",
            "title": problem.title,
            "status": problem.status,
            "detail": detail,
            "instance": instance,
            "code": problem.code,
            "retryable": problem.retryable,
            "requestId": request_id,
            "errors": [
                {"pointer": pointer[:LONGEST_POINTER], "detail": fault}
                for pointer, fault in problem.errors[:MOST_ERRORS]
            ],
            **quota,
            **({"message": detail} if instance.startswith(BLINK_PREFIX) else {}),
            **({"retryAfter": int(wait)} if (wait := problem.headers.get("Retry-After")) else {}),
            **problem.extensions,
            **({"links": dict(links)} if links else {}),
        },
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return redact_keys(body).encode()
