"""Turns calls into effects: applies the catalogue's rows to a call's words, reads inner actions in turn, and treats
programs that the catalogue lacks by general rules.

Calls are interpreted in order, so that a later one knows the files that an earlier one of the same action made,
downloaded or copied.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import NamedTuple

from guardrail import environment
from guardrail.catalogue.loader import Catalogue, EffectRow, Inner, Program, Request, option_name
from guardrail.circumstances import host_of, is_break_in, is_hidden_stream, is_local_host
from guardrail.facts import Environment, Facts, environment_of
from guardrail.foreign import look, runs_what_it_receives, starts_shell
from guardrail.language.data import names
from guardrail.model import Call, Effect, Passage, Reading, Redirection, Span, Target, Uncovered, Word
from guardrail.options import Parsed, parse
from guardrail.paths import (
    PUBLIC_CERTIFICATES,
    STARTS_WITH_SHELL,
    Care,
    care_of,
    consequence_of_write,
    is_nowhere,
    is_of_guard,
    is_record,
    is_remote,
    located,
    place_of,
    scope_of,
    seen_from,
)
from guardrail.reading.decoding import constant_output
from guardrail.record import record
from guardrail.registry import KeyMeaning, is_password_store, meaning_of_change, meaning_of_reading, meaning_of_removal
from guardrail.startup_lines import only_set_up
from guardrail.vocabulary import (
    Coverage,
    EffectKind,
    Language,
    ObjectKind,
    Origin,
    Place,
    Reversible,
    Scope,
    Sensitivity,
)

MAX_DEPTH = 8
MAX_CALLS = 1_000
LONGEST_NAME = 60
MAX_TARGETS = 2_000
"""The most words that rows name as targets and URLs that requests reach; the place of each has to be determined."""
MAX_INNER_CHARS = 96 * 1024
"""The most characters of inner texts that are read in total: an action may contain itself."""

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh", "busybox"))
COMMAND_OPTIONS = frozenset(("-c", "-e", "--command", "--exec", "--cmd", "--execute", "--eval", "--shell", "-exec"))
SHELL_OPTIONS = frozenset(("-s", "--shell", "--login-shell", "--default-shell", "--"))
TEXT_OPTIONS = frozenset(("-m", "--message", "--body", "--title", "--notes", "--description", "--comment", "--subject"))
"""Options whose value people read."""
COMMAND_NAMES = ("rsh", "exec", "command", "editor", "pager", "program", "cmd")
TEXT_TOOLS = frozenset(("echo", "printf", "grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "git", "test", "["))
NAMES_ONLY = frozenset(
    (
        *(
            "echo",
            "print",
            "printf",
            "test",
            "[",
            "[[",
            "((",
            "cd",
            "pushd",
            "popd",
            "dirs",
            "export",
            "declare",
            "local",
        ),
        *("typeset", "readonly", "set", "unset", "read", "return", "exit", "type", "hash", "alias", "unalias", "let"),
        *(
            "ls",
            "dir",
            "vdir",
            "eza",
            "exa",
            "lsd",
            "stat",
            "file",
            "basename",
            "dirname",
            "realpath",
            "readlink",
            "tree",
        ),
        *(
            "which",
            "whereis",
            "whatis",
            "du",
            "df",
            "ncdu",
            "dust",
            "duf",
            "locate",
            "lsattr",
            "getfacl",
            "getcap",
            "namei",
        ),
        *("lsof", "findmnt", "mountpoint", "pathchk", "expr", "ps", "pgrep", "pidof", "true", "false", ":", "getopt"),
        *("ssh-keyscan", "logger", "wait", "getopts", "help", "complete", "compgen", "ping", "id", "groups", "getent"),
        *(
            "sleep",
            "mktemp",
            "tempfile",
            "man",
            "info",
            "tldr",
            "cut",
            "trap",
            "shift",
            "ionice",
            "gettext",
            "ngettext",
        ),
        *(
            "ssh-add",
            "ssh-agent",
            "sshd",
            "stow",
            "mount",
            "umount",
            "cryptsetup",
            "wg-quick",
            "wg",
            "openvpn",
            "restorecon",
        ),
        *("inotifywait", "inotifywatch", "auditctl", "shellcheck", "fswatch", "entr"),
        *("dialog", "whiptail", "zenity", "gum", "kdialog", "cowsay", "figlet", "envsubst", "systemd-cat", "xdg-mime"),
    )
)
"""Programs that name, find or test a file and don't show its content."""
SCRIPT_SUFFIXES = (
    *(".sh", ".bash", ".zsh", ".ksh", ".fish", ".py", ".pl", ".rb", ".js", ".mjs", ".ts", ".php", ".lua", ".ps1"),
    *(".bat", ".cmd", ".vbs", ".run", ".bin", ".appimage", ".out", ".command"),
)
SEARCHES = frozenset(("find", "fd", "ls", "grep", "rg", "ag", "git"))
DESTROYING = frozenset(("delete", "destroy", "purge", "drop", "wipe", "erase", "terminate", "nuke", "obliterate"))
REMADE = frozenset(("cache", "caches", "tmp", "temp", "lock", "label", "labels", "alias", "log", "logs", "session"))
COPIERS = frozenset(("cp", "install", "cmd:copy", "ps:copy-item", "xcopy"))
PRINTERS_OF_TEXT = frozenset(("findstr", "find", "more", "cmd:type", "cmd:echo", "cmd:more", "ps:get-content", "sort"))
MONIKERS = ("script:", "scriptlet:", "javascript:", "vbscript:", "ms-its:", "mk:@msitstore:")
"""Prefixes by which Windows treats an address as a script to run."""
BINARY_SUFFIXES = (".exe", ".dll", ".scr", ".sys", ".cpl", ".ocx")
DUMPERS = frozenset(
    (
        "mysqldump",
        "mariadb-dump",
        "pg_dump",
        "pg_dumpall",
        "mongodump",
        "sqlite3",
        "tar",
        "gzip",
        "zstd",
        "xz",
        "bzip2",
        "docker",
        "kubectl",
        "aws",
    )
)
"""Programs whose output people redirect into a file to keep it: an overwritten file is an earlier copy."""
MAKERS = frozenset(("mkdir", "mktemp", "md", "cmd:md", "cmd:mkdir"))
MEMBERS_OF_CODE = ("python:", "js:")
READING_VERBS = (
    # by convention, cmdlets of these verbs show, select or convert
    *("ps:get-", "ps:select-", "ps:where-", "ps:format-", "ps:measure-", "ps:test-", "ps:compare-", "ps:sort-"),
    *("ps:group-", "ps:convertto-", "ps:convertfrom-", "ps:join-", "ps:split-", "ps:resolve-", "ps:find-", "ps:show-"),
    *("ps:write-", "ps:out-string", "ps:out-host", "ps:out-null", "ps:foreach-", "ps:search-", "ps:tee-"),
)
_NOWHERE = Span(0, 0)
CMDLETS = {
    "remove": Effect(EffectKind.DELETE, ObjectKind.RESOURCE, _NOWHERE, "", reversible=Reversible.NO),
    "disable": Effect(EffectKind.DISABLE, ObjectKind.RESOURCE, _NOWHERE, ""),
    "revoke": Effect(EffectKind.REVOKE, ObjectKind.PERMISSION, _NOWHERE, ""),
}
"""The effects of cmdlets with these verbs on the thing that their noun names."""


_SCOPES = {Scope.ONE: 0, Scope.UNKNOWN: 1, Scope.MANY: 2, Scope.ALL: 3}
_WRITES = frozenset((EffectKind.WRITE, EffectKind.OVERWRITE))


_MAKES_BRANCH = ("-b", "-B", "--orphan", "-c", "-C", "--create", "--force-create")
_MAKES = frozenset((EffectKind.WRITE, EffectKind.OVERWRITE, EffectKind.CREATE))
_DESTROYS = frozenset((EffectKind.DELETE, EffectKind.OVERWRITE, EffectKind.DISCARD))
_REACHES_EMPTY = frozenset((*_DESTROYS, EffectKind.ALTER, EffectKind.GRANT, EffectKind.EXPOSE))
CARRIED = 4
_UNDOES = frozenset((EffectKind.DELETE, EffectKind.DISCARD, EffectKind.ALTER, EffectKind.GRANT, EffectKind.EXPOSE))
_THIS_MACHINE = frozenset(("localhost", "127.0.0.1", "::1"))
_CONNECTIONS = frozenset(("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd", "telnet", "socat"))
_ENDLESS = frozenset(("/dev/zero", "/dev/urandom", "/dev/random"))
_SAVES = frozenset(("-o", "-O", "--output", "--remote-name", "-sSLo", "-fsSLo", "-Lo", "-sLo"))
_FILE_OPTIONS = frozenset(("-f", "-F", "--file", "-b", "-a", "-E", "-r", "--"))
_OUTPUT_OPTIONS = frozenset(("-o", "-O", "--output", "--out", "--output-file", "--outfile", "--log-file", "--logfile"))
_PATTERN_OF_NAME = re.compile(r"[\w.+-]*[?*\[][\w.+?*\[\]-]*")
_NETWORK = re.compile(r"/dev/(tcp|udp)/([^/\s]+)/([^/\s]+)")
MAX_NAMES = 64
"""The most programs that a pattern in place of a name may match."""
_URL = re.compile(r"\w+://[^\s'\"`)]+")
_DOT_COMMAND = re.compile(
    r"\s*\.(?:(?:shell|system)\s+(.+)|(?:output|once|excel|log)\s+(?:-\S+\s+)*(\S+)\s*$)", re.DOTALL
)
_KEEPS_RIGHTS = re.compile(r"[ugoa]*\+[rwxX]+|[ug]=rw[xX]?|0?[67][0-7][0-7]")
_PATHLIKE = frozenset((ObjectKind.PATH, ObjectKind.SECRET, ObjectKind.CREDENTIAL, ObjectKind.PERSONAL_DATA))
_NO_CARE = Care(Sensitivity.NONE, "")
_CARES = frozenset((Sensitivity.SECRET, Sensitivity.PERSONAL))


@record
class Interpretation:
    """The effects of a reading's calls. `calls` includes those of inner actions, `passages` the inner texts that people
    would read."""

    effects: tuple[Effect, ...]
    uncovered: tuple[Uncovered, ...]
    coverage: Coverage
    calls: tuple[Call, ...]
    passages: tuple[Passage, ...] = ()


@record
class _Frame:
    """The properties that an inner action inherits. `carrier` is the span of the text that contains it."""

    depth: int = 0
    host: str | None = None
    elevated: bool = False
    sure: bool = True
    carrier: Span | None = None
    directory: Word | None = None


class _Saved(NamedTuple):
    """The host and directory in which a call put all changes of tracked files into a commit or a stash."""

    host: str | None
    directory: Word | None


@record
class _Fed:
    """The input from a pipe: the care that it deserves, and the URLs that it was downloaded from."""

    care: Care | None = None
    urls: tuple[str, ...] = ()


def interpret(reading: Reading, catalogue: Catalogue, facts: Facts) -> Interpretation:
    """Returns the effects of a reading and its uncovered parts."""
    work = _Interpreter(catalogue, facts)
    work.read(reading, _Frame())
    return Interpretation(
        effects=tuple(work.effects),
        uncovered=tuple(work.uncovered),
        coverage=_coverage(reading, work),
        calls=tuple(work.calls),
        passages=tuple(work.passages),
    )


def _coverage(reading: Reading, work: _Interpreter) -> Coverage:
    if not work.uncovered:
        return "none" if reading.language is Language.PROSE and not work.effects else "full"
    return "partial" if work.effects or work.covered_calls else "none"


class _Interpreter:
    """One pass over an action's calls."""

    def __init__(self, catalogue: Catalogue, facts: Facts) -> None:
        self.catalogue = catalogue
        self.facts = facts
        self.effects: list[Effect] = []
        self.uncovered: list[Uncovered] = []
        self.calls: list[Call] = []
        self.passages: list[Passage] = []
        self.covered_calls = 0
        self.inner_chars = 0
        self.targets = 0
        self.effects_of: dict[int, tuple[Call, list[Effect]]] = {}
        self.own: set[str] = set()
        self.on_orphan = False  # an earlier call began a branch without history, and nothing is committed on it yet
        self.made_branches: set[str] = set()  # names of branches that an earlier call of the action created
        self.has_staged = False  # an earlier call of the action staged new files in git
        self.saved: _Saved | None = None  # where the previous call put all changes into a commit or a stash
        self.downloaded: dict[str, str] = {}
        self.mounts: dict[str, tuple[tuple[str, str], ...]] = {}
        self.copied: dict[str, Care] = {}
        self.with_environment: set[str] = set()  # files to which an earlier call wrote variables with secrets
        self.disguised: dict[str, str] = {}  # paths of copied system programs, with the original's name
        self.made_keys: set[str] = set()
        self.connection: str | None = None  # the address of a connection that the shell opened under a descriptor
        self.judges_origin = facts.user_request is not None or bool(facts.untrusted_content)

    # Readings and calls

    def read(self, reading: Reading, frame: _Frame) -> None:
        """Adds a reading, either of the whole action or of an action inside it."""
        carrier = frame.carrier
        for effect in reading.effects:
            effect = self._in_frame(effect, frame)
            self._add(effect)
            if effect.kind in _WRITES and effect.object is ObjectKind.PATH:
                self._consequences(effect, frame.directory.text if frame.directory is not None else None)
        for uncovered in reading.uncovered:
            self.uncovered.append(replace(uncovered, span=carrier) if carrier else uncovered)
        for passage in reading.passages:
            self.passages.append(replace(passage, span=carrier) if carrier else passage)
        for call in reading.calls:
            if len(self.calls) >= MAX_CALLS:
                self.uncovered.append(Uncovered(carrier or call.span, "more calls than are followed", stopped=True))
                break
            self.call(call, frame)

    def _in_frame(self, effect: Effect, frame: _Frame) -> Effect:
        """Completes a reader's own effect with the place and care of its paths."""
        thing = effect.object
        targets = tuple(
            self._located(target, effect, frame)
            if thing is ObjectKind.PATH
            else replace(target, place=self._placed(target.place, thing))
            for target in effect.targets
        )
        return replace(
            effect,
            span=frame.carrier or effect.span,
            sure=effect.sure and frame.sure,
            elevated=effect.elevated or frame.elevated,
            targets=targets,
        )

    def _located(self, target: Target, effect: Effect, frame: _Frame) -> Target:
        call = Call("", (), effect.span, host=frame.host, directory=frame.directory)
        place = None if target.place is Place.UNKNOWN else target.place
        sensitivity = None if target.sensitivity is Sensitivity.NONE else target.sensitivity
        found = self._target(Word(target.text, effect.span), effect.kind, effect.object, call, place, sensitivity)
        return replace(found, origin=target.origin) if target.origin is not Origin.UNKNOWN else found

    def _placed(self, place: Place, thing: ObjectKind) -> Place:
        """Returns production for a remote place, or for an unknown place that is not a path, if the environment is
        production."""
        if self.facts.environment is Environment.PRODUCTION and (
            place is Place.REMOTE or (place is Place.UNKNOWN and thing is not ObjectKind.PATH)
        ):
            return Place.PRODUCTION
        return place

    def call(self, original: Call, frame: _Frame) -> None:
        """Adds the effects of one call and of the actions inside it."""
        if frame.depth > MAX_DEPTH:
            reason = "actions inside of actions, too deep to follow"
            self.uncovered.append(Uncovered(frame.carrier or original.span, reason, stopped=True))
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
        self.calls.append(call)
        saved, self.saved = (self.saved if call.chained else None), None
        first = len(self.effects)
        if call.program != ":":
            self._program(call, frame, saved)
            if call.language in _OF_WINDOWS:
                self._hidden_streams(call)
        for redirection in call.redirections:
            self._redirection(redirection, call)
            if (url := _network_of(redirection.target.text)) is not None:
                self._connection(url, call, self.effects[first:])
        effects = self.effects[first:]
        self.effects_of[id(original)] = (original, effects)
        self._remember(call, effects)

    def _program(self, call: Call, frame: _Frame, saved: _Saved | None = None) -> None:
        if not call.program:
            self._computed(call, frame)
            return
        if self.disguised:
            call = self._undisguised(call)
        program = self._entry(call.program)
        if program is None:
            if not self._by_pattern(call, frame):
                self._unknown(call, frame)
            return
        self.covered_calls += 1
        call = _in_named_directory(call)
        if call.path.startswith("!") and call.program in SHELLS:
            self._interactive_shell(call)  # typed into the program of the previous line
            return
        parsed = parse(program, call)
        if parsed.without_effect():
            return
        if parsed.unlisted is not None:
            reason = f"the catalogue lacks {program.name} {_shortened(parsed.unlisted)}"
            self.uncovered.append(Uncovered(call.span, reason))
        if parsed.operands and parsed.level.subcommands is not None:
            self._by_verb([*parsed.path, *(word.text for word in parsed.operands)], call, Place.REMOTE)
        if call.program == "git" and parsed.path[:1] in (["add"], ["stage"]):
            self.has_staged = True
        if call.program == "git" and _saves_changes(call, parsed):
            self.saved = _Saved(call.host, call.directory)
        if call.program == "git" and parsed.path[:1] in (["checkout"], ["switch"]):
            self.made_branches |= {word.text for name in _MAKES_BRANCH for word in parsed.values_of(name)}
            self.on_orphan = bool(parsed.values_of("--orphan"))
        if call.program == "git" and parsed.path[:1] == ["tag"]:
            self.made_branches |= {word.text for word in parsed.operands[:1]}
        first = len(self.effects)
        for level in parsed.levels:
            for row in level.effects:
                if parsed.holds(row.when):
                    self._row(row, parsed, call)
            if level.request is not None and parsed.holds(level.request.when):
                self._request(level.request, parsed, call, frame)
        if saved is not None and saved == _Saved(call.host, call.directory) and _resets_to_head(call, parsed):
            self.effects[first:] = [
                replace(effect, detail={**effect.detail, "saved": "before"})
                if effect.kind is EffectKind.DISCARD and effect.object is ObjectKind.PATH
                else effect
                for effect in self.effects[first:]
            ]
        level = parsed.level
        harmless = not (level.effects or level.request)
        leaf = not (level.inner or level.subcommands)
        if leaf and (harmless or not parsed.path) and call.program not in NAMES_ONLY:
            self._unstated(call, harmless)
        inners = [inner for level in parsed.levels for inner in level.inner if parsed.holds(inner.when)]
        for inner in inners:
            self._inner(inner, parsed, call, frame)
        if not inners and call.program not in TEXT_TOOLS:
            self._shells_in_options(call, frame)
        if program.name in SHELLS and _waits_for_typing(parsed):
            if self.connection is not None:
                self._network_shell(self.connection, call)
            elif frame.depth:
                self._interactive_shell(call)

    def _hidden_streams(self, call: Call) -> None:
        """Adds a write for each alternate data stream: streams are used to hide something, whatever the program."""
        for word in call.words:
            if ":" in word.text[2:] and is_hidden_stream(word.text):
                target = self._target(word, EffectKind.WRITE, ObjectKind.PATH, call)
                self._generic_effect(EffectKind.WRITE, ObjectKind.PATH, (target,), call, {}, True)

    def _undisguised(self, call: Call) -> Call:
        """Returns the call with the original program if an earlier call copied that program to this name."""
        path = located(call.path or call.program, self.facts, _directory(call))
        name = self.disguised.get(path) or self.disguised.get(f"{path}.exe")
        if name is None:
            return call
        target = self._target(Word(call.path or call.program, call.span), EffectKind.EXECUTE, ObjectKind.PATH, call)
        detail = {"code": "named_file", "disguised": name}
        self._generic_effect(EffectKind.EXECUTE, ObjectKind.PATH, (target,), call, detail, True)
        return replace(call, program=name)

    def _entry(self, name: str) -> Program | None:
        """Returns the program's catalogue entry, also for a name with a version or with a suffix or prefix of the
        shell."""
        catalogue = self.catalogue
        found = catalogue.program(name)
        if found is not None:
            return found
        prefix, colon, rest = name.partition(":")
        if colon:
            if prefix not in ("ps", "cmd"):
                parts = rest.split(".")
                endings = (".".join(parts[at:]) for at in range(max(len(parts) - 3, 0), len(parts)))
                spelled = (catalogue.program(f"{prefix}:*.{ending}") for ending in endings)
                return next((found for found in spelled if found is not None), None)
            rest = rest.lower()
            member = rest.rpartition("::" if "::" in rest else ".")[2]
            spellings = (f"{prefix}:{rest}", f"{prefix}:*.{member}", rest)
            return next((found for spelling in spellings if (found := catalogue.program(spelling)) is not None), None)
        for suffix in (".cmd", ".bat"):
            if name.endswith(suffix):
                return catalogue.program(name.removesuffix(suffix))
        shorter = name.rstrip("0123456789.-")
        return catalogue.program(shorter) if shorter and shorter != name else None

    def _by_pattern(self, call: Call, frame: _Frame) -> bool:
        """Follows a name that the shell completes from installed programs, such as `/bin/r?`, as each program that it
        may match."""
        if not call.path.startswith("/") or frame.depth > 1 or _PATTERN_OF_NAME.fullmatch(call.program) is None:
            return False
        names = [name for name in fnmatch.filter(self.catalogue, call.program) if ":" not in name]
        for name in names[:MAX_NAMES]:
            self._program(replace(call, program=name), replace(frame, depth=frame.depth + 2))
        return bool(names)

    def _unstated(self, call: Call, harmless: bool) -> None:
        """Adds effects on operands that the program's entry does not mention. Any program shows secrets in a file that
        it is given, if only in an error message; for a program that does more than show, this counts only outside of
        the workspace. A file named by an option for results is written."""
        directory = _directory(call)
        stated: set[str] | None = None
        for at, word in enumerate(call.words):
            text = word.text
            if "/" not in text and text[:1] != ".":
                continue
            if self._is_unstated_output(call, at, text):
                target = self._target(word, EffectKind.WRITE, ObjectKind.PATH, call)
                self._generic_effect(EffectKind.WRITE, ObjectKind.PATH, (target,), call, {}, True)
                self._consequences(self.effects[-1], directory)
                continue
            if not harmless and at and (before := call.words[at - 1].text)[:1] == "-" and before not in _FILE_OPTIONS:
                continue
            if self._care(word, directory).sensitivity not in _CARES:
                continue
            target = self._target(word, EffectKind.READ, ObjectKind.PATH, call)
            if not harmless:
                if stated is None:
                    stated = {found.text for effect in self.effects[-8:] for found in effect.targets}
                if target.place not in (Place.HOME, Place.SYSTEM) or text in stated or text[:1] == "-":
                    continue
            self._generic_effect(EffectKind.READ, ObjectKind.PATH, (target,), call, {}, True)

    def _is_unstated_output(self, call: Call, at: int, text: str) -> bool:
        """Decides whether an option for results names a file that the system depends on."""
        before = call.words[at - 1].text if at else ""
        if consequence_of_write(text) is None:
            return False
        named = before in _OUTPUT_OPTIONS and text[:1] in ("/", "~", ".")
        return named and not any(target.text == text for effect in self.effects[-8:] for target in effect.targets)

    # Rows

    def _row(self, row: EffectRow, parsed: Parsed, call: Call) -> None:
        words: list[Word] = []
        fed: list[Target] = []
        for part in row.targets:
            if part == "stdin":
                if call.stdin is None and not any(found.operator == "<" for found in call.redirections):
                    continue
                fed.append(self._fed_target(call, row.kind))
            elif part == "found":
                words += _found_by_search(parsed)
            else:
                for word in parsed.part(part):
                    if word.text == "-" and (part.startswith("at_file:") or row.kind is EffectKind.SEND):
                        fed.append(self._fed_target(call, row.kind))
                    else:
                        words.append(word)
        if not words and not fed and row.default_target is not None:
            words = [Word(row.default_target, call.span)]
        words = [
            word
            for word in words
            if not (row.object is ObjectKind.PATH and row.kind in _WRITES and is_nowhere(word.text))
        ]
        if row.object is ObjectKind.PATH and row.targets and not words and not fed:
            return  # no path is named, so none is touched
        if fed and row.kind is EffectKind.SEND and call.program in _HTTP_CLIENTS and _dumps_database(call.stdin):
            url = self._detail(row, parsed).get("url", "")
            self._add(
                Effect(
                    EffectKind.SEND,
                    ObjectKind.DATABASE,
                    call.span,
                    parsed.program.name,
                    tuple(fed),
                    Scope.ALL,
                    sure=call.sure,
                    detail={"url": url},
                )
            )
        words = self._followed([found for word in words for found in self._searched(word)], call)
        named = [word for word in words if not word.glob]
        if row.object is ObjectKind.PATH and named and len(named) < len(words) and not _is_broadened(row, parsed):
            # A pattern next to a name does not make the named path count as many.
            self._effect_of_row(row, parsed, call, named, fed)
            self._effect_of_row(row, parsed, call, [word for word in words if word.glob], [])
        else:
            self._effect_of_row(row, parsed, call, words, fed)

    def _effect_of_row(
        self, row: EffectRow, parsed: Parsed, call: Call, words: Sequence[Word], fed: Sequence[Target]
    ) -> None:
        place = row.place
        if place is Place.REMOTE and self._names_production(parsed):
            place = Place.PRODUCTION
        targets = [self._target(word, row.kind, row.object, call, place, row.sensitivity) for word in words]
        targets += fed
        if not targets and place is not None:
            targets = [Target("", self._placed(place, row.object))]
        scope = self._scope(row, parsed, call, words)
        if row.object is ObjectKind.PATH and row.kind in _REACHES_EMPTY:
            targets, scope = self._if_empty(words, targets, scope, call)
        detail = self._detail(row, parsed)
        effect = Effect(
            kind=row.kind,
            object=row.object,
            span=call.span,
            source=" ".join((parsed.program.name, *parsed.path)),
            targets=tuple(targets),
            scope=scope,
            reversible=row.reversible,
            sure=call.sure,
            elevated=call.elevated or row.elevated,
            detail=detail,
        )
        if row.kind is EffectKind.EXECUTE:
            effect = self._executed(effect, call)
            if detail.get("code") == "named_file" and call.program not in SHELLS and call.program != "source":
                shown = tuple(target for target in effect.targets if target.sensitivity in _CARES)
                if shown:  # the error message shows content that is not a program
                    self._generic_effect(EffectKind.READ, ObjectKind.PATH, shown, call, {}, True)
        elif row.kind is EffectKind.OVERWRITE and call.program in _COPIERS and _receives_nothing(call):
            effect = replace(effect, detail={**detail, "emptied": "yes"})
        elif self.has_staged and row.kind is EffectKind.DISCARD and effect.source == "git reset":
            effect = replace(effect, detail={**detail, "staged": "yes"})
        elif self.on_orphan and row.kind is EffectKind.DISCARD and effect.source == "git rm":
            effect = replace(effect, detail={**detail, "made": "here"})
        elif self.made_branches and effect.source == "git push" and effect.kind is EffectKind.OVERWRITE:
            names = {target.text.removeprefix("+").rpartition(":")[2] for target in targets}
            if names <= {*self.made_branches, "", "HEAD"}:
                effect = replace(effect, detail={**detail, "made": "here"})
        self._add(effect)
        if row.kind is EffectKind.EXECUTE and detail.get("code") == "inline":
            for word in words:
                self._foreign(word.text, call)
        if row.kind in _WRITES and row.object is ObjectKind.PATH:
            self._consequences(effect, _directory(call), call)
        elif row.kind in _UNDOES and row.object in (ObjectKind.PATH, ObjectKind.PERMISSION):
            self._of_the_guard(effect, call)
            if row.kind is EffectKind.DELETE:
                self._of_records(effect)
                self._of_hooks(effect)
        elif row.object is ObjectKind.REGISTRY_KEY:
            self._of_the_registry(effect)

    def _searched(self, word: Word) -> Sequence[Word]:
        """Returns the paths that a search yields if the word is nothing else, `rm $(find / -name x)`; otherwise the
        word."""
        command = _substitution(word.text) if not word.known and "find " in word.text[:8] else None
        calls = read_as(command, "bash", self.facts, self.catalogue).calls if command is not None else ()
        program = self._entry("find")
        if program is None or not calls or calls[0].program != "find":
            return (word,)
        if any(call.program not in _KEEPS_LINES for call in calls[1:]):
            return (word,)
        return _found_by_search(parse(program, calls[0]))

    def _followed(self, words: list[Word], call: Call) -> list[Word]:
        """Returns the words that are treated as targets, up to a bound for the whole action."""
        left = MAX_TARGETS - self.targets
        self.targets += len(words)
        if len(words) > left:
            self.uncovered.append(Uncovered(call.span, "more targets than are followed", stopped=True))
            return words[: max(left, 1)]
        return words

    def _scope(self, row: EffectRow, parsed: Parsed, call: Call, words: Sequence[Word]) -> Scope:
        scope = row.scope
        if scope is None:
            several = len(words) > 1 and row.object is not ObjectKind.PATH  # listed paths don't count as many
            scope = Scope.MANY if several or any(word.glob for word in words) else Scope.ONE
        elif scope is Scope.ONE and row.object is ObjectKind.ROWS and any(_is_fed(word) for word in words):
            scope = Scope.MANY
        broadened = False
        for broader in row.broader:
            if any(parsed.has(option) for option in broader.options):
                broadened = True
                scope = max(scope, broader.scope, key=_SCOPES.__getitem__)
        worked_out = row.object is ObjectKind.PATH and row.place is None and (row.scope is None or broadened)
        if worked_out and scope is Scope.MANY:
            directory = _directory(call)
            if any(scope_of(word.text, self.facts, directory) is Scope.ALL for word in words if broadened or word.glob):
                return Scope.ALL
        return scope

    def _if_empty(
        self, words: Sequence[Word], targets: list[Target], scope: Scope, call: Call
    ) -> tuple[list[Target], Scope]:
        """Returns the targets and the scope, adjusted where an empty variable would turn a path into a whole place."""
        directory = _directory(call)
        for at, word in enumerate(words):
            if not word.if_empty or (scope is Scope.ONE and not word.glob):
                continue
            place = place_of(word.if_empty, self.facts, directory)
            if place not in (Place.SYSTEM, Place.HOME) or targets[at].place is Place.TEMPORARY:
                continue
            if scope_of(word.if_empty, self.facts, directory) is Scope.ALL:
                targets[at] = replace(targets[at], place=self._on_host(place, call))
                scope = Scope.ALL
        return targets, scope

    def _detail(self, row: EffectRow, parsed: Parsed) -> Mapping[str, str]:
        detail: dict[str, str] = {}
        for name, value in row.detail:
            if value.text is not None:
                detail[name] = value.text
            elif value.part is not None:
                words = parsed.part(value.part)
                if words:
                    detail[name] = words[0].text
        if row.says is not None:
            detail["says"] = row.says
        if parsed.call.host is not None:
            detail["host"] = parsed.call.host
        return detail

    def _names_production(self, parsed: Parsed) -> bool:
        """Decides whether the call names production, as a context, a namespace or in the name of a target."""
        if self.facts.environment is Environment.PRODUCTION:
            return True
        values = [option.value for option in parsed.options if option.value is not None]
        return any(
            environment_of(word.text) is Environment.PRODUCTION
            for word in (*values, *parsed.operands)
            if "pr" in word.text or "live" in word.text or "canary" in word.text
        )

    def _request(self, request: Request, parsed: Parsed, call: Call, frame: _Frame) -> None:
        """Adds the effects of the HTTP requests that a call makes."""
        from guardrail.catalogue.http import effects_of_request

        methods = [word.text for part in request.method for word in parsed.part(part)]
        bodies = [word.text for part in request.body for word in parsed.part(part)]
        method = methods[0].upper() if methods else "POST" if bodies else "GET"
        body = "\n".join(bodies) or None
        urls = [
            word.text for word in self._followed([word for part in request.url for word in parsed.part(part)], call)
        ]
        self._sent_words([word for part in (*request.body, *request.url) for word in parsed.part(part)], urls, call)
        for url in urls:
            for effect in effects_of_request(method, url, {}, body, call.span):
                if effect.kind is EffectKind.SEND and _verb_of_path(url) in DESTROYING:
                    effect = replace(
                        effect, kind=EffectKind.DELETE, object=ObjectKind.RESOURCE, reversible=Reversible.NO
                    )
                self._add(self._in_frame(replace(effect, source=call.program, sure=call.sure), frame))

    def _sent_words(self, words: Sequence[Word], urls: Sequence[str], call: Call) -> None:
        """Adds the sending of secrets that a request takes from a sensitive file by a substitution, or from a
        variable."""
        hosts = [host for host in map(host_of, urls) if host and not is_local_host(host)]
        targets: list[Target] = []
        for word in words:
            if word.known and not word.glob:
                continue
            if hosts and environment.foreign_secrets(word.text, hosts):
                targets.append(Target(word.text, sensitivity=Sensitivity.SECRET))
            elif self._care(word, _directory(call)).sensitivity in _CARES:
                targets.append(self._target(word, EffectKind.SEND, ObjectKind.PATH, call))
        if targets:
            self._generic_effect(EffectKind.SEND, ObjectKind.PATH, tuple(targets), call, {"url": " ".join(urls)}, True)

    # Targets

    def _target(
        self,
        word: Word,
        kind: EffectKind,
        thing: ObjectKind,
        call: Call,
        place: Place | None = None,
        sensitivity: Sensitivity | None = None,
    ) -> Target:
        text = word.text
        directory = _directory(call)
        if place is None:
            place = Place.UNKNOWN
            if thing in _PATHLIKE:
                place = self._in_new_container(text, call)
                if place is None:
                    place = self._on_host(place_of(text, self.facts, directory), call)
                if kind in _DESTROYS and self._is_own(text, directory):
                    place = Place.TEMPORARY
                elif place is Place.REMOTE:
                    place = self._placed(place, thing)
        if sensitivity is None:
            sensitivity = self._care(word, directory).sensitivity
        if (
            kind is EffectKind.SEND
            and self.with_environment
            and located(text, self.facts, directory) in self.with_environment
        ):
            sensitivity = Sensitivity.SECRET
        origin = self.facts.origin_of(text) if self.judges_origin else Origin.UNKNOWN
        path = seen_from(directory, text) if directory is not None and thing in _PATHLIKE and call.host is None else ""
        return Target(text, place, sensitivity, origin, path)

    def _care(self, word: Word, directory: str | None) -> Care:
        """Returns the care that a word's path deserves: its own, that of a file copied there, or that of a
        substitution's output."""
        text = word.text
        computed = not word.known and any(mark in text for mark in ("$(", "`", "<("))
        if (word.glob or not word.known) and environment.holds_everything(text):
            return _ENVIRONMENT
        care = _NO_CARE if computed else care_of(text, self.facts.os)
        if care.sensitivity is Sensitivity.NONE and directory is not None:
            care = care_of(located(text, self.facts, directory), self.facts.os)
        if self.made_keys and located(text, self.facts, directory) in self.made_keys:
            return _NO_CARE
        if self.copied and care.sensitivity not in _CARES:
            care = self.copied.get(located(text, self.facts, directory), care)
        if "mktemp" in text and computed:
            return care  # a new file without content
        if computed and care.sensitivity is Sensitivity.NONE and not text.startswith(PUBLIC_CERTIFICATES):
            found = [care_of(piece) for piece in _pieces(text)]
            cares = [known for known in found if known.sensitivity is not Sensitivity.NONE]
            care = next((known for known in cares if known.sensitivity in _CARES), cares[0] if cares else care)
        return care

    def _on_host(self, place: Place, call: Call) -> Place:
        """Returns the place as seen on another machine, which has no workspace of ours."""
        if call.host is not None and call.host.startswith("container:") and place in (Place.SYSTEM, Place.HOME):
            return Place.UNKNOWN
        if call.host is None or place in (Place.SYSTEM, Place.HOME, Place.TEMPORARY):
            return place
        if call.host.startswith("image:"):
            return place
        return (
            self._placed(Place.REMOTE, ObjectKind.RESOURCE) if not call.host.startswith("container:") else Place.UNKNOWN
        )

    def _in_new_container(self, text: str, call: Call) -> Place | None:
        """Returns the place of a path in a container that the action makes: on this machine if the path is mounted;
        otherwise temporary, since it disappears with the container."""
        mounts = self.mounts.get(call.host) if call.host is not None else None
        if mounts is None:
            return None
        path = located(text, self.facts, _directory(call))
        for inside, outside in mounts:
            if path == inside or path.startswith((f"{inside}/", f"{inside}*")) or inside == "/":
                if not outside.startswith(("/", "~", ".", "$", "`")):
                    return Place.UNKNOWN  # a named volume
                return place_of(outside + path[len(inside.rstrip("/")) :], self.facts)
            if inside.startswith(f"{path.rstrip('/*')}/"):
                return Place.UNKNOWN  # the path contains a mount
        return Place.TEMPORARY if path.startswith("/") else None

    def _is_own(self, text: str, directory: str | None) -> bool:
        path = located(text, self.facts, directory)
        return bool(self.own) and any(known in self.own for known in (path, *_parents(path)))

    def _fed_target(self, call: Call, kind: EffectKind) -> Target:
        """Returns the piped input as a target that deserves the care of its sources."""
        fed = self._fed(call.stdin)
        sensitivity = fed.care.sensitivity if fed.care is not None else Sensitivity.NONE
        if kind is EffectKind.SEND:
            hosts = [host for word in call.words if (host := host_of(word.text))]
            if _prints_environment(call.stdin) or _prints_secrets(call.stdin, hosts):
                sensitivity = Sensitivity.SECRET
        for redirection in call.redirections:
            if redirection.operator == "<":
                return self._target(redirection.target, EffectKind.READ, ObjectKind.PATH, call)
        return Target("stdin", sensitivity=sensitivity)

    def _fed(self, source: Call | Word | None) -> _Fed:
        care: Care | None = None
        urls: list[str] = []
        for _ in range(MAX_DEPTH * 2):
            if not isinstance(source, Call):
                break
            _, effects = self.effects_of.get(id(source), (source, ()))
            for effect in effects:
                if effect.kind is EffectKind.DOWNLOAD:
                    if not _saves(source):
                        urls += [target.text for target in effect.targets] or [effect.detail.get("url", "")]
                elif effect.kind is EffectKind.READ:
                    if "url" in effect.detail:
                        urls.append(effect.detail["url"])
                    found = next((target for target in effect.targets if target.sensitivity in _CARES), None)
                    if found is not None and (care is None or care.sensitivity is not Sensitivity.SECRET):
                        care = Care(found.sensitivity, found.text)
            source = source.stdin
        return _Fed(care, tuple(urls))

    # What follows from an effect

    def _add(self, effect: Effect) -> None:
        """Adds an effect, only once for the same words."""
        if effect not in self.effects[-8:]:
            self.effects.append(effect)

    def _consequences(self, effect: Effect, directory: str | None, call: Call | None = None) -> None:
        """Adds the further effects of a write to certain paths: persisting, granting, or changing the guard."""
        for target in effect.targets:
            if target.place in (Place.REMOTE, Place.PRODUCTION):
                continue
            consequence = consequence_of_write(target.text)
            if consequence is None and directory is not None:
                consequence = consequence_of_write(located(target.text, self.facts, directory))
            if consequence is not None:
                detail = {"says": f"changes {consequence.reason}"}
                if consequence is STARTS_WITH_SHELL and effect.kind is EffectKind.WRITE and call is not None:
                    text = _written_text(call)
                    if text is not None and only_set_up(text):
                        detail["line"] = "setting"
                self._add(
                    Effect(
                        kind=consequence.kind,
                        object=consequence.object,
                        span=effect.span,
                        source=effect.source,
                        targets=(target,),
                        scope=Scope.ALL if consequence.object is ObjectKind.DEVICE else Scope.ONE,
                        reversible=Reversible.NO if consequence.kind is EffectKind.OVERWRITE else Reversible.YES,
                        sure=effect.sure,
                        elevated=effect.elevated,
                        detail=detail,
                    )
                )

    def _of_the_guard(self, effect: Effect, call: Call) -> None:
        """Adds a change of the guard if one of its files is deleted, moved or locked, which turns it off as surely as a
        write."""
        if call.program == "chmod" and any(_KEEPS_RIGHTS.fullmatch(word.text) for word in call.words):
            return
        directory = _directory(call)
        for target in effect.targets:
            if target.place in (Place.REMOTE, Place.PRODUCTION):
                continue
            if is_of_guard(target.text) or (directory and is_of_guard(located(target.text, self.facts, directory))):
                changed = replace(effect, kind=EffectKind.CONFIGURE, object=ObjectKind.GUARD, targets=(target,))
                self._add(replace(changed, detail={"says": "takes away what checks or steers the agent"}))

    def _of_hooks(self, effect: Effect) -> None:
        """Adds that a check is disabled if a hook of git is deleted."""
        hooks = tuple(replace(target, place=Place.UNKNOWN) for target in effect.targets if _HOOK.search(target.text))
        if hooks:
            self._add(replace(effect, kind=EffectKind.DISABLE, object=ObjectKind.REPOSITORY, targets=hooks))

    def _of_records(self, effect: Effect) -> None:
        """Adds that a log is disabled if its records are deleted."""
        targets = tuple(target for target in effect.targets if is_record(target.located))
        if targets:
            changed = replace(effect, kind=EffectKind.DISABLE, object=ObjectKind.SERVICE, targets=targets)
            self._add(replace(changed, detail={"says": "removes the record of what happened"}))

    def _of_the_registry(self, effect: Effect) -> None:
        """Adds the effects of registry keys that start programs, maintain a defence or contain passwords."""
        value, data = effect.detail.get("value", ""), effect.detail.get("data", "")
        for target in effect.targets:
            meaning: KeyMeaning | None
            if effect.kind is EffectKind.READ:
                meaning = meaning_of_reading(target.text, value)
                if effect.scope is Scope.ALL and is_password_store(target.text):
                    meaning = _HIVE_OF_PASSWORDS
            elif effect.kind is EffectKind.DELETE:
                meaning = meaning_of_removal(target.text, value)
            else:
                meaning = meaning_of_change(target.text, value, data)
            if meaning is not None:
                changed = replace(effect, kind=meaning.kind, object=meaning.object, targets=(target,))
                self._add(replace(changed, detail={"says": meaning.reason}))

    def _executed(self, effect: Effect, call: Call) -> Effect:
        """Marks code that the same action downloaded, or that a pipe brings from another machine, as remote code."""
        if effect.detail.get("code") == "named_file" and call.program not in SHELLS:
            names = [target.text for target in effect.targets]
            if any("/bin/" in name and posixpath.basename(name) in SHELLS for name in names):
                return replace(effect, object=ObjectKind.PROCESS, detail={**effect.detail, "code": "interactive_shell"})
        if not self.downloaded and not any(_may_be_remote(target.text) for target in effect.targets):
            return effect
        directory = _directory(call)
        for target in effect.targets:
            path = located(target.text, self.facts, directory)
            url = self.downloaded.get(path) or self.downloaded.get(posixpath.basename(path))
            if url is None and is_remote(target.text) and "://" in target.text:
                url = target.text
            if url is None and target.text.startswith(("<(", "$(", "`")):
                urls = self._fed(call.stdin).urls
                named = _URL.search(target.text)
                url = urls[0] if urls else named[0] if named else None
            if url is not None:
                thing = ObjectKind.PROCESS if target.text.startswith(("<(", "$(", "`")) else effect.object
                return replace(effect, object=thing, detail={**effect.detail, "code": "remote", "url": url})
        return effect

    def _remember(self, call: Call, effects: Iterable[Effect]) -> None:
        """Records for later calls the files that this one made, downloaded or copied."""
        directory = _directory(call)
        made: list[str] = []
        urls: list[str] = []
        care: Care | None = None
        for effect in effects:
            if effect.kind is EffectKind.DOWNLOAD:
                urls += [target.text for target in effect.targets]
            elif effect.kind is EffectKind.CREATE and effect.object is ObjectKind.CREDENTIAL:
                # A key that the action itself makes is not yet anyone's secret.
                own = [target for target in effect.targets if target.place in (Place.WORKSPACE, Place.TEMPORARY)]
                self.made_keys.update(located(target.text, self.facts, directory) for target in own)
            elif effect.kind in _MAKES and effect.object is ObjectKind.PATH:
                paths = [located(target.text, self.facts, directory) for target in effect.targets]
                made += paths
                makes_anew = effect.kind is EffectKind.CREATE or call.program in MAKERS
                if makes_anew and effect.scope is not Scope.ALL:
                    self._own(paths, effect, call)
            for target in effect.targets:
                if target.sensitivity in _CARES and effect.kind in (EffectKind.READ, EffectKind.SEND):
                    care = Care(target.sensitivity, target.text)
        if urls:
            names = [posixpath.basename(path) for path in made]
            for path in (*made, *names, *(posixpath.basename(url.partition("?")[0]) for url in urls)):
                if path and scope_of(path, self.facts) is not Scope.ALL:
                    self.downloaded[path] = urls[0]
                    self.own.add(path)
        if made and call.program in COPIERS:
            self._disguise(made[-1], effects)
        if care is None and made:
            care = self._fed(call.stdin).care
        if care is not None:
            for path in made:
                for known in (path, *_parents(path)):
                    self.copied.setdefault(known, care)
        elif made and _prints_environment(call):
            self.with_environment.update(made)

    def _disguise(self, copy: str, effects: Iterable[Effect]) -> None:
        """Records a copy of a system program under another name, since it is still that program."""
        for effect in effects:
            if effect.kind is EffectKind.READ:
                for target in effect.targets:
                    name = _program_name(target.text)
                    if target.place is Place.SYSTEM and name != _program_name(copy) and self._entry(name) is not None:
                        self.disguised[copy] = name

    def _own(self, paths: Iterable[str], effect: Effect, call: Call) -> None:
        """Records paths that the action itself makes and so may delete, unless they may have existed before
        (`mkdir -p ~/x`)."""
        may_exist = any(word.text in ("-p", "--parents") for word in call.words)
        for path, target in zip(paths, effect.targets, strict=True):
            if not (may_exist and target.place in (Place.HOME, Place.SYSTEM, Place.UNKNOWN)):
                self.own.add(path)

    # Redirections

    def _redirection(self, redirection: Redirection, call: Call) -> None:
        word = redirection.target
        if is_nowhere(word.text) or _network_of(word.text) is not None:
            return
        found = self._searched(word)
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
        directory = _directory(call)
        path = seen_from(directory, word.text) if directory is not None else ""
        if kind is EffectKind.OVERWRITE and "missing" in self.facts.path_states(path or word.text):
            kind = EffectKind.WRITE
        effect = Effect(
            kind=kind,
            object=ObjectKind.PATH,
            span=call.span,
            source="generic",
            targets=(self._target(word, kind, ObjectKind.PATH, call),),
            reversible=Reversible.NO
            if kind is EffectKind.OVERWRITE and call.program not in DUMPERS
            else Reversible.WITH_BACKUP
            if kind is EffectKind.OVERWRITE
            else Reversible.YES,
            sure=call.sure,
            elevated=call.elevated,
        )
        if kind is EffectKind.OVERWRITE and _prints_nothing(call):
            reached = scope_of(word.text, self.facts, directory) if word.glob else Scope.ONE  # a loop over files
            effect = replace(effect, scope=reached, detail={"emptied": "yes"})
        if call.program in PRINTERS_OF_TEXT and word.text.lower().endswith(BINARY_SUFFIXES):
            effect = replace(effect, detail={"assembled": "yes"})
        self._add(effect)
        if kind in _WRITES:
            self._consequences(effect, _directory(call), call)
            if _never_ends(call):
                target = (Target(word.text, Place.SYSTEM),)
                self._generic_effect(EffectKind.DISRUPT, ObjectKind.DEVICE, target, call, {}, True)

    def _connection(self, url: str, call: Call, effects: Sequence[Effect]) -> None:
        """Adds the effects of a connection that the shell opens like a file: `bash -i >& /dev/tcp/host/port`."""
        if call.program in SHELLS:
            self._network_shell(url, call)
            return
        if call.program == ":":
            self.connection = url  # for later calls: `exec 5<>/dev/tcp/host/port; sh <&5 >&5`
        fed = self._fed(call.stdin).care
        read = [target for effect in effects if effect.kind is EffectKind.READ for target in effect.targets]
        targets = tuple(target for target in read if target.sensitivity in _CARES)
        if fed is not None:
            targets = (*targets, self._fed_target(call, EffectKind.SEND))
        if targets:
            self._generic_effect(EffectKind.SEND, ObjectKind.PATH, targets, call, {"url": url}, True)

    def _network_shell(self, url: str, call: Call) -> None:
        detail = {"code": "interactive_shell", "url": url}
        target = (Target(url, self._placed(Place.REMOTE, ObjectKind.PROCESS)),)
        self._generic_effect(EffectKind.EXECUTE, ObjectKind.NETWORK, target, call, detail, True)

    # Inner actions

    def _inner(self, inner: Inner, parsed: Parsed, call: Call, frame: _Frame) -> None:
        deeper = _Frame(
            depth=frame.depth + 1,
            host=_host(inner, parsed) or call.host,
            elevated=call.elevated or inner.elevated,
            sure=call.sure,
            carrier=call.span,
            directory=call.directory,
        )
        if deeper.host is not None and tuple(parsed.path) in _MAKE_CONTAINERS:
            self.mounts[deeper.host] = _mounts(parsed)
        if inner.part == "stdin":
            self._fed_code(inner.language, call, deeper)
            return
        for words in _inner_words(inner, parsed):
            if inner.program is not None and (named := parsed.part(inner.program)):
                words = [named[0], *words]
            if not words:
                continue
            if inner.language == "argv":
                if inner.append_stdin:
                    words = _with_piped(words, parsed, self._words_of_pipe(parsed, call))
                if inner.append_found and words and not any("{" in word.text for word in words):
                    words = (*words, Word("{}", parsed.call.span))
                if inner.until and any("{}" in word.text for word in words):
                    # A search inserts the paths found there. Wrappers such as `docker exec` pass the braces on.
                    words = _replaced(words, "{}", _found_by_search(parsed))
                self._command(words, call, deeper)
            else:
                text = _typed(words) if inner.typed else " ".join(word.text for word in words)
                self._text(text, inner.language, call, deeper)

    def _command(self, words: Sequence[Word], call: Call, frame: _Frame) -> None:
        """Adds the effects of words that are a command: `sudo rm x`, `xargs rm`."""
        first = words[0]
        if len(words) == 1 and first.known and any(char in first.text for char in " ;|&\n"):
            self._text(first.text, "bash", call, frame)
            return
        if first.known and " " in first.text and self._is_command_line(first.text):
            # `parallel 'rm -rf {}' ::: a b`: a line for a shell, and the values to insert.
            rest = [word.text for word in words[1:] if not word.text.startswith(":::")]
            self._text(" ".join((first.text, *map(quote, rest))), "bash", call, frame)
            return
        inner = Call(
            program=_program_name(first.text) if first.known else "",
            words=tuple(words[1:] if first.known else words),
            span=call.span,
            language=call.language,
            stdin=call.stdin,
            sure=call.sure,
            path=first.text.replace("\\", "/") if first.known and ("/" in first.text or "\\" in first.text) else "",
        )
        self.call(inner, frame)

    def _words_of_pipe(self, parsed: Parsed, call: Call) -> list[Word]:
        """Returns the operands that `xargs` adds: the words of a constant text, the paths that a search finds, or one
        unknown word."""
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
        while isinstance(source, Call) and isinstance(source.stdin, Call):
            source = source.stdin
        if isinstance(source, Call) and source.program in SEARCHES:
            program = self._entry(source.program)
            if program is not None and source.program in ("find", "fd"):
                return _found_by_search(parse(program, source))
            _, effects = self.effects_of.get(id(source), (source, ()))
            read = [target.text for effect in effects if effect.kind is EffectKind.READ for target in effect.targets]
            return [Word(f"{text.rstrip('/')}/[found]", call.span, glob=True) for text in read or ["."]]
        return [Word("$(stdin)", call.span, known=False)]

    def _text(self, text: str, language: str, call: Call, frame: _Frame) -> None:
        """Adds the effects of a text that is an action: `bash -c '…'`, `python -c '…'`."""
        code = _substitution(text)
        if code is not None:
            self._printed_code(code, language, call, frame)
            return
        if language == "sql" and text.lstrip().startswith(".") and (command := _DOT_COMMAND.match(text)):
            # The shell of sqlite3 has its own commands.
            run, file = command.groups()
            text, language = run or f": > {file}", "bash"
        self.inner_chars += len(text)
        if frame.depth > MAX_DEPTH or self.inner_chars > MAX_INNER_CHARS or len(self.calls) >= MAX_CALLS:
            reason = "actions inside of actions, too deep to follow"
            self.uncovered.append(Uncovered(call.span, reason, stopped=True))
            return
        if language == "unknown":
            self._code("inline", call)
            if starts_shell(text):
                self._interactive_shell(call)
            self._foreign(text, call)
            runner = "a tool" if call.program.startswith("tool:") else call.program
            self.uncovered.append(Uncovered(call.span, f"code that {runner} runs"))
            return
        self.read(read_as(text, language, self.facts, self.catalogue), frame)

    def _foreign(self, code: str, call: Call) -> None:
        """Adds the effects of quoted commands and paths in code of a language without a reader."""
        frame = _Frame(depth=MAX_DEPTH - 1, host=call.host, elevated=call.elevated, sure=call.sure, carrier=call.span)
        if runs_what_it_receives(code):
            self._network_shell(call.program, call)
        for found in look(code):
            if found.kind == "named":
                target = self._target(Word(found.text, call.span), EffectKind.READ, ObjectKind.PATH, call)
                if target.sensitivity in _CARES:
                    self._generic_effect(EffectKind.READ, ObjectKind.PATH, (target,), call, {}, True)
                continue
            if found.kind == "command":
                if self._is_command_line(found.text):
                    self._text(found.text, "bash", call, frame)
                continue
            kind = EffectKind.WRITE if found.kind == "write" else EffectKind.DELETE
            word = Word(found.text, call.span)
            effect = Effect(
                kind=kind,
                object=ObjectKind.PATH,
                span=call.span,
                source="generic",
                targets=(self._target(word, kind, ObjectKind.PATH, call),),
                scope=Scope.MANY if found.kind == "delete_tree" else Scope.ONE,
                reversible=Reversible.YES if kind is EffectKind.WRITE else Reversible.NO,
                sure=call.sure,
                elevated=call.elevated,
            )
            self._add(effect)
            if kind is EffectKind.WRITE:
                self._consequences(effect, _directory(call))

    def _printed_code(self, command: str, language: str, call: Call, frame: _Frame) -> None:
        """Adds the effects of code that a command prints: `bash -c "$(curl …)"`, `eval "$(ssh-agent)"`."""
        reading = read_as(command, "bash", self.facts, self.catalogue)
        output = constant_output(reading.calls[-1]) if reading.calls else None
        if output is not None:
            self._text(output, language, call, replace(frame, depth=frame.depth + 1))
            return
        apart = _Interpreter(self.catalogue, self.facts)
        apart.read(reading, _Frame(depth=min(frame.depth + 1, MAX_DEPTH)))
        urls = [
            target.text for effect in apart.effects if effect.kind is EffectKind.DOWNLOAD for target in effect.targets
        ]
        if urls:
            self._code("remote", call, urls)
        else:
            self._code("piped", call)
            self.uncovered.append(Uncovered(call.span, "code that another program prints"))

    def _fed_code(self, language: str, call: Call, frame: _Frame) -> None:
        """Adds the effects of code from a pipe, a here-document or a file."""
        source = call.stdin
        if source is None:
            for redirection in call.redirections:
                if redirection.operator == "<" and not is_nowhere(redirection.target.text):
                    target = self._target(redirection.target, EffectKind.EXECUTE, ObjectKind.PATH, call)
                    self._code("named_file", call, targets=(target,))
            return
        output = source.text if isinstance(source, Word) else constant_output(source)
        if output is not None:
            if language == "self":
                self._lines(output, call, frame)
            else:
                self._text(output, language, call, frame)
            return
        urls = self._fed(source).urls
        if language == "bash" and (connection := _connection_of(source)) is not None:
            self._network_shell(connection, call)
            return
        if urls:
            self._code("remote", call, urls)
            return
        if language not in ("sql", "self", "http"):
            self._code("piped", call)
            if _decodes(source):
                self._generic_effect(
                    EffectKind.EXECUTE, ObjectKind.PROCESS, (), call, {"code": "piped", "decoded": "yes"}, True
                )
        self.uncovered.append(Uncovered(call.span, f"what {call.program} gets from a pipe"))

    def _lines(self, text: str, call: Call, frame: _Frame) -> None:
        """Adds the effects of each line as a call of the same program: `redis-cli <<< 'FLUSHALL'`."""
        for line in text.splitlines():
            words = tuple(Word(word.strip("'\""), call.span) for word in line.split())
            if words:
                self.call(replace(call, words=words, stdin=None, redirections=()), frame)

    def _code(self, code: str, call: Call, urls: Sequence[str] = (), targets: tuple[Target, ...] = ()) -> None:
        detail = {"code": code, **({"url": urls[0]} if urls else {})}
        self._add(
            Effect(
                kind=EffectKind.EXECUTE,
                object=ObjectKind.PATH if code == "named_file" else ObjectKind.PROCESS,
                span=call.span,
                source=call.program or "generic",
                targets=targets or tuple(Target(url, self._placed(Place.REMOTE, ObjectKind.PROCESS)) for url in urls),
                sure=call.sure,
                elevated=call.elevated,
                detail=detail,
            )
        )

    def _interactive_shell(self, call: Call) -> None:
        """Adds a shell that another program starts without a command: no check sees the commands typed there."""
        host = call.host or ""
        inside = host.startswith(("container:", "pod:", "image:"))
        self._add(
            Effect(
                kind=EffectKind.EXECUTE,
                object=ObjectKind.CONTAINER if inside else ObjectKind.PROCESS,
                span=call.span,
                source=call.program,
                targets=(Target(host, self._placed(Place.REMOTE, ObjectKind.PROCESS)),) if host else (),
                sure=call.sure,
                elevated=call.elevated,
                detail={"code": "interactive_shell", **({"host": host} if host else {})},
            )
        )

    def _shells_in_options(self, call: Call, frame: _Frame) -> None:
        """Adds the shells that programs start for an option's value: `tar -I '/bin/sh -c …'`, `lftp -c '!/bin/sh'`."""
        for at, word in enumerate(call.words):
            if "/" not in word.text:
                continue  # not a path to a shell
            if word.known and "/bin/" in word.text and starts_shell(word.text):
                if at == 0 or call.words[at - 1].text not in TEXT_OPTIONS:
                    self._interactive_shell(call)
                continue
            option, equals, text = word.text.partition("=")
            if not (equals and option.startswith("--")):
                option, text = call.words[at - 1].text if at else "", word.text
            if not option.startswith("-") or option in SHELL_OPTIONS or option in TEXT_OPTIONS:
                continue
            command = text.lstrip("!")
            first, blank, _ = command.partition(" ")
            if not first.startswith("/") or posixpath.basename(first) not in SHELLS:
                continue
            if blank or command != text or any(name in option for name in COMMAND_NAMES):
                deeper = replace(
                    frame, depth=frame.depth + 1, carrier=call.span, host=call.host, elevated=call.elevated
                )
                self._text(command, "bash", call, deeper)

    # What the catalogue lacks

    def _computed(self, call: Call, frame: _Frame) -> None:
        """Adds the effects of a program whose name the action computes."""
        output = constant_output(call.stdin) if call.stdin is not None else None
        if output is not None and len(call.words) == 1:
            self._text(output, "bash", call, replace(frame, depth=frame.depth + 1, carrier=call.span))
            return
        fed = self._fed(call.stdin)
        if fed.urls:
            self._code("remote", call, fed.urls)
            return
        if self.connection is not None and len(call.words) == 1:
            self._network_shell(self.connection, call)
        self._generic(call, frame)
        self.uncovered.append(Uncovered(call.span, "a program whose name is computed"))

    def _unknown(self, call: Call, frame: _Frame) -> None:
        """Adds the effects of a program that the catalogue lacks: of a script by its path, of others by their
        operands."""
        path = call.path
        name = call.program
        if path or (name.endswith(SCRIPT_SUFFIXES) and ":" not in name):
            word = Word(path or name, call.span)
            effect = Effect(
                kind=EffectKind.EXECUTE,
                object=ObjectKind.PATH,
                span=call.span,
                source="generic",
                targets=(self._target(word, EffectKind.EXECUTE, ObjectKind.PATH, call),),
                sure=call.sure,
                elevated=call.elevated,
                detail={"code": "named_file"},
            )
            self._add(self._executed(effect, call))
            self._generic(call, frame)
            self.covered_calls += 1
            return
        self._generic(call, frame)
        self._break_in(call)
        if name.startswith("tool:") and any(effect.span == call.span for effect in self.effects):
            return
        if ":" not in name:
            operands = [word.text for word in call.words if not word.text.startswith("-")]
            self._by_verb(operands, call, Place.UNKNOWN)
            self._carried(call, frame)
            self._shells_in_options(call, frame)
        verb = name.removeprefix("ps:").partition("-")[0] if name.startswith("ps:") else ""
        if verb in CMDLETS and not any(word.text.lower() == "-whatif" for word in call.words):
            named = next((word.text for word in call.words if not word.text.startswith("-")), "")
            target = (Target(named, self._placed(Place.REMOTE, ObjectKind.RESOURCE)),)
            self._add(replace(CMDLETS[verb], span=call.span, source=name, targets=target, sure=call.sure))
        executable = not name.startswith((*MEMBERS_OF_CODE, *READING_VERBS))
        self.uncovered.append(Uncovered(call.span, f"the catalogue lacks {_shortened(name)}", executable=executable))

    def _break_in(self, call: Call) -> None:
        """Adds an effect for an attack tool, recognised by its name, also as a function that a script defines."""
        named = next((text for text in (call.program, *(word.text for word in call.words)) if is_break_in(text)), None)
        if named is not None:
            target = Target(named[:LONGEST_NAME])
            self._generic_effect(EffectKind.EXECUTE, ObjectKind.PROCESS, (target,), call, {"code": "named_file"}, True)

    def _carried(self, call: Call, frame: _Frame) -> None:
        """Follows a known program with options or a path after unknown words: `run rm -rf / on the server`."""
        for at, (word, following) in enumerate(zip(call.words[:CARRIED], call.words[1:], strict=False)):
            name = word.text.lower()
            if not word.known or name.startswith("-"):
                return
            if following.text.startswith(("-", "/", "~")) and name not in names("ordinary_words") and self._entry(name):
                deeper = replace(frame, depth=frame.depth + 1, carrier=call.span, host=call.host)
                self._command(call.words[at:], call, deeper)
                return

    def _generic(self, call: Call, frame: _Frame) -> None:
        """Adds the effects that any program may have: it reads sensitive paths, reaches URLs, runs a shell in an
        operand."""
        directory = _directory(call)
        reads: list[Target] = []
        urls: list[str] = []
        deeper = replace(frame, depth=frame.depth + 1, carrier=call.span, host=call.host, elevated=call.elevated)
        for at, word in enumerate(call.words):
            text = word.text
            option = call.words[at - 1].text if at else ""
            if text.startswith("-") and "=" in text:
                option, _, text = text.partition("=")
                word = replace(word, text=text)
            if _asks_for_a_key(option):
                continue
            if self._care(word, directory).sensitivity in _CARES:
                reads.append(self._target(word, EffectKind.READ, ObjectKind.PATH, call))
            elif "://" in text[:8]:
                urls.append(text)
            elif text.lower().startswith(MONIKERS):
                target = (self._target(word, EffectKind.EXECUTE, ObjectKind.RESOURCE, call, Place.UNKNOWN),)
                self._generic_effect(EffectKind.EXECUTE, ObjectKind.RESOURCE, target, call, {"code": "remote"}, True)
            elif (
                word.known
                and not call.words[at].text.startswith("-")
                and posixpath.basename(text) in SHELLS
                and (at + 1 < len(call.words) or text.startswith("/"))
                and option not in SHELL_OPTIONS - {"--"}
                and not option.endswith("=")
            ):
                self._command(call.words[at:], call, deeper)
                break
            elif at and call.words[at - 1].text in COMMAND_OPTIONS and word.known and self._is_command_line(text):
                self._text(text, "bash", replace(call, sure=False), replace(deeper, sure=False))
        if reads:
            kind = EffectKind.SEND if urls else EffectKind.READ
            self._generic_effect(kind, ObjectKind.PATH, tuple(reads), call, {"url": urls[0]} if urls else {}, not urls)
        elif urls:
            targets = tuple(self._target(Word(url, call.span), EffectKind.READ, ObjectKind.PATH, call) for url in urls)
            self._generic_effect(EffectKind.READ, ObjectKind.NETWORK, targets, call, {"url": urls[0]}, True)

    def _by_verb(self, words: Sequence[str], call: Call, place: Place) -> None:
        """Adds a deletion for a command line of the common form of thing and verb, in either order:
        `x project delete 7`."""
        at = next((at for at, word in enumerate(words[:4]) if _destroys(word)), None)
        if (
            at is None
            or (len(words) < 2 and place is Place.UNKNOWN)
            or any(word.lower() in REMADE for word in words[: at + 2])
            or not call.program[:1].isalnum()
            or "<" in call.program
        ):
            return
        named = words[at + 1 :] or words[:at] or words
        targets = tuple(Target(text, self._placed(place, ObjectKind.RESOURCE)) for text in named[:8])
        self._add(
            Effect(
                kind=EffectKind.DELETE,
                object=ObjectKind.RESOURCE,
                span=call.span,
                source="generic",
                targets=targets,
                reversible=Reversible.NO,
                sure=call.sure,
                elevated=call.elevated,
            )
        )

    def _is_command_line(self, text: str) -> bool:
        first, blank, _ = text.strip().partition(" ")
        return bool(blank) and self._entry(first.rpartition("/")[2].lower()) is not None

    def _generic_effect(
        self,
        kind: EffectKind,
        thing: ObjectKind,
        targets: tuple[Target, ...],
        call: Call,
        detail: Mapping[str, str],
        sure: bool,
    ) -> None:
        self._add(
            Effect(
                kind=kind,
                object=thing,
                span=call.span,
                source="generic",
                targets=targets,
                sure=call.sure and sure,
                elevated=call.elevated,
                detail=detail,
            )
        )


# --- parts of calls ---


def _directory(call: Call) -> str | None:
    return call.directory.text if call.directory is not None else None


def _program_name(path: str) -> str:
    """Returns the catalogue's name for a program file."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower().removesuffix(".exe")


def _never_ends(call: Call) -> bool:
    """Decides whether a program prints until the disk is full."""
    words = [word.text for word in call.words]
    return call.program == "yes" or (call.program == "cat" and bool(words) and words[0] in _ENDLESS)


def _saves(call: Call) -> bool:
    """Decides whether a client saves its download in a file, so that it prints nothing."""
    following = zip(call.words, (*call.words[1:], None), strict=True)
    return any(word.text in _SAVES and (after is None or after.text != "-") for word, after in following)


def _connection_of(source: Call | Word) -> str | None:
    """Returns the other end of a bare connection in a pipe, from which any command can be typed."""
    here: Call | Word | None = source
    while isinstance(here, Call):
        words = [word.text for word in here.words]
        if here.program in _CONNECTIONS or (here.program == "openssl" and "s_client" in words):
            return " ".join((here.program, *words))
        here = here.stdin
    return None


def _network_of(path: str) -> str | None:
    """Returns the address in a path through which bash opens a connection: `/dev/tcp/host/port`."""
    found = _NETWORK.match(path) if path.startswith("/dev/") else None
    return f"{found[1]}://{found[2]}:{found[3]}" if found else None


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _saves_changes(call: Call, parsed: Parsed) -> bool:
    """Decides whether a call of git puts all changes of tracked files into a commit or a stash if it succeeds."""
    # Options before the subcommand may name another repository.
    is_elsewhere = [word.text for word in call.words[:1]] != parsed.path[:1]
    if is_elsewhere or parsed.operands or any(parsed.has(option) for option in _SAVES_A_PART):
        return False
    if parsed.path == ["commit"]:
        return parsed.has("-a") or parsed.has("--all")
    return parsed.path in (["stash"], ["stash", "push"])


_SAVES_A_PART = ("-p", "--patch", "--interactive", "-S", "--staged", "--pathspec-from-file")


def _resets_to_head(call: Call, parsed: Parsed) -> bool:
    """Decides whether a call of git discards only changes of tracked files and moves to no other commit."""
    in_place = call.program == "git" and [word.text for word in call.words[:1]] == ["reset"]
    return in_place and all(word.text in ("HEAD", "@") for word in parsed.operands)


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


def _is_broadened(row: EffectRow, parsed: Parsed) -> bool:
    return any(parsed.has(option) for broader in row.broader for option in broader.options)


def _is_fed(word: Word) -> bool:
    """Decides whether `xargs` adds the word from an unknown number of items."""
    return word.text == "$(stdin)" or word.text.endswith("/[found]")


_HOOK = re.compile(r"(?:^|/)(?:\.git/hooks|\.husky|\.githooks)(?:/(?!.*\.sample$)|$)")


def _prints_nothing(call: Call) -> bool:
    """Decides whether a redirection of the call's output only empties a file."""
    if call.program in (":", "true"):
        return call.stdin is None
    words = [word.text for word in call.words if not word.text.startswith("-")]
    if call.program == "cat":
        return words == ["/dev/null"] or (not words and _receives_nothing(call))
    return call.program in ("echo", "printf") and not any(words)


def _receives_nothing(call: Call) -> bool:
    """Decides whether the input of a call is empty: `tee x < /dev/null`, `cat /dev/null | tee x`."""
    if isinstance(call.stdin, Call):
        return _prints_nothing(call.stdin)
    return any(found.operator == "<" and found.target.text == "/dev/null" for found in call.redirections)


_COPIERS = frozenset(("tee", "sponge"))
"""Programs that write their input to a file."""


_KEEPS_LINES = frozenset(("grep", "egrep", "sort", "uniq", "head", "tail", "shuf"))


def _dumps_database(source: Call | Word | None) -> bool:
    """Decides whether a pipe begins with a copy of a database."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        source = source.stdin
    return isinstance(source, Call) and source.program in _DUMPS


_DUMPS = frozenset(("mysqldump", "mariadb-dump", "pg_dump", "pg_dumpall", "mongodump", "mongoexport"))
_HTTP_CLIENTS = frozenset(("curl", "wget", "nc", "ncat", "netcat", "http", "https", "socat"))


def _decodes(source: Call | Word | None) -> bool:
    """Decides whether the input of a pipe comes from a program that decodes text into other content."""
    for _ in range(MAX_DEPTH):
        if not isinstance(source, Call):
            return False
        options = _DECODERS.get(source.program)
        if options is not None and (not options or any(word.text in options for word in source.words)):
            return True
        source = source.stdin
    return False


_DECODERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("base64", "base32", "basenc"), frozenset(("-d", "-D", "--decode", "-di"))),
    "xxd": frozenset(("-r", "-rp", "-p")),
    "openssl": frozenset(("-d",)),
    "rev": frozenset(),
    "uudecode": frozenset(),
}
"""Programs that decode, with the options that make them do so; a program without options always decodes."""


def _written_text(call: Call) -> str | None:
    """Returns the text that a call writes if it is constant, with variables by their names."""
    source: Call | Word | None = call
    if call.program in ("tee", "cat"):
        source = call.stdin
    if isinstance(source, Word):
        return source.text
    if not isinstance(source, Call) or source.program not in ("echo", "printf"):
        return None
    words = [word.text for word in source.words if word.text not in ("-e", "-n", "-E", "-ne", "-en", "--")]
    return " ".join(words).replace("\\n", "\n")


def _prints_environment(source: Call | Word | None) -> bool:
    """Decides whether a pipe begins with the whole environment, keys and passwords included."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        source = source.stdin
    return isinstance(source, Call) and environment.prints_everything(
        source.program, [word.text for word in source.words]
    )


def _prints_secrets(source: Call | Word | None, hosts: Sequence[str]) -> bool:
    """Decides whether a pipe or here-string contains a variable whose name says that it is a secret."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        source = source.stdin
    words = source.words if isinstance(source, Call) and source.program in _PRINTERS else ()
    words = (source,) if isinstance(source, Word) else words
    return any(not word.known and environment.foreign_secrets(word.text, hosts) for word in words)


_PRINTERS = frozenset(("echo", "printf", "cat"))
_ENVIRONMENT = Care(Sensitivity.SECRET, "every variable of the environment")
_HIVE_OF_PASSWORDS = KeyMeaning(EffectKind.READ, ObjectKind.CREDENTIAL, "copies the store of passwords")
_OF_WINDOWS = frozenset((Language.CMD, Language.POWERSHELL))
_MAKE_CONTAINERS = (("run",), ("create",), ("container", "run"), ("container", "create"))


def _mounts(parsed: Parsed) -> tuple[tuple[str, str], ...]:
    """Returns the mounts of a new container as paths inside with the path on this machine, the longest path first."""
    mounts = []
    for option in parsed.options:
        value = option.value.text if option.value is not None else ""
        if option.name in ("-v", "--volume"):
            outside, _, rest = value.partition(":")
            mounts.append((rest.partition(":")[0], outside))
        elif option.name == "--mount":
            fields = dict(field.partition("=")[::2] for field in value.split(","))
            inside = fields.get("target") or fields.get("destination") or fields.get("dst") or ""
            mounts.append((inside, fields.get("source") or fields.get("src") or ""))
    named = [(inside.rstrip("/").lower() or "/", outside) for inside, outside in mounts if inside.startswith("/")]
    return tuple(sorted(named, key=lambda mount: -len(mount[0])))


def _waits_for_typing(parsed: Parsed) -> bool:
    """Decides whether a shell gets neither a command nor a script nor piped input."""
    call = parsed.call
    fed = call.stdin is not None or any(
        redirection.operator == "<" and not is_nowhere(redirection.target.text) for redirection in call.redirections
    )
    return not parsed.operands and not fed and not any(option.value is not None for option in parsed.options)


def _parents(path: str) -> Iterator[str]:
    """Yields the directories above a path, except whole places such as `/` and `~`."""
    parent = posixpath.dirname(path)
    while parent not in ("", "/", "~", ".", "..", "/tmp"):  # noqa: S108 (a place is named)
        yield parent
        parent = posixpath.dirname(parent)


def _destroys(word: str) -> bool:
    """Decides whether a word of a command line is a destructive verb, by itself or as in `delete-job` and
    `repo-delete`."""
    first, _, rest = word.lower().replace("_", "-").partition("-")
    return first in DESTROYING or rest.rpartition("-")[2] in DESTROYING


def means_something_to_any_program(word: str) -> bool:
    """Decides whether a plain word has a meaning for any program: a shell, a secret's file, a destructive verb, an
    attack tool."""
    return (
        word in SHELLS
        or _destroys(word)
        or is_break_in(word)
        or word.startswith(MONIKERS)
        or care_of(word).sensitivity in _CARES
    )


def _verb_of_path(url: str) -> str:
    """Returns the last part of a URL's path, reduced to its verb: `/job/x/doDelete`, `/v1/x:purge`."""
    last = url.partition("?")[0].rstrip("/").rpartition("/")[2].rpartition(":")[2]
    return last.removeprefix("do").lower()


def _asks_for_a_key(option: str) -> bool:
    """Decides whether an option passes a program its own key, certificate or settings."""
    return option.startswith("--") and any(name in option for name in ("key", "cert", "tls", "ssl", "config", "env-"))


def _may_be_remote(text: str) -> bool:
    return "://" in text or text.startswith(("<(", "$(", "`"))


def _pieces(text: str) -> Iterator[str]:
    """Yields the words of a substitution that no reader parsed."""
    for char in "$()`<>|;&\"'":
        text = text.replace(char, " ")
    return iter(text.split())


def _substitution(text: str) -> str | None:
    """Returns the inner command if the text is exactly one command substitution."""
    stripped = text.strip().strip('"')
    if stripped.startswith("$(") and stripped.endswith(")") and not stripped.startswith("$(("):
        return stripped[2:-1] if _closes_last(stripped[1:]) else None
    if len(stripped) > 2 and stripped[0] == stripped[-1] == "`" and "`" not in stripped[1:-1]:
        return stripped[1:-1]
    return None


def _closes_last(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at + 1 == len(text)
    return False


def _host(inner: Inner, parsed: Parsed) -> str | None:
    """Returns the machine that the inner action runs on, such as `container:web`."""
    if inner.host is None:
        return None
    prefix, colon, part = inner.host.partition(":")
    if colon and prefix in ("operand", "operands", "option", "argument", "text"):
        prefix, part = parsed.program.name, inner.host
    words = parsed.part(part)
    if words and words[0].text.rpartition("@")[2] in _THIS_MACHINE:
        return None
    return f"{prefix}:{words[0].text if words else ''}"


def _inner_words(inner: Inner, parsed: Parsed) -> Iterator[Sequence[Word]]:
    """Yields the words of each inner action."""
    words = parsed.call.words
    if inner.after:
        style, ignore_case = parsed.program.style, parsed.program.ignore_case
        at = 0
        while at < len(words):
            at += 1
            if option_name(words[at - 1].text, style, ignore_case) not in inner.after:
                continue
            start = at
            while at < len(words) and words[at].text not in inner.until:
                at += 1
            yield words[start:at][inner.skip :]
            if not inner.repeated:
                return
    elif inner.part == "rest":
        rest = words[parsed.places[inner.skip] :] if len(parsed.places) > inner.skip else ()
        if rest or inner.program is not None:
            yield _after_assignments(rest) if inner.skip_assignments else rest
    elif inner.part is not None:
        found = parsed.part(inner.part)
        if inner.language != "argv" and inner.part.startswith(("option", "value_of", "argument", "operand:")):
            yield from ([word] for word in found)
        else:
            yield found[inner.skip :]


def _after_assignments(words: Sequence[Word]) -> Sequence[Word]:
    at = 0
    while at < len(words) and "=" in words[at].text and words[at].text.partition("=")[0].isidentifier():
        at += 1
    return words[at:]


def _typed(words: Sequence[Word]) -> str:
    """Returns the lines that arrive in a terminal if these words are typed there: `'ls -l' Enter`, `'ls -l^M'`."""
    return "".join(_KEYS.get(word.text.lower()) or _LINE_ENDS.sub("\n", word.text) for word in words)


_KEYS = {**dict.fromkeys(("enter", "kpenter", "c-m", "c-j"), "\n"), "space": " ", "c-c": "\n", "c-u": "\n"}
_LINE_ENDS = re.compile(r"\\(?:[nr]|0?1[25]|x0[ad])|\^[MJ]|\$\(printf ['\"]?\\+(?:[nr]|0?1[25])['\"]?\)")


def _found_by_search(parsed: Parsed) -> list[Word]:
    """Returns the paths that a search such as `find` yields: its start directories, joined with the names that it looks
    for."""
    words = parsed.call.words
    first = min((option.at for option in parsed.options), default=len(words))
    starts = [word for word, at in zip(parsed.operands, parsed.places, strict=True) if at < first and word.text != "!"]
    starts = starts or [Word(".", parsed.call.span)]
    names = [
        option.value
        for option in parsed.options
        if option.value is not None and option.name in _NAMES and words[option.at - 1].text not in ("!", "-not")
    ]
    extensions = [option.value for option in parsed.options if option.name in ("-e", "--extension") and option.value]
    names += [replace(word, text=f"*.{word.text.lstrip('.')}") for word in extensions]
    if any(option.name == "-empty" for option in parsed.options):
        names = names or [Word("[empty]", parsed.call.span)]  # the paths found are empty
    filtered = any(option.name in _FILTERS for option in parsed.options)
    found = []
    for start in starts:
        base = start.text.rstrip("/")
        for name in [word.text for word in names] or ["[found]" if filtered else "*"]:
            text = f"{base}/{name.removeprefix('./').removeprefix('*/')}"
            empty = None if start.if_empty is None else f"{start.if_empty.rstrip('/')}/*"
            found.append(Word(text, start.span, start.known, glob=True, if_empty=empty))
    return found


_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "--glob"))
_FILTERS = frozenset(
    (
        *("-regex", "-iregex", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-newer", "-size"),
        *("-user", "-group", "-perm", "-samefile", "-inum", "-uid", "-gid", "-nouser", "-nogroup", "-links", "-xtype"),
    )
)


def _with_piped(words: Sequence[Word], parsed: Parsed, piped: Sequence[Word]) -> Sequence[Word]:
    """Returns the command of `xargs` with the piped words: where `-I` says, else at the end."""
    named = [value.text for option in ("-I", "-J", "--replace") for value in parsed.values_of(option)]
    placeholder = named[0] if named and named[0] else "{}"
    if any(placeholder in word.text for word in words):
        return _replaced(words, placeholder, piped or [Word("$(stdin)", parsed.call.span, known=False)])
    return [*words, *piped]


def _replaced(words: Sequence[Word], placeholder: str, found: Sequence[Word]) -> Sequence[Word]:
    """Replaces a placeholder in words with the paths found or the piped words."""
    replaced: list[Word] = []
    for word in words:
        if word.text == placeholder:
            replaced += found
        elif placeholder in word.text and found:
            text = word.text.replace(placeholder, found[0].text)
            replaced.append(Word(text, word.span, word.known and found[0].known, glob=True))
        else:
            replaced.append(word)
    return replaced


# --- inner texts ---


def read_as(text: str, language: str, facts: Facts, catalogue: Catalogue) -> Reading:
    """Reads a text in the language that the catalogue or a caller names; `auto` detects the language."""
    if language == "auto":
        from guardrail.reading import read

        return read(text, facts, catalogue)
    return _reader(language)(text)


def _reader(language: str) -> Callable[[str], Reading]:
    from guardrail.reading import reader_of

    return reader_of(Language(language))
