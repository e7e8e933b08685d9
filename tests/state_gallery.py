"""The pages in every state that a reader may meet: rendered only for tests, since no installation has all states at
once.

A published gallery would show invented numbers at a real address, so there is none. Tests render and check it, and a
browser takes screenshots.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from holder_rows import Row, address
from publishing import House, mint

from contracts.discovery.installation import installation_of
from contracts.open_data.names import TOKENS_INDEX_PATH
from contracts.publish.projection import ExpiringBody
from contracts.publish.registry import PAGE_HEADERS, PROJECTIONS
from contracts.publish.routes import file_of
from contracts.settings import Settings
from contracts.token.further_tokens import PublishedToken, broken_token, token_index, waiting_token
from contracts.token.holders import ZERO_ADDRESS
from contracts.token.partitions import FurtherToken
from pipelines.publish.site import ASSETS, SITE, asset_path, filled

ROWS = {row.path: row for row in PROJECTIONS}
DOCUMENTS = (
    "/api/token/holders",
    "/api/token/holders-map",
    "/api/token/holders-map-temporal",
    "/api/token/series/daily",
    "/api/token/series/hourly",
    "/api/token/price",
    "/api/bidwall/snapshot",
    "/api/bidwall/events",
    "/api/v2/trust/registry",
    "/api/v2/trust/protocol",
    "/checks.json",
)
COIN = "0x" + "12" * 20
HOSTILE = 'Ignore all </h1><script>alert(1)</script> "rules" \u202e<b>' + "long" * 60

Bodies = Mapping[str, bytes]


@dataclass(frozen=True)
class State:
    """A state: pages that show it, the documents behind them, and words that a reader finds there."""

    pages: tuple[str, ...]
    bodies: Bodies
    words: tuple[str, ...]
    expired: bool = False


def states(directory: Path) -> dict[str, State]:
    """Returns every state by its name."""
    usual = _published(directory / "usual", [(mint(70), 20), (mint(5, first=71, block=30), 40)])
    huge = [(10, ZERO_ADDRESS, address(number), 10**60 // number) for number in range(1, 70)]
    burned = [(10, ZERO_ADDRESS, address(1), 1000), (12, address(1), ZERO_ADDRESS, 1000)]
    one = _published(directory / "one", [(mint(1), 20)])
    off = {"quality": "unavailable", "reason": "not_configured"}
    return {
        "empty": State(
            ("/", "/token/", "/holders/", "/holders/compare/", "/bidwall/", "/trust/", "/data/rows/", "/status/"),
            {},
            ("the document is not published yet",),
        ),
        "stale": State(
            ("/", "/token/", "/holders/"), usual, ("stale since", "The last values are shown"), expired=True
        ),
        "off": State(
            ("/bidwall/", "/trust/"),
            {
                **_changed(usual, "/api/bidwall/snapshot", **off, contract=None),
                **_changed(usual, "/api/v2/trust/registry", **off, registry=None),
            },
            ("Off at this installation",),
        ),
        "unknown": State(
            ("/token/",),
            {**usual, **_changed(usual, "/api/token/price", quality="unavailable", reason="no_price", price=None)},
            ("no source gives a price", "Not available"),
        ),
        "failed": State(
            ("/token/", "/holders/"),
            {
                **usual,
                **_changed(usual, "/api/token/holders", stale=True, reason="check_failed"),
                **_changed(usual, "/api/token/holders-map", stale=True, reason="check_failed"),
            },
            ("a check of the data failed", "stale"),
        ),
        "hostile": State(
            ("/token/", "/holders/"),
            {**usual, **_changed(usual, "/api/token/holders", token=_token(HOSTILE, "<i>"))},
            (),
        ),
        "nobody": State(
            ("/token/", "/holders/"),
            _published(directory / "nobody", [(burned, 20)]),
            ("Nobody holds the token", "every balance is zero"),
        ),
        "one": State(("/token/", "/holders/", "/holders/compare/"), one, ("Nothing to compare yet",)),
        "tokens": State(
            ("/data/index.html",),
            {TOKENS_INDEX_PATH: token_index(_further_tokens()).model_dump_json(by_alias=True).encode()},
            (
                "Further tokens",
                "broken",
                "a log row in an unknown form",
                "no worker has read its first blocks yet",
                "/data/tokens/index.json",
            ),
        ),
        "wall": State(
            ("/bidwall/",),
            {
                **usual,
                **_changed(usual, "/api/bidwall/snapshot", contract=address(9)),
                **_changed(usual, "/api/bidwall/events", contract=address(9), events=_transfers(usual)),
            },
            ("this service’s token", "USDC", "The newest 6", "41, pending"),
        ),
        "huge": State(("/token/", "/holders/"), _published(directory / "huge", [(huge, 20)]), ("10⁵⁷",)),
    }


def page_in(state: State, path: str, base_url: str = "https://svc.example") -> bytes:
    """Returns a page in a state."""
    settings = Settings(
        _env_file=None,
        base_url=base_url,
        rpc_urls=("https://node.example",),
        usdc_address=COIN,
        treasury_address="0x" + "13" * 20,
    )
    row = ROWS[path]
    assert row.describe is not None
    body = filled(row, row.describe(installation_of(settings), state.bodies))
    assert isinstance(body, ExpiringBody)
    if state.expired:
        assert body.stale is not None
        return body.stale
    return body.fresh


@contextmanager
def served(gallery: Mapping[str, State]) -> Iterator[tuple[str, list[str]]]:
    """Serves every page of every state below `/<state>/`, with what it loads. Yields the address and the paths."""
    pages: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            name = path.split("/", 2)[2]
            body, kind = pages.get(path), "text/html; charset=utf-8"
            if body is None and f"/{name}" in assets:
                body, kind = assets[f"/{name}"]
            self.send_response(404 if body is None else 200)
            for field, value in {**PAGE_HEADERS, "Content-Type": kind}.items():
                self.send_header(field, value)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *arguments: Any) -> None:
            pass

    assets = {
        asset_path(name): ((SITE / "assets" / name).read_bytes(), _KINDS[name.rpartition(".")[2]]) for name in ASSETS
    }
    assets["/icon.svg"] = ((SITE / "icon.svg").read_bytes(), "image/svg+xml")
    now = {"generation": "20260102T120000Z-000001", "createdAt": "2026-01-02T12:00:00Z", "block": 40}
    assets["/data/now.json"] = (json.dumps(now | {"documents": {}, "pages": {}}).encode(), "application/json")
    assets["/data/holder_lists.csv"] = (b"block,block_time,holders,sum_raw\r\n", "text/csv")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address_ = f"http://127.0.0.1:{server.server_port}"
    for name, state in gallery.items():
        for path in state.pages:
            pages[f"/{name}{path}"] = page_in(state, path, f"{address_}/{name}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield address_, list(pages)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_KINDS = {"css": "text/css", "js": "text/javascript", "png": "image/png"}


def _further_tokens() -> list[PublishedToken]:
    first, second = (
        waiting_token(FurtherToken(address=address(number), first_block=7, name=name), 8453)
        for number, name in ((1, None), (2, "long" * 16))
    )
    return [first, broken_token(second, "blocks 0 to 49: a log row in an unknown form: " + "long" * 60)]


def _transfers(bodies: Bodies) -> list[dict[str, Any]]:
    """Returns transfers of three tokens in every direction; those of the service's own token are incoming, and one of
    them is pending."""
    own = json.loads(bodies["/api/token/holders"])["token"]["address"]
    ways = ((own, "in"), (own, "in"), (COIN, "out"), (COIN, "in"), (address(7), "out"), (address(7), "self"))
    return [
        {
            "token": token, "block": 41 - at, "logIndex": 0, "transactionHash": "0x" + "1" * 64, "from": address(3),
            "to": address(9), "direction": way, "valueRaw": str(10**at), "time": "2026-01-02T11:00:00Z",
            "timeQuality": "exact", "finality": "final" if at else "pending",
        }
        for at, (token, way) in enumerate(ways)
    ]  # fmt: skip


def _published(directory: Path, chain: list[tuple[list[Row], int]]) -> dict[str, bytes]:
    house = House(directory, rate_limit_per_minute=0)
    for rows, upto in chain:
        house.read_chain(rows, upto)
    house.publish(*DOCUMENTS)
    return {path: (house.current / "public" / file_of(path)).read_bytes() for path in DOCUMENTS}


def _changed(bodies: Bodies, path: str, **fields: Any) -> dict[str, bytes]:
    """Returns the document at a path with changed members, in its `data` if it has an envelope."""
    body = json.loads(bodies[path])
    (body["data"] if ROWS[path].enveloped else body).update(fields)
    return {path: json.dumps(body).encode()}


def _token(name: str, symbol: str) -> dict[str, Any]:
    return {"address": "0x" + "14" * 20, "name": name, "symbol": symbol, "decimals": 2}
