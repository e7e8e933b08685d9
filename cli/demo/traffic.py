"""Generates traffic on the running demo chain: a few transfers now and then, and empty heartbeat blocks in between."""

import random
import threading
import time
from typing import Final, Literal, Self

import httpx

from cli.demo.happenings import NEWEST_USD, Happening, attestation, next_price, price_set, trade
from cli.demo.history import LAUNCH, PEOPLE, POOL, person, plan_traffic
from cli.demo.rpc import Rpc, RpcError, calldata
from cli.demo.write import DemoContracts, move_calldata

HEARTBEAT_S: Final = 10.0
_CAST: Final = 24
_GIFT_WEI: Final = 10**16
_GIFT_EVERY: Final = 12
_TRADE_EVERY: Final = 3
_ATTESTATION_EVERY: Final = 8
PRICE_EVERY_S: Final = 300.0
"""Well within the heartbeat that readers of the feed expect."""

_GAS: Final = 10_000_000

_SHORTEST_WAIT_S: Final = 1.0
"""Shortest wait between two rounds, also while the node refuses calls."""


def pause_s(age_s: float) -> float:
    """Returns the seconds until the next transfers: few at first, more later, so that days of running stay small."""
    return min(60.0, 4.0 + age_s / 60)


def next_step(until_due_s: float, silence_s: float) -> Literal["transfers", "heartbeat"] | None:
    """Chooses transfers if they are due, or a heartbeat block if there was no block for too long."""
    if until_due_s <= 0:
        return "transfers"
    return "heartbeat" if silence_s >= HEARTBEAT_S else None


def wait_s(until_due_s: float, until_price_s: float, silence_s: float) -> float:
    """Returns the seconds until there is something to do. Polling the node every second cost more than the work."""
    return max(_SHORTEST_WAIT_S, min(until_due_s, until_price_s, HEARTBEAT_S - silence_s))


class Traffic:
    """Sends transfers from its own thread until stopped. The node mines each transaction at once.

    Sends nothing while another thread holds `quiet`.
    """

    def __init__(self, rpc_url: str, contracts: DemoContracts, quiet: threading.Lock) -> None:
        self._quiet = quiet
        self._rpc = Rpc(rpc_url, timeout_s=10.0)
        self._contracts = contracts
        self._rng = random.Random()  # noqa: S311 - made-up traffic, not a secret
        self._usd = NEWEST_USD
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo traffic", daemon=True)

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stops the traffic and waits until nothing more will be sent."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._rpc.close()

    def _run(self) -> None:
        started = time.monotonic()
        due = price_due = started
        sent = 0
        pause = _SHORTEST_WAIT_S
        while not self._stopping.wait(pause):
            pause = _SHORTEST_WAIT_S
            try:
                with self._quiet:
                    if time.monotonic() >= price_due:
                        self.set_price()
                        price_due = time.monotonic() + PRICE_EVERY_S
                    match next_step(due - time.monotonic(), self._silence_s()):
                        case "transfers":
                            self.send_transfers(sent)
                            sent += 1
                            due = time.monotonic() + pause_s(time.monotonic() - started)
                        case "heartbeat":
                            self._rpc.call("evm_mine")
                    now = time.monotonic()
                    pause = wait_s(due - now, price_due - now, self._silence_s())
            except (httpx.HTTPError, RpcError):
                # `DemoChain`'s caller notices and reports a dead node; a busy one is retried.
                continue

    def _silence_s(self) -> float:
        latest = self._rpc.call("eth_getBlockByNumber", "latest", False)
        return time.time() - int(latest["timestamp"], 16)

    def set_price(self) -> None:
        """Writes a fresh answer to the feed, because readers reject one that is older than its heartbeat."""
        self._usd = next_price(self._rng, self._usd)
        self._send([price_set(self._contracts.scene(self._rpc.call("eth_accounts")), self._usd)])

    def send_transfers(self, sent: int) -> None:
        """Sends some transfers and, at intervals, native coin for the bidwall, a trade or an attestation."""
        scene = self._contracts.scene(self._rpc.call("eth_accounts"))
        movements = plan_traffic(self._rng, self._balances_of_a_cast())
        happenings = [Happening(scene.maker, scene.token, move_calldata(movements))]
        if sent % _GIFT_EVERY == _GIFT_EVERY - 1:
            happenings.append(Happening(scene.accounts[2], scene.bidwall, "0x", _GIFT_WEI))
        if sent % _TRADE_EVERY == _TRADE_EVERY - 1:
            happenings.append(trade(scene, self._rng))
        if sent % _ATTESTATION_EVERY == _ATTESTATION_EVERY - 1:
            attester, agent = self._rng.choice(scene.attesters), self._rng.choice(scene.agents)
            job = f"demo traffic {self._rng.getrandbits(64):x}"
            happenings.append(attestation(scene, attester, agent, self._rng.randint(40, 100), job))
        self._send(happenings)

    def _send(self, happenings: list[Happening]) -> None:
        # One after the other: a node processes a batch concurrently and may give two of one sender the same nonce.
        for happening in happenings:
            self._rpc.call("eth_sendTransaction", happening.transaction(_GAS))

    def _balances_of_a_cast(self) -> dict[str, int]:
        cast = [POOL, LAUNCH, *(person(number) for number in self._rng.sample(range(PEOPLE), _CAST))]
        calls = [
            {"to": self._contracts.token_address, "data": calldata("balanceOf(address)", address)} for address in cast
        ]
        answers = self._rpc.batch([("eth_call", [call, "latest"]) for call in calls])
        return {address: int(answer, 16) for address, answer in zip(cast, answers, strict=True)}
