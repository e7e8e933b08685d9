"""Reads every document of a service as an agent does (`svc docs check`). `contracts/discovery/checks` judges them."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import httpx
import typer

from cli.environment import given_address
from cli.output import note, operator_problems, print_json, say
from contracts.discovery.checks.evidence import DocumentAnswers, Evidence, HttpAnswer, path_below
from contracts.discovery.checks.expected import DESCRIPTION, SHAPES, STRANGERS, served_as
from contracts.discovery.checks.judge import defects_of
from contracts.discovery.checks.links import addresses_in, external_addresses
from contracts.errors import OperatorProblem
from contracts.publish.routes import is_limited
from pipelines.progress import Pace
from warehouse.clients.http import blocking_client

_TIMEOUT_S = 20.0
_DOCUMENT_BYTES = 8 << 20
_LONGEST_WAIT_S = 90.0
_ANNOUNCED_WAIT_S = 3.0
_TRIES = 3
_READINGS = 4
"""Most attempts to read a document that keeps changing."""
_ORIGIN = "https://page.example"
"""Origin of another site's page, for preflights."""

_MCP_PATH = "/mcp"
_LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

ProgressListener = Callable[[str, int, int], None]
"""Called with the path to be read next, the number of paths read, and their total number."""


class NothingToCheck(OperatorProblem):
    """No service answers at the address."""

    code = "nothing_to_check"


def check(base_url: str, as_json: bool) -> None:
    with (
        operator_problems(as_json),
        blocking_client(_TIMEOUT_S, proxied=True) as client,
        _shown_progress() as show,
    ):
        evidence = gather(
            client, given_address("BASE_URL", base_url).rstrip("/"), on_progress=show, sleep=announced_sleep
        )
    defects = defects_of(evidence)
    external = sorted(external_addresses(evidence))
    if as_json:
        print_json(
            {
                "ok": not defects,
                "baseUrl": evidence.base_url,
                "documents": len(evidence.documents),
                "links": len(evidence.linked),
                "defects": [asdict(defect) for defect in defects],
                "unread": evidence.unread,
                "elsewhere": external,
            }
        )
    else:
        for defect in defects:
            say(f"{defect.document}: {defect.what}. {defect.cure}")
        for url, why in evidence.unread.items():
            note(f"not read: {url} ({why})")
        for url in external:
            note(f"elsewhere, not requested: {url}")
        say(f"{len(evidence.documents)} documents and {len(evidence.linked)} links read, {len(defects)} defects")
    if defects:
        raise typer.Exit(1)


def gather(
    client: httpx.Client,
    base_url: str,
    *,
    on_progress: ProgressListener = lambda what, done, of: None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Evidence:
    """Reads all documents and links of a service. Requests limited routes as fast as its policy allows one address."""
    reader = _Reader(client, base_url, sleep, clock)
    if reader.ask("GET", "/").status == 0 and reader.ask("GET", "/health").status == 0:
        raise NothingToCheck(f"No service answers at {base_url}.", cure="Check that the service runs there.")
    description = reader.ask("GET", DESCRIPTION).value
    readings: dict[str, DocumentAnswers] = {}
    for number, path in enumerate(SHAPES):
        on_progress(path, number, len(SHAPES))
        served = served_as(description, path)
        readings[path] = _read(reader, path, is_kept=served is not None and served.is_kept)
    _read_changed_again(reader, readings, on_progress)
    evidence = Evidence(
        base_url,
        datetime.now(UTC),
        readings,
        strangers={path: reader.ask("GET", path) for path in STRANGERS},
        tools=_tools(reader.ask("POST", _MCP_PATH, body=_LIST_TOOLS)),
    )
    linked: dict[str, HttpAnswer] = {}
    links = sorted(_links(evidence), key=lambda url: (is_limited(_below(base_url, url)), url))
    for number, url in enumerate(links):
        path = _below(base_url, url)
        on_progress(path, len(SHAPES) + number, len(SHAPES) + len(links))
        linked[url] = reader.ask("GET", path)
    return replace(evidence, linked=linked, unread=reader.unread)


def _read(reader: _Reader, path: str, *, is_kept: bool) -> DocumentAnswers:
    answer = reader.ask("GET", path)
    if not is_kept or answer.status != 200:
        return DocumentAnswers(answer)
    etag = answer.headers.get("etag")
    preflight = {
        "Origin": _ORIGIN,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "if-none-match",
    }
    return DocumentAnswers(
        answer,
        again=None if etag is None else reader.ask("GET", path, {"If-None-Match": etag}),
        head=reader.ask("HEAD", path),
        options=reader.ask("OPTIONS", path, preflight),
    )


def _read_changed_again(reader: _Reader, readings: dict[str, DocumentAnswers], on_progress: ProgressListener) -> None:
    """Rereads documents that changed while the rest was read, until none does. A running service publishes every
    minute, and documents of two generations may contradict one another."""
    for _ in range(_READINGS - 1):
        changed = []
        for path, reading in readings.items():
            on_progress(path, len(SHAPES), len(SHAPES))
            if _has_changed(reader, path, reading):
                changed.append(path)
        if not changed:
            return
        readings |= {path: _read(reader, path, is_kept=True) for path in changed}


def _has_changed(reader: _Reader, path: str, reading: DocumentAnswers) -> bool:
    """Returns whether a cacheable document has changed since it was read, or changed while it was read."""
    etag = reading.answer.headers.get("etag")
    if reading.again is None or etag is None:
        return False
    return reading.again.status != 304 or reader.ask("GET", path, {"If-None-Match": etag}).status != 304


def _links(evidence: Evidence) -> set[str]:
    """Returns the addresses on this host that documents link to, except those of the documents themselves."""
    return {
        url
        for path, answer in evidence.documents.items()
        for url in addresses_in(evidence.base_url, path, answer)
        if (below := path_below(evidence.base_url, url)) is not None and below not in evidence.readings
    }


def _below(base_url: str, url: str) -> str:
    return path_below(base_url, url) or "/"


def _tools(answer: HttpAnswer) -> tuple[str, ...] | None:
    """Returns the names of the tools that an MCP server lists, or None if the answer is not a list of tools."""
    value = answer.value
    result = value.get("result") if isinstance(value, dict) else None
    tools = result.get("tools") if isinstance(result, dict) else None
    return tuple(str(tool.get("name")) for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else None


class _Reader:
    """Sends requests to one service, without following redirects, and never faster than it allows."""

    def __init__(
        self, client: httpx.Client, base_url: str, sleep: Callable[[float], None], clock: Callable[[], float]
    ) -> None:
        self._client, self._base_url, self._sleep, self._clock = client, base_url, sleep, clock
        self._asked: deque[float] = deque()
        self._allowed: tuple[int, float] | None = None
        self.unread: dict[str, str] = {}

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: dict[str, Any] | None = None
    ) -> HttpAnswer:
        """Returns the answer at a path below the base address.

        Waits after a 429; records a path that is still refused after several tries as unread.
        """
        for _ in range(_TRIES):
            if is_limited(path.partition("?")[0]):
                self._keep_pace()
            answer = self._once(method, path, dict(headers or {}), body)
            self._learn(answer)
            if answer.status != 429:
                return answer
            wait = answer.headers.get("retry-after", "")
            self._sleep(min(float(wait) if wait.isdigit() else 1.0, _LONGEST_WAIT_S))
        self.unread[self._base_url + path] = "the rate limit"
        return answer

    def _once(self, method: str, path: str, headers: dict[str, str], body: dict[str, Any] | None) -> HttpAnswer:
        if body is not None:
            headers["Accept"] = "application/json, text/event-stream"
        try:
            with self._client.stream(method, self._base_url + path, headers=headers, json=body) as response:
                response_headers = {name.lower(): value for name, value in response.headers.items()}
                read = b""
                for part in response.iter_bytes():
                    read += part
                    if len(read) > _DOCUMENT_BYTES:
                        return HttpAnswer(0, response_headers, fault=f"more than {_DOCUMENT_BYTES} bytes")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return HttpAnswer(0, fault=type(error).__name__)
        return HttpAnswer(response.status_code, response_headers, read)

    def _keep_pace(self) -> None:
        now = self._clock()
        if self._allowed is not None:
            requests, window_s = self._allowed
            while self._asked and now - self._asked[0] >= window_s:
                self._asked.popleft()
            if len(self._asked) >= requests:
                self._sleep(self._asked[0] + window_s - now)
                now = self._clock()
        self._asked.append(now)

    def _learn(self, answer: HttpAnswer) -> None:
        """Reads the service's policy for one address: `"permin";q=20;w=60`."""
        name, *parameters = answer.headers.get("ratelimit-policy", "").split(";")
        policy = dict(pair.split("=", 1) for pair in parameters if "=" in pair)
        if name == '"permin"' and policy.get("q", "").isdigit() and policy.get("w", "").isdigit():
            self._allowed = int(policy["q"]), float(policy["w"])


@contextmanager
def _shown_progress() -> Iterator[ProgressListener]:
    """Shows progress and the path being read on stderr: a bar on a terminal, elsewhere a line every five seconds."""
    if not sys.stderr.isatty():
        yield noted_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of)


def noted_progress(
    write: Callable[[str], None] = note, clock: Callable[[], float] = time.monotonic
) -> ProgressListener:
    """Returns a listener that writes the first path at once, and then a line at most every five seconds."""
    pace, begun = Pace(clock), False

    def listen(what: str, done: int, of: int) -> None:
        nonlocal begun
        if not begun or pace.line_is_due():
            write(f"{done} of {of} documents and links read; next {what}")
        begun = True

    return listen


def announced_sleep(
    seconds: float, *, write: Callable[[str], None] = note, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Waits, and announces a wait that is long enough to look like a hang."""
    if seconds >= _ANNOUNCED_WAIT_S:
        write(f"waiting {seconds:.0f} s: the service limits the requests of one address")
    sleep(seconds)
