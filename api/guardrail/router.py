"""Serves the guardrail over HTTP: judges an action, returns the verdict and logs the check."""

import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of
from api.responses import problems
from contracts.errors import BodyInvalid, BodyTooLarge, MediaTypeUnsupported
from contracts.guardrail.documents import GuardrailAnswer, GuardrailRequest, GuardrailResult
from contracts.guardrail.engine import GuardrailVerdict, Ruleset
from contracts.guardrail.limits import Refusal, action_refusal, plain_context
from warehouse.guardrail.log import GuardrailLog

SOURCE = "api"


def guardrail_router(rules: Callable[[], Ruleset], log: Callable[[], GuardrailLog]) -> APIRouter:
    """Creates the route. `rules` returns the current ruleset, `log` the log of checks; both may raise
    `OperatorProblem`."""
    router = authenticated_router("guardrail", AuthenticatedReadingRoute)

    @router.post(
        "/guardrail/check",
        response_model=GuardrailAnswer,
        responses=problems(BodyInvalid, BodyTooLarge, MediaTypeUnsupported),
        summary="Judge an action before it is taken",
        description="Deterministic rules in seven stages; no model is called, and every stage runs.",
        operation_id="guardrail_check",
    )
    async def check(body: GuardrailRequest, request: Request) -> Response:
        result = check_action(rules(), log(), body, source=SOURCE, caller=caller_of(request).key_id)
        return Response(GuardrailAnswer(data=result).model_dump_json(), media_type="application/json")

    return router


def check_action(
    rules: Ruleset, log: GuardrailLog, request: GuardrailRequest, *, source: str, caller: str
) -> GuardrailResult:
    """Judges an action and logs the check. `caller` is the id of a key or a session. Raises `BodyInvalid`."""
    _refuse_unusable(request)
    started = time.perf_counter()
    verdict = rules.check(request.action, request.severity, request.context)
    latency_us = round((time.perf_counter() - started) * 1e6)
    now = datetime.now(UTC)
    log.record(
        verdict,
        action=request.action,
        asked=request.severity,
        source=source,
        caller=caller,
        checked_at=now,
        latency_us=latency_us,
    )
    return _result(verdict, now)


def _refuse_unusable(request: GuardrailRequest) -> None:
    refusal = action_refusal(request.action)
    if refusal is None:
        try:
            plain_context(request.context)
        except Refusal as refused:
            refusal = refused
    if refusal is not None:
        raise BodyInvalid(f"{refusal.detail}.", errors=[(refusal.pointer, refusal.detail)])


def _result(verdict: GuardrailVerdict, now: datetime) -> GuardrailResult:
    fields = asdict(verdict)
    for internal in ("drafts", "problem"):
        del fields[internal]
    fields["matches"] = [
        {name: value for name, value in match.items() if name != "status"} for match in fields["matches"]
    ]
    return GuardrailResult(**fields, checked_at=now)
