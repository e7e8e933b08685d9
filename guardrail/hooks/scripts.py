"""Finds the scripts that an action runs and that nobody has committed, so that they can be judged by their content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from guardrail.engine import MAX_ACTION_BYTES
from guardrail.facts import PathState, parse_context
from guardrail.hooks.names import Named, is_path, located_in
from guardrail.model import Effect
from guardrail.paths.rebuilding import is_made_again
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Place

MOST_SCRIPTS = 8
"""Maximum number of scripts of one action that are read."""
MOST_NESTED = 3
"""Maximum depth to which scripts that run scripts are followed."""

_TOOLS = {
    **dict.fromkeys((".sh", ".bash", "sh", "bash", "dash", "source"), "bash"),
    **dict.fromkeys((".zsh", "zsh"), "zsh"),
    **dict.fromkeys((".py", "python", "python3", "uv run"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", "node", "bun", "deno run"), "javascript"),
    **dict.fromkeys((".ps1", "pwsh", "powershell"), "powershell"),
    **dict.fromkeys((".sql", "psql", "mysql", "sqlite3"), "sql"),
    **dict.fromkeys((".bat", ".cmd"), "cmd"),
}
"""The tool, as a context names it, that runs files with this ending, or files that this program is given."""
_REVIEWED = frozenset((PathState.TRACKED, PathState.IGNORED, PathState.MISSING))
"""States of files that are not read: committed and unchanged, or made by tools. What doesn't exist can't run."""


@record
class Script:
    """A script with its path as the action names it, and the tool that would run it. The text of one that is too long
    to be judged is None."""

    path: str
    text: str | None
    tool: str | None


def runs_script(effect: Effect) -> bool:
    """Decides whether an effect runs a file of this machine outside the system."""
    return (
        effect.kind is EffectKind.EXECUTE
        and effect.object is ObjectKind.PATH
        and effect.detail.get("code") == "named_file"
        and "host" not in effect.detail
        and all(target.place is not Place.SYSTEM for target in effect.targets)
    )


def scripts_run(named: Sequence[Named], context: Mapping[str, Any]) -> Iterator[Script]:
    """Yields the scripts among the files that an action runs, unless they are committed or made by tools. Leaves out
    programs in languages without a reader, and compiled ones."""
    facts, _ = parse_context(context)
    root = Path(facts.workspace.root or facts.cwd or ".")
    seen: set[str] = set()
    for name in named:
        for directory in name.directories:
            if directory is None or not is_path(name):
                continue
            path = facts.normal_path(located_in(name.text, directory))
            if path in seen or is_made_again(path.lower()) or facts.workspace.paths.get(path) in _REVIEWED:
                continue
            seen.add(path)
            if len(seen) > MOST_SCRIPTS:
                return
            content = _content(root / path)
            tool = _TOOLS.get(Path(path).suffix.lower()) or _TOOLS.get(name.source)
            if content is None or not (tool or content.startswith(b"#!")):
                continue
            text = _text(content[:MAX_ACTION_BYTES])
            if text is not None:
                yield Script(name.text, text if len(content) <= MAX_ACTION_BYTES else None, tool)


def with_scripts(digest: str, scripts: Sequence[Script]) -> str:
    """Returns the digest of an action together with the scripts that it runs, so that a permission is for these."""
    if not scripts:
        return digest
    texts = (hashlib.sha256((script.text or "").encode("utf-8", "surrogatepass")).hexdigest() for script in scripts)
    return hashlib.sha256(" ".join((digest, *texts)).encode()).hexdigest()


def _content(path: Path) -> bytes | None:
    """Returns the content of a regular file, up to one byte more than can be judged; None if it can't be read."""
    try:
        # A named pipe would block until somebody writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_ACTION_BYTES + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None


def _text(content: bytes) -> str | None:
    """Returns the text of a file; None if it is a compiled program."""
    return None if b"\0" in content else content.decode("utf-8", "replace")
