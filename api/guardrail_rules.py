"""Loads guardrail rules lazily and reloads them when their files change."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from contracts.guardrail.engine import Ruleset
from contracts.guardrail.loader import RULES_DIRECTORY, RulesetInvalid
from contracts.guardrail.reload import RulesetFiles

LOOK_EVERY_S = 2.0

_log = logging.getLogger(__name__)


class GuardrailRules:
    """The rules of one process. Threads may share it. A thread beside requests checks the files, at most every two
    seconds."""

    def __init__(self, directory: Path = RULES_DIRECTORY) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._files: RulesetFiles | None = None
        self._invalid: RulesetInvalid | None = None
        self._look_again_at = 0.0

    @property
    def directory(self) -> Path:
        """Directory of the rule files."""
        return self._directory

    def current(self) -> Ruleset:
        """Returns the newest valid rules. Raises `RulesetInvalid` if there were none since the start."""
        if time.monotonic() >= self._look_again_at:
            if self._files is None:
                self._open()
            else:
                self._look_again_at = time.monotonic() + LOOK_EVERY_S
                threading.Thread(target=self._refresh, args=(self._files,), daemon=True).start()
        if self._files is None:
            assert self._invalid is not None
            raise self._invalid
        return self._files.ruleset

    def problem(self) -> str | None:
        """Returns the fault of the current files, or None."""
        try:
            self.current()
        except RulesetInvalid as invalid:
            return invalid.what
        return None if self._files is None else self._files.state.problem

    def _open(self) -> None:
        with self._lock:
            if self._files is not None:
                return
            try:
                self._files = RulesetFiles(self._directory)
            except RulesetInvalid as invalid:
                self._invalid = invalid
            self._look_again_at = time.monotonic() + LOOK_EVERY_S

    def _refresh(self, files: RulesetFiles) -> None:
        before = files.state.problem
        if files.refresh():
            _log.warning("Guardrail rules read again: version %s", files.state.version)
        elif files.state.problem not in (None, before):
            _log.error("%s The rules before are in force.", files.state.problem)
