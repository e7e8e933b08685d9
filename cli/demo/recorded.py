"""A JSON-RPC node that answers from recorded logs: the demo's chain if Node.js is missing, and a chain for tests.

`RecordedChain` computes answers from values and has no socket; `RecordedNode` is the HTTP edge around it. Blocks are
never materialised, so a sparse history of millions of blocks costs only its logs.
"""

import hashlib
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from types import TracebackType
from typing import Any, Final, Protocol, Self

import msgspec

from cli.demo.log_index import Log, LogIndex, bloom, matching
from contracts.evm.codec import TRANSFER_TOPIC
from contracts.token.holders import ZERO_ADDRESS

_ZERO_WORD: Final = "0x" + "0" * 64
_UINT256: Final = 1 << 256
_UINT64: Final = 1 << 64

_INVALID_PARAMS: Final = -32602
_METHOD_NOT_FOUND: Final = -32601
_SERVER_ERROR: Final = -32000
_LIMIT_EXCEEDED: Final = -32005
_REVERTED: Final = 3


class RpcFault(Exception):
    """The JSON-RPC `error` object of one answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class TokenMetadata:
    name: str = "Recorded token"
    symbol: str = "REC"
    decimals: int = 18


def transfer_log(
    token: str, block: int, log_index: int, sender: str, recipient: str, value_raw: int, **fields: Any
) -> Log:
    """Builds a Transfer row; `fields` adds or replaces row fields (`transactionHash`, `blockTimestamp`)."""
    return {
        "address": token,
        "topics": [TRANSFER_TOPIC, _word_of_address(sender), _word_of_address(recipient)],
        "data": _word(value_raw),
        "blockNumber": hex(block),
        "logIndex": hex(log_index),
        **fields,
    }


@dataclass(kw_only=True, eq=False)
class RecordedChain:
    """Answers JSON-RPC calls from `logs`, deterministically.

    `logs` need `address`, `topics`, `data`, `blockNumber`, `logIndex`; missing hashes and indexes are filled in. A
    block with logs keeps the `blockHash` of its rows; every other hash is derived from the number. `first_block` is
    where `token` was deployed. Calls of `token` are answered by replaying its Transfer rows. Blocks are `block_time_s`
    apart and `head` is at `head_time` (Unix seconds), except for the blocks in `block_times`.

    `finalized_lag=None` simulates a node without finality tags, `has_state=False` one whose token answers no call, and
    `state_depth` one that keeps the state of only its newest blocks. With `max_results`, a longer log answer is refused
    like providers do. A log query is not clamped to the head: rows beyond it are returned silently, as by nodes behind
    a balancer.

    `calls` are recorded answers of other contracts, by (address, call data), and `balances_wei` native balances. Both
    are valid from `state_from` on. For older blocks, and for unrecorded calls of other contracts, the state is not
    available. If `state_from` is None, balances are always valid, and any other account has none.
    """

    chain_id: int
    token: str
    logs: InitVar[Iterable[Mapping[str, Any]]]
    first_block: int
    head: int
    finalized_lag: int | None = 2
    block_time_s: int = 2
    head_time: int = 1_760_000_000
    block_times: Mapping[int, int] = field(default_factory=dict)
    has_state: bool = True
    state_depth: int | None = None
    logs_bloom: bool = True
    max_results: int | None = None
    metadata: TokenMetadata = field(default_factory=TokenMetadata)
    balances_wei: Mapping[str, int] = field(default_factory=dict)
    calls: Mapping[tuple[str, str], str] = field(default_factory=dict)
    state_from: int | None = None

    def __post_init__(self, logs: Iterable[Mapping[str, Any]]) -> None:
        self.token = self.token.lower()
        self.balances_wei = {address.lower(): wei for address, wei in self.balances_wei.items()}
        self._anchor = (self.head, self.head_time)
        self._lock = threading.RLock()
        self._reorgs: list[tuple[int, str]] = []
        self._index = self._indexed(logs)
        self._methods: dict[str, Callable[[Sequence[Any]], Any]] = {
            "eth_chainId": lambda _: hex(self.chain_id),
            "net_version": lambda _: str(self.chain_id),
            "web3_clientVersion": lambda _: "recorded/1",
            "eth_blockNumber": lambda _: hex(self.head),
            "eth_getBlockByNumber": self._get_block_by_number,
            "eth_getBlockByHash": self._get_block_by_hash,
            "eth_getBlockReceipts": self._get_block_receipts,
            "eth_getLogs": self._get_logs,
            "eth_call": self._call,
            "eth_getCode": self._get_code,
            "eth_getBalance": self._get_balance,
        }

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        """Returns the `result` of one call as JSON values. Raises `RpcFault` for an error answer."""
        handler = self._methods.get(method)
        if handler is None:
            raise RpcFault(_METHOD_NOT_FOUND, f"the method {method} does not exist/is not available")
        with self._lock:
            try:
                return handler(params)
            except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
                raise RpcFault(_INVALID_PARAMS, f"invalid params of {method}: {error}") from error

    def advance_to(self, block: int) -> None:
        """Moves the head, forwards or (a lagging node) backwards."""
        with self._lock:
            self.head = block

    def reorg(self, from_block: int, salt: str, logs: Iterable[Mapping[str, Any]] | None = None) -> None:
        """Gives `from_block` and all later blocks new hashes and, with `logs`, these rows instead of their own."""
        with self._lock:
            remaining = [row for row in self._index.logs if logs is None or int(row["blockNumber"], 16) < from_block]
            self._reorgs.append((from_block, salt))
            self._index = self._indexed([*remaining, *(logs or ())])

    def block_hash(self, number: int) -> str:
        """Returns the hash of a block, whether or not the head has reached it."""
        return self._index.hashes.get(number) or self._made_hash(number)

    def block_time(self, number: int) -> int:
        """Returns the time of a block in Unix seconds."""
        known = self.block_times.get(number)
        if known is not None:
            return known
        anchor, anchor_time = self._anchor
        return anchor_time + (number - anchor) * self.block_time_s

    # The number is in the hash's last 8 bytes, so that a block can be found by its hash without an index.
    def _made_hash(self, number: int) -> str:
        salts = [salt for from_block, salt in self._reorgs if from_block <= number]
        seed = f"block/{self.chain_id}/{'/'.join(salts)}/{number}".encode()
        return "0x" + hashlib.sha256(seed).hexdigest()[:48] + f"{number:016x}"

    def _indexed(self, logs: Iterable[Mapping[str, Any]]) -> LogIndex:
        oldest_reorg = min((from_block for from_block, _ in self._reorgs), default=None)
        rows: list[Log] = []
        hashes: dict[int, str] = {}
        for log in logs:
            number = int(log["blockNumber"], 16)
            block_hash = hashes.get(number)
            if block_hash is None:
                recorded = log.get("blockHash") if oldest_reorg is None or number < oldest_reorg else None
                block_hash = hashes[number] = recorded or self._made_hash(number)
            made_transaction = "0x" + hashlib.sha256(f"{block_hash}/{log['logIndex']}".encode()).hexdigest()
            rows.append(
                {
                    "transactionHash": made_transaction,
                    "transactionIndex": log["logIndex"],
                    "removed": False,
                    **log,
                    "address": log["address"].lower(),
                    "blockHash": block_hash,
                }
            )
        return LogIndex(rows, hashes, self.token)

    def _number(self, tag: Any) -> int:
        match tag:
            case "latest" | "pending" | None:
                return self.head
            case "earliest":
                return 0
            case "finalized" | "safe":
                if self.finalized_lag is None:
                    raise RpcFault(_SERVER_ERROR, f"{tag} block not found")
                lag = self.finalized_lag if tag == "finalized" else self.finalized_lag // 2
                return max(0, self.head - lag)
            case {"blockHash": block_hash}:
                return self._number_of_hash(block_hash)
            case {"blockNumber": number}:
                return int(number, 16)
            case _:
                return int(tag, 16)

    def _number_of_hash(self, block_hash: str) -> int:
        number = self._index.numbers.get(block_hash)
        if number is None:
            number = int(block_hash, 16) % _UINT64
        if number > self.head or self.block_hash(number) != block_hash:
            raise RpcFault(_SERVER_ERROR, "unknown block")
        return number

    def _get_block_by_number(self, params: Sequence[Any]) -> dict[str, Any] | None:
        number = self._number(params[0])
        return None if number > self.head else self._header(number)

    def _get_block_by_hash(self, params: Sequence[Any]) -> dict[str, Any] | None:
        try:
            return self._header(self._number_of_hash(params[0]))
        except RpcFault:
            return None

    def _header(self, number: int) -> dict[str, Any]:
        rows = self._index.between(number, number)
        header = {
            "number": hex(number),
            "hash": self.block_hash(number),
            "parentHash": self.block_hash(number - 1) if number else _ZERO_WORD,
            "timestamp": hex(self.block_time(number)),
            "transactions": list(dict.fromkeys(row["transactionHash"] for row in rows)),
            "miner": ZERO_ADDRESS,
            "difficulty": "0x0",
            "nonce": "0x" + "0" * 16,
            "extraData": "0x",
            "gasLimit": hex(30_000_000),
            "gasUsed": "0x0",
            "baseFeePerGas": "0x0",
            "size": "0x0",
            "uncles": [],
        }
        if self.logs_bloom:
            header["logsBloom"] = bloom(rows)
        return header

    def _get_block_receipts(self, params: Sequence[Any]) -> list[dict[str, Any]] | None:
        number = self._number(params[0])
        if number > self.head:
            return None
        rows = self._index.between(number, number)
        return [
            {
                "transactionHash": transaction_hash,
                "transactionIndex": logs[0]["transactionIndex"],
                "blockHash": self.block_hash(number),
                "blockNumber": hex(number),
                "from": ZERO_ADDRESS,
                "to": logs[0]["address"],
                "status": "0x1",
                "type": "0x2",
                "gasUsed": "0x0",
                "cumulativeGasUsed": "0x0",
                "effectiveGasPrice": "0x0",
                "contractAddress": None,
                "logs": logs,
                "logsBloom": bloom(logs),
            }
            for transaction_hash, logs in (
                (key, list(group)) for key, group in groupby(rows, key=lambda row: row["transactionHash"])
            )
        ]

    def _get_logs(self, params: Sequence[Any]) -> list[Log]:
        query = params[0]
        if "blockHash" in query:
            first = last = self._number_of_hash(query["blockHash"])
        else:
            first, last = self._number(query.get("fromBlock")), self._number(query.get("toBlock"))
            if first > last:
                raise RpcFault(_SERVER_ERROR, "invalid block range params")
        rows = matching(self._index.between(first, last), query.get("address"), query.get("topics") or [])
        if self.max_results is not None and len(rows) > self.max_results:
            raise RpcFault(_LIMIT_EXCEEDED, f"query returned more than {self.max_results} results")
        return rows

    def _state_block(self, tag: Any) -> int:
        number = self._number(tag)
        if number > self.head:
            raise RpcFault(_SERVER_ERROR, "header not found")
        if self.state_depth is not None and number <= self.head - self.state_depth:
            raise RpcFault(_SERVER_ERROR, f"missing trie node, state {self.block_hash(number)} is not available")
        return number

    def _call(self, params: Sequence[Any]) -> str:
        request = params[0]
        number = self._state_block(params[1] if len(params) > 1 else "latest")
        to, data = request["to"].lower(), request.get("input") or request["data"]
        if to != self.token and to in self._index.emitters:
            return self._recorded_at(number, self.calls.get((to, data.lower())))
        if to != self.token or number < self.first_block:
            return "0x"
        if not self.has_state:
            raise RpcFault(_REVERTED, "execution reverted")
        match data[:10].lower():
            case "0x18160ddd":
                return _word(self._index.supply_at(number))
            case "0x70a08231":
                return _word(self._index.balance_at("0x" + data[34:74].lower(), number))
            case "0x313ce567":
                return _word(self.metadata.decimals)
            case "0x95d89b41":
                return _abi_string(self.metadata.symbol)
            case "0x06fdde03":
                return _abi_string(self.metadata.name)
            case _:
                raise RpcFault(_REVERTED, "execution reverted")

    def _get_code(self, params: Sequence[Any]) -> str:
        number = self._state_block(params[1] if len(params) > 1 else "latest")
        address = params[0].lower()
        deployed = number >= self.first_block if address == self.token else address in self._index.emitters
        return "0x6080604052" if deployed else "0x"

    def _get_balance(self, params: Sequence[Any]) -> str:
        number = self._state_block(params[1] if len(params) > 1 else "latest")
        balance_wei = self.balances_wei.get(params[0].lower())
        if self.state_from is None:
            return hex(balance_wei or 0)
        return self._recorded_at(number, None if balance_wei is None else hex(balance_wei))

    def _recorded_at(self, number: int, answer: str | None) -> str:
        if answer is None or number < (self.state_from or 0):
            raise RpcFault(_SERVER_ERROR, f"missing trie node, state {self.block_hash(number)} is not recorded")
        return answer


def _word(value: int) -> str:
    return f"0x{value % _UINT256:064x}"


def _word_of_address(address: str) -> str:
    return "0x" + address.lower().removeprefix("0x").rjust(64, "0")


def _abi_string(text: str) -> str:
    data = text.encode()
    padded = data.ljust(-(-len(data) // 32) * 32, b"\0")
    return f"0x{32:064x}{len(data):064x}{padded.hex()}"


class AnswersRpc(Protocol):
    """The interface of a chain behind a `RecordedNode`."""

    def answer(self, method: str, params: Sequence[Any]) -> Any: ...


class RecordedNode:
    """Serves a chain as JSON-RPC over HTTP on a free port of 127.0.0.1 while the context is open."""

    def __init__(self, chain: AnswersRpc) -> None:
        self.chain = chain
        self._server = _Server(("127.0.0.1", 0), chain)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], chain: AnswersRpc) -> None:
        super().__init__(address, _Handler)
        self.chain = chain
        self._connections: set[socket.socket] = set()

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, peer = super().get_request()
        self._connections.add(connection)
        return connection, peer

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Closes kept-alive connections, which would otherwise occupy their threads until the client leaves."""
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores a client that hangs up in the middle of an answer."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        payload = _respond(self.server.chain, body)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing: the service's own log is the place to look."""


def _respond(chain: AnswersRpc, body: bytes) -> bytes:
    """Returns the JSON body that answers a JSON-RPC body: one call or a batch."""
    try:
        request = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        return msgspec.json.encode(_failed(None, RpcFault(-32700, f"parse error: {error}")))
    if isinstance(request, list):
        return msgspec.json.encode([_respond_one(chain, call) for call in request])
    return msgspec.json.encode(_respond_one(chain, request))


def _respond_one(chain: AnswersRpc, call: Any) -> dict[str, Any]:
    if not isinstance(call, dict) or "method" not in call:
        return _failed(None, RpcFault(-32600, "invalid request"))
    try:
        result = chain.answer(call["method"], call.get("params") or [])
    except RpcFault as fault:
        return _failed(call.get("id"), fault)
    return {"jsonrpc": "2.0", "id": call.get("id"), "result": result}


def _failed(call_id: Any, fault: RpcFault) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, "error": {"code": fault.code, "message": fault.message}}
