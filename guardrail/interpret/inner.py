"""Follows the actions inside a call: commands, scripts and code that it passes on, prints or receives."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote
from typing import Protocol

from guardrail.catalogue.entries import Inner
from guardrail.foreign import look, runs_what_it_receives, starts_shell
from guardrail.interpret.frame import MAX_CALLS, MAX_DEPTH, MAX_INNER_CHARS, Frame, directory_of
from guardrail.interpret.inner_words import (
    command_in,
    found_by_search,
    host_of_inner,
    listed_commands,
    mounts_of,
    read_as,
    replaced,
    selected_by_client,
    substitution,
    typed,
    with_parameters,
    with_piped,
    words_of_inner,
)
from guardrail.interpret.pipes import connection_of, decodes, lists_what_ended, picks_by_pattern, prints_environment
from guardrail.interpret.programs import CARES, SHELLS, entry_of, program_name
from guardrail.interpret.work import Part, Work
from guardrail.model import Call, Effect, Reading, Target, Uncovered, Word
from guardrail.options import Parsed, parse
from guardrail.paths.spelling import is_nowhere
from guardrail.reading.deciding import is_sql
from guardrail.reading.decoding import constant_output
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Reversible, Scope

_MAKE_CONTAINERS = (("run",), ("create",), ("container", "run"), ("container", "create"))
_SEARCHES = frozenset(("find", "fd", "ls", "grep", "rg", "ag", "git"))
SHELL_OPTIONS = frozenset(("-s", "--shell", "--login-shell", "--default-shell", "--"))
"""Options whose value is the shell that a user or a command gets."""
_TEXT_OPTIONS = frozenset(
    ("-m", "--message", "--body", "--title", "--notes", "--description", "--comment", "--subject")
)
"""Options whose value people read."""
_CALLS_OF_CODE = re.compile(r"\w\(|\$\w+\s*=|\w\s?=>|\bexec\s+[{\"']|\bsystem\b")
"""Signs of a language other than a shell, in which `exec`, `open` and `print` are words too."""
_COMMAND_NAMES = ("rsh", "exec", "command", "editor", "pager", "program", "cmd")
_DOT_COMMAND = re.compile(
    r"\s*\.(?:(?:shell|system)\s+(.+)|(?:output|once|excel|log)\s+(?:-\S+\s+)*(\S+)\s*$)", re.DOTALL
)


class Follower(Protocol):
    """Interprets what is found inside a call."""

    def read(self, reading: Reading, frame: Frame) -> None:
        """Adds a reading, either of the whole action or of an action inside it."""

    def call(self, original: Call, frame: Frame) -> None:
        """Adds the effects of one call and of the actions inside it."""

    def effects_apart(self, reading: Reading, frame: Frame) -> Sequence[Effect]:
        """Returns the effects of a reading without adding them."""


class InnerActions(Part):
    """Finds the actions inside calls and has them followed."""

    def __init__(self, work: Work, follower: Follower) -> None:
        super().__init__(work)
        self._follower = follower
        self._inner_chars = 0

    def follow(self, inner: Inner, parsed: Parsed, call: Call, frame: Frame) -> None:
        """Adds the effects of the actions that an entry finds in the words or the input of a call."""
        deeper = Frame(
            depth=frame.depth + 1,
            host=host_of_inner(inner, parsed) or call.host,
            elevated=call.elevated or inner.elevated,
            sure=call.sure,
            carrier=call.span,
            directory=call.directory,
        )
        if deeper.host is not None and tuple(parsed.path) in _MAKE_CONTAINERS:
            self.memory.mounts[deeper.host] = mounts_of(parsed)
        if inner.part == "stdin":
            self._fed_code(inner.language, call, deeper)
            return
        for words in words_of_inner(inner, parsed):
            if inner.program is not None and (named := parsed.part(inner.program)):
                words = [named[0], *words]
            if not words:
                continue
            if inner.language == "argv":
                listed = any(word.text.startswith(":::") for word in words)
                if inner.append_stdin and not listed and " " not in words[0].text:
                    words = with_piped(words, parsed, self._words_of_pipe(words, parsed, call))
                if inner.append_found and words and not any("{" in word.text for word in words):
                    words = (*words, Word("{}", parsed.call.span))
                if inner.until and any("{}" in word.text for word in words):
                    # A search inserts the paths found there. Wrappers such as `docker exec` pass the braces on.
                    words = replaced(words, "{}", found_by_search(parsed))
                self.command(words, call, deeper)
            else:
                text = typed(words) if inner.typed else " ".join(word.text for word in words)
                if inner.language == "bash":
                    text = with_parameters(text, parsed) if call.program in SHELLS else listed_commands(text)
                self.text(text, inner.language, call, deeper)

    def command(self, words: Sequence[Word], call: Call, frame: Frame) -> None:
        """Adds the effects of words that are a command: `sudo rm x`, `xargs rm`."""
        first = words[0]
        if len(words) == 1 and first.known and any(char in first.text for char in " ;|&\n"):
            self.text(first.text, "bash", call, frame)
            return
        if first.known and " " in first.text and self.is_command_line(first.text):
            # `parallel 'rm -rf {}' ::: a b`: a line for a shell, and the values to insert.
            rest = [word.text for word in words[1:] if not word.text.startswith(":::")]
            self.text(" ".join((first.text, *map(quote, rest))), "bash", call, frame)
            return
        inner = Call(
            program=program_name(first.text) if first.known else "",
            words=tuple(words[1:] if first.known else words),
            span=call.span,
            language=call.language,
            stdin=call.stdin,
            sure=call.sure,
            path=first.text.replace("\\", "/") if first.known and ("/" in first.text or "\\" in first.text) else "",
        )
        self._follower.call(inner, frame)

    def _words_of_pipe(self, words: Sequence[Word], parsed: Parsed, call: Call) -> list[Word]:
        """Returns the words that `xargs` adds to those of its command: the words of a constant text, the paths that a
        search finds, what selects the list of the command's own program, or one unknown word."""
        source = call.stdin
        if (
            any(redirection.operator == "<" for redirection in call.redirections)
            or parsed.has("-a")
            or parsed.has("--arg-file")
        ):
            return [Word("$(stdin)", call.span, known=False)]
        if source is None:
            return []
        output = source.text if isinstance(source, Word) else constant_output(source)
        if output is not None:
            return [Word(text, call.span) for text in output.split()]
        if prints_environment(source):
            return [Word("$(env)", call.span, known=False)]
        if lists_what_ended(source):
            return [Word("$(ended)", call.span, known=False)]
        picked = picks_by_pattern(source)
        selected = selected_by_client(words, source, picked=picked, catalogue=self.catalogue)
        if selected is not None:
            return selected
        while isinstance(source, Call) and isinstance(source.stdin, Call):
            source = source.stdin
        if isinstance(source, Call) and source.program in _SEARCHES:
            program = entry_of(self.catalogue, source.program)
            if program is not None and source.program in ("find", "fd"):
                return found_by_search(parse(program, source))
            _, effects = self.memory.effects_of.get(id(source), (source, ()))
            read = [target.text for effect in effects if effect.kind is EffectKind.READ for target in effect.targets]
            if source.program == "ls" and (listed := [word for word in source.words if word.glob]):
                return listed  # the shell completes the pattern, so `ls` prints the names that it matches
            return [Word(f"{text.rstrip('/')}/[found]", call.span, glob=True) for text in read or ["."]]
        return [Word("$(picked)" if picked else "$(stdin)", call.span, known=False)]

    def text(self, text: str, language: str, call: Call, frame: Frame) -> None:
        """Adds the effects of a text that is an action: `bash -c '…'`, `python -c '…'`."""
        code = substitution(text)
        if code is not None:
            self._printed_code(code, language, call, frame)
            return
        if language == "sql" and text.lstrip().startswith(".") and (command := _DOT_COMMAND.match(text)):
            # The shell of sqlite3 has its own commands.
            run, file = command.groups()
            text, language = run or f": > {file}", "bash"
        self._inner_chars += len(text)
        if frame.depth > MAX_DEPTH or self._inner_chars > MAX_INNER_CHARS or len(self.findings.calls) >= MAX_CALLS:
            reason = "nested actions, too deep to follow"
            self.findings.uncovered.append(Uncovered(call.span, reason, stopped=True))
            return
        if language == "unknown":
            self.code("inline", call)
            if starts_shell(text):
                self.interactive_shell(call)
            self.foreign(text, call)
            runner = "a tool" if call.program.startswith("tool:") else call.program
            self.findings.uncovered.append(Uncovered(call.span, f"code that {runner} runs"))
            return
        self._follower.read(read_as(text, language, self.facts, self.catalogue), frame)

    def inline(self, code: str, call: Call) -> None:
        """Adds the effects of code in a word: a command line, `--upload-pack='rm -rf x'` and `ext::rm% -rf% x`, or code
        of a language without a reader."""
        self.foreign(code, call)
        command = command_in(code)
        if self.is_command_line(command) and _CALLS_OF_CODE.search(command) is None:
            frame = Frame(
                depth=MAX_DEPTH - 1, host=call.host, elevated=call.elevated, sure=call.sure, carrier=call.span
            )
            self.text(command, "bash", call, frame)

    def foreign(self, code: str, call: Call) -> None:
        """Adds the effects of quoted commands and paths in code of a language without a reader."""
        frame = Frame(depth=MAX_DEPTH - 1, host=call.host, elevated=call.elevated, sure=call.sure, carrier=call.span)
        if runs_what_it_receives(code):
            self.network_shell(call.program, call)
        for found in look(code):
            if found.kind == "named":
                target = self.targets.target(Word(found.text, call.span), EffectKind.READ, ObjectKind.PATH, call)
                if target.sensitivity in CARES:
                    self.findings.add_generic(EffectKind.READ, ObjectKind.PATH, (target,), call, {}, True)
                continue
            if found.kind == "command":
                if is_sql(found.text):
                    self.text(found.text, "sql", call, frame)
                elif self.is_command_line(found.text):
                    self.text(found.text, "bash", call, frame)
                continue
            kind = EffectKind.WRITE if found.kind == "write" else EffectKind.DELETE
            word = Word(found.text, call.span)
            effect = Effect(
                kind=kind,
                object=ObjectKind.PATH,
                span=call.span,
                source="generic",
                targets=(self.targets.target(word, kind, ObjectKind.PATH, call),),
                scope=Scope.MANY if found.kind == "delete_tree" else Scope.ONE,
                reversible=Reversible.YES if kind is EffectKind.WRITE else Reversible.NO,
                sure=call.sure,
                elevated=call.elevated,
            )
            self.findings.add(effect)
            if kind is EffectKind.WRITE:
                self.add_write(effect, directory_of(call))

    def _printed_code(self, command: str, language: str, call: Call, frame: Frame) -> None:
        """Adds the effects of code that a command prints: `bash -c "$(curl …)"`, `eval "$(ssh-agent)"`."""
        reading = read_as(command, "bash", self.facts, self.catalogue)
        output = constant_output(reading.calls[-1]) if reading.calls else None
        if output is not None:
            self.text(output, language, call, replace(frame, depth=frame.depth + 1))
            return
        effects = self._follower.effects_apart(reading, Frame(depth=min(frame.depth + 1, MAX_DEPTH)))
        urls = [target.text for effect in effects if effect.kind is EffectKind.DOWNLOAD for target in effect.targets]
        if urls:
            self.code("remote", call, urls)
        else:
            self.code("piped", call)
            self.findings.uncovered.append(Uncovered(call.span, "code that another program prints"))

    def _fed_code(self, language: str, call: Call, frame: Frame) -> None:
        """Adds the effects of code from a pipe, a here-document or a file."""
        source = call.stdin
        if language == "crontab":
            # Programs print schedules to change one line; only a constant one is read.
            if (schedule := constant_output(source)) is not None:
                self.text(schedule, "bash", call, frame)
            return
        if source is None:
            for redirection in call.redirections:
                if redirection.operator == "<" and not is_nowhere(redirection.target.text):
                    target = self.targets.target(redirection.target, EffectKind.EXECUTE, ObjectKind.PATH, call)
                    self.code("named_file", call, targets=(target,))
            return
        output = source.text if isinstance(source, Word) else constant_output(source)
        if output is not None:
            if language == "self":
                self._lines(output, call, frame)
            else:
                self.text(output, language, call, frame)
            return
        if language == "manifest":
            return  # a generated manifest is left to the cluster to check, as a file is
        urls = self.memory.fed(source).urls
        if language == "bash" and (connection := connection_of(source)) is not None:
            self.network_shell(connection, call)
            return
        if urls:
            self.code("remote", call, urls)
            return
        if language not in ("sql", "self", "http"):
            self.code("piped", call)
            if decodes(source):
                self.findings.add_generic(
                    EffectKind.EXECUTE, ObjectKind.PROCESS, (), call, {"code": "piped", "decoded": "yes"}, True
                )
        self.findings.uncovered.append(Uncovered(call.span, f"what {call.program} gets from a pipe"))

    def _lines(self, text: str, call: Call, frame: Frame) -> None:
        """Adds the effects of each line as a call of the same program: `redis-cli <<< 'FLUSHALL'`."""
        for line in text.splitlines():
            words = tuple(Word(word.strip("'\""), call.span) for word in line.split())
            if words:
                self._follower.call(replace(call, words=words, stdin=None, redirections=()), frame)

    def shells_in_options(self, call: Call, frame: Frame) -> None:
        """Adds the shells that programs start for an option's value: `tar -I '/bin/sh -c …'`, `lftp -c '!/bin/sh'`."""
        if call.language is Language.TOOL_CALL:
            return  # the words are texts for people and files
        for at, word in enumerate(call.words):
            if "/" not in word.text:
                continue  # not a path to a shell
            if word.known and "/bin/" in word.text and starts_shell(word.text):
                if at == 0 or call.words[at - 1].text not in _TEXT_OPTIONS:
                    self.interactive_shell(call)
                continue
            option, equals, text = word.text.partition("=")
            if not (equals and option.startswith("--")):
                option, text = call.words[at - 1].text if at else "", word.text
            if not option.startswith("-") or option in SHELL_OPTIONS or option in _TEXT_OPTIONS:
                continue
            command = text.lstrip("!")
            first, blank, _ = command.partition(" ")
            if not first.startswith("/") or posixpath.basename(first) not in SHELLS:
                continue
            if blank or command != text or any(name in option for name in _COMMAND_NAMES):
                deeper = replace(
                    frame, depth=frame.depth + 1, carrier=call.span, host=call.host, elevated=call.elevated
                )
                self.text(command, "bash", call, deeper)

    def is_command_line(self, text: str) -> bool:
        """Decides whether a text begins with a known program that is given words."""
        first, blank, _ = text.strip().partition(" ")
        return bool(blank) and entry_of(self.catalogue, first.rpartition("/")[2].lower()) is not None

    def code(self, code: str, call: Call, urls: Sequence[str] = (), targets: tuple[Target, ...] = ()) -> None:
        """Adds that a call runs code, and the source of the code: `inline`, `named_file`, `piped` or `remote`."""
        detail = {"code": code, **({"url": urls[0]} if urls else {})}
        self.findings.add(
            Effect(
                kind=EffectKind.EXECUTE,
                object=ObjectKind.PATH if code == "named_file" else ObjectKind.PROCESS,
                span=call.span,
                source=call.program or "generic",
                targets=targets
                or tuple(Target(url, self.targets.placed(Place.REMOTE, ObjectKind.PROCESS)) for url in urls),
                sure=call.sure,
                elevated=call.elevated,
                detail=detail,
            )
        )

    def interactive_shell(self, call: Call) -> None:
        """Adds a shell that another program starts without a command: no check sees the commands typed there."""
        host = call.host or ""
        inside = host.startswith(("container:", "pod:", "image:"))
        self.findings.add(
            Effect(
                kind=EffectKind.EXECUTE,
                object=ObjectKind.CONTAINER if inside else ObjectKind.PROCESS,
                span=call.span,
                source=call.program,
                targets=(Target(host, self.targets.placed(Place.REMOTE, ObjectKind.PROCESS)),) if host else (),
                sure=call.sure,
                elevated=call.elevated,
                detail={"code": "interactive_shell", **({"host": host} if host else {})},
            )
        )

    def network_shell(self, url: str, call: Call) -> None:
        """Adds a shell that another machine controls."""
        detail = {"code": "interactive_shell", "url": url}
        target = (Target(url, self.targets.placed(Place.REMOTE, ObjectKind.PROCESS)),)
        self.findings.add_generic(EffectKind.EXECUTE, ObjectKind.NETWORK, target, call, detail, True)
