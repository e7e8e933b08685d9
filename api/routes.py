"""The base class of all routes, and a function that merges their routers."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from fastapi.utils import create_model_field

from api.parameters import refuse_repeated
from api.work import expect_work, marking_work


class WorkRoute(APIRoute):
    """A route whose work begins when its endpoint is called. Before that, it refuses repeated query parameters."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        responses: dict[int | str, dict[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(path, marking_work(endpoint), **options)
        # If passed to the framework, the response models would be built now, a third of the time that the routes take.
        self.responses = responses or {}

    def build_response_models(self) -> None:
        """Builds the response models, which only the description needs."""
        self.response_fields = {
            status: create_model_field(
                name=f"Response_{status}_{self.unique_id}", type_=response["model"], mode="serialization"
            )
            for status, response in self.responses.items()
            if response.get("model") is not None
        }

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        has_parameters = bool(self.dependant.query_params or self.dependant.header_params)

        async def answer_accepted(request: Request) -> Response:
            if has_parameters:
                refuse_repeated(request)
            expect_work(request.scope)
            return await answer(request)

        return answer_accepted


def merge_routes(router: APIRouter, *others: APIRouter) -> None:
    """Adds the routes of `others` to `router`.

    FastAPI's `include_router` would build every route a second time, for prefixes and dependencies that are not used
    here, and match each request router by router.
    """
    for other in others:
        router.routes.extend(other.routes)
