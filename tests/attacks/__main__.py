"""Starts a service, attacks it, prints one line per attack, and exits with 1 if one succeeded: `make attack`.

`--service-from CHECKOUT` starts the service from another checkout, with that checkout's `.venv`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import costs, identity, intake, load, machine, malformed, money, numbers, texts
from .registry import ATTACKS, Attack, Outcome, Phase
from .service import Cost, Service
from .starter import Starter, fresh_installation

FAMILIES = (identity, money, intake, texts, malformed, costs, load, machine, numbers)
"""Imported to register their attacks. Modules whose texts the first pipeline run has to read come first."""
ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="attacks", description=__doc__)
    parser.add_argument("--service-from", type=Path, default=ROOT, help="a checkout whose service is attacked")
    parser.add_argument("--only", nargs="*", help="ids of the attacks to run; default all")
    options = parser.parse_args()
    unknown = set(options.only or ()) - {attack.id for attack in ATTACKS}
    if unknown:
        parser.error(f"no attack is called {', '.join(sorted(unknown))}")
    chosen = sorted((attack for attack in ATTACKS if not options.only or attack.id in options.only), key=_family)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    began = time.monotonic()
    with fresh_installation(options.service_from.resolve()) as starter:
        broken = _run(starter, chosen)
    print(f"{len(chosen)} attacks, {broken} succeeded, {time.monotonic() - began:.0f} s")
    return 1 if broken else 0


def _family(attack: Attack) -> int:
    return FAMILIES.index(sys.modules[attack.run.__module__])


def _run(starter: Starter, chosen: list[Attack]) -> int:
    def tried(phase: Phase) -> int:
        return sum(_tried(attack, service) for attack in chosen if attack.phase is phase)

    def tried_when_complete() -> int:
        starter.wait_until_complete()
        return tried(Phase.WHOLE)

    with starter.chain():
        with starter.service() as service, ThreadPoolExecutor(2) as beside:
            others = [beside.submit(tried, Phase.ASIDE), beside.submit(tried_when_complete)]
            broken = tried(Phase.API) + sum(other.result() for other in others) + tried(Phase.LOAD)
        return broken + tried(Phase.FILES)


def _tried(attack: Attack, service: Service) -> bool:
    """Runs one attack, prints its line, and returns whether it succeeded."""
    cost = Cost()
    began = time.monotonic()
    try:
        if attack.phase in (Phase.API, Phase.LOAD):
            with service.measured() as cost:
                outcome = attack.run(service)
        else:
            outcome = attack.run(service)
    except Exception as error:  # an attack that can't be carried out proves nothing, and may not pass for held
        outcome = Outcome([f"not carried out: {type(error).__name__} {str(error)[:300]}"])
    result = "BROKEN" if outcome.broken else "held"
    wall_s = time.monotonic() - began
    cpu = f"{wall_s:5.1f} s {cost.cpu_s:6.2f} + {cost.children_cpu_s:5.2f} CPU s {cost.growth_mb:+7.1f} MB"
    note = "; ".join(outcome.broken[:4]) or outcome.note
    print(f"{attack.id:<4} {result:<6} {cpu}  {attack.title}{': ' * bool(note)}{note}", flush=True)
    return bool(outcome.broken)


if __name__ == "__main__":
    sys.exit(main())
