"""The whole service, listening at the address that its documents name, optionally below a path prefix."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from nginx import free_port
from whole_service import WholeService, whole_service


@contextmanager
def addressed_service(data_dir: Path, prefix: str = "", **settings: Any) -> Iterator[tuple[WholeService, str]]:
    """Yields the service and its base address. As a proxy does, it removes a prefix before the service sees the
    path."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}{prefix}"
    given: dict[str, Any] = {"base_url": base_url, "host": "127.0.0.1", "port": port}
    with whole_service(data_dir, **(given | settings)) as service, running(_below(service.app, prefix), port):
        yield service, base_url


@contextmanager
def running(application: Any, port: int) -> Iterator[None]:
    """Serves an ASGI application, including its lifespan, on a port of this machine."""
    server = uvicorn.Server(uvicorn.Config(application, host="127.0.0.1", port=port, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        threading.Event().wait(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def _below(application: Any, prefix: str) -> Any:
    if not prefix:
        return application

    async def proxied(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            if not scope["path"].startswith(prefix + "/"):
                await send({"type": "http.response.start", "status": 404, "headers": []})
                await send({"type": "http.response.body", "body": b"not ours"})
                return
            path = scope["path"].removeprefix(prefix)
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await application(scope, receive, send)

    return proxied
