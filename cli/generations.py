"""Implements `svc generations`: pushes generations to an object store, follows one, lists generations, rolls back."""

import logging
import logging.config
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from cli.environment import effective_settings, make_data_dir
from cli.logs import configure_logs
from cli.output import operator_problems, print_json, say
from contracts.errors import ForeignGeneration, GenerationBroken, GenerationUnknown, ObjectStoreAway
from contracts.logs import log_config
from contracts.publish.pointers import Pointer
from contracts.settings import Settings
from warehouse.discovery.run_status import RunStatus, read_run_status, update_run_status
from warehouse.duck.connection import run_lock
from warehouse.publish import stored_generations
from warehouse.publish.generations import Manifest, current_generation, current_pointer, kept_manifests, point_to
from warehouse.publish.served_address import served_address
from warehouse.tracing import trace_process

PUSH_EVERY_S = 0.25
FOLLOW_EVERY_S = 0.5
AGAIN_AFTER_S = 2.0
PRUNE_EVERY_S = 600.0
RUNS_EVERY_S = 5.0
LOCK_WAIT_S = 60.0
NAMED_AT_MOST = 5

_log = logging.getLogger(__name__)


def push(*, once: bool, as_json: bool) -> None:
    """Stores each generation of this host as it is published, until stopped."""
    with operator_problems(as_json):
        settings, origin = _settings_and_origin()
        _configure_logs(settings, once=once)
        if once:
            pointer = stored_generations.push(origin, settings.data_dir, datetime.now(UTC))
            _print_taken(
                pointer, as_json, "the generation is stored already, or none is published for this address yet"
            )
            return
        trace_process(settings, "publisher")
        pusher = _Pusher(settings, origin)
        _forever(pusher.look, PUSH_EVERY_S, threading.Event())


def follow(*, once: bool, as_json: bool) -> None:
    """Downloads each generation that the store points to, until stopped."""
    with operator_problems(as_json):
        settings, origin = _settings_and_origin()
        _configure_logs(settings, once=once)
        make_data_dir(settings.data_dir)
        if once:
            _print_taken(
                stored_generations.follow(origin, settings.data_dir), as_json, "the store points to no generation"
            )
            return
        follow_until(threading.Event(), settings, origin)


def _configure_logs(settings: Settings, *, once: bool) -> None:
    """Configures lines without the time for people who wait for the command, and with it for a log."""
    if once:
        configure_logs(settings.log_format)
    else:
        logging.config.dictConfig(log_config(settings.log_format))


def follow_until(stopping: threading.Event, settings: Settings, origin: stored_generations.Origin) -> None:
    """Downloads each generation that the store points to, until `stopping` is set."""
    trace_process(settings, "follower")
    _forever(_Follower(settings, origin).look, FOLLOW_EVERY_S, stopping)


def list_(as_json: bool) -> None:
    with operator_problems(as_json):
        settings = effective_settings()
        current = current_generation(settings.data_dir)
        kept = kept_manifests(settings.data_dir)
        served = served_address(settings.data_dir)
        pointers = (
            stored_generations.valid_pointers(stored_generations.origin_of(settings)) if settings.publish_url else []
        )
    if as_json:
        stored = [
            {"number": p.number, "generation": p.generation, "rolledBackFrom": p.rolled_back_from} for p in pointers
        ]
        is_served = current is not None and served in (None, current.manifest.base_url)
        ids = [manifest.generation for manifest in kept]
        print_json({"ok": True, "served": current.id if current and is_served else None, "kept": ids, "stored": stored})
        return
    for manifest in kept:
        note = _note_of(manifest, served) if current and current.id == manifest.generation else ""
        say(f"here    {manifest.generation}{note}")
    for pointer in pointers:
        back = f"  rolled back from {pointer.rolled_back_from}" if pointer.rolled_back_from else ""
        say(f"stored  {pointer.generation}  pointer {pointer.number}{back}")
    if not (kept or pointers):
        say("no generations")


def rollback(generation_id: str, as_json: bool) -> None:
    """Serves an older generation again: on this host if it is kept here, and on every host that follows the store."""
    with operator_problems(as_json):
        settings = effective_settings()
        manifests = {manifest.generation: manifest for manifest in kept_manifests(settings.data_dir)}
        if generation_id in manifests:
            _refuse_foreign(manifests[generation_id], settings)
        kept = list(manifests)
        pointer = None
        if settings.publish_url:
            pointer = stored_generations.roll_back(
                stored_generations.origin_of(settings), generation_id, datetime.now(UTC)
            )
        elif generation_id not in kept:
            raise GenerationUnknown(
                f"{settings.data_dir} has no generation {generation_id}.",
                cure=f"It has {_newest(kept)}." if kept else "It has no generations.",
            )
        if generation_id in kept:
            with run_lock(settings.data_dir, wait_s=LOCK_WAIT_S):
                point_to(settings.data_dir, generation_id)
    if as_json:
        print_json({"ok": True, "generation": generation_id, "pointer": pointer and pointer.number})
    else:
        say(f"{generation_id} is served until the next one is published")


def _refuse_foreign(manifest: Manifest, settings: Settings) -> None:
    """Raises `ForeignGeneration` if the service that runs here has an address other than the generation's."""
    served = served_address(settings.data_dir)
    if served not in (None, manifest.base_url):
        raise ForeignGeneration(
            f"{manifest.generation} was built for {manifest.base_url}, but the running service is {served}.",
            cure="Choose one that was built for this address, or build a new one with `svc publish`.",
        )


def _note_of(current: Manifest, served: str | None) -> str:
    """Returns the note on the line of the current generation. A running service, whose address is `served`, does not
    serve a generation that was built for another address."""
    if served in (None, current.base_url):
        return "  served"
    return f"  built for {current.base_url}, so the service at {served} does not serve it"


def _newest(kept: Sequence[str]) -> str:
    """Names the newest generations, and the command that lists the others."""
    newest = ", ".join(reversed(kept[-NAMED_AT_MOST:]))
    return newest if len(kept) <= NAMED_AT_MOST else f"{newest} and older ones, which `svc generations list` shows"


class _Pusher:
    """Stores each generation as soon as this host points to it, and the status of the host's jobs; prunes the store."""

    def __init__(self, settings: Settings, origin: stored_generations.Origin) -> None:
        self._settings = settings
        self._origin = origin
        self._pointer: str | None = None
        self._prune_at = 0.0
        self._runs: RunStatus | None = None
        self._runs_at = 0.0

    def look(self) -> None:
        self._push_generation()
        if time.monotonic() >= self._runs_at:
            runs = read_run_status(self._settings.data_dir)
            if runs != self._runs:
                self._origin.store.put_runs(msgspec.json.encode(runs))
            self._runs, self._runs_at = runs, time.monotonic() + RUNS_EVERY_S

    def _push_generation(self) -> None:
        pointer = current_pointer(self._settings.data_dir)
        if pointer is None or pointer == self._pointer:
            return
        now = datetime.now(UTC)
        pushed = stored_generations.push(self._origin, self._settings.data_dir, now)
        self._pointer = pointer
        if pushed is None:
            return
        _log.info("stored %s as pointer %d", pushed.generation, pushed.number)
        if time.monotonic() >= self._prune_at:
            stored_generations.prune(self._origin, now)
            self._prune_at = time.monotonic() + PRUNE_EVERY_S


class _Follower:
    """Downloads each generation as soon as the store points to it."""

    def __init__(self, settings: Settings, origin: stored_generations.Origin) -> None:
        self._settings = settings
        self._origin = origin
        self._number = 0
        self._runs_at = 0.0

    def look(self) -> None:
        self._follow()
        if time.monotonic() >= self._runs_at:
            self._take_runs(self._origin.store.runs())
            self._runs_at = time.monotonic() + RUNS_EVERY_S

    def _take_runs(self, stored: bytes | None) -> None:
        """Stores the status of the publishing host's jobs for `/health` here. Ignores unreadable data."""
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            if stored is not None:
                runs = msgspec.json.decode(stored, type=RunStatus)
                update_run_status(self._settings.data_dir, lambda _: runs)

    def _follow(self) -> None:
        pointer = stored_generations.follow(self._origin, self._settings.data_dir, after=self._number)
        if pointer is not None:
            self._number = pointer.number
            _log.info("took over %s from pointer %d", pointer.generation, pointer.number)


def _forever(look: Callable[[], None], every_s: float, stopping: threading.Event) -> None:
    """Calls `look` until `stopping` is set. Logs a fault once; meanwhile the last generation is still served."""
    said = ""
    while not stopping.is_set():
        try:
            look()
        except (ObjectStoreAway, GenerationBroken) as problem:
            if str(problem) != said:
                _log.warning("%s", problem)
            said = str(problem)
            stopping.wait(AGAIN_AFTER_S)
        else:
            if said:
                _log.warning("The object store can be used again.")
            said = ""
            stopping.wait(every_s)


def _settings_and_origin() -> tuple[Settings, stored_generations.Origin]:
    settings = effective_settings()
    return settings, stored_generations.origin_of(settings)


def _print_taken(pointer: Pointer | None, as_json: bool, otherwise: str) -> None:
    if as_json:
        print_json({"ok": True, "generation": pointer and pointer.generation, "pointer": pointer and pointer.number})
    elif pointer is None:
        say(f"nothing to do: {otherwise}")
    else:
        say(f"{pointer.generation}, pointer {pointer.number}")
