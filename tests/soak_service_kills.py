"""`svc run` with each of its processes killed in turn while a buyer buys; run by `make soak`.

No acknowledged claim may be lost or doubled. Killed are the API, Dagster's web server, daemon and code server, and
`svc run` itself; the service ends where a part of it has ended, and is started again, as an operator does it.
"""

import random
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from tests.attacks.service import CLAIM, Service, claim_body
from tests.attacks.starter import fresh_installation

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("svc serve", "svc run", "dagster-webserver", "dagster-daemon", "dagster api grpc")
BOUGHT_BETWEEN = 3
BUYS_WITHIN_S = 600.0


class Buyer(threading.Thread):
    """Buys one key after the other, with one Idempotency-Key a quote, and repeats what got no answer."""

    def __init__(self, service: Service) -> None:
        super().__init__(daemon=True)
        self.service = service
        self.over = threading.Event()
        self.keys: dict[str, tuple[dict[str, str], str]] = {}
        self.unanswered = 0

    def run(self) -> None:
        while not self.over.is_set():
            try:
                payer = self.service.wallet()
                quote = self.service.quote(payer)
                body = claim_body(quote, self.service.pay(quote, payer))
            except (httpx.TransportError, AssertionError):
                self.unanswered += 1
                time.sleep(0.2)
                continue
            key = self._claimed(quote["quoteId"], body)
            if key is not None:
                self.keys[quote["quoteId"]] = (body, key)

    def _claimed(self, quote_id: str, body: dict[str, str]) -> str | None:
        while not self.over.is_set():
            try:
                answer = self.service.post(CLAIM, body, None, Idempotency_Key=quote_id)
            except httpx.TransportError:
                self.unanswered += 1
            else:
                if answer.status_code == 201:
                    return str(answer.json()["data"]["activationPacket"]["apiKey"])
                assert answer.status_code in (202, 409, 503), answer.text
            time.sleep(0.2)
        return None

    def wait_for(self, more: int) -> None:
        wanted, deadline = len(self.keys) + more, time.monotonic() + BUYS_WITHIN_S
        while len(self.keys) < wanted:
            assert time.monotonic() < deadline and self.is_alive(), "nothing can be bought any more"
            time.sleep(0.05)


def main() -> None:
    rng = random.SystemRandom()
    with fresh_installation(ROOT) as starter, starter.chain():
        with starter.service() as service:
            buyer = Buyer(service)
            buyer.start()
            buyer.wait_for(BOUGHT_BETWEEN)
        for part in PARTS:
            with starter.whole(service):
                buyer.wait_for(BOUGHT_BETWEEN)
                time.sleep(rng.uniform(0.0, 1.0))
                killed = kill(service.pid, part)
                ended = _ended(service.pid)
            print(f"{part}: {killed} killed, the service {'ended' if ended else 'went on'}", flush=True)
            assert killed, f"no process of {part}"
        with starter.whole(service):
            buyer.wait_for(BOUGHT_BETWEEN)
            buyer.over.set()
            buyer.join()
            keys = [key for _, key in buyer.keys.values()]
            again = {
                quote: service.post(CLAIM, body, None, Idempotency_Key=quote) for quote, (body, _) in buyer.keys.items()
            }
        lost = [
            quote
            for quote, (_, key) in buyer.keys.items()
            if again[quote].status_code != 201 or again[quote].json()["data"]["activationPacket"]["apiKey"] != key
        ]
    doubled = len(keys) - len(set(keys))
    print(f"{len(keys)} keys bought, {buyer.unanswered} requests unanswered, lost {len(lost)}, doubled {doubled}")
    assert (lost, doubled) == ([], 0)


def kill(pid: int, part: str) -> int:
    """Kills the processes of a part under `pid`, and says how many."""
    killed = 0
    root = psutil.Process(pid)
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.Error):
            if part in " ".join(process.cmdline()):
                process.kill()
                killed += 1
    return killed


def _ended(pid: int, within_s: float = 20.0) -> bool:
    """Whether `svc run` ends by itself."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess):
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.2)
                continue
        return True
    return False


if __name__ == "__main__":
    main()
