"""Serves a synthetic history of any length: `python -m benchmarks.recorded_ranges SPEC`, as a separate process.

A few blocks are kept as bytes and returned repeatedly under the requested numbers, so that the server costs little
compared with the measured worker.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from typing import Any

from aiohttp import web

from contracts.evm.codec import TRANSFER_TOPIC

FIRST_BLOCK = 1_100_000
"""High enough that all block numbers have the same width, so that they can be substituted as text."""

KEPT_BLOCKS = 64
ACCOUNTS = 60_000
LAG_BLOCKS = 8
_NUMBER, _TIME = "0xNNNNNN", "0xTTTTTTTT"


def token_address(place: int) -> str:
    return f"0x{place + 1:040x}"


def time_of(number: int) -> int:
    return 0x60000000 + 2 * number


class RecordedRanges:
    """Answers the calls of a reader of final blocks: `transfers` in blocks of `per_block`, spread over `tokens`."""

    def __init__(self, transfers: int, per_block: int, tokens: int) -> None:
        self.last = FIRST_BLOCK + transfers // per_block - 1
        chance = random.Random(7)
        accounts = [f"{chance.getrandbits(160):064x}" for _ in range(ACCOUNTS)]
        self._blocks = [
            ",".join(
                json.dumps(
                    {
                        "address": token_address(place % tokens),
                        "topics": [TRANSFER_TOPIC, *("0x" + chance.choice(accounts) for _ in range(2))],
                        "data": f"0x{chance.getrandbits(60):064x}",
                        "blockNumber": _NUMBER,
                        "transactionHash": f"0x{chance.getrandbits(256):064x}",
                        "transactionIndex": "0x0",
                        "blockHash": "0x" + "cd" * 32,
                        "logIndex": hex(place),
                        "blockTimestamp": _TIME,
                        "removed": False,
                    },
                    separators=(",", ":"),
                )
                for place in range(per_block)
            ).encode()
            for _ in range(KEPT_BLOCKS)
        ]

    def answer(self, call: dict[str, Any]) -> bytes:
        method, params = call["method"], call["params"]
        if method == "eth_getLogs":
            first, last = (int(params[0][name], 16) for name in ("fromBlock", "toBlock"))
            rows = [self._rows(number) for number in range(max(first, FIRST_BLOCK), min(last, self.last) + 1)]
            return b'{"jsonrpc":"2.0","id":%d,"result":[%s]}' % (call["id"], b",".join(rows))
        result: Any = hex(8453)
        if method == "eth_getBlockByNumber":
            head = self.last + LAG_BLOCKS
            named = {"latest": head, "finalized": head}
            result = _header(named[params[0]] if params[0] in named else int(params[0], 16))
        return json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}).encode()

    def _rows(self, number: int) -> bytes:
        block = self._blocks[number % KEPT_BLOCKS].replace(_NUMBER.encode(), hex(number).encode())
        return block.replace(_TIME.encode(), hex(time_of(number)).encode())


def _header(number: int) -> dict[str, Any]:
    return {
        "number": hex(number),
        "hash": f"0x{number:064x}",
        "parentHash": f"0x{max(0, number - 1):064x}",
        "timestamp": hex(time_of(number)),
        "transactions": [],
    }


async def _serve(chain: RecordedRanges) -> None:
    async def handle(request: web.Request) -> web.Response:
        asked = await request.json()
        if isinstance(asked, list):
            return web.Response(body=b"[%s]" % b",".join(map(chain.answer, asked)), content_type="application/json")
        return web.Response(body=chain.answer(asked), content_type="application/json")

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(RecordedRanges(**json.loads(sys.argv[1]))))
