"""Serves wallet actions over HTTP: the forms and their answers. The front adds the header fields for wallets."""

from collections.abc import Callable, Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import ValidationError

from api.bodies import ReadingRoute
from api.responses import BODY_ERRORS, STORE_ERRORS, problems
from contracts.discovery import wallet_actions
from contracts.discovery.installation import Installation
from contracts.errors import (
    BodyInvalid,
    InternalFault,
    MethodNotAllowed,
    OperatorProblem,
    ParameterInvalid,
    RateLimited,
)
from contracts.guardrail import GuardrailRequest, GuardrailResult
from contracts.world.ontology import DOMAINS
from contracts.world.read_api import GraphQueryRequest
from guardrail.vocabulary import Severity
from warehouse.world import query
from warehouse.world.served import ServedGraph

Text = Annotated[str | None, Query(max_length=2_000)]
Words = Annotated[str | None, Query(max_length=1_000)]
Impact = Annotated[str | None, Query(json_schema_extra={"enum": [*(severity.value for severity in Severity), ""]})]
Within = Annotated[str | None, Query(json_schema_extra={"enum": [*DOMAINS, wallet_actions.ANY_DOMAIN, ""]})]


LONGEST_ACTION_BYTES = 4 * 1024
"""Longest action that is judged without a key. `POST /api/v2/guardrail/check` accepts longer ones with a key."""


def blink_router(
    installation: Installation,
    judge: Callable[[GuardrailRequest], GuardrailResult],
    guardrail_problem: Callable[[], object],
    graph: Callable[[], ServedGraph],
) -> APIRouter:
    """Creates the routes. `judge` checks an action and stores nothing; `guardrail_problem` raises `OperatorProblem` if
    there are no rules; `graph` returns this process's graph."""
    router = APIRouter(tags=["wallet actions"], route_class=ReadingRoute)

    def show(path: str, operation: str, summary: str, action: Callable[[], wallet_actions.Action]) -> None:
        def shown() -> Response:
            return _json(action())

        def options() -> Response:
            return Response(status_code=204)

        router.add_api_route(
            path,
            shown,
            response_model=wallet_actions.Action,
            responses=problems(InternalFault, MethodNotAllowed, RateLimited),
            summary=summary,
            description="An action of the Actions specification: a form, and where to post it.",
            operation_id=operation,
        )
        router.add_api_route(
            path,
            options,
            methods=["OPTIONS"],
            status_code=204,
            response_class=Response,
            summary=f"{summary}: preflight",
            description="The preflight that a browser sends before it posts on behalf of a page of another origin.",
            operation_id=f"{operation}_options",
        )

    def guardrail() -> wallet_actions.Action:
        return wallet_actions.guardrail_action(
            installation, _off(guardrail_problem, "The rules can't be read at the moment.")
        )

    def world() -> wallet_actions.Action:
        return wallet_actions.world_action(
            installation, _off(lambda: _probe(graph()), "The graph can't be read at the moment.")
        )

    show(wallet_actions.GUARDRAIL_BLINK_PATH, "blink_guardrail", "Guardrail check as a wallet action", guardrail)
    show(wallet_actions.WORLD_BLINK_PATH, "blink_worldmodel", "World model query as a wallet action", world)

    @router.post(
        wallet_actions.GUARDRAIL_BLINK_PATH,
        response_model=wallet_actions.ActionAnswer,
        responses=_REFUSALS,
        summary="Judge an action, for a wallet",
        description="With `action`, in the query or in `data` (at most 4 KiB): the verdict, shown as the next action "
        "and in full in `verdict`. Nothing is stored. Without `action`: a link to where to continue.",
        operation_id="blink_guardrail_post",
    )
    def check(
        request: Request, body: wallet_actions.ActionRequest, action: Text = None, severity: Impact = None
    ) -> Response:
        what, impact = body.value("action", action), body.value("severity", severity)
        if impact is not None and impact not in set(Severity):
            raise _unknown("severity", Severity)
        if what is None:
            return _json(wallet_actions.way_on(installation))
        if not what.strip():
            raise BodyInvalid("action: it is blank", errors=[("/data/action", "is blank")])
        if len(what.encode("utf-8", "surrogatepass")) > LONGEST_ACTION_BYTES:
            detail = f"action: at most {LONGEST_ACTION_BYTES:,} bytes without a key"
            raise BodyInvalid(detail, errors=[("/data/action", detail)])
        verdict = judge(GuardrailRequest(action=what, severity=Severity(impact or Severity.MEDIUM)))
        return _json(wallet_actions.verdict_answer(installation, verdict))

    @router.post(
        wallet_actions.WORLD_BLINK_PATH,
        response_model=wallet_actions.ActionAnswer,
        responses=_REFUSALS,
        summary="Ask the public graph, for a wallet",
        description="With `search`, in the query or in `data`: the public nodes that match best, shown as the next "
        "action. Without `search`: a link to where to continue.",
        operation_id="blink_worldmodel_post",
    )
    def search(
        request: Request, body: wallet_actions.ActionRequest, search: Words = None, domain: Within = None
    ) -> Response:
        words, within = body.value("search", search), body.value("domain", domain)
        wanted_domain = _domain(within)
        if words is None or not words.strip():
            return _json(wallet_actions.way_on(installation))
        wanted = query.Query(
            search=_searched(words), filter=query.Filter(wanted_domain), limit=wallet_actions.SHOWN_NODES
        )
        with graph().seen_by(None) as now:
            answer = query.answer(now.view, wanted)
        return _json(wallet_actions.nodes_answer(installation, answer.matched, answer.nodes))

    return router


_REFUSALS = problems(*BODY_ERRORS, ParameterInvalid, *STORE_ERRORS)


def _searched(words: str) -> str:
    try:
        return GraphQueryRequest(search=words).search or ""
    except ValidationError:
        raise ParameterInvalid("search: too long", errors=[("/query/search", "is too long")]) from None


def _unknown(parameter: str, known: Iterable[str]) -> ParameterInvalid:
    detail = f"{parameter}: one of {', '.join(known)}"
    return ParameterInvalid(detail, errors=[(f"/query/{parameter}", "is unknown")])


def _domain(name: str | None) -> str | None:
    if name is None or name == wallet_actions.ANY_DOMAIN:
        return None
    if name not in DOMAINS:
        raise _unknown("domain", DOMAINS)
    return name


def _off(probe: Callable[[], object], why: str) -> str | None:
    """Returns the reason why an action is not available, or None if the probe succeeds."""
    try:
        probe()
    except OperatorProblem:
        return why
    return None


def _probe(graph: ServedGraph) -> None:
    with graph.seen_by(None):
        return


def _json(answer: wallet_actions.Action | wallet_actions.ActionAnswer) -> Response:
    return Response(answer.body(), media_type="application/json")
