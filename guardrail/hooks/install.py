"""Adds the hook to the settings of a harness and removes it again; other entries stay unchanged."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from guardrail.hooks.harness import Harness, Settings
from guardrail.record import record

MARK = "svc-guardrail"
_MODULE = "guardrail.hooks.client"


class SettingsInvalid(ValueError):
    """Settings that can't be understood, and are therefore left unchanged."""


@record
class Change:
    """The present and the intended settings; None for a file that doesn't exist."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        """Decides whether there is anything to change."""
        return self.before != self.after

    def diff(self) -> str:
        """Returns the changes as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            str(self.path),
            str(self.path),
            lineterm="",
        )
        return "\n".join(lines)

    def apply(self) -> None:
        """Writes the settings: a reader sees either the old or the new ones. A link stays a link."""
        if not self.changes:
            return
        path = Path(os.path.realpath(self.path))
        if self.after is None:
            path.unlink()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        try:
            beside.write_text(self.after, "utf-8")
            beside.chmod(mode)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise


def hook_command(name: str) -> str:
    """Returns the command line that a harness runs. A shell that can't start it exits with 2, which blocks."""
    script = Path(sys.executable).with_name(MARK)
    words = [str(script), "hook", name] if script.exists() else [sys.executable, "-P", "-m", _MODULE, name]
    return f"{shlex.join(words)} || exit 2"


def plan(harness: Harness, *, uninstall: bool = False, home: Path | None = None) -> Change:
    """Returns the planned change of a harness's settings."""
    path = _settings_file(harness.settings, home)
    before = path.read_text("utf-8") if path.exists() else None
    settings = _parsed(before, path)
    known = settings.get("hooks", {})
    if not isinstance(known, dict) or not all(isinstance(entries, list) for entries in known.values()):
        raise SettingsInvalid(f"{path}: hooks is not an object of lists")
    hooks = {event: [entry for entry in entries if not _is_ours(entry)] for event, entries in known.items()}
    if not uninstall:
        for event, entry in harness.settings.entries(hook_command(harness.name)).items():
            hooks.setdefault(event, []).append(dict(entry))
    had_ours = any(_is_ours(entry) for entries in known.values() for entry in entries)
    if uninstall and not had_ours:
        return Change(path, before, before)
    hooks = {event: entries for event, entries in hooks.items() if entries or event not in known or not known[event]}
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    if harness.settings.version is not None:
        rest.setdefault("version", harness.settings.version)
    if not hooks and set(rest) <= {"version"} and uninstall:
        return Change(path, before, None)
    after = {**rest, "hooks": hooks} if hooks else rest
    text = json.dumps(after, indent=2, ensure_ascii=False) + "\n"
    return Change(path, before, before if settings == after else text)


def _settings_file(settings: Settings, home: Path | None) -> Path:
    """Returns the settings file in this home, or in the directory that a variable of the harness names."""
    moved = os.environ.get(settings.variable, "") if settings.variable is not None and home is None else ""
    return (
        Path(moved) if moved else Path(settings.directory.replace("~", str(home or Path.home()), 1))
    ) / settings.file


def _parsed(text: str | None, path: Path) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise SettingsInvalid(f"{path} is not JSON: {error}") from None
    if not isinstance(settings, dict):
        raise SettingsInvalid(f"{path} is not a JSON object")
    return settings


def _is_ours(entry: Any) -> bool:
    """Decides whether an entry runs our hook: itself, or one of the hooks that it lists."""
    if not isinstance(entry, Mapping):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list) and any(_is_ours(hook) for hook in inner):
        return True
    commands = (entry.get("command"), entry.get("bash"))
    return any(
        isinstance(command, str) and ("svc-guardrail hook " in command or _MODULE in command) for command in commands
    )
