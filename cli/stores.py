"""Opens the stores that commands of the operator work on."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from cli.environment import effective_settings, make_data_dir
from contracts.settings import Settings
from warehouse.ledger.ledger import Ledger, open_ledger


@contextmanager
def opened_ledger() -> Iterator[tuple[Settings, Ledger]]:
    """Opens the ledger of this environment and closes it at the end. Yields the settings that name it, too."""
    settings = effective_settings()
    make_data_dir(settings.data_dir)
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        yield settings, ledger
