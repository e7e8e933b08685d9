"""Rules read again when their files change, for a process that runs long. A bad edit leaves the old rules in place."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from contracts.guardrail.engine import Ruleset
from contracts.guardrail.loader import LOCK_NAME, RULES_DIRECTORY, RulesetInvalid, load_ruleset


@dataclass(frozen=True)
class RulesetState:
    """What a health answer says of the rules. `problem` is set while the files can't be used and older rules serve."""

    version: str
    rules: int
    problem: str | None


class RulesetFiles:
    """The ruleset of a directory. Raises `RulesetInvalid` when it is made and the rules can't be used; never later."""

    def __init__(self, directory: Path = RULES_DIRECTORY) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._seen = self._stamp()
        self._ruleset = load_ruleset(directory)
        self._problem: str | None = None

    @property
    def ruleset(self) -> Ruleset:
        """The rules in force."""
        return self._ruleset

    @property
    def state(self) -> RulesetState:
        """The rules in force, and why newer files are not."""
        return RulesetState(self._ruleset.version, self._ruleset.rules_checked, self._problem)

    def refresh(self) -> bool:
        """Read the files again if they changed; whether other rules are in force now. The caller says how often."""
        with self._lock:
            stamp = self._stamp()
            if stamp == self._seen:
                return False
            self._seen = stamp
            try:
                fresh = load_ruleset(self._directory)
            except RulesetInvalid as invalid:
                self._problem = invalid.what
                return False
            self._problem = None
            changed = fresh.version != self._ruleset.version
            self._ruleset = fresh
            return changed

    def _stamp(self) -> tuple[tuple[str, int, int], ...]:
        found = []
        for path in sorted((*self._directory.glob("*.yaml"), self._directory / LOCK_NAME)):
            try:
                held = path.stat()
            except FileNotFoundError:
                continue
            found.append((path.name, held.st_mtime_ns, held.st_size))
        return tuple(found)
