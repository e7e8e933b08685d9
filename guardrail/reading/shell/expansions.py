"""Expands written words: quotes, variables, braces and substitutions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from guardrail.model import Call, Passage, Word
from guardrail.reading.decoding import unescape
from guardrail.reading.shell.nodes import EXPANSIONS, NAME, REDIRECTS
from guardrail.reading.shell.own_words import words_of
from guardrail.reading.shell.reader import LONG_TEXT, MAX_ALTERNATIVES, MAX_DEPTH, MAX_WORK, Reader
from guardrail.reading.shell.text import TEMPLATE
from guardrail.reading.shell.words import (
    BREAK,
    MAX_BRACES,
    Piece,
    Value,
    braced,
    changed_value,
    constant_text,
    fields_of,
    in_double_quotes,
    inserted,
    make_word,
)

_ALWAYS_SET = words_of(
    "PWD OLDPWD USER LOGNAME SHELL PATH HOSTNAME HOSTTYPE OSTYPE MACHTYPE UID EUID GROUPS PPID BASHPID RANDOM "
    "SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASH BASH_SOURCE BASH_VERSION FUNCNAME SHLVL TERM LANG "
    "TMPDIR TMP TEMP XDG_RUNTIME_DIR GITHUB_WORKSPACE GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STEP_SUMMARY "
    "GITHUB_SHA GITHUB_REF GITHUB_REF_NAME GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_ACTOR RUNNER_TEMP RUNNER_OS "
    "RUNNER_TOOL_CACHE CI_PROJECT_DIR CI_COMMIT_SHA CI_COMMIT_REF_NAME CI_COMMIT_SHORT_SHA CI_PIPELINE_ID "
    "CI_JOB_ID CLAUDE_PROJECT_DIR 0 # ? $ -"
)
# Typical values, for expansions that cut a value: "${PATH:0:1}" is a slash on any machine.
_TYPICAL = {
    "HOME": "/home/user",
    "PWD": "/home/user/work",
    "OLDPWD": "/home/user",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "SHELL": "/bin/bash",
}
_PLAIN = re.compile(r"[\w@%+=:,./^-]+")  # words without an expansion
_DRIVE = re.compile(r"[A-Za-z]:\\[^\\]")  # a Windows path: nobody escapes a letter after a colon
_NAME_OF_THING = re.compile(r"[\w@][\w@%+=:,-]*(?:\.[\w@%+=:,-]+)*")
_BRACED = re.compile(
    r"\$\{([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?(:?[-=?+]|%%?|##?|//?|:|\^\^?|,,?|@[A-Za-z]|[*@])?", re.S
)


class Expansions(Reader):
    """Expands words."""

    def assign(self, name: str, *values: Value) -> None:
        """Sets a variable to one value, or to all values that it may have."""
        self.state.variables[name] = self._followed(values)

    def _followed(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Returns the values of a variable that are followed. If there are too many, plain names are dropped first: a
        loop over packages is long, and its turns are alike."""
        if len(values) <= MAX_ALTERNATIVES:
            return values
        more = [value for value in values if _NAME_OF_THING.fullmatch(constant_text(value.fields) or "") is None]
        if len(more) >= MAX_ALTERNATIVES:
            self._stop(self.source.span(0, len(self.source.text)), "more values of a variable than are followed")
            return tuple(more[:MAX_ALTERNATIVES])
        self._not_read(self.source.span(0, len(self.source.text)), "turns of a loop that are like those that were read")
        plain = [value for value in values if value not in more]
        return tuple(more + plain[: MAX_ALTERNATIVES - len(more)])

    def _words(self, group: Sequence[Node], *, split: bool = True) -> list[Word]:
        """Returns the words that a written word expands to: none, one or several."""
        self.budget.work += 1
        source = self.source
        start, end = group[0].start_byte + source.base, group[-1].end_byte + source.base
        text = source.text[start:end]
        span = source.span(start, end)
        if self.budget.work > MAX_WORK:
            self._exhausted(span)
            return []
        if _PLAIN.fullmatch(text):
            return [Word(text, span)]
        pieces: list[Piece] = []
        for node in group:
            if node.type == "$" and len(group) > 1:
                continue
            pieces += self._pieces(node, quoted=False)
        self.budget.work += len(pieces) // 2
        self.budget.work += sum(len(piece.text) for piece in pieces) // 200
        if not split:
            return [self._whole(make_word([piece for piece in pieces if piece is not BREAK], span))]
        words: list[Word] = []
        expansions = braced(pieces)
        if len(expansions) > MAX_BRACES:
            self._stop(span, "more words in braces than are read")
        for expanded in expansions:
            words += [make_word(part, span) for part in fields_of(expanded, self._separators())]
        for word in words:
            self._whole(word)
        self.budget.work += len(words)
        return words

    def _separators(self) -> str:
        value = self.state.variables.get("IFS")
        if value and value[0].fields and all(piece.known for piece in value[0].fields[0]):
            return "".join(piece.text for piece in value[0].fields[0])
        return " \t\n"

    def _pieces(self, node: Node, *, quoted: bool) -> list[Piece]:
        kind = node.type
        pieces: list[Piece]
        if kind in ("command_name", "concatenation"):
            children = node.children
            pieces = []
            at = self._start(node)
            for index, child in enumerate(children):
                start = self._start(child)
                if start > at:
                    pieces += self._literal(self.source.text[at:start], quoted)
                at = self._end(child)
                if child.type == "$" and index + 1 < len(children) and children[index + 1].type == "string":
                    continue
                pieces += self._pieces(child, quoted=quoted)
            return pieces if children else self._literal(self._text(node), quoted)
        if kind == "raw_string":
            return self._quoted_text(self._text(node)[1:-1], node)
        if kind == "string":
            return self._string(node)
        if kind == "translated_string":
            return [piece for child in node.named_children for piece in self._pieces(child, quoted=True)]
        if kind == "ansi_c_string":
            return [Piece(unescape(self._text(node)[2:-1]), quoted=True)]
        if kind == "simple_expansion":
            return self._variable(self._text(node)[1:], self._text(node), quoted)
        if kind == "expansion" and self.depth <= MAX_DEPTH:
            self.depth += 1
            pieces = self._expansion(node, quoted)
            self.depth -= 1
            return pieces
        if kind == "expansion":
            self._stop(self._span(node), "commands nested too deeply")
            return [Piece(self._text(node), known=False, quoted=quoted)]
        if kind == "command_substitution":
            return self._command_substitution(node, quoted)
        if kind == "process_substitution":
            return self._process_substitution(node)
        if kind == "arithmetic_expansion":
            self._substitutions(node)
            return [Piece(self._text(node), known=False, quoted=quoted)]
        if kind not in ("word", "number", "regex", "extglob_pattern", "variable_name", "brace_expression"):
            self._substitutions(node)
        return self._literal(self._text(node), quoted)

    def _literal(self, text: str, quoted: bool) -> list[Piece]:
        """Returns the pieces of unquoted text, or of text between the double quotes of an expansion's inner word."""
        if "{{" in text and (match := TEMPLATE.search(text)):
            return [
                *self._literal(text[: match.start()], quoted),
                Piece(match[0], known=False, quoted=quoted),
                *self._literal(text[match.end() :], quoted),
            ]
        if "\\" not in text or _DRIVE.match(text):
            return [Piece(text, quoted=quoted)] if text else []
        pieces: list[Piece] = []
        for plain, escaped in re.findall(r"([^\\]+)|\\([\s\S]?)", text):
            if plain:
                pieces.append(Piece(plain, quoted=quoted))
            elif escaped != "\n":
                pieces.append(Piece(escaped, quoted=True))
        return pieces

    def _quoted_text(self, text: str, node: Node) -> list[Piece]:
        if self.choice == 0 and len(text) >= LONG_TEXT and text.count(" ") > 2:
            self.passages.append(Passage(text, self._span(node)))
        if "${{" not in text:
            return [Piece(text, quoted=True)]
        pieces: list[Piece] = []
        at = 0
        for match in TEMPLATE.finditer(text):
            pieces += [Piece(text[at : match.start()], quoted=True), Piece(match[0], known=False, quoted=True)]
            at = match.end()
        return [*pieces, Piece(text[at:], quoted=True)]

    def _string(self, node: Node) -> list[Piece]:
        """Returns the pieces of the text between double quotes."""
        pieces: list[Piece] = []
        source = self.source.text
        at = self._start(node) + 1
        end = self._end(node)
        if end > at and source[end - 1] == '"' and not (node.children and node.children[-1].is_missing):
            end -= 1
        if self.choice == 0 and end - at >= LONG_TEXT and source.count(" ", at, end) > 2:
            self.passages.append(Passage(source[at:end], self._span(node)))
        for child in node.named_children:
            if child.type in EXPANSIONS:
                start = self._start_of_expansion(child)
                if start > at:
                    pieces.append(Piece(in_double_quotes(source[at:start]), quoted=True))
                pieces += self._pieces(child, quoted=True)
                at = self._end(child)
            elif child.type == "ERROR":
                self._broken(child, None)
        if end > at:
            text = source[at:end]
            if "{{" in text:
                return [*pieces, *self._quoted_templates(text)]
            pieces.append(Piece(in_double_quotes(text), quoted=True))
        return pieces or [Piece("", quoted=True)]

    def _quoted_templates(self, text: str) -> list[Piece]:
        pieces: list[Piece] = []
        at = 0
        for match in TEMPLATE.finditer(text):
            pieces += [
                Piece(in_double_quotes(text[at : match.start()]), quoted=True),
                Piece(match[0], known=False, quoted=True),
            ]
            at = match.end()
        return [*pieces, Piece(in_double_quotes(text[at:]), quoted=True)]

    def _lookup(self, name: str) -> Value | None:
        values = self.state.variables.get(name)
        if not values:
            text = self.given.get(name)
            if text is None:
                return None
            values = (Value(((Piece(text, known="$" not in text and "{{" not in text),),)),)
        if len(values) > self.width:
            self.width = len(values)
        return values[min(self.choice, len(values) - 1)]

    def _variable(self, name: str, spelling: str, quoted: bool) -> list[Piece]:
        value = self._lookup(name)
        if value is not None:
            joined = value.array and name == "*" and quoted
            fields = value.fields if name in "@*" else value.fields[:1]
            return inserted(fields, quoted, joined)
        return [self._unresolved(name, spelling, quoted)]

    def _unresolved(self, name: str, spelling: str, quoted: bool) -> Piece:
        if name == "HOME":
            return Piece("~", quoted=quoted)
        if name == "IFS":
            return Piece(" \t\n", quoted=quoted, split=not quoted)
        checked = self.nounset or name in _ALWAYS_SET or name in self.checked
        return Piece(spelling, known=False, quoted=quoted, empty=None if checked else "")

    def _expansion(self, node: Node, quoted: bool) -> list[Piece]:
        spelling = self._text(node)
        match = _BRACED.match(spelling)
        if spelling.startswith("${{") or match is None:
            self._substitutions(node)
            expression = spelling[3:].lstrip()
            may_be_empty = expression.startswith(("inputs.", "env.", "vars.", "secrets."))
            return [Piece(spelling, known=False, quoted=quoted, empty="" if may_be_empty else None)]
        prefix, name, index, operator = match.groups()
        value = self._lookup(name)
        if prefix:
            return self._indirect(prefix, name, value, spelling, quoted)
        fields = value.fields if value is not None else ()
        if value is not None and index is not None and index[1:-1] not in ("@", "*"):
            number = index[1:-1]
            fields = fields[int(number) : int(number) + 1] if number.isdigit() and len(number) < 6 else fields
        elif value is not None and index is None and name not in "@*":
            fields = fields[:1]
        joined = quoted and (index == "[*]" or name == "*")
        start = self._start_of_expansion(node) + match.end()
        if operator is None:
            if value is not None:
                return inserted(fields, quoted, joined)
            return [self._unresolved(name, spelling, quoted)]
        text = constant_text(fields) if value is not None else None
        if operator in (":-", "-", ":=", "=", ":?", "?", ":+", "+"):
            return self._fallback(node, start, operator, name, fields if value is not None else None, text, quoted)
        if text is None and value is None:
            text = _TYPICAL.get(name)
        self._substitutions(node)
        if text is None or len(fields) > 1:
            piece = self._unresolved(name, spelling, quoted)
            if value is not None and not any(part.empty is not None for part in (fields[0] if fields else ())):
                piece = piece._replace(known=False, text=spelling, empty=None)
            return [piece._replace(known=False, text=spelling)]
        text = _TYPICAL["HOME"] + text[1:] if text.startswith("~") else text
        self.budget.work += len(text) // 2
        argument = constant_text([self._range(node, start, self._end(node) - 1, quoted)])
        changed = changed_value(text, operator, argument)
        if changed is None:
            return [Piece(spelling, known=False, quoted=quoted)]
        if changed.startswith(_TYPICAL["HOME"]):
            changed = "~" + changed[len(_TYPICAL["HOME"]) :]
        return [Piece(changed, quoted=quoted, split=not quoted)]

    def _indirect(self, prefix: str, name: str, value: Value | None, spelling: str, quoted: bool) -> list[Piece]:
        text = constant_text(value.fields[:1]) if value is not None else None
        if prefix == "#":
            if value is not None and value.array:
                return [Piece(str(len(value.fields)), quoted=quoted)]
            return [Piece(spelling if text is None else str(len(text)), known=text is not None, quoted=quoted)]
        if text is not None and NAME.fullmatch(text):
            return self._variable(text, spelling, quoted)
        return [Piece(spelling, known=False, quoted=quoted)]

    def _fallback(
        self,
        node: Node,
        start: int,
        operator: str,
        name: str,
        fields: Sequence[tuple[Piece, ...]] | None,
        text: str | None,
        quoted: bool,
    ) -> list[Piece]:
        """Expands `${X:-word}` and similar forms. If the action doesn't set the variable, it is the word, which the
        action itself provides."""
        spelling = self._text(node)
        word = self._range(node, start, self._end(node) - 1, quoted)
        is_set = fields is not None and (text is None or text != "" or not operator.startswith(":"))
        resolved = is_set and fields is not None and all(piece.known for part in fields for piece in part)
        kind = operator[-1]
        if kind == "+":
            if is_set:
                return word
            return [] if fields is not None else [Piece(spelling, known=False, quoted=quoted, empty="")]
        if resolved and fields is not None:
            return inserted(fields, quoted, False)
        if kind == "?":
            self.checked.add(name)
            return [Piece(spelling, known=False, quoted=quoted)]
        if name == "HOME":
            return [Piece("~", quoted=quoted)]
        if not any(piece.text for piece in word):
            if fields is not None and is_set:
                return inserted(fields, quoted, False)
            return [Piece(spelling, known=False, quoted=quoted, empty=None if name in self.checked else "")]
        if kind == "=":
            self.assign(name, Value((tuple(piece._replace(quoted=False, split=False) for piece in word),)))
        return word

    def _range(self, node: Node, start: int, end: int, quoted: bool) -> list[Piece]:
        """Returns the pieces between two positions inside a node."""
        pieces: list[Piece] = []
        at = start
        for child in node.children:
            first, last = self._start(child), self._end(child)
            if first < start or last > end or (child.child_count == 0 and not child.is_named):
                continue
            if first > at:
                pieces += self._literal(self.source.text[at:first], quoted)
            pieces += self._pieces(child, quoted=quoted)
            at = max(at, last)
        if end > at:
            pieces += self._literal(self.source.text[at:end], quoted)
        return [piece._replace(split=not quoted and not piece.quoted) for piece in pieces]

    def _command_substitution(self, node: Node, quoted: bool) -> list[Piece]:
        spelling = self._text(node)
        if self.depth > MAX_DEPTH:
            self._stop(self._span(node), "commands nested too deeply")
        if self.choice > 0 or self.depth > MAX_DEPTH or self.full:
            return [Piece(spelling, known=False, quoted=quoted)]
        inner = spelling[2:-1] if spelling.startswith("$(") else spelling[1:-1]
        if inner.strip() == "pwd":
            return [Piece("$PWD", known=False, quoted=quoted)]
        if spelling.startswith("`") and "\\" in inner:  # nested backticks are escaped
            before = self._copied()
            printed = self.read_inner(re.sub(r"\\([\\`$])", r"\1", inner), self._span(node))
            self.state = before
        else:
            printed = self._substituted_calls(node)
        self.substituted = self._fed(printed, node)
        if isinstance(self.substituted, Word) and self.substituted.known:
            return [Piece(self.substituted.text.rstrip("\n"), quoted=quoted, split=not quoted)]
        return [Piece(spelling, known=False, quoted=quoted)]

    def _substituted_calls(self, node: Node) -> list[Call]:
        redirects = [child for child in node.children if child.type in REDIRECTS]
        outer = self.choice, self.width, self.receivers
        self.choice, self.width, self.receivers = 0, 1, []
        printed = self._subshell([child for child in node.children if child.type not in REDIRECTS], None)
        if redirects:
            redirections, given, _ = self._redirections(redirects)
            words = tuple(redirection.target for redirection in redirections if redirection.operator == "<")
            if words or given:
                call = Call("cat", words, self._span(node), stdin=given)
                self._emit(call)
                printed.append(call)
        self.choice, self.width, self.receivers = outer
        return printed

    def _process_substitution(self, node: Node) -> list[Piece]:
        spelling = self._text(node)
        if self.depth > MAX_DEPTH:
            self._stop(self._span(node), "commands nested too deeply")
        elif self.choice == 0 and not self.full:
            if spelling.startswith(">"):
                self.receivers.append(node)
            else:
                self.input = self._fed(self._substituted_calls(node), node)
        return [Piece(spelling, known=False, quoted=True)]

    def _substitutions(self, node: Node) -> None:
        """Reads the commands inside parts that are not commands: arithmetic, tests, patterns."""
        if self.choice > 0 or self.full:
            return
        waiting = [node]
        while waiting:
            inner = waiting.pop()
            self.budget.work += 1
            if self.budget.work > MAX_WORK:
                self._exhausted(self._span(node))
                return
            if inner.type in ("command_substitution", "process_substitution"):
                self._pieces(inner, quoted=True)
            elif inner.type == "ERROR":
                self._broken(inner, None)
            else:
                waiting += reversed(inner.named_children)
