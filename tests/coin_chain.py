"""A chain in memory that executes the coin's transfers by authorization, and its providers with a fault at one step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from claim_cases import view_of
from claim_payments import USDC
from eth_abi.abi import decode, encode
from eth_account import Account
from eth_account.typed_transactions.typed_transaction import TypedTransaction
from fake_providers import FakeChain, Log, topic, transfer
from hexbytes import HexBytes

from contracts.access.authorizations import TRANSFER_WITH_AUTHORIZATION
from contracts.access.provider_views import Call, Silence, View
from contracts.access.rail import ASSET_NAME, ASSET_VERSION
from contracts.access.settling import CANCELED_TOPIC, USED_TOPIC
from contracts.evm.codec import Fatal, RpcError, keccak256, selector

GAS_PRICE = 10**9


@dataclass(frozen=True)
class Sent:
    """A transaction in the mempool or a block: sender, nonce, recipient and fee."""

    hash: str
    sender: str
    nonce: int
    to: str
    data: str
    fee: int


@dataclass
class CoinChain(FakeChain):
    """Mines each transaction at once, unless `holding`. `coins` and `gas` are balances by address."""

    coins: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    gas: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    nonces: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    spent: set[tuple[str, str]] = field(default_factory=set)
    events: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Topic, authorizer, nonce and transaction of each use or cancellation."""
    waiting: dict[tuple[str, int], Sent] = field(default_factory=dict)
    holding: bool = False
    mute: bool = False
    domain: str = field(default_factory=lambda: DOMAIN_SEPARATOR)
    blocked: set[str] = field(default_factory=set)
    """Payers whose transfers the coin refuses."""
    charged: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Number of times each authorization (payer and nonce) moved money."""

    def accept(self, raw: str) -> str:
        """Accepts a signed transaction. Raises `RpcError` as nodes do."""
        data = bytes.fromhex(raw[2:])
        made = TypedTransaction.from_bytes(HexBytes(data)).as_dict()
        sender = Account.recover_transaction(data).lower()
        to, call = bytes(made["to"]).hex(), bytes(made["data"]).hex()
        fee = made["maxFeePerGas"]
        sent = Sent("0x" + keccak256(data).hex(), sender, made["nonce"], "0x" + to, "0x" + call, fee)
        if sent.nonce < self.nonces[sender]:
            raise RpcError(Fatal(), "nonce too low", code=-32000)
        held = self.waiting.get((sender, sent.nonce))
        if held is not None and held.hash != sent.hash and fee * 10 < held.fee * 11:
            raise RpcError(Fatal(), "replacement transaction underpriced", code=-32000)
        self.waiting[sender, sent.nonce] = sent
        if not self.holding:
            self.run_waiting()
        return sent.hash

    def run_waiting(self) -> None:
        """Mines what can be mined: each sender's transactions in nonce order, none after a gap."""
        mined = True
        while mined:
            mined = False
            for (sender, nonce), sent in sorted(self.waiting.items()):
                if nonce == self.nonces[sender]:
                    del self.waiting[sender, nonce]
                    self._run(sent)
                    mined = True

    def cancel(self, authorizer: str, nonce: str) -> None:
        """Cancels an authorization as `cancelAuthorization` does."""
        self.spent.add((authorizer, nonce))
        logs = [Log(USDC, (CANCELED_TOPIC, topic(authorizer), nonce), "0x")]
        transaction = self.send(logs)
        self.events.append((CANCELED_TOPIC, authorizer, nonce, transaction))
        self.mine(time_s=self.time_s)

    def settle_by_other(self, data: str) -> str:
        """Sends a transfer by authorization from somebody else's account."""
        transaction = "0x" + keccak256(data.encode()).hex()
        self._run(Sent(transaction, "0x" + "0e" * 20, 0, USDC, data, GAS_PRICE))
        return transaction

    def _run(self, sent: Sent) -> None:
        self.nonces[sent.sender] += 1
        moved = self._transfer(sent.data, now_s=self.time_s + 1) if sent.to == USDC else []
        self.sent[sent.hash] = (tuple(moved or ()), "0x0" if moved is None else "0x1")
        if moved:
            payer, nonce = "0x" + moved[0].topics[1][26:], moved[0].topics[2]
            self.events.append((USED_TOPIC, payer, nonce, sent.hash))
            self.charged[payer + nonce] += 1
        self.mempool.append(sent.hash)
        self.mine(time_s=self.time_s + 1)

    def _transfer(self, data: str, *, now_s: int, dry: bool = False) -> list[Log] | None:
        """Returns the logs of a transfer by authorization, or None if it reverts."""
        payer, to, value, after, before, nonce, v, r, s = _decoded(data)
        key = (payer, nonce)
        signed = _signer(payer, to, value, after, before, nonce, v, r, s)
        if not after < now_s < before or key in self.spent or signed != payer or self.coins[payer] < value:
            return None
        if payer in self.blocked:
            return None
        if not dry:
            self.spent.add(key)
            self.coins[payer] -= value
            self.coins[to] += value
        return [Log(USDC, (USED_TOPIC, topic(payer), nonce), "0x"), transfer(USDC, payer, to, value)]

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        match method:
            case "eth_getTransactionCount":
                return hex(self.nonces[params[0]])
            case "eth_getBalance":
                return hex(self.gas[params[0]])
            case "eth_maxPriorityFeePerGas":
                return hex(GAS_PRICE)
            case "eth_sendRawTransaction":
                return self.accept(params[0])
            case "eth_getLogs":
                _, authorizer, nonce = params[0]["topics"]
                return [
                    {"topics": [each, authorizer, nonce], "transactionHash": transaction}
                    for each, payer, used, transaction in self.events
                    if (topic(payer), used) == (authorizer, nonce)
                ]
            case "eth_call":
                return self._call(params[0]["data"])
        found = super().answer(method, params)
        return found | {"baseFeePerGas": hex(GAS_PRICE)} if method == "eth_getBlockByNumber" and found else found

    def _call(self, data: str) -> str:
        kind, rest = data[:10], data[10:]
        if kind == selector("authorizationState(address,bytes32)"):
            return f"0x{int(('0x' + rest[24:64], '0x' + rest[64:]) in self.spent):064x}"
        if kind == selector("balanceOf(address)"):
            return f"0x{self.coins['0x' + rest[24:]]:064x}"
        if kind == selector(TRANSFER_WITH_AUTHORIZATION):
            if self._transfer(data, now_s=self.time_s + 1, dry=True) is None:
                raise RpcError(Fatal(), "execution reverted", code=3)
            return "0x"
        named = {"name()": ASSET_NAME, "version()": ASSET_VERSION}
        for signature, text in named.items():
            if kind == selector(signature):
                return "0x" + encode(["string"], [text]).hex()
        if kind == selector("decimals()"):
            return f"0x{self.decimals:064x}"
        if kind == selector("DOMAIN_SEPARATOR()"):
            return self.domain
        raise AssertionError(f"the coin knows no {kind}")


class Killed(BaseException):
    """Simulates a kill: everything in the process's memory is lost, and nothing is cleaned up."""


class Steps:
    """Counts a process's external effects, and makes something happen at one of these steps.

    `mode` is one of `MODES`; `at` counts from 0. `none` never happens.
    """

    def __init__(self, mode: str = "none", at: int = -1) -> None:
        self.mode, self.at, self.taken, self.dead = mode, at, 0, False

    def begin(self) -> str | None:
        """Called before each step. Returns the mode if it is to happen now."""
        if self.dead:
            raise Killed
        now = self.mode if self.taken == self.at else None
        self.taken += 1
        if now == "killed before":
            self.kill()
        return now

    def end(self, now: str | None) -> None:
        if now == "killed after":
            self.kill()

    def kill(self) -> None:
        self.dead = True
        raise Killed


MODES = ("killed before", "killed after", "silent", "reply lost", "one silent", "one lying")


class SteppedProviders:
    """Two providers of one chain; each call to them is a step."""

    def __init__(self, chain: CoinChain, steps: Steps) -> None:
        self.chain, self.steps = chain, steps

    async def ask(self, calls: Sequence[Call]) -> list[list[Any | RpcError] | Silence]:
        def both() -> list[list[Any | RpcError] | Silence]:
            return [[self._answered(*call) for call in calls] for _ in range(2)]

        return self._step(both, lambda answer: [_lie(each) for each in answer])

    async def views(self, transaction_hash: str) -> list[View | Silence]:
        def both() -> list[View | Silence]:
            return [view_of(self.chain, transaction_hash, name) for name in "ab"]

        return self._step(both, lambda view: View(view.provider, view.chain_id))

    async def send(self, raw: str) -> None:
        await self.ask([("eth_sendRawTransaction", [raw])])

    def _answered(self, method: str, params: Sequence[Any]) -> Any | RpcError:
        try:
            return self.chain.answer(method, params)
        except RpcError as error:
            return error

    def _step(self, both: Callable[[], list[Any]], lie: Callable[[Any], Any]) -> list[Any]:
        now = self.steps.begin()
        if now == "silent" or self.chain.mute:
            return [Silence("a", "timeout"), Silence("b", "timeout")]
        answers = both()
        self.steps.end(now)
        if now == "reply lost":
            return [Silence("a", "timeout"), Silence("b", "timeout")]
        if now == "one silent":
            return [answers[0], Silence("b", "timeout")]
        return [answers[0], lie(answers[1])] if now == "one lying" else answers


def _lie(answer: Any) -> Any:
    if isinstance(answer, str) and answer.startswith("0x") and len(answer) > 2:
        return hex(int(answer, 16) + 5) if len(answer) < 66 else "0x" + f"{(int(answer[2:66], 16) + 5) % 2**256:064x}"
    return answer


def _decoded(data: str) -> tuple[str, str, int, int, int, str, int, bytes, bytes]:
    kinds = ["address", "address", "uint256", "uint256", "uint256", "bytes32", "uint8", "bytes32", "bytes32"]
    payer, to, value, after, before, nonce, v, r, s = decode(kinds, bytes.fromhex(data[10:]))
    return payer, to, value, after, before, "0x" + nonce.hex(), v, r, s


def _signer(
    payer: str, to: str, value: int, after: int, before: int, nonce: str, v: int, r: bytes, s: bytes
) -> str | None:
    from x402.mechanisms.evm.eip712 import hash_eip3009_authorization
    from x402.mechanisms.evm.types import ExactEIP3009Authorization
    from x402.mechanisms.evm.verify import verify_eoa_signature

    signed = ExactEIP3009Authorization(payer, to, str(value), str(after), str(before), nonce)
    digest = hash_eip3009_authorization(signed, 8453, USDC, ASSET_NAME, ASSET_VERSION)
    return payer if verify_eoa_signature(digest, r + s + bytes([v]), payer) else None


def _separator() -> str:
    from x402.mechanisms.evm.eip712 import hash_domain
    from x402.mechanisms.evm.types import TypedDataDomain

    return "0x" + hash_domain(TypedDataDomain(ASSET_NAME, ASSET_VERSION, 8453, USDC)).hex()


DOMAIN_SEPARATOR: str = _separator()
