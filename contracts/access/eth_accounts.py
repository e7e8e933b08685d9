"""Imports `eth_account` for this process, on first use, because the import takes a sixth of a second. No other module
imports it.

Its dependency py_ecc raises the recursion limit of the process to 100,000. At that limit 1 MB of nested JSON overflows
the C stack and kills the process, where Python otherwise raises `RecursionError`. This module therefore restores the
limit.
"""

import sys
from functools import cache
from threading import Lock
from types import ModuleType

from contracts.stand_ins import stand_ins

_importing = Lock()

_PAIRINGS: dict[str, dict[str, object]] = {
    "py_ecc.bls": {"G2ProofOfPossession": None},
    "py_ecc.bls12_381": {"curve_order": 1},
}
"""Modules that compute tables of their curve during import, which takes four times as long as everything else, with the
names that `eth_keyfile` gets instead. It then refuses every key for a keystore of an Ethereum validator, which this
service never creates."""


@cache
def eth_account() -> ModuleType:
    """Returns the package with its submodule `messages`. The recursion limit remains unchanged."""
    # The lock keeps another thread from reading the raised limit as the one to restore.
    with _importing:
        limit = sys.getrecursionlimit()
        with stand_ins(_PAIRINGS):
            import eth_account
            import eth_account.messages

        sys.setrecursionlimit(limit)
    return eth_account
