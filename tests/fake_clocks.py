"""Processes with a shifted wall clock, by libfaketime; their monotonic clocks stay correct."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def library() -> str:
    """Returns the library that fakes the clock, as Debian's package installs it."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        reason = "libfaketime is not installed (Debian: apt-get install faketime)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return str(found[0])


SLEEP_BY_WAITING = """
import threading, time
time.sleep = lambda seconds: threading.Event().wait(seconds) and None
"""
"""libfaketime 0.9.10 refuses Python 3.11's absolute monotonic sleeps when monotonic clocks are left alone."""


def fake_clock(patches: Path) -> dict[str, str]:
    """Returns the environment variables of such a process except its offset; `patches` is a directory to create for
    what it imports."""
    patches.mkdir()
    (patches / "sitecustomize.py").write_text(SLEEP_BY_WAITING)
    return {
        "PYTHONPATH": str(patches),
        "LD_PRELOAD": library(),
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Otherwise threads that wait for the interpreter's lock spin, and computing takes six times as long.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }
