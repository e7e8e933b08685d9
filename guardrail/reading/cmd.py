"""Reads command lines and batch files of Windows cmd into calls: quoting, variables, operators, and built-in
commands."""

from __future__ import annotations

import re
from dataclasses import replace

from guardrail.model import Call, Passage, Reading, Redirection, Span, Uncovered, Word
from guardrail.reading.decoding import Normalised, from_base64, normalise
from guardrail.vocabulary import Language

MAX_CALLS = 1_000
MAX_WORK = 6_000
MAX_DEPTH = 12
MAX_PASSAGES = 200
MAX_VALUE = 4_096
MAX_EXPANDED = 200_000  # characters that variables insert, in total

_BUILTINS = frozenset(
    (
        *(
            "del",
            "erase",
            "rd",
            "rmdir",
            "copy",
            "move",
            "ren",
            "rename",
            "mkdir",
            "md",
            "mklink",
            "type",
            "more",
            "start",
        ),
        *("call", "assoc", "ftype", "echo", "cd", "chdir", "dir", "set", "cls", "ver", "vol", "path", "pushd", "popd"),
        *("rem", "title", "exit", "pause", "prompt", "setlocal", "endlocal", "shift", "verify", "date", "time", "goto"),
        *("color", "break", "print"),
    )
)
_FILES = (".exe", ".bat", ".cmd", ".com", ".ps1", ".vbs", ".js")
_SILENT = frozenset(("rem", "setlocal", "endlocal", "goto", "exit", "shift", "title", "color", "cls", "echo.", "echo:"))
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+)|(?P<newline>\r?\n)|(?P<operator>&&|\|\||&|\||\(|\))"
    r"|(?P<redirection>[0-9]?(?:>>|>|<)(?:&[0-9])?)|(?P<escaped>\^\r?\n|\^.?)|(?P<quoted>\"[^\"\n]*\"?)"
    r"|(?P<plain>[^\s^&|<>()\"]+)|(?P<other>.)",
    re.S,
)
_VARIABLE = re.compile(r"%([\w()# -]{1,60}?)(:[^%\n]{1,80})?%|!(\w{1,60})!|%~?\w*\$?\w*:?([0-9*])")
_SLICE = re.compile(r":~(-?\d+)(?:,(-?\d+))?$")
_SET = re.compile(r"(?i)(/[ap]\s+)?(?:\"([^\"=]+)=([^\"]*)\"?|([^\"=]+)=(.*))$", re.S)
_OF_LOOP = re.compile(r"%{1,2}~?[a-zA-Z]{0,5}?([A-Za-z])(?![\w%])")
_NUMBERED_LOOP = re.compile(r"%{1,2}~?[a-zA-Z]{0,5}([0-9])(?![\w%])")
_FOR = re.compile(
    r"(?i)for\s++(/[dlrf])?\s*+(?:\"([^\"]*)\"|([^\s%(]\S*))?\s*+%{1,2}(~?[A-Za-z0-9])\s+in\s*\(([^)]*)\)\s*do\s+", re.S
)
_IF = re.compile(
    r"(?i)if\s+(?:/i\s+)?(?:not\s+)?(?:exist\s+(\"[^\"]*\"|\S+)|defined\s+\S+|errorlevel\s+\d+|cmdextversion\s+\d+"
    r"|(?:\"[^\"]*\"|[^\s=\"]+)\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*(?:\"[^\"]*\"|\S+))\s+"
)


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a text for cmd, in order, with the texts that people read and the parts that could not be
    read."""
    reader = _Reader(normalise(text), offset)
    reader.lines(reader.source.text, 0)
    return Reading(
        language=Language.CMD,
        calls=tuple(reader.calls),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )


class _Reader:
    """One pass over a text."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.variables: dict[str, str] = {}
        self.directory: Word | None = None
        self.carrier: Span | None = None
        self.work = 0
        self.expanded = 0
        self.depth = 0
        self.full = False

    def lines(self, text: str, start: int) -> None:
        """Reads the commands of a text. `start` is its position in the whole."""
        at = 0
        stdin: Call | Word | None = None
        while at < len(text) and not self.full:
            found = _START.match(text, at)
            at = found.end() if found is not None else at
            if at >= len(text):
                break
            loop = _FOR.match(text, at)
            if loop is not None:
                at = self._loop(text, at, loop, start)
                continue
            condition = _IF.match(text, at)
            if condition is not None:
                at = condition.end()
                continue
            if text[at : at + 4].lower() == "else" and text[at + 4 : at + 5] in (" ", "(", ""):
                at += 4
                continue
            if text.startswith(("::", ":"), at) or text[at : at + 4].lower().rstrip() == "rem":
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                comment = text[at:end].lstrip(":").strip()
                is_label = text[at] == ":" and not text.startswith("::", at)
                if comment and not is_label and len(self.passages) < MAX_PASSAGES:
                    self.passages.append(Passage(comment, self._span(start + at, start + end)))
                at = end
                continue
            before = at
            at, call, operator = self._command(text, at, start, stdin)
            stdin = call if operator == "|" else None
            if at <= before:
                at = before + 1

    def _loop(self, text: str, at: int, loop: re.Match[str], start: int) -> int:
        """Reads `for`: the variable stands for the items of the set; `/f` runs a command or reads a file."""
        kind = (loop[1] or "").lower()
        name, inside = loop[4].lstrip("~"), loop[5].strip()
        value = f"%{name}"
        if kind == "/f":
            if inside[:1] in "'`":
                command = inside.strip("'`")
                if self.depth < MAX_DEPTH:
                    self.depth += 1
                    self.lines(command, start + loop.start(5))
                    self.depth -= 1
                value = f"$({command})"
            elif inside[:1] == '"':
                value = inside.strip('"')
        elif kind in ("/r", "/d"):
            base = (loop[3] or loop[2] or ".").strip('"')
            value = f"{base}\\{inside.split()[0] if inside.split() else '*'}" if kind == "/r" else inside
        elif kind != "/l":
            value = inside.split()[0] if inside.split() else value
        self.variables[f"for {name.lower()}"] = value
        return loop.end()

    def _command(self, text: str, at: int, start: int, stdin: Call | Word | None) -> tuple[int, Call | None, str]:
        """Reads one command up to its operator; returns its end, the call, and the operator."""
        words: list[Word] = []
        redirections: list[Redirection] = []
        parts: list[str] = []
        begin = word_start = at
        quoted = glob = False
        pending = ""
        operator = ""
        depth = 0

        def close() -> None:
            nonlocal parts, quoted, glob, pending
            if parts or quoted:
                word = self._word("".join(parts), self._span(start + word_start, start + at), glob)
                if pending:
                    redirections.append(Redirection(pending, word))
                    pending = ""
                else:
                    words.append(word)
            parts, quoted, glob = [], False, False

        while at < len(text):
            self.work += 1
            if self.work > MAX_WORK or len(self.calls) >= MAX_CALLS:
                if not self.full:
                    self.full = True
                    reason = "more commands than are read from one text"
                    self.uncovered.append(Uncovered(self._span(start + at, start + len(text)), reason))
                return len(text), None, ""
            token = _TOKEN.match(text, at)
            if token is None:
                break
            kind, spelled = token.lastgroup, token[0]
            if kind == "blank":
                close()
                at = word_start = token.end()
            elif kind == "newline" or (kind == "operator" and spelled in ("&", "&&", "|", "||")):
                operator = spelled.strip()
                close()
                at = token.end()
                break
            elif kind == "operator":
                if spelled == "(" and (words or parts):
                    parts.append(spelled)
                    depth += 1
                elif spelled == ")" and depth:
                    parts.append(spelled)
                    depth -= 1
                else:
                    close()
                    at = token.end()
                    break
                at = token.end()
            elif kind == "redirection":
                if spelled[0].isdigit() and parts:
                    parts.append(spelled[0])
                close()
                at = word_start = token.end()
                if "&" not in spelled:
                    pending = spelled.lstrip("0123456789")
            elif kind == "escaped":
                parts.append(spelled[1:].strip("\r\n"))
                at = token.end()
            elif kind == "quoted":
                parts.append(spelled.strip('"'))
                quoted = True
                if not spelled.endswith('"') or len(spelled) == 1:
                    self.uncovered.append(
                        Uncovered(self._span(start + at, start + token.end()), "a quote that isn't closed")
                    )
                at = token.end()
            else:
                parts.append(spelled)
                glob = glob or "*" in spelled or "?" in spelled
                at = token.end()
        else:
            close()
        line = text[begin:at]
        return at, self._call(words, tuple(redirections), line, self._span(start + begin, start + at), stdin), operator

    def _call(
        self,
        words: list[Word],
        redirections: tuple[Redirection, ...],
        line: str,
        span: Span,
        stdin: Call | Word | None,
    ) -> Call | None:
        """Builds the call from the words of a command."""
        if not words:
            if redirections:
                return self._emit(Call(":", (), span, Language.CMD, redirections, stdin))
            return None
        first = words[0].text.lstrip("@")
        if first.lower().startswith("%comspec%"):
            first = "cmd.exe"
            words = [replace(words[0], text=first, known=True), *words[1:]]
        name = first.lower()
        attached = re.match(r"(cd|md|rd|del|echo|dir|type|start)([./\\:].*)$", name)
        if attached is not None and attached[1] in _BUILTINS and not name.startswith(("cd:", "del:", "dir:")):
            rest = first[len(attached[1]) :]
            words = [
                words[0],
                *([Word(rest, span)] if not rest.startswith((".", ":")) or len(rest) > 1 else []),
                *words[1:],
            ]
            name = first = attached[1]
        if name in _SILENT:
            return None
        if name == "set":
            self._set(line, span)
            return None
        if name == "cmd" or name.endswith(("\\cmd.exe", "\\cmd")) or name == "cmd.exe":
            inner = self._inner_line(words, line)
            if inner is not None:
                return inner
        if name in ("powershell", "pwsh") or name.endswith(("powershell.exe", "pwsh.exe")):
            words = _decoded(words)
        base = re.split(r"[/\\]", name.rstrip("/\\"))[-1].removesuffix(".exe")
        if name in ("cd", "chdir", "pushd") and len(words) > 1:
            self.directory = words[-1]
        program = f"cmd:{name}" if name in _BUILTINS else base if words[0].known or "%" not in base else ""
        rest_words = tuple(words[1:]) if program else tuple(words)
        path = ""
        if name not in _BUILTINS and ("\\" in first or "/" in first or name.endswith(_FILES)):
            path = first.replace("\\", "/")
        if base == "start" or program == "cmd:start":
            rest_words = _without_title(rest_words, line)
        return self._emit(Call(program, rest_words, span, Language.CMD, redirections, stdin, path=path))

    def _inner_line(self, words: list[Word], line: str) -> Call | None:
        """Reads `cmd /c …`: the rest of the line is itself a command line."""
        found = re.search(r"(?i)/[ckr]\s*(.*)", line, re.S)
        if found is None or self.depth >= MAX_DEPTH:
            return None
        text = found[1].strip()
        if text.startswith('"'):
            text = text[1:].removesuffix("\n").rstrip().removesuffix('"')
        if not text:
            return None
        count = len(self.calls)
        carrier = self.carrier
        self.carrier = carrier or words[0].span
        self.depth += 1
        self.lines(text, 0)
        self.depth -= 1
        self.carrier = carrier
        return self.calls[-1] if len(self.calls) > count else None

    def _emit(self, call: Call) -> Call:
        if self.directory is not None:
            call = replace(call, directory=self.directory)
        self.calls.append(call)
        return call

    def _set(self, line: str, span: Span) -> None:
        """Reads `set NAME=value`; a value from `/p` or arithmetic is unknown."""
        body = re.sub(r"(?i)^\s*@?set\s*", "", line).rstrip("\r\n&| \t)")
        found = _SET.match(body)
        if found is None or len(self.variables) > 1_000:
            return
        name = (found[2] or found[4] or "").strip().lower()
        value = found[3] if found[2] else found[5]
        if found[1]:
            self.variables.pop(name, None)
            redirected = re.search(r"<\s*(\S+)", value or "")
            if redirected:
                call = Call("cmd:type", (Word(redirected[1].strip('"'), span),), span, Language.CMD)
                self._emit(call)
            return
        self.variables[name] = self._expanded(re.sub(r"\^(.)", r"\1", value or ""))[0][:MAX_VALUE]

    def _word(self, text: str, span: Span, glob: bool) -> Word:
        expanded, known = self._expanded(text)
        return Word(expanded, span, known=known, glob=glob or "*" in expanded)

    def _expanded(self, text: str) -> tuple[str, bool]:
        """Replaces the variables that the text itself sets; others keep their spelling."""
        if "%" not in text and "!" not in text:
            return text, True
        known = True

        def value(match: re.Match[str]) -> str:
            nonlocal known
            name = (match[1] or match[3] or "").lower()
            found = self.variables.get(name)
            if found is None or self.expanded > MAX_EXPANDED:
                known = False
                return match[0]
            found = _modified(found, match[2] or "")
            self.expanded += len(found)
            return found

        # `%1` would be an argument of the batch file.
        text = _NUMBERED_LOOP.sub(self._loop_value, text)
        text = _VARIABLE.sub(value, text)
        return _OF_LOOP.sub(self._loop_value, text), known

    def _loop_value(self, match: re.Match[str]) -> str:
        return self.variables.get(f"for {match[1].lower()}", match[0])

    def _span(self, start: int, end: int) -> Span:
        if self.carrier is not None:
            return self.carrier
        return Span(self.offset + self.source.origin(start), self.offset + self.source.origin(max(start, end)))


_START = re.compile(r"[\s(@,;=&|)]+")


def _modified(value: str, modifier: str) -> str:
    """Applies a modifier such as `%NAME:~2,3%` and `%NAME:old=new%`."""
    cut = _SLICE.match(modifier)
    if cut is not None:
        start = int(cut[1][:6])
        rest = value[start:]
        if cut[2] is None:
            return rest
        length = int(cut[2][:6])
        return rest[:length]
    if modifier.startswith(":") and "=" in modifier:
        old, _, new = modifier[1:].partition("=")
        if old and not old.startswith("*"):
            return re.sub(re.escape(old), new.replace("\\", "\\\\"), value, flags=re.I)[:MAX_VALUE]
    return value


def _decoded(words: list[Word]) -> list[Word]:
    """Decodes an encoded command in the words of a started PowerShell."""
    for at, word in enumerate(words[:-1]):
        if re.match(r"(?i)[-/]e(?:c|nc\w*)?$", word.text):
            decoded = from_base64(words[at + 1].text)
            if decoded is not None:
                return [*words[:at], replace(word, text="-Command"), replace(words[at + 1], text=decoded)]
    return words


def _without_title(words: tuple[Word, ...], line: str) -> tuple[Word, ...]:
    """Removes a quoted first word, which is a title, and the options of `start` itself: `start "title" program`."""
    if re.match(r"(?i)\s*@?start\s+\"", line):
        words = words[1:]
    at = 0
    while at < len(words) and words[at].text.startswith("/"):
        at += 2 if words[at].text.lower() == "/d" else 1
    return words[at:]
