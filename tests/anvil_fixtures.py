"""A fresh anvil for a test: it starts in a tenth of a second, so no test shares one."""

from collections.abc import Iterator

import pytest

from cli.demo.anvil import PRUNED, Anvil


@pytest.fixture
def anvil() -> Iterator[Anvil]:
    """Chain 8453, mining each transaction at once, finalized = head - 2."""
    with Anvil(flags=PRUNED) as running:
        yield running
