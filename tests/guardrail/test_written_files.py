"""Files as agents write them all day: sources, documentation and configuration of installed packages. Nothing in them
runs by being written, so they pass unless they contain a secret."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from guardrail.facts import Facts
from guardrail.loading import default_guardrail
from guardrail.reading.deciding import decide
from guardrail.vocabulary import Language

_TEXTS = frozenset((".py", ".pyi", ".md", ".txt", ".toml", ".html", ".json", ".yaml", ".sql", ".js", ".sh"))
_LONGEST = 30_000


def _files_of(package: str) -> Iterator[tuple[str, str]]:
    """Yields the files of an installed package with their content."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    for path in sorted(root.rglob("*")):
        if path.suffix in _TEXTS and 0 < path.stat().st_size <= _LONGEST:
            yield f"src/{path.relative_to(root.parent)}", path.read_text(encoding="utf-8")


def _blocked(actions: Iterator[str]) -> list[tuple[str, tuple[str, ...]]]:
    verdicts = [(action[:120], default_guardrail().check(action, "medium")) for action in actions]
    assert len(verdicts) > 10
    return [(start, verdict.matched_guardrails) for start, verdict in verdicts if not verdict.passed]


@pytest.mark.parametrize("package", ["jinja2", "fastapi", "mcp"])
def test_the_files_of_a_package_may_be_written(package: str) -> None:
    written = ("Write " + json.dumps({"file_path": name, "content": text}) for name, text in _files_of(package))
    assert _blocked(written) == []


def test_parts_of_the_files_may_be_edited() -> None:
    def edits() -> Iterator[str]:
        for name, text in _files_of("starlette"):
            lines = text.split("\n")
            for first in range(0, len(lines), 40):
                new = "\n".join(lines[first : first + 40])
                arguments = {"file_path": name, "old_string": lines[first], "new_string": new}
                yield json.dumps({"tool": "Edit", "arguments": arguments})

    assert _blocked(edits()) == []


def test_a_file_may_be_written_by_a_here_document() -> None:
    assert _blocked(f"cat > {name} <<'END_OF_FILE'\n{text}\nEND_OF_FILE\n" for name, text in _files_of("click")) == []


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash", "/usr/bin/env bash", "/bin/zsh -e"])
@pytest.mark.parametrize(
    "call", ['Write {{"file_path": "a.sh", "content": {}}}', 'write_file(path="a.sh", content={})']
)
def test_a_script_may_be_written_with_the_shell_that_runs_it(shell: str, call: str) -> None:
    content = json.dumps(f"#!{shell}\nset -e\nnpm ci\n")
    assert default_guardrail().check(call.format(content)).passed


@pytest.mark.parametrize(
    "code", ['subprocess.run(["/bin/sh", "-c", script])', 'execl("/bin/sh", "sh", 0);', "system('/bin/bash deploy.sh')"]
)
def test_code_that_names_a_shell_may_be_written_and_may_not_be_an_option(code: str) -> None:
    assert default_guardrail().check("Write " + json.dumps({"file_path": "src/a.c", "content": code})).passed
    assert not default_guardrail().check("lua -e 'os.execute(\"/bin/sh\")'").passed


def test_a_secret_in_a_file_is_found_whatever_escapes_stand_beside_it() -> None:
    secret = "AKIA" + "Q3EGRZT5NWMJ4XYB"
    for content in (f"a\n{secret}\nb", f'key = "{secret}"', f"\\{secret}", f"\t{secret}", f"、{secret}"):
        verdict = default_guardrail().check("Write " + json.dumps({"file_path": "a.txt", "content": content}))
        assert verdict.matched_guardrails == ("written-secrets.committed",), content


def test_a_long_call_is_a_call_whatever_code_it_contains() -> None:
    content = "const doubled = (values) => values.map((value) => `it's ${value * 2}`);\n" * 100
    assert decide("Write " + json.dumps({"file_path": "a.js", "content": content}), Facts()) is Language.TOOL_CALL
    assert decide("write_file(path='a.js', content=" + json.dumps(content) + ")", Facts()) is Language.TOOL_CALL
