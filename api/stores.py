"""The stores that the rooms share, each opened on first use, and the settings."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from contracts.errors import OperatorProblem
from contracts.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from api.workers import WorkerPool
    from contracts.secrets import DerivedSecrets
    from guardrail.engine import Guardrail
    from warehouse.access.signing_keys import SigningKeys
    from warehouse.guardrail.log import GuardrailLog
    from warehouse.ledger.counters import Counters
    from warehouse.ledger.ledger import Ledger
    from warehouse.publish.serving import ServedGenerations
    from warehouse.world.served import ServedGraph

LEDGER_WAIT_S = 2.0
COUNTERS_WAIT_S = 0.25


class Stores:
    """The stores of one process, shared by its threads. `counters` are the front's, if it has opened them.

    `load_guardrail` is called at each use and returns the guardrail, by default the one of this installation.
    """

    def __init__(
        self,
        settings: Settings,
        counters: Counters | None = None,
        *,
        workers: WorkerPool | None = None,
        load_guardrail: Callable[[], Guardrail] | None = None,
    ) -> None:
        from warehouse.publish.serving import ServedGenerations

        self.settings = settings
        self.served: ServedGenerations = ServedGenerations(settings.data_dir)
        self._lock = threading.Lock()
        self._ledger: Ledger | None = None
        self._counters = counters
        self._secrets: DerivedSecrets | None = None
        self._signing_keys: SigningKeys | None = None
        self._load_guardrail = load_guardrail or _guardrail_of_this_installation
        self._guardrail_log: GuardrailLog | None = None
        self._graph: ServedGraph | None = None
        self._workers = workers

    @property
    def ledger(self) -> Ledger:
        """The open ledger. Raises `StoreBusy`, `StoreUnusable`, `StoreTooNew`."""
        from warehouse.ledger.ledger import open_ledger

        with self._lock:
            if self._ledger is None:
                self._ledger = open_ledger(self.settings, self.settings.data_dir, wait_s=LEDGER_WAIT_S)
            return self._ledger

    @property
    def secrets(self) -> DerivedSecrets:
        """The secrets derived from the master secret. Raises `SettingsInvalid`, `StoreUnusable`."""
        from warehouse.ledger.master_secret import load_secrets

        with self._lock:
            if self._secrets is None:
                self._secrets = load_secrets(self.settings)
            return self._secrets

    @property
    def counters(self) -> Counters:
        """The counters of rates and quotas. Raises `StoreBusy`, `StoreUnusable`."""
        from warehouse.ledger.counters import open_counters

        with self._lock:
            if self._counters is None:
                self._counters = open_counters(self.settings, self.settings.data_dir, wait_s=COUNTERS_WAIT_S)
            return self._counters

    def now(self) -> datetime:
        """Returns the current instant in UTC; on PostgreSQL, by the clock that all hosts share."""
        now_s = time.time() if self.settings.ledger_url is None else self.counters.now_s()
        return datetime.fromtimestamp(now_s, UTC)

    @property
    def signing_keys(self) -> SigningKeys:
        """The keys that sign quotes and receipts. Raises `SettingsInvalid`."""
        from warehouse.access.signing_keys import SigningKeys

        with self._lock:
            if self._signing_keys is None:
                self._signing_keys = SigningKeys(self.settings)
            return self._signing_keys

    @property
    def guardrail(self) -> Guardrail:
        """The guardrail with its catalogue and policy. Raises `RulesetInvalid`."""
        return self._load_guardrail()

    def guardrail_problem(self) -> str | None:
        """Returns why nothing can be judged, or None."""
        try:
            self._load_guardrail()
        except OperatorProblem as problem:
            return problem.what
        return None

    @property
    def guardrail_log(self) -> GuardrailLog:
        """The open log of guardrail checks. Raises `StoreBusy`, `StoreUnusable`."""
        from warehouse.guardrail.log import open_guardrail_log

        with self._lock:
            if self._guardrail_log is None:
                self._guardrail_log = open_guardrail_log(self.settings, self.settings.data_dir, wait_s=LEDGER_WAIT_S)
            return self._guardrail_log

    @property
    def graph(self) -> ServedGraph:
        """The graph: snapshot and overlay."""
        from warehouse.world.served import ServedGraph

        with self._lock:
            if self._graph is None:
                self._graph = ServedGraph(self.settings.data_dir, lambda: self.ledger)
            return self._graph

    @property
    def workers(self) -> WorkerPool:
        """The process pool for heavy work. Opening it starts no process."""
        from api.workers import WorkerPool

        with self._lock:
            if self._workers is None:
                self._workers = WorkerPool()
            return self._workers

    def ledger_reachable(self) -> bool:
        """Returns True if the ledger answers a query now."""
        try:
            self.ledger.head()
        except OperatorProblem:
            return False
        return True

    def close(self) -> None:
        """Closes the opened stores, which can't be used afterwards."""
        self.served.close()
        if self._guardrail_log is not None:
            self._guardrail_log.close()
        if self._counters is not None:
            self._counters.close()
        if self._ledger is not None:
            self._ledger.close()


def _guardrail_of_this_installation() -> Guardrail:
    from contracts.guardrail import loaded_guardrail

    return loaded_guardrail()
