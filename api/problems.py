"""Answers every error of the rooms and the framework with the same kind of problem body."""

import logging
from collections.abc import Callable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from api.publish.site import PublishedSite
from api.receiving import joined_values
from api.wording import in_words, pointer_to
from api.work import MESSAGE, work_of
from contracts.connect.jsonrpc import message_of, problem_as_error
from contracts.connect.key_server import KEY_MCP_PATH
from contracts.errors import (
    BadRequest,
    BodyInvalid,
    InternalFault,
    MethodNotAllowed,
    OperatorProblem,
    ParameterInvalid,
    RequestProblem,
    RouteUnknown,
    StoreUnavailable,
)
from contracts.problem_links import ProblemLinks, link_field
from contracts.problems import LONGEST_POINTER, MOST_ERRORS, PROBLEM_MEDIA_TYPE, problem_body
from contracts.publish.routes import is_for_programs

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_log = logging.getLogger(__name__)


def handle_problems(app: FastAPI, links: ProblemLinks, site: Callable[[], PublishedSite | None]) -> None:
    """Makes `app` answer every exception with a problem body that contains `links` to next steps, and a browser at an
    unknown path with a page."""
    app.state.problem_links = links

    def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestProblem)
        page = _page_of_unknown_path(request, site()) if isinstance(error, RouteUnknown) else None
        return page or _answer(request, error)

    def on_framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return on_problem(request, _of_status(error.status_code, request))

    app.add_exception_handler(RequestProblem, on_problem)
    app.add_exception_handler(OperatorProblem, _on_operator_problem)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, on_framework)
    app.add_exception_handler(Exception, _on_fault)


def _answer(request: Request, problem: RequestProblem) -> Response:
    if not problem.costs_day:
        work_of(request.scope).began = False
    leads: ProblemLinks = request.app.state.problem_links
    links = leads.of(problem, request.method, request.scope["path"])
    headers = {**link_field(links), **problem.headers}
    if request.url.path == KEY_MCP_PATH and "text/event-stream" in request.headers.get("accept", ""):
        # Every MCP client accepts event streams, and it shows its model a JSON-RPC error but no other body.
        id = message_of(request.scope.get(MESSAGE, b"")).get("id")
        body = problem_as_error(problem, request.scope["request_id"], links, id=id)
        return Response(body, problem.status, headers, "application/json")
    body = problem_body(problem, request.url.path, request.scope["request_id"], links)
    return Response(body, problem.status, headers, PROBLEM_MEDIA_TYPE)


def _on_operator_problem(request: Request, error: Exception) -> Response:
    _log.warning("The request was not served: %s", error)
    return _answer(request, store_unavailable())


def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    query = _query_model(request)
    faults = error.errors()
    named = [
        (_pointer(fault["loc"]), in_words(fault, query if fault["loc"][0] == "query" else None))
        for fault in faults[:MOST_ERRORS]
    ]
    in_body = any(fault["loc"][0] == "body" for fault in faults)
    detail = "; ".join(f"{pointer.strip('/')[:LONGEST_POINTER] or 'the body'}: {text}" for pointer, text in named)
    # Further errors are only counted, as placeholders.
    errors = named + [("", "")] * (len(faults) - len(named))
    return _answer(request, (BodyInvalid if in_body else ParameterInvalid)(detail, errors=errors))


def _query_model(request: Request) -> type[BaseModel] | None:
    """Returns the model of a route's query parameters, or None if it has none or declares them one by one."""
    route = request.scope.get("route")
    declared = route.dependant.query_params if isinstance(route, APIRoute) else []
    model = declared[0].field_info.annotation if len(declared) == 1 else None
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def _page_of_unknown_path(request: Request, site: PublishedSite | None) -> Response | None:
    if site is None or is_for_programs(request.url.path):
        return None
    fields = request.scope["headers"]
    page = site.not_found(joined_values(fields, b"accept"), joined_values(fields, b"accept-encoding"))
    if page is None:
        return None
    response = Response(page["body"], 404)
    response.raw_headers = page["headers"]
    return response


def store_unavailable() -> StoreUnavailable:
    """Returns what a client sees of an `OperatorProblem`, whose details are only for the log."""
    return StoreUnavailable("Try again in a moment.", headers={"Retry-After": "2"})


def _on_fault(request: Request, error: Exception) -> Response:
    _log.error("The request failed", exc_info=error)
    return _answer(request, InternalFault("The fault is logged under the request id."))


def _of_status(status: int, request: Request) -> RequestProblem:
    if status == 404:
        return RouteUnknown(f"No path {request.url.path} is served; /openapi.json lists those that are.")
    if status == 405:
        allowed = {"Allow": ", ".join(_methods(request))}
        return MethodNotAllowed("The Allow header names the methods of this path.", headers=allowed)
    return BadRequest("The request can't be read.")


def _methods(request: Request) -> list[str]:
    """Returns the methods of a path over all its routes; the framework would name only those of the first."""
    answered = [method for method in _METHODS if _is_answered(request, method)]
    # The front answers HEAD wherever there is a GET.
    return ["GET", "HEAD", *answered[1:]] if "GET" in answered else answered


def _is_answered(request: Request, method: str) -> bool:
    scope = {**request.scope, "method": method}
    return any(route.matches(scope)[0] == Match.FULL for route in request.app.routes)


def _pointer(location: tuple[int | str, ...]) -> str:
    where, *parts = location
    prefix = "" if where == "body" else f"/{where}"
    return prefix + pointer_to(parts)
