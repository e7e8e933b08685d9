"""How routers become one application."""

from __future__ import annotations

from fastapi import APIRouter


def take_in(router: APIRouter, *others: APIRouter) -> None:
    """The routes of `others`, as they are, as `router`'s own. FastAPI's `include_router`, whose prefixes and
    dependencies nobody needs here, builds every route a second time and looks each request up router by router."""
    for other in others:
        router.routes.extend(other.routes)
