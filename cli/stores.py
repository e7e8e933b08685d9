"""Opens the stores on which the operator's commands work."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cli.environment import effective_settings, make_data_dir
from contracts.errors import StoreUnusable
from contracts.settings import Settings
from warehouse.ledger.engine import ledger_location
from warehouse.ledger.ledger import Ledger, open_ledger


@contextmanager
def opened_ledger() -> Iterator[tuple[Settings, Ledger]]:
    """Opens the ledger of this environment and closes it at the end. Also yields the settings that name it."""
    settings = effective_settings()
    make_data_dir(settings.data_dir)
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        yield settings, ledger


@contextmanager
def existing_ledger() -> Iterator[tuple[Settings, Ledger]]:
    """Opens the ledger for a command that shows or changes its contents.

    Raises `StoreUnusable` if there is none. Creating an empty one would answer "nothing" on the service's behalf and
    hide that the command has other settings than the service.
    """
    settings = effective_settings()
    location = ledger_location(settings.ledger_url, settings.data_dir)
    if isinstance(location, Path) and not location.exists():
        raise StoreUnusable(
            f"There is no ledger in {settings.data_dir}, so nothing has run there.",
            cure="Run this with the settings of the service, such as SVC_DATA_DIR and SVC_RPC_URLS, or start it first.",
        )
    with opened_ledger() as opened:
        yield opened
