"""Reads simple commands: aliases, builtins, scripts that the action itself wrote, and calls of programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

from tree_sitter import Node

from guardrail.model import Call, Effect, Redirection, Span, Word
from guardrail.reading.decoding import constant_output
from guardrail.reading.shell.functions import MANY_CALLS, Functions
from guardrail.reading.shell.nodes import NAME, REDIRECTS, groups_of
from guardrail.reading.shell.own_words import SILENT, words_of
from guardrail.reading.shell.reader import MAX_ALTERNATIVES
from guardrail.reading.shell.variables import MAX_VALUE, plain_path
from guardrail.reading.shell.words import MAX_TEXT, Piece, Value, after_equals, constant_text, joined_path
from guardrail.vocabulary import EffectKind, ObjectKind

MAX_FILES = 200
MAX_PIPED = 8  # commands before a pipe in the spelling of a variable
_QUIET = SILENT - {"dirs", "times", "jobs", "type", "alias", "trap", "hash"}  # builtins that print nothing
# Commands that people type without thinking, and those that nobody wants to run instead.
_EVERYDAY = words_of(
    "ls cd cat cp mv rm grep ps sudo su ssh git vim vi nano less echo pwd man find top mkdir touch clear"
)
_HARMING = words_of("rm shred dd mkfs wipefs kill killall pkill reboot shutdown halt poweroff truncate unlink srm")
_SHELLS = words_of("sh bash dash ash zsh ksh mksh")
# Interpreters that accept code in an option, with that option.
_INLINE = {"python": "-c", "python3": "-c", "node": "-e", "nodejs": "-e", "pwsh": "-Command", "powershell": "-Command"}
_RUNNERS = _SHELLS | {"source"} | set(_INLINE)
# Programs that only look at files or copy them, and files that other programs read settings from by default.
_PASSES_ON = words_of(
    "cat chmod chown chgrp cp mv ls ln grep rg sed awk head tail less more rm touch tee echo printf git diff stat test "
    "docker podman kubectl file wc scp rsync curl tar zip md5sum sha256sum mkdir install useradd chsh usermod"
)
_READERS_OF = {
    "package.json": words_of("npm yarn pnpm bun npx node"),
    "gemfile": words_of("bundle bundler"),
    "rakefile": words_of("rake"),
    "makefile": words_of("make gmake"),
    "gnumakefile": words_of("make gmake"),
    "justfile": words_of("just"),
    "vagrantfile": words_of("vagrant"),
    "composer.json": words_of("composer"),
    "cmakelists.txt": words_of("cmake"),
    "meson.build": words_of("meson"),
    "build.xml": words_of("ant"),
    "pom.xml": words_of("mvn"),
    "build.gradle": words_of("gradle"),
    "setup.py": words_of("pip pip3 easy_install"),
    "configure.ac": words_of("autoconf autoreconf automake"),
    "build.rs": words_of("cargo"),
    ".gdbinit": words_of("gdb"),
    "conftest.py": words_of("pytest"),
}
# Variables that contain the program of the same name, by convention of make and autoconf.
_PROGRAM_VARIABLES = words_of(
    "SUDO PYTHON PYTHON3 PIP PIP3 NODE NPM NPX YARN PNPM MAKE GIT DOCKER PODMAN KUBECTL HELM TERRAFORM CARGO GO "
    "RM CP MV MKDIR INSTALL CURL WGET TAR SED AWK GREP CHMOD CHOWN AWS GCLOUD PSQL MYSQL SSH SCP RSYNC APT YUM "
    "DNF BREW"
)
_SPELLED = re.compile(r"[\w@%+=:,./~*?-]+")  # words spelled without quotes
_SHELL_IN_FILE = re.compile(
    r"(?m)(?:^[ \t]*|[\"'({!][ \t]*)(?:exec[ \t]+)?(?:/usr)?/bin/(?:ba|da|z|k|a)?sh(?:[ \t]+-[ips]+)?[ \t]*"
    r"(?:$|[\"';)}&|]|[0-9]?[<>])"
)
_NAMES_SHELL = re.compile(r"(?i)(?:shell|cmd|entrypoint)\W{0,6}\Z")
_TESTED = re.compile(r"\$\{?([A-Za-z_]\w*|[0-9#@*])")


class Commands(Functions):
    """Reads simple commands."""

    def _command(self, node: Node, stdin: Call | Word | None, redirects: Sequence[Node]) -> list[Call]:
        """Reads a simple command, once for each value that a variable in it may have."""
        outer = self.choice, self.width, self.substituted, self.input, self.receivers
        self.choice, self.width, self.receivers = 0, 1, []
        printed: list[Call] = []
        while self.choice < min(self.width, MAX_ALTERNATIVES) and not self.full:
            self.substituted = self.input = None
            printed += self._command_once(node, stdin, redirects)
            self.choice += 1
        self.choice, self.width, self.substituted, self.input, self.receivers = outer
        return printed

    def _command_once(self, node: Node, stdin: Call | Word | None, redirects: Sequence[Node]) -> list[Call]:
        name: Node | None = None
        arguments: list[Node] = []
        own: list[Node] = []
        assignments: list[Node] = []
        for child in node.children:
            kind = child.type
            if kind == "command_name":
                name = child
            elif kind in REDIRECTS:
                own.append(child)
            elif kind == "variable_assignment":
                assignments.append(child)
            elif kind == "ERROR":
                self._broken(child, None)
            elif kind == "number" and self.source.text[self._end(child) : self._end(child) + 1] in ("<", ">"):
                continue  # the descriptor of a redirection: `0<&2`
            elif kind != "comment":
                arguments.append(child)
        span = self._span(node)
        if name is not None and self.aliases and self._text(name) in self.aliases:
            return self._alias(node, name, stdin) if self.choice == 0 else []
        words: list[Word] = []
        feeding = None
        for index, group in enumerate(groups_of([name, *arguments] if name is not None else arguments)):
            words += self._words(group)
            if index == 0:
                feeding, self.substituted = self.substituted, None
        redirections: list[Redirection] = []
        if own or redirects:
            redirections, given, extra = self._redirections([*own, *redirects])
            words += extra
            stdin = given or stdin
        if not assignments or self.choice > 0:
            return self._run(words, redirections, stdin or self.input, span, feeding)
        names = {match[0] for child in assignments if (match := NAME.match(self._text(child)))}
        before, exported = dict(self.state.variables), set(self.exported)
        self._assignments(assignments)
        self.exported |= names
        self._environment(names, span)
        printed = self._run(words, redirections, stdin or self.input, span, feeding)
        self.exported = exported
        for variable in names:
            self.state.variables.pop(variable, None)
            if variable in before:
                self.state.variables[variable] = before[variable]
        return printed

    def _alias(self, node: Node, name: Node, stdin: Call | Word | None) -> list[Call]:
        """Reads a command with its alias replaced. In the replacement, the alias is not replaced again."""
        alias = self._text(name)
        text = self.aliases.pop(alias)
        printed = self.read_inner(text + self.source.text[self._end(name) : self._end(node)], self._span(node), stdin)
        self.aliases.setdefault(alias, text)
        return printed

    def _run(
        self,
        words: list[Word],
        redirections: Sequence[Redirection],
        stdin: Call | Word | None,
        span: Span,
        feeding: Call | Word | None,
    ) -> list[Call]:
        is_function = bool(words) and words[0].known and words[0].text in self.functions
        words = _unwrapped(words)
        name = words[0] if words else None
        program = _program(name) if name is not None else ":"
        rest = words[1:]
        if is_function and name is not None and name.text not in self.active:
            if redirections:
                self._emit(Call(":", (), span, redirections=tuple(redirections)))
            return self._call_function(name.text, rest, stdin, span)
        if is_function:
            self._calls_itself(name, rest, span)
        if name is None or program in SILENT:
            self._builtin(program, rest, stdin)
            call = Call(":", tuple(rest) if name is None else (), span, redirections=tuple(redirections), stdin=stdin)
            if redirections:
                self._emit(call)
            self._receive(call)
            return [] if program in _QUIET else [replace(call, words=tuple(rest))]
        if is_function:
            return []
        if program == "eval" and rest and all(word.known for word in rest):
            return self.read_inner(" ".join(word.text for word in rest), span, stdin)
        if program == "set":
            self._set(rest)
        if not program:
            rest = words
            stdin = stdin or feeding
        elif program == "eval":
            stdin = stdin or self.substituted
        elif program == ".":
            program = "source"
        if self.exported and (program in _SHELLS or program == "source" or any(word.text in _SHELLS for word in rest)):
            rest = [self._with_exported(word) for word in rest]
        path = name.text if name.known and "/" in name.text else ""
        if self.scripts and program in _SHELLS and stdin is None and all(word.text[:1] == "-" for word in rest):
            path = "!" + path  # it waits for input, like a shell typed into another program
        call = Call(
            program,
            tuple(rest),
            span,
            redirections=tuple(redirections),
            stdin=stdin,
            sure=self.sure,
            directory=self.state.directory,
            path=path,
            repeated=self.loops > 0,
        )
        if len(self.calls) > MANY_CALLS:
            key = call.program, call.words, call.redirections, call.sure, call.directory, span, id(stdin)
            before = self.emitted.setdefault(key, call)
            if before is not call:  # the same words at the same position, in a function that is called again
                return [before]
        self._emit(call)
        self._receive(call)
        self._remember_files(call)
        if self.files:
            self._written_script(program, [*words[:1], *rest], span)
            self._written_setting(program, rest, span)
        return [call]

    def _written_setting(self, program: str, words: Sequence[Word], span: Span) -> None:
        """Adds a shell that a program starts because of a settings file that the action wrote."""
        if program in _PASSES_ON or program in _RUNNERS or not program:
            return
        named = {plain_path(word.text.rpartition("=")[2]) for word in words}
        for path, text in self.files.items():
            read = path in named or program in _READERS_OF.get(path.rpartition("/")[2].lower(), ())
            if (
                read
                and "sh" in text
                and any(not _NAMES_SHELL.search(text, 0, found.start() + 1) for found in _SHELL_IN_FILE.finditer(text))
            ):
                detail = {"code": "interactive_shell"}
                self.effects.append(
                    Effect(EffectKind.EXECUTE, ObjectKind.PROCESS, span, program, sure=self.sure, detail=detail)
                )
                return

    def _with_exported(self, word: Word) -> Word:
        """Replaces the variables that this shell exports in the text for an inner shell."""
        if not word.known or "$" not in word.text:
            return word

        def value(match: re.Match[str]) -> str:
            found = self.state.variables.get(match[1])
            text = constant_text(found[0].fields) if found and match[1] in self.exported else None
            return match[0] if text is None else text

        return self._whole(replace(word, text=re.sub(r"\$\{?([A-Za-z_]\w*)\}?", value, word.text)))

    def _remember_files(self, call: Call) -> None:
        """Records constant text that is written to a file, since the action may run the file."""
        targets = [found for found in call.redirections if found.operator != "<" and found.target.known]
        paths = [found.target.text for found in targets]
        if call.program == "tee":
            paths += [word.text for word in call.words if word.known and not word.text.startswith("-")]
        if not paths:
            return
        output = constant_output(replace(call, redirections=()))
        if output is None:
            return
        adds = any(found.operator == ">>" for found in targets) or any(word.text == "-a" for word in call.words)
        for path in paths:
            before = self.files.get(plain_path(path), "") if adds else ""
            self.budget.work += (len(before) + len(output)) // 500
            if len(self.files) >= MAX_FILES or len(before) + len(output) > MAX_TEXT:
                self._stop(call.span, "more text in files than is remembered")
                return
            self.files[plain_path(path)] = before + output
            self.definitions += 1

    def _written_script(self, program: str, words: Sequence[Word], span: Span) -> None:
        """Reads a script that the action wrote before running it: shell here, other languages as if the code were in
        the command."""
        runner = program if program in _RUNNERS else ""
        for index, word in enumerate(words):
            path = plain_path(word.text)
            text = self.files.get(path) if word.known else None
            if text is not None and (runner or index == 0):
                shebang = re.match(r"#![^\n]*?/(?:env[ \t]+(?:-S[ \t]+)?)?([a-z]+)[\d.]*(?:[ \t][^\n]*)?(?:\n|$)", text)
                written = shebang[1] if shebang else "sh"
                language = written if not runner or words[index - 1].text == "-c" else runner
                del self.files[path]  # a script that runs itself is read once
                if language in _INLINE:
                    option = Word(_INLINE[language], span)
                    self._emit(Call(language, (option, Word(text, span)), span))
                elif language in _RUNNERS:
                    self.scripts += program != "source"
                    self.read_inner(text, span)
                    self.scripts -= program != "source"
                self.files[path] = text
            elif not runner and word.text in _RUNNERS:
                runner = word.text

    def _builtin(self, program: str, words: Sequence[Word], stdin: Call | Word | None) -> None:
        operands = [word for word in words if not word.text.startswith("-") or word.text == "-"]
        if program in ("cd", "pushd"):
            if program == "pushd":
                self.directories.append(self.state.directory)
            self._change_directory(operands[0] if operands else None, words)
        elif program == "popd":
            self.state.directory = self.directories.pop() if self.directories else None
        elif program in ("read", "mapfile", "readarray"):
            names = [word.text for word in operands if NAME.fullmatch(word.text)]
            for name in names:
                self.assign(name, Value(((Piece("$" + name, known=False),),)))
            if program == "read" and len(names) == 1 and stdin is not None:
                self.assign(names[0], *_lines_of(stdin))
        elif program == "shift":
            self._shift(operands)
        elif program == "getopts" and len(operands) > 1:
            for name in (operands[1].text, "OPTARG"):
                self.assign(name, Value(((Piece("$" + name, known=False),),)))
        elif program == "alias":
            for word in operands:
                alias, is_set, text = word.text.partition("=")
                if is_set and word.known:
                    self.aliases[alias] = text
                    self.definitions += 1
                    first = text.split()[0] if text.strip() else ""
                    if alias in _EVERYDAY and first != alias and first in _HARMING:
                        self._add_effect(EffectKind.INJECT, ObjectKind.PROCESS, alias, word.span)
        elif program == "unalias":
            for word in operands:
                self.aliases.pop(word.text, None)
                self.definitions += 1
        elif program == "trap" and len(operands) > 1 and operands[0].known and operands[0].text not in ("", "-"):
            signals = {word.text.upper().removeprefix("SIG") for word in operands[1:]}
            self.traps.append(
                (operands[0].text, bool(signals & {"EXIT", "0", "ERR", "DEBUG", "RETURN"}), words[0].span)
            )
        elif program in ("test", "["):
            self._test(" ".join(word.text for word in words))
        elif program in ("local", "declare", "typeset", "readonly"):
            for word in operands:
                name, is_set, text = word.text.partition("=")
                if is_set and NAME.fullmatch(name):
                    self.assign(name, Value(((Piece(text, word.known, empty=after_equals(word)),),)))

    def _set(self, words: Sequence[Word]) -> None:
        texts = [word.text for word in words]
        if "history" in texts and "+o" in texts:
            self._history("HISTSIZE", "0", words[0].span)
        if any(re.fullmatch(r"-[a-zA-Z]*u[a-zA-Z]*", text) for text in texts) or "nounset" in texts:
            self.nounset = "+o" not in texts
        if "--" in texts:
            self._positional(words[texts.index("--") + 1 :])

    def _test(self, text: str) -> None:
        for match in _TESTED.finditer(text):
            self.checked.update("123456789@*" if match[1] in "#@*" else (match[1],))

    def _change_directory(self, target: Word | None, words: Sequence[Word]) -> None:
        here = self.state.directory
        if target is None:
            self.state.directory = Word("~", words[0].span if words else Span(0, 0))
        elif target.text == "-":
            self.state.directory = None
        elif here is None or not target.known or target.text.startswith(("/", "~", "$")):
            self.state.directory = target
        else:
            joined = here.text.rstrip("/") + "/" + target.text
            if here.known:
                joined = joined_path(joined)
            empty = None if here.if_empty is None else here.if_empty.rstrip("/") + "/" + target.text
            if len(joined) <= MAX_TEXT:
                self.state.directory = replace(target, text=joined, known=here.known, if_empty=empty)


def _program(name: Word) -> str:
    """Returns the catalogue's key for a command's name, or "" if it is computed."""
    text = name.text.rstrip("/")
    if not name.known:
        match = re.fullmatch(r"\$\{?([A-Z0-9]+)\}?", text)
        if match:
            return match[1].lower() if match[1] in _PROGRAM_VARIABLES else ""
        match = re.search(r"/([\w.+-]+)$", text)  # "$ROOT/bin/tool" is tool, wherever it is
        text = match[1] if match else ""
    return re.split(r"[/\\]", text)[-1].lower().removesuffix(".exe")


def _unwrapped(words: list[Word]) -> list[Word]:
    """Removes the shell's own prefixes from a command, which do not change its effects."""
    while words and words[0].known:
        name = words[0].text
        if name in ("builtin", "nocorrect", "noglob") and len(words) > 1:
            words = words[1:]
        elif name == "time" and len(words) > 1 and (not words[1].text.startswith("-") or words[1].text == "-p"):
            words = words[2:] if words[1].text == "-p" else words[1:]
        elif name == "command":
            index = 1
            while index < len(words) and words[index].text in ("-p", "--"):
                index += 1
            if index < len(words) and words[index].text.startswith("-"):
                return [replace(words[0], text="type"), *words[1:]]
            words = words[index:]
        elif name == "exec":
            index = 1
            while index < len(words) and re.fullmatch(r"-[cla]+", words[index].text):
                index += 2 if "a" in words[index].text else 1
            words = words[index:]
        else:
            break
    return words


def _lines_of(stdin: Call | Word) -> list[Value]:
    """Returns the values that `read` may get from a pipe: the lines of constant text, else the output of the
    commands."""
    if isinstance(stdin, Word) and stdin.known:
        lines = [line.strip() for line in stdin.text.splitlines()]
        return [Value(((Piece(line),),)) for line in lines if line] or [Value(((Piece(""),),))]
    if isinstance(stdin, Word):
        return [Value(((Piece(stdin.text.strip(), known=False),),))]
    commands: list[str] = []
    source: Call | Word | None = stdin
    while isinstance(source, Call) and len(commands) < MAX_PIPED:
        plain = (
            word.text if not word.known or _SPELLED.fullmatch(word.text) else quote(word.text) for word in source.words
        )
        commands.append(" ".join([source.program, *plain]))
        source = source.stdin
    return [Value(((Piece(f"$({' | '.join(reversed(commands))})"[:MAX_VALUE], known=False),),))]
