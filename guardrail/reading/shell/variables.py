"""Follows variables: assignments, declarations, positional parameters, and what some of them make programs do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tree_sitter import Node

from guardrail.model import Call, Effect, Span, Target, Word
from guardrail.reading.shell.expansions import Expansions
from guardrail.reading.shell.nodes import NAME, groups_of
from guardrail.reading.shell.own_words import words_of
from guardrail.reading.shell.reader import MAX_ALTERNATIVES
from guardrail.reading.shell.words import BREAK, Piece, Value, added, constant_text, pieces_of, without_key
from guardrail.vocabulary import EffectKind, ObjectKind, Place

MAX_VALUE = 32 * 1024  # characters of a variable's value
MAX_PIECES = 32
POSITIONAL = frozenset("123456789@*#")
# Variables that programs run as a command, and those whose libraries are loaded into every program that starts.
_COMMAND_VARIABLES = words_of(
    "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER AWS_PAGER GH_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR "
    "SYSTEMD_EDITOR SUDO_EDITOR KUBE_EDITOR BROWSER GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS "
    "SUDO_ASKPASS RSYNC_RSH CVS_RSH PROMPT_COMMAND RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND BORG_RSH LESSOPEN "
    "LESSCLOSE PSQL_PAGER PSQL_EDITOR HGEDITOR SVN_EDITOR SVN_SSH FCEDIT TEXEDIT MAILER DEBUGGER GIT_PROXY_COMMAND "
    "CRONTAB_EDITOR BAT_PAGER DELTA_PAGER PACKER_EDITOR VIMRUNTIME AUTOM4TE AUTOCONF AUTOHEADER AUTOMAKE ACLOCAL "
    "DPKG_PAGER APT_PAGER PERL5DB BASH_ENV ZDOTDIR PYTHONSTARTUP GROFF_BIN_PATH GIT_EXEC_PATH"
)
_LIBRARY_VARIABLES = frozenset({"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"})
# Variables of a shell's history, and the values with which it records nothing.
_HISTORY_OFF = {
    "HISTFILE": words_of("/dev/null") | {""},
    "HISTSIZE": words_of("0") | {""},
    "HISTFILESIZE": words_of("0") | {""},
    "SAVEHIST": words_of("0"),
}
_RUNS_SHELL = re.compile(r"[;|&]|(?:^|[\s/'\"])(?:ba|da|z|k|a)?sh(?![\w.-])")
_TEMPORARY = re.compile(r"/(?:private/)?(?:var/)?tmp/|/dev/shm/")


class Variables(Expansions):
    """Follows variables."""

    def _assignments(self, nodes: Sequence[Node]) -> None:
        outer = self.choice, self.width
        for node in nodes:
            if node.type != "variable_assignment":
                continue
            target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if target is None:
                continue
            match = NAME.match(self._text(target))
            if match is None:
                continue
            self.choice, self.width = 0, 1
            values: list[Value] = []
            while self.choice < min(self.width, MAX_ALTERNATIVES):
                values.append(self._value(value))
                self.choice += 1
            adds = any(child.type == "+=" for child in node.children) or target.type == "subscript"
            if adds:
                present = self.state.variables.get(match[0], (Value((), array=target.type == "subscript"),))
                array = target.type == "subscript"
                values = [added(first, second, array) for first in present for second in values]
            self.assign(match[0], *dict.fromkeys(values))
            if match[0] in _HISTORY_OFF:
                self._environment((match[0],), self._span(node))
        self.choice, self.width = outer

    def _value(self, node: Node | None) -> Value:
        if node is None:
            return Value(((Piece(""),),))
        if node.type == "array":
            words = [word for group in groups_of(node.named_children) for word in self._words(group)]
            return Value(tuple(pieces_of(without_key(word)) for word in words), array=True)
        self.budget.work += 1
        pieces = self._pieces(node, quoted=False)
        kept = tuple(piece._replace(split=False, quoted=False) for piece in pieces if piece is not BREAK)
        if all(piece.known for piece in kept):
            kept = (Piece("".join(piece.text for piece in kept), glob=any(piece.glob for piece in kept)),)
        self.budget.work += sum(len(piece.text) for piece in kept) // 10
        if len(kept) > MAX_PIECES or sum(len(piece.text) for piece in kept) > MAX_VALUE:
            return Value(((Piece(self._text(node)[:200], known=False),),))
        return Value((kept,))

    def _declaration(self, node: Node) -> list[Call]:
        children = node.children
        program = self._text(children[0]) if children else ""
        self._assignments([child for child in children if child.type == "variable_assignment"])
        if program not in ("export", "unset", "unsetenv"):
            return []
        words: list[Word] = []
        for group in groups_of(children[1:]):
            first = group[0]
            if first.type == "variable_assignment":
                name, _, written = self._text(first).partition("=")
                found = self.state.variables.get(name)
                text = constant_text(found[0].fields[:1]) if found else None
                spelling = f"{name}={written if text is None else text}"
                words.append(Word(spelling, self._span(first), known=text is not None))
            elif first.is_named:
                words += self._words(group)
        if program == "export":
            self.exported.update(match[0] for word in words if (match := NAME.match(word.text)))
            self._environment(sorted(match[0] for word in words if (match := NAME.match(word.text))), self._span(node))
        if program == "unset":
            self.given = {name: text for name, text in self.given.items() if name not in {word.text for word in words}}
            for word in words:
                self.state.variables.pop(word.text, None)
                self._history(word.text, "", self._span(node))
        self._emit(Call(program, tuple(words), self._span(node)))
        return []

    def _environment(self, names: Iterable[str], span: Span) -> None:
        """Adds the effects of variables that make programs run commands or load libraries."""
        for name in names:
            if name not in _COMMAND_VARIABLES and name not in _LIBRARY_VARIABLES and name not in _HISTORY_OFF:
                continue
            values = self.state.variables.get(name)
            text = constant_text(values[0].fields[:1]) if values else None
            if name in _HISTORY_OFF:
                self._history(name, text, span)
                continue
            if not text:
                continue
            command = text.lstrip("|-")  # LESSOPEN begins with a pipe
            if name == "PERL5DB":
                self._emit(Call("perl", (Word("-e", span), Word(text, span)), span))
            elif name in _COMMAND_VARIABLES:
                written = self._written_below(command)
                if written is not None:
                    command = written
                if written is not None or _RUNS_SHELL.search(command):
                    self._emit(Call("sh", (Word("-c", span), Word(command, span)), span))
            elif name in _LIBRARY_VARIABLES and _TEMPORARY.match(text):
                target = Target(text, place=Place.TEMPORARY)
                self.effects.append(Effect(EffectKind.INJECT, ObjectKind.PROCESS, span, f"bash {name}", (target,)))

    def _history(self, name: str, text: str | None, span: Span) -> None:
        """Adds that the history is disabled: a shell without history hides the commands that ran in it."""
        if text is not None and text in _HISTORY_OFF.get(name, ()):
            self._add_effect(EffectKind.DISABLE, ObjectKind.SERVICE, "the history of the shell", span)

    def _written_below(self, path: str) -> str | None:
        """Returns the text that the action wrote to the path, or to a file in the directory of that name."""
        plain = plain_path(path)
        if plain in self.files:
            return self.files[plain]
        inside = "" if plain in (".", "") else plain.rstrip("/") + "/"
        found = (text for file, text in self.files.items() if file.startswith(inside) and (inside or "/" not in file))
        return next(found, None)

    def _positional(self, words: Sequence[Word]) -> None:
        """Sets `$1` and the other positional parameters. Those after an unknown word may exist."""
        fields = tuple(pieces_of(word) for word in words)
        counted = all(word.known for word in words)
        for variable in POSITIONAL:
            self.state.variables.pop(variable, None)
        for index in range(1, 10):
            if index <= len(fields):
                self.state.variables[str(index)] = (Value((fields[index - 1],)),)
            elif counted:
                self.state.variables[str(index)] = (Value(((Piece(""),),)),)
        self.state.variables["@"] = self.state.variables["*"] = (Value(fields, array=True),)
        if counted:
            self.state.variables["#"] = (Value(((Piece(str(len(fields))),),)),)

    def _shift(self, words: Sequence[Word]) -> None:
        count = int(words[0].text) if words and words[0].text.isdigit() and len(words[0].text) < 3 else 1
        present = self.state.variables.get("@")
        if present is None:
            return
        fields = present[0].fields[count:]
        for index in range(1, 10):
            self.state.variables.pop(str(index), None)
            if index <= len(fields):
                self.state.variables[str(index)] = (Value((fields[index - 1],)),)
        self.state.variables["@"] = self.state.variables["*"] = (Value(fields, array=True),)
        self.state.variables.pop("#", None)


def plain_path(path: str) -> str:
    return path.removeprefix("./")
