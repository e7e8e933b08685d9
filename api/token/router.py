"""Serves one address at any block from the published history. No request ever reaches the chain.

Answers are computed on the event loop, because that takes less time than handing them to a thread and back, where eight
clients would contend for the interpreter. Only long pages, and the first answer of a new generation, which opens it,
are left to a thread.
"""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from api.publish.answers import computed_answer
from api.publish.variants import body_of, entry_of
from api.responses import cached, problems
from api.routes import WorkRoute
from contracts.addresses import AskedAddress
from contracts.errors import InternalFault, MethodNotAllowed, NotReady, ParameterInvalid, RateLimited
from contracts.publish.projection import Fields, Projection
from contracts.publish.registry import ADDRESS_TRANSFERS, TOKEN_HOLDER
from contracts.token.history_documents import AddressTransfersParameters, TokenHolderParameters
from warehouse.document_context import DocumentContext
from warehouse.publish.serving import ServedGenerations
from warehouse.token.history_documents import HOLDERS_PATH, read_address_transfers, read_token_holder
from warehouse.token.lists_at import REMEMBERED_VIEW

_Address = Annotated[AskedAddress, Path(description="The address: lower case, or with its EIP-55 checksum")]


_ROWS_ON_LOOP = 50
"""Most changes or transfers of a page computed on the event loop: they delay other requests by a millisecond."""


def token_router(served: ServedGenerations) -> APIRouter:
    router = APIRouter(tags=[TOKEN_HOLDER.group], route_class=WorkRoute)

    async def answered(request: Request, rows: int, compute: Callable[[], bytes]) -> Response:
        def answer() -> Response:
            return computed_answer(request, compute())

        is_light = rows <= _ROWS_ON_LOOP and served.remembers(REMEMBERED_VIEW)
        return answer() if is_light else await run_in_threadpool(answer)

    async def holder(
        request: Request, address: _Address, parameters: Annotated[TokenHolderParameters, Query()]
    ) -> Response:
        return await answered(request, parameters.limit, lambda: holder_body(served, address, parameters))

    async def transfers(
        request: Request, address: _Address, parameters: Annotated[AddressTransfersParameters, Query()]
    ) -> Response:
        def read(context: DocumentContext) -> Fields:
            return read_address_transfers(context, address, parameters)

        return await answered(request, parameters.limit, lambda: _body(served, ADDRESS_TRANSFERS, read))

    for projection, endpoint in ((TOKEN_HOLDER, holder), (ADDRESS_TRANSFERS, transfers)):
        router.add_api_route(
            projection.path,
            endpoint,
            operation_id=projection.name,
            summary=projection.summary,
            description=projection.description,
            response_class=Response,
            responses=cached(projection.model)
            | problems(ParameterInvalid, *projection.refusals, MethodNotAllowed, RateLimited, InternalFault, NotReady),
        )
    return router


def holder_body(served: ServedGenerations, address: str, parameters: TokenHolderParameters) -> bytes:
    """Returns the `TokenHolder` of an address as JSON. Raises `NotReady`, `CursorInvalid` and the errors of
    `TokenView.block_of`."""
    return _body(served, TOKEN_HOLDER, lambda context: read_token_holder(context, address, parameters))


def _body(served: ServedGenerations, projection: Projection, read: Callable[[DocumentContext], Fields]) -> bytes:
    with served.reading() as reading:
        # The holders document is published from the same tables, so it has the same age.
        entry = entry_of(reading, HOLDERS_PATH)
        return body_of(projection, read(reading.context), entry)
