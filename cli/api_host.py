"""Implements `svc api`: an API host without a pipeline, which serves what the object store points to."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.environment import command_environment, effective_settings, make_data_dir
from cli.generations import follow_until
from cli.logs import configure_logs
from cli.output import operator_problems, print_json, progress_line, say
from cli.ports import require_free_port
from cli.serve import STOP_WITHIN_S, refuse_foreign_generation
from cli.supervise import Children, PartEnded, end_leftovers, only_one
from contracts.errors import SettingsInvalid
from contracts.secrets import require_secrets
from contracts.settings import PREFIX, Settings
from warehouse.discovery.processes import CHILDREN_FILE
from warehouse.publish.stored_generations import Origin, origin_of

SVC = Path(sys.executable).with_name("svc")
LOOK_EVERY_S = 0.2
FOLLOWER_ENDS_S = 1.0
SHARED = ("publish_url", "ledger_url", "master_secret", "signing_key_file")
"""Settings that all hosts share."""


def api(workers: int, as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        require_shared(settings)
        require_secrets(settings)
        origin = origin_of(settings)
        make_data_dir(settings.data_dir)
        refuse_foreign_generation(settings)
        configure_logs(settings.log_format)
        with only_one(settings.installation_dir / "service.lock"):
            record = settings.installation_dir / CHILDREN_FILE
            end_leftovers(record)  # they occupy the port
            require_free_port(settings.host, settings.port, "SVC_PORT")
            if as_json:
                print_json({"ok": True, "baseUrl": settings.public_base_url, "host": settings.host_named})
            else:
                say(progress_line("api", f"{settings.listens_at} serves what {origin.store.url} points to"))
            with _following(settings, origin):
                _serve(settings, Children(record, settings.drain_seconds + STOP_WITHIN_S + 1.0), workers)


def require_shared(settings: Settings) -> None:
    """Raises `SettingsInvalid`, naming all that is missing, if this host would not have the store, keys, quotas and
    graph of the others."""
    missing = [PREFIX + name.upper() for name in SHARED if getattr(settings, name) is None]
    if missing:
        raise SettingsInvalid(
            f"An API host needs settings that are not set here: {', '.join(missing)}.",
            cure="Set them as docs/operations.md shows under `More than one machine`, or use `svc serve`.",
        )


@contextmanager
def _following(settings: Settings, origin: Origin) -> Iterator[None]:
    """Downloads new generations in a thread while the context is open.

    A generation that is still incomplete at the end is left behind and swept by the next start, as after a kill.
    """
    stopping = threading.Event()
    follower = threading.Thread(target=follow_until, args=(stopping, settings, origin), name="follower", daemon=True)
    follower.start()
    try:
        yield
    finally:
        stopping.set()
        follower.join(FOLLOWER_ENDS_S)


def _serve(settings: Settings, children: Children, workers: int) -> None:
    """Keeps `svc serve` running until a signal arrives. Raises `PartEnded` if it ends repeatedly."""
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    command = [str(SVC), "serve", "--workers", str(workers)]
    children.start("api", command, command_environment(settings), restarted=True)
    try:
        while not stopping.wait(LOOK_EVERY_S):
            for name in children.restart_ended():
                say(progress_line("restarted", f"the {name}, which had stopped by itself"))
            for name, code in children.ended().items():
                raise PartEnded(f"The {name} ended with {code}.", cure="See its message above for the reason.")
    finally:
        children.stop()
