"""A server that is killed, or loses its ledger, at a step of settling a signed payment: the test covers some steps, a
soak all of them.

A node in front of a real chain sees each step of the server, and strikes there. The buyer behaves as every x402 client
does that got no answer: it repeats the same request with the same signature.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from claim_kills import Server
from claim_store import unsound
from fault_node import Call, Fault, FaultNode, Reply
from keyed_service import with_secrets
from lying_nodes import Through
from paid_service import TREASURY
from patience import HANG_S
from signing_wallets import BUYER, CHECK, CHECKED, RELAYER, header, offered, payment
from sqlalchemy import text

from cli.demo.anvil import Anvil, free_port
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.access.authorizations import MOST_AHEAD_S, TRANSFER_WITH_AUTHORIZATION
from contracts.access.settling import USED_TOPIC
from contracts.evm.codec import selector
from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger


@dataclass(frozen=True)
class Step:
    """A call of the server to its node, before or after which it is killed."""

    when: Literal["before", "after"]
    method: str
    data: str = ""
    """Prefix of the data of an `eth_call`."""

    def is_at(self, method: str, params: Sequence[Any]) -> bool:
        return method == self.method and (not self.data or str(params[0].get("data", "")).startswith(self.data))


SIMULATION = ("eth_call", selector(TRANSFER_WITH_AUTHORIZATION))
STEPS = (
    Step("before", "eth_sendRawTransaction"),
    Step("before", *SIMULATION),
    Step("after", *SIMULATION),
    Step("after", "eth_sendRawTransaction"),
    Step("before", "eth_getTransactionReceipt"),
    Step("after", "eth_getTransactionReceipt"),
)
"""At a simulation nothing is stored yet. Then a transaction is stored, sent, and seen in a block."""


@dataclass
class Outcome:
    """The results of the purchases: their answers, and the final contents of chain and ledger."""

    kills: int = 0
    unanswered: int = 0
    refusals: set[str] = field(default_factory=set)
    """Codes of the problems that delayed a purchase."""
    answers: list[str] = field(default_factory=list)
    other_answers: int = 0
    charged: list[int] = field(default_factory=list)
    """What each purchase cost, in smallest units."""
    used: int = 0
    """Authorizations that the coin has accepted."""
    paid: int = 0
    paid_without_answer: int = 0
    unsound: set[str] = field(default_factory=set)


class Killing:
    """Kills a server, or a service that it needs, once, when it reaches a step."""

    def __init__(self, anvil: Anvil) -> None:
        self.chain = Through(anvil, self._after)
        self.step: Step | None = None
        self.kill: Callable[[], None] = lambda: None

    def fault(self, method: str) -> Fault:
        def reply(call: Call) -> Reply | None:
            return Reply(b"", 500) if self._strikes("before", method, call["params"]) else None

        return Fault(method, reply)

    def _after(self, method: str, params: Sequence[Any], truth: Any) -> Any:
        # A transaction that is in no block has no receipt: the step is the one that sees it there.
        if truth is not None:
            self._strikes("after", method, params)
        return truth

    def _strikes(self, when: str, method: str, params: Sequence[Any]) -> bool:
        step = self.step
        if step is None or step.when != when or not step.is_at(method, params):
            return False
        self.step = None
        self.kill()
        return True


def killed_at(
    settings: Settings, anvil: Anvil, steps: Sequence[Step], strike: Callable[[], None] | None = None
) -> Outcome:
    """Buys once for each step, and kills the server there, or calls `strike`; then reads the state of chain and
    ledger."""
    outcome, killing = Outcome(), Killing(anvil)
    deployer = anvil.rpc.call("eth_accounts")[0]
    coin = deploy(anvil.rpc, deployer, "UsdcStandIn")
    mint = {"from": deployer, "to": coin, "data": calldata("mint(address,uint256)", BUYER.address, 10**9)}
    mined_receipt(anvil.rpc, anvil.rpc.call("eth_sendTransaction", mint | {"gas": hex(10**6)}))
    anvil.rpc.call("anvil_setBalance", RELAYER.address, hex(10**18))
    key_file = settings.data_dir / "relayer.key"
    key_file.write_text(RELAYER.key.hex())

    def held() -> int:
        data = calldata("balanceOf(address)", TREASURY)
        return int(anvil.rpc.call("eth_call", {"to": coin, "data": data}, "latest"), 16)

    with FaultNode(killing.chain, *map(killing.fault, {step.method for step in STEPS})) as node:
        given = {
            "port": free_port(),
            "rpc_urls": (node.url,),
            "usdc_address": coin,
            "treasury_address": TREASURY,
            "relayer_key_file": key_file,
            "claim_confirmations": 1,
            "rate_limit_per_minute": 0,
            "base_url": None,
        }
        settings = with_secrets(settings.model_copy(update=given))
        server = Server(settings, workers=1)
        killing.kill = strike or server.kill
        try:
            server.start()
            for step in steps:
                before = held()
                _buy(server, killing, step, outcome)
                outcome.charged.append(held() - before)
        finally:
            killing.step = None
            server.stop()
    logs = {"fromBlock": "0x0", "toBlock": "latest", "address": coin, "topics": [USED_TOPIC]}
    outcome.used = len(anvil.rpc.call("eth_getLogs", logs))
    _account(settings, outcome)
    return outcome


def _buy(server: Server, killing: Killing, step: Step, outcome: Outcome) -> None:
    with httpx.Client(base_url=server.settings.public_base_url, timeout=HANG_S, trust_env=False) as client:
        deadline = time.monotonic() + HANG_S
        while (asked := client.post(CHECK, json=CHECKED)).status_code == 401:  # until it knows that it can settle
            assert time.monotonic() < deadline, asked.text
            time.sleep(0.1)
        required = offered(asked)
        signed = header(payment(required, validBefore=str(int(time.time()) + MOST_AHEAD_S - 60)))
        killing.step = step
        answer: httpx.Response | None = None
        deadline = time.monotonic() + HANG_S
        while answer is None or answer.status_code in (202, 503):
            assert time.monotonic() < deadline, "no answer" if answer is None else answer.text
            try:
                answer = client.post(CHECK, json=CHECKED, headers=signed)
                if answer.status_code == 503:
                    outcome.refusals.add(answer.json()["code"])
            except httpx.HTTPError:
                outcome.unanswered += 1
                assert server.process is not None
                server.process.wait()
                outcome.kills += 1
                server.start()
        assert answer.status_code == 200, answer.text
        assert killing.step is None, f"it never came to {step}"
        outcome.answers.append(answer.text)
        again = client.post(CHECK, json=CHECKED, headers=signed)
        outcome.other_answers += again.text != answer.text


def _account(settings: Settings, outcome: Outcome) -> None:
    ledger = open_ledger(settings, settings.data_dir)
    try:
        with ledger._readers.begin() as connection:
            rows = connection.execute(text("select state, answer from access_authorizations")).all()
        outcome.unsound = unsound(ledger)
    finally:
        ledger.close()
    outcome.paid = sum(state == "paid" for state, _ in rows)
    outcome.paid_without_answer = sum(state == "paid" and answer is None for state, answer in rows)
