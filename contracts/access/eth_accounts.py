"""Imports `eth_account` for this process. Nothing else does: the import takes a sixth of a second, on first use.

Its dependency py_ecc raises the recursion limit of the process to 100,000. At that limit 1 MB of nested JSON overflows
the C stack and kills the process, where Python otherwise raises `RecursionError`. So this module restores the limit.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from types import ModuleType

_importing = Lock()

_PAIRINGS: dict[str, dict[str, object]] = {
    "py_ecc.bls": {"G2ProofOfPossession": None},
    "py_ecc.bls12_381": {"curve_order": 1},
}
"""Modules that compute tables of their curve while they are imported, and what `eth_keyfile` gets of each instead. It
then refuses every key for a keystore of Ethereum's validators."""


@cache
def eth_account() -> ModuleType:
    """Returns the package with its submodule `messages`. The recursion limit stays as it was."""
    # The lock keeps another thread from reading the raised limit as the one to restore.
    with _importing:
        limit = sys.getrecursionlimit()
        with _without_pairings():
            import eth_account
            import eth_account.messages

        sys.setrecursionlimit(limit)
    return eth_account


@contextmanager
def _without_pairings() -> Iterator[None]:
    """Puts stand-ins in place of the modules for keystores of validators, which nobody makes here: with them the import
    takes four times as long."""
    stand_ins = {name: ModuleType(name) for name in _PAIRINGS if name not in sys.modules}
    for name, module in stand_ins.items():
        vars(module).update(_PAIRINGS[name])
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]
