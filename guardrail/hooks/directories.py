"""The directories of the user's own files: settings, state, the socket. The hook's client loads this module, so it
imports almost nothing."""
# ruff: noqa: PTH103, PTH111, PTH116, PTH117, PTH118
# Paths are strings: importing pathlib takes longer than the client may take.

from __future__ import annotations

import os
import stat

NAME = "svc-guardrail"


class DirectoryUnsafe(OSError):
    """A directory can't be created, or others could read or write it."""


def runtime_directory() -> str:
    """Returns the directory of the socket: below XDG_RUNTIME_DIR, else in the user's cache."""
    base = _from_environment("XDG_RUNTIME_DIR")
    if base and _is_own(base):
        return os.path.join(base, NAME)
    return os.path.join(_from_environment("XDG_CACHE_HOME") or _home(".cache"), NAME, "run")


def config_directory() -> str:
    """Returns the directory that records which policy files a person trusted."""
    return os.path.join(_from_environment("XDG_CONFIG_HOME") or _home(".config"), NAME)


def state_directory() -> str:
    """Returns the directory of the audit log and of one-time permissions."""
    return os.path.join(_from_environment("XDG_STATE_HOME") or _home(".local/state"), NAME)


def make_private(path: str) -> str:
    """Creates a directory that only its owner can use and returns its path, or raises `DirectoryUnsafe`."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.lstat(path)
    except OSError as error:
        raise DirectoryUnsafe(f"the directory {path} can't be created: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise DirectoryUnsafe(f"{path} is a file or a link instead of a directory")
    if found.st_uid != os.getuid():
        raise DirectoryUnsafe(f"the directory {path} belongs to another user")
    if found.st_mode & 0o077:
        raise DirectoryUnsafe(f"the directory {path} is open to other users; its mode must be 0700")
    return path


def _is_own(path: str) -> bool:
    """Decides whether a directory exists and belongs to the user. After `su`, the variable names the directory
    of another user."""
    try:
        return os.stat(path).st_uid == os.getuid()
    except OSError:
        return False


def _from_environment(name: str) -> str:
    value = os.environ.get(name, "")
    return value if os.path.isabs(value) else ""


def _home(below: str) -> str:
    return os.path.join(os.path.expanduser("~"), below)
