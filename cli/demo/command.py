"""Implements `svc demo`: runs only the local chain, in the foreground."""

import signal
import threading
from typing import Final

from cli.output import note, operator_problems, print_json, say
from contracts.errors import DemoChainLost
from contracts.settings import load_settings

_LOOK_EVERY_S: Final = 1.0


def demo(*, reset: bool, as_json: bool) -> None:
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    with operator_problems(as_json):
        _run_chain(stopping, reset=reset, as_json=as_json)


def _run_chain(stopping: threading.Event, *, reset: bool, as_json: bool) -> None:
    # The chain's imports are slow, and no other command needs them.
    from cli.demo.chain import DemoChain

    chain = DemoChain.start(load_settings().data_dir, say=note if as_json else say, reset=reset)
    try:
        chain.start_traffic()
        facts = {name: value for name, value in chain.settings.items() if name not in ("rpc_urls", "data_dir")}
        shown = {
            "rpc_url": chain.rpc_url,
            **facts,
            "data_dir": str(chain.settings["data_dir"]),
            "paid_flow": chain.paid_flow,
        }
        if as_json:
            print_json(shown)
        else:
            for name, value in shown.items():
                say(f"  {name:20} {value}")
            say("Ctrl-C stops it; the next run continues from there.")
        while not stopping.wait(_LOOK_EVERY_S):
            if not chain.running():
                raise DemoChainLost("The local chain has stopped by itself.", cure="Run `svc demo` again.")
    finally:
        chain.stop()
