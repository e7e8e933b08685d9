"""A proxy that adds a key's header to every request and changes nothing else, for tools that can't send one."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

PATH = "/mcp"
METHODS = ["GET", "POST", "DELETE", "OPTIONS", "PUT"]
# Each connection has its own: the server of either side writes them.
OF_ONE_CONNECTION = {b"connection", b"keep-alive", b"transfer-encoding", b"date", b"server"}


@contextmanager
def keyed_proxy(url: str, key: str) -> Iterator[str]:
    """Serves `url` at another address of this machine, with the key. Yields that address."""
    config = uvicorn.Config(
        _application(url, key), host="127.0.0.1", port=0, log_level="critical", timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}{PATH}"
    finally:
        server.should_exit = True
        thread.join()


def _application(url: str, key: str) -> Starlette:
    @asynccontextmanager
    async def with_client(_application: Starlette) -> AsyncIterator[dict[str, Any]]:
        # One connection a request: one that the server closed while it lay idle would fail the next request.
        unkept = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(timeout=None, trust_env=False, limits=unkept) as client:
            yield {"client": client}

    async def forward(request: Request) -> Response:
        client: httpx.AsyncClient = request.state.client
        # Blanks around a value don't belong to it, and httpx refuses to send them.
        fields = [(name, value.strip()) for name, value in request.headers.raw if name not in OF_ONE_CONNECTION]
        response = await client.send(
            client.build_request(
                request.method,
                url,
                headers=[*fields, (b"authorization", f"Bearer {key}".encode())],
                content=await request.body() or None,
            ),
            stream=True,
        )

        async def chunks() -> AsyncIterator[bytes]:
            try:
                async for chunk in response.aiter_raw():
                    yield chunk
            finally:
                await response.aclose()

        answer = StreamingResponse(chunks(), response.status_code)
        answer.raw_headers = [
            (name.lower(), value) for name, value in response.headers.raw if name.lower() not in OF_ONE_CONNECTION
        ]
        return answer

    return Starlette(routes=[Route(PATH, forward, methods=METHODS)], lifespan=with_client)
