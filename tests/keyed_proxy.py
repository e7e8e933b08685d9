"""A proxy that adds a key's header to every request and changes nothing else, for tools that can send none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

PATH = "/mcp"


@contextmanager
def keyed_proxy(url: str, key: str) -> Iterator[str]:
    """Serves `url` at another address of this machine, with the key. Provides that address."""
    target = urlsplit(url)
    started, loop = threading.Event(), asyncio.new_event_loop()
    ports: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request, *fields = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
            kept = [field for field in fields if not field.lower().startswith(b"connection:")]
            request = request.replace(PATH.encode(), target.path.encode(), 1)
            head = [request, *kept, b"Connection: close", f"Authorization: Bearer {key}".encode()]
            upstream_reader, upstream_writer = await asyncio.open_connection(target.hostname, target.port)
            upstream_writer.write(b"\r\n".join(head) + b"\r\n\r\n")
            sending = asyncio.create_task(_copy(reader, upstream_writer))
            await _copy(upstream_reader, writer)
            # Closing while the client still sends would reset its connection before it has read the answer.
            writer.write_eof()
            await asyncio.wait([sending], timeout=2)
            sending.cancel()
            upstream_writer.close()
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        started.set()
        async with server:
            await server.serve_forever()

    def run() -> None:
        serving = loop.create_task(serve())
        loop.run_forever()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.gather(serving, return_exceptions=True))
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    try:
        yield f"http://127.0.0.1:{ports[0]}{PATH}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65_536):
        writer.write(chunk)
        await writer.drain()
