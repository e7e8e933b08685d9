"""A fresh anvil per test: it starts in a tenth of a second, so tests don't share one."""

from collections.abc import Iterator

import pytest

from cli.demo.anvil import PRUNED, Anvil


@pytest.fixture
def anvil() -> Iterator[Anvil]:
    """Yields an anvil for chain 8453 that mines each transaction at once, with finalized = head - 2."""
    with Anvil(flags=PRUNED) as running:
        yield running
