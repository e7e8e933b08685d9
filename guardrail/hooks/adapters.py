"""The adapters by name."""

from __future__ import annotations

from guardrail.hooks import claude_code, codex, copilot, cursor, gemini
from guardrail.hooks.harness import Harness

HARNESSES: dict[str, Harness] = {
    module.HARNESS.name: module.HARNESS for module in (claude_code, codex, cursor, gemini, copilot)
}
