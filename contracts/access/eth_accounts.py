"""The only import of `eth_account` in this process: it costs half a second, so it happens on first use.

A dependency of it, py_ecc, raises the recursion limit of the process to 100,000. At that limit 1 MB of nested JSON
overflows the C stack and kills the process, where Python otherwise raises `RecursionError`; so the limit is put back.
"""

from __future__ import annotations

import sys
from functools import cache
from threading import Lock
from types import ModuleType

_importing = Lock()


@cache
def eth_account() -> ModuleType:
    """Returns the package with its submodule `messages`, and leaves the recursion limit as it was."""
    # Under a lock: another thread must not take the raised limit for the one to put back.
    with _importing:
        limit = sys.getrecursionlimit()
        import eth_account
        import eth_account.messages

        sys.setrecursionlimit(limit)
    return eth_account
