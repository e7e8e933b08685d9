"""Analyses each route once per process: the many applications of tests differ only in what their endpoints close
over."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from types import CodeType
from typing import Any

from fastapi.routing import APIRoute, request_response


def analysing_once(initialise: Callable[..., None]) -> Callable[..., None]:
    """Returns an `APIRoute.__init__` that reuses the analysis of an earlier route with the same path, code, annotations
    and options, and sets only the endpoint."""
    analysed: dict[tuple[str, CodeType], tuple[Any, dict[str, Any]]] = {}

    def initialise_once(route: APIRoute, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        plain = inspect.unwrap(endpoint)
        key = (path, plain.__code__)
        decisive = (options, repr(plain.__annotations__), plain.__defaults__, plain.__kwdefaults__)
        known, found = analysed.get(key, (None, {}))
        if known != decisive:
            initialise(route, path, endpoint, **options)
            found = {name: value for name, value in vars(route).items() if name not in ("endpoint", "app")}
            analysed[key] = decisive, found | {"dependant": replace(route.dependant, call=None)}
            return
        vars(route).update(found)
        route.endpoint = endpoint
        route.dependant = replace(found["dependant"], call=endpoint)
        route.app = request_response(route.get_route_handler())

    return initialise_once
