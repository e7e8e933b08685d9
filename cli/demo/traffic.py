"""A little life on the running demo chain: a few transfers now and then, and a heartbeat block when nothing happens."""

from __future__ import annotations

import random
import threading
import time
from typing import Final, Literal, Self

import httpx

from cli.demo.history import LAUNCH, PEOPLE, POOL, Movement, person, plan_traffic
from cli.demo.rpc import Rpc, RpcError, calldata
from cli.demo.write import DemoContracts, move_calldata

HEARTBEAT_S: Final = 10.0
_CAST: Final = 24
_GIFT_WEI: Final = 10**16
_GIFT_EVERY: Final = 12


def pause_s(age_s: float) -> float:
    """Seconds until the next transfers: lively at first, calmer later, so that days of running stay small."""
    return min(60.0, 4.0 + age_s / 60)


def next_step(until_due_s: float, silence_s: float) -> Literal["transfers", "heartbeat"] | None:
    """What to do now: transfers when they are due, else a block when there was none for too long."""
    if until_due_s <= 0:
        return "transfers"
    return "heartbeat" if silence_s >= HEARTBEAT_S else None


class Traffic:
    """Sends transfers from a thread of its own until stopped. The node mines each transaction at once."""

    def __init__(self, rpc_url: str, contracts: DemoContracts) -> None:
        self._rpc = Rpc(rpc_url, timeout_s=10.0)
        self._contracts = contracts
        self._rng = random.Random()  # noqa: S311 - made-up traffic, not a secret
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo traffic", daemon=True)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Return once nothing more will be sent."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._rpc.close()

    def _run(self) -> None:
        started = time.monotonic()
        due = started
        sent = 0
        while not self._stopping.wait(1.0):
            try:
                match next_step(due - time.monotonic(), self._silence_s()):
                    case "transfers":
                        self._send_transfers(gift=sent % _GIFT_EVERY == _GIFT_EVERY - 1)
                        sent += 1
                        due = time.monotonic() + pause_s(time.monotonic() - started)
                    case "heartbeat":
                        self._rpc.call("evm_mine")
            except (httpx.HTTPError, RpcError):
                # The chain's owner notices a dead node and says so; a busy one is tried again.
                continue

    def _silence_s(self) -> float:
        latest = self._rpc.call("eth_getBlockByNumber", "latest", False)
        return time.time() - int(latest["timestamp"], 16)

    def _send_transfers(self, *, gift: bool) -> None:
        movements = plan_traffic(self._rng, self._balances_of_a_cast())
        owner, _, giver, *_ = self._rpc.call("eth_accounts")
        transactions = [self._move(owner, movements)]
        if gift:
            transactions.append({"from": giver, "to": self._contracts.bidwall_address, "value": hex(_GIFT_WEI)})
        self._rpc.batch([("eth_sendTransaction", [transaction]) for transaction in transactions])

    def _move(self, owner: str, movements: list[Movement]) -> dict[str, str]:
        data = move_calldata(movements)
        return {"from": owner, "to": self._contracts.token_address, "data": data, "gas": hex(10_000_000)}

    def _balances_of_a_cast(self) -> dict[str, int]:
        cast = [POOL, LAUNCH, *(person(number) for number in self._rng.sample(range(PEOPLE), _CAST))]
        calls = [
            {"to": self._contracts.token_address, "data": calldata("balanceOf(address)", address)} for address in cast
        ]
        answers = self._rpc.batch([("eth_call", [call, "latest"]) for call in calls])
        return {address: int(answer, 16) for address, answer in zip(cast, answers, strict=True)}
