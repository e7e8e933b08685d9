"""The values that readers of code follow: a text, its elements, or the function, module or type that it names.

The readers of Python, JavaScript and PowerShell share this code, which also turns values into the words of a call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

from guardrail.model import Span, Word
from guardrail.record import record

MAX_TEXT = 64 * 1024
"""Maximum number of characters of one value that are stored."""
MAX_ITEMS = 64

_PLACEHOLDER = re.compile(r"\$\{(\w+):\?\}")
_ALONE = re.compile(r"\$\{(\w+):\?\}(?!\w)")


@record
class Value:
    """A value as far as it is known. `text` is the text that a program would receive; an unknown part is spelled
    `${name:?}`, as a shell spells a variable that is never empty, or `$(command)` for the output of a command.

    `items` are the elements of a list, `entries` those of a mapping. `names` is the function, module or class that the
    value is, `type` the class or function that created it. `data` is the content if it is bytes.
    """

    text: str
    known: bool = True
    glob: bool = False
    items: tuple[Value, ...] | None = None
    entries: tuple[tuple[str, Value], ...] | None = None
    names: str = ""
    type: str = ""
    data: bytes | None = None

    @property
    def is_text(self) -> bool:
        """True for a known text, which a loop goes through letter by letter."""
        parts = (self.items, self.entries, self.data)
        return self.known and not (self.glob or self.type) and all(part is None for part in parts)


def constant(text: str) -> Value:
    """Returns a known text as a value."""
    return Value(text[:MAX_TEXT])


def unknown(name: str = "value") -> Value:
    """Returns an unknown value, with the name that it has in the code."""
    plain = re.sub(r"\W", "_", name.rpartition(".")[2] or name)[:40] or "value"
    return Value(f"${{{plain}:?}}", known=False)


def printed(command: Sequence[str]) -> Value:
    """Returns the output of a command as a value, quoting its words if necessary."""
    return Value("$(" + " ".join(_quoted(constant(word)) for word in command) + ")", known=False)


def printed_by(line: Value) -> Value:
    """Returns the output of a command line as a value."""
    return Value(f"$({line.text})"[:MAX_TEXT], known=False)


def reads_path(path: Value) -> Value:
    """Returns the content of a file as a value."""
    return Value(f"$(cat {_quoted(path)})"[:MAX_TEXT], known=False, type="content")


def fetched(url: Value) -> Value:
    """Returns the response of a URL as a value."""
    return Value(f"$(curl -s {_quoted(url)})"[:MAX_TEXT], known=False, type="response")


def joined(values: Sequence[Value]) -> Value:
    """Concatenates texts. The name of a file that was found loses its directory after a slash."""
    text = ""
    for value in values:
        text += bare_name(value) if text.endswith("/") else value.text
        if len(text) > MAX_TEXT:
            break
    return Value(
        text[:MAX_TEXT],
        known=all(value.known for value in values),
        glob=any(value.glob for value in values),
    )


def bare_name(value: Value) -> str:
    """Returns the text, without its directory if it is a name from a listing."""
    return value.text.rpartition("/")[2] if value.type == "names" else value.text


_PLAIN_NAME = re.compile(r"[\w@][\w@%+=:,.-]*")


def listed(items: Sequence[Value]) -> Value:
    """Returns a list of values; its text is the command line that they form."""
    kept = tuple(items)
    if len(kept) > MAX_ITEMS:  # names are alike; longer texts may not be
        kept = tuple(sorted(kept, key=lambda item: _PLAIN_NAME.fullmatch(item.text) is not None)[:MAX_ITEMS])
    known = bool(kept) and kept[0].known
    return Value(" ".join(_quoted(item) for item in kept)[:MAX_TEXT], known=known, items=kept)


def mapped(entries: Sequence[tuple[str, Value]]) -> Value:
    """Returns a mapping. Its text is spelled as in JavaScript; if it contains a file, the text is that file's path."""
    kept = tuple(entries[:MAX_ITEMS])
    file = next((value for _, value in kept if value.type == "file"), None)
    if file is not None:
        return replace(file, entries=kept)
    text = ", ".join(f"{name}: {value.text}" for name, value in kept)
    return Value(f"{{{text}}}"[:MAX_TEXT], known=all(value.known for _, value in kept), entries=kept)


def _quoted(value: Value) -> str:
    if value.known and not value.glob:
        return quote(value.text)
    if value.glob and re.fullmatch(r"[\w./~*?\[\]${}:-]+", value.text):
        return value.text
    text = value.text.replace("\\", "\\\\").replace('"', '\\"') if not value.text.startswith("$(") else value.text
    return f'"{text}"'


def word_of(value: Value, span: Span, name: str | None = None) -> Word:
    """Returns the value as a word of a call. A text whose first word is known counts as a known command line, whatever
    follows."""
    text = value.text
    known = value.known
    first, blank, _ = text.partition(" ")
    if not known and blank and "$" not in first and not first.startswith("{"):
        known = True
    if not known and "${" in text:
        text = _ALONE.sub(r"$\1", text)
        text = _PLACEHOLDER.sub(r"${\1}", text)
    return Word(text, span, known=known, glob=value.glob, name=name)
