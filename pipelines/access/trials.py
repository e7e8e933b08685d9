"""Ends trial keys on a schedule: erases their graphs, and forgets their owners and the networks of the requests."""

from contextlib import closing
from datetime import datetime

from contracts.settings import Settings
from warehouse.access import trials
from warehouse.ledger.ledger import open_ledger


def trials_due(settings: Settings, now: datetime) -> str | None:
    """Returns why trials must be ended, in a few words, or None."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.read() as reader:
        return "a trial is long over" if trials.trials_to_end(reader, now) else None


def end_trials(settings: Settings, now: datetime) -> int:
    """Ends trials as `warehouse.access.trials.end_trials` does. Returns the number of erased graphs."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        return trials.end_trials(ledger, now)
