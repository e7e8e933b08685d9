"""Puts load on the benches' servers, with wrk if it is installed or else with an asyncio client.

The client's own CPU is never counted.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping

import aiohttp

CONNECTIONS = 16
OWN_HEADERS = ("Accept", "Accept-Encoding", "User-Agent")
"""Headers that are not sent, because wrk sends none of them, so that a server gives both clients the same answer."""


def load(port: int, path: str, headers: Mapping[str, str], seconds: float) -> int:
    """Requests a path repeatedly over some connections and returns the number of answers."""
    if shutil.which("wrk"):
        return _wrk(port, path, headers, seconds)
    until = time.monotonic() + seconds
    return ask_again_and_again(port, path, headers, lambda _: time.monotonic() < until)


def ask_again_and_again(port: int, path: str, headers: Mapping[str, str], go_on: Callable[[int], bool]) -> int:
    """Sends requests while `go_on(answers so far)`, and reconnects if the server has closed a connection."""
    return asyncio.run(_ask(port, path, headers, go_on))


def _wrk(port: int, path: str, headers: Mapping[str, str], seconds: float) -> int:
    named = [f"-H{name}: {value}" for name, value in headers.items()]
    url = f"http://127.0.0.1:{port}{path}"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", *named, url]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    answers = re.search(r"(\d+) requests in", printed)
    if answers is None or "Non-2xx" in printed:
        raise RuntimeError(f"wrk got no or other answers for {path}: {printed.strip()}")
    return int(answers[1])


async def _ask(port: int, path: str, headers: Mapping[str, str], go_on: Callable[[int], bool]) -> int:
    answers = 0

    async def client(session: aiohttp.ClientSession) -> None:
        nonlocal answers
        while go_on(answers):
            try:
                async with session.get(path) as response:
                    await response.read()
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                continue  # closed between two answers: the next request uses another connection
            if response.status not in (200, 304):
                raise RuntimeError(f"{response.status} for {path}")
            answers += 1

    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(
        f"http://127.0.0.1:{port}", connector=connector, headers=headers, skip_auto_headers=OWN_HEADERS
    ) as session:
        await asyncio.gather(*(client(session) for _ in range(CONNECTIONS)))
    if not answers:
        raise RuntimeError(f"no answer for {path}")
    return answers
