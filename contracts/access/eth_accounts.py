"""Imports `eth_account` for this process. Nothing else does: the import takes half a second and happens on first use.

Its dependency py_ecc raises the recursion limit of the process to 100,000. At that limit 1 MB of nested JSON overflows
the C stack and kills the process, where Python otherwise raises `RecursionError`. So this module restores the limit.
"""

import sys
from functools import cache
from threading import Lock
from types import ModuleType

_importing = Lock()


@cache
def eth_account() -> ModuleType:
    """Returns the package with its submodule `messages`. The recursion limit stays as it was."""
    # The lock keeps another thread from reading the raised limit as the one to restore.
    with _importing:
        limit = sys.getrecursionlimit()
        import eth_account
        import eth_account.messages

        sys.setrecursionlimit(limit)
    return eth_account
