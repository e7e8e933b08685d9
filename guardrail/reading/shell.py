"""Reads POSIX shell and bash into calls, with knowledge of the shell's grammar and expansions but of no program.

The grammar is tree-sitter-bash. It parses a copy of the text in which here-documents and a few forms that it doesn't
know are blanked, character for character; every text is taken from the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from shlex import quote
from typing import NamedTuple

from tree_sitter import Node

from guardrail.model import Call, Effect, Passage, Reading, Redirection, Span, Target, Uncovered, Word
from guardrail.reading.decoding import Normalised, constant_output, normalise, unescape
from guardrail.reading.shell_text import (
    MAX_MARKS,
    TEMPLATE,
    Budget,
    Chunk,
    HereDocument,
    Source,
    chunks,
    marks,
    mask,
    parse,
)
from guardrail.reading.shell_words import (
    BREAK,
    MAX_BRACES,
    MAX_TEXT,
    Piece,
    Value,
    added,
    after_equals,
    braced,
    changed_value,
    constant_text,
    fields_of,
    in_double_quotes,
    inserted,
    is_empty,
    joined_path,
    make_word,
    matches,
    pieces_of,
    without_key,
)
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Scope

MAX_WORK = 14_100  # commands, words and expansions that are read in one text
MAX_CALLS = 1_000
MAX_DEPTH = 50
MAX_TEXTS = 8  # nested texts of `eval`, `trap` and aliases
MANY_CALLS = 60  # from this many calls on, repeated ones are read once
MAX_ACTIVE = 12  # nested calls of functions
MAX_VALUE = 32 * 1024  # characters of a variable's value
MAX_PIECES = 32
MAX_FILES = 200
MAX_PIPED = 8  # commands before a pipe in the spelling of a variable
MAX_ALTERNATIVES = 64  # values of a variable that are followed
LONG_TEXT = 40  # characters from which a quoted text is examined as prose


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Builtins that change nothing outside of the shell. Their changes of variables and the directory are followed here.
_SILENT = _names(
    "true false : test [ [[ cd pushd popd dirs break continue return exit shift read mapfile readarray getopts "
    "let wait local declare typeset readonly type hash times jobs bg fg caller shopt alias unalias trap disown"
)
_PRINTING = _SILENT | {"echo", "printf", "cat", "exit", "basename", "dirname"}  # builtins and programs that only print
_STREAMS = _names("/dev/null /dev/stdout /dev/stderr /dev/tty &1 &2 1 2")
_QUIET = _SILENT - {"dirs", "times", "jobs", "type", "alias", "trap", "hash"}  # builtins that print nothing
_ALWAYS_SET = _names(
    "PWD OLDPWD USER LOGNAME SHELL PATH HOSTNAME HOSTTYPE OSTYPE MACHTYPE UID EUID GROUPS PPID BASHPID RANDOM "
    "SRANDOM SECONDS LINENO EPOCHSECONDS EPOCHREALTIME BASH BASH_SOURCE BASH_VERSION FUNCNAME SHLVL TERM LANG "
    "TMPDIR TMP TEMP XDG_RUNTIME_DIR GITHUB_WORKSPACE GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STEP_SUMMARY "
    "GITHUB_SHA GITHUB_REF GITHUB_REF_NAME GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_ACTOR RUNNER_TEMP RUNNER_OS "
    "RUNNER_TOOL_CACHE CI_PROJECT_DIR CI_COMMIT_SHA CI_COMMIT_REF_NAME CI_COMMIT_SHORT_SHA CI_PIPELINE_ID "
    "CI_JOB_ID CLAUDE_PROJECT_DIR 0 # ? $ -"
)
# Variables that programs run as a command, and those whose libraries are loaded into every program that starts.
_COMMAND_VARIABLES = _names(
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
    "HISTFILE": _names("/dev/null") | {""},
    "HISTSIZE": _names("0") | {""},
    "HISTFILESIZE": _names("0") | {""},
    "SAVEHIST": _names("0"),
}
# Commands that people type without thinking, and those that nobody wants to run instead.
_EVERYDAY = _names(
    "ls cd cat cp mv rm grep ps sudo su ssh git vim vi nano less echo pwd man find top mkdir touch clear"
)
_HARMING = _names("rm shred dd mkfs wipefs kill killall pkill reboot shutdown halt poweroff truncate unlink srm")
# Typical values, for expansions that cut a value: "${PATH:0:1}" is a slash on any machine.
_TYPICAL = {
    "HOME": "/home/user",
    "PWD": "/home/user/work",
    "OLDPWD": "/home/user",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "SHELL": "/bin/bash",
}
_SHELLS = _names("sh bash dash ash zsh ksh mksh")
# Interpreters that accept code in an option, with that option.
_INLINE = {"python": "-c", "python3": "-c", "node": "-e", "nodejs": "-e", "pwsh": "-Command", "powershell": "-Command"}
_RUNNERS = _SHELLS | {"source"} | set(_INLINE)
# Programs that only look at files or copy them, and files that other programs read settings from by default.
_PASSES_ON = _names(
    "cat chmod chown chgrp cp mv ls ln grep rg sed awk head tail less more rm touch tee echo printf git diff stat test "
    "docker podman kubectl file wc scp rsync curl tar zip md5sum sha256sum mkdir install useradd chsh usermod"
)
_READERS_OF = {
    "package.json": _names("npm yarn pnpm bun npx node"),
    "gemfile": _names("bundle bundler"),
    "rakefile": _names("rake"),
    "makefile": _names("make gmake"),
    "gnumakefile": _names("make gmake"),
    "justfile": _names("just"),
    "vagrantfile": _names("vagrant"),
    "composer.json": _names("composer"),
    "cmakelists.txt": _names("cmake"),
    "meson.build": _names("meson"),
    "build.xml": _names("ant"),
    "pom.xml": _names("mvn"),
    "build.gradle": _names("gradle"),
    "setup.py": _names("pip pip3 easy_install"),
    "configure.ac": _names("autoconf autoreconf automake"),
    "build.rs": _names("cargo"),
    ".gdbinit": _names("gdb"),
    "conftest.py": _names("pytest"),
}
# Variables that contain the program of the same name, by convention of make and autoconf.
_PROGRAM_VARIABLES = _names(
    "SUDO PYTHON PYTHON3 PIP PIP3 NODE NPM NPX YARN PNPM MAKE GIT DOCKER PODMAN KUBECTL HELM TERRAFORM CARGO GO "
    "RM CP MV MKDIR INSTALL CURL WGET TAR SED AWK GREP CHMOD CHOWN AWS GCLOUD PSQL MYSQL SSH SCP RSYNC APT YUM "
    "DNF BREW"
)
_POSITIONAL = frozenset("123456789@*#")
_KEYWORDS = _names("if then elif else fi for while until do done case esac in select function { } ( ) [[ ]] ! ;")
OWN_WORDS = (
    _KEYWORDS | _SILENT | _names("eval exec command builtin nocorrect noglob time coproc set source export unset")
)
"""Words with a meaning for the shell itself, at the start of a command or in a construct."""
_OPERATORS = frozenset(
    {"&", "&&", "||", "|", "|&", ";;", ";&", ";;&", "((", "))", '"', "'", "`", "\n", "$(", "$", "\\"}
)
_BLANKS = frozenset((" ", "\t", "\n"))
_EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_STATEMENTS = _names(
    "command redirected_statement pipeline list if_statement for_statement while_statement c_style_for_statement "
    "case_statement function_definition subshell compound_statement negated_command test_command "
    "declaration_command unset_command variable_assignment variable_assignments do_group elif_clause else_clause "
    "case_item command_substitution process_substitution program"
)

_PLAIN = re.compile(r"[\w@%+=:,./^-]+")  # words without an expansion
_DRIVE = re.compile(r"[A-Za-z]:\\[^\\]")  # a Windows path: nobody escapes a letter after a colon
_RUNS_SHELL = re.compile(r"[;|&]|(?:^|[\s/'\"])(?:ba|da|z|k|a)?sh(?![\w.-])")
_SPELLED = re.compile(r"[\w@%+=:,./~*?-]+")  # words spelled without quotes
_TEMPORARY = re.compile(r"/(?:private/)?(?:var/)?tmp/|/dev/shm/")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAME_OF_THING = re.compile(r"[\w@][\w@%+=:,-]*(?:\.[\w@%+=:,-]+)*")
_COMMENT = re.compile(r"(?:(?<=[\s;&|(])|^)(#[^\n]*)")
_ENDLESS = re.compile(
    r"(?:while\s+(?:true|:|1|\[+\s*(?:1|true)\s*\]+|\(\(\s*1\s*\)\))|until\s+false|for\s*\(\(\s*;\s*;\s*\)\))\s*[;\n{]"
)
_VERY_OFTEN = re.compile(r"for\s+\w+\s+in\s+(?:\S*\.\.\d{5,}\}|[$`(]+seq\b[^;\n]*\d{5,})")
_SHELL_IN_FILE = re.compile(
    r"(?m)(?:^[ \t]*|[\"'({!][ \t]*)(?:exec[ \t]+)?(?:/usr)?/bin/(?:ba|da|z|k|a)?sh(?:[ \t]+-[ips]+)?[ \t]*"
    r"(?:$|[\"';)}&|]|[0-9]?[<>])"
)
_IS_SHELL = re.compile(r"!\s*(?:/usr)?/bin/(?:ba|da|z|k|a)?sh")
_NAMES_SHELL = re.compile(r"(?i)(?:shell|cmd|entrypoint)\W{0,6}\Z")
_TESTED = re.compile(r"\$\{?([A-Za-z_]\w*|[0-9#@*])")
_BRACED = re.compile(
    r"\$\{([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?(:?[-=?+]|%%?|##?|//?|:|\^\^?|,,?|@[A-Za-z]|[*@])?", re.S
)


class _Function(NamedTuple):
    source: Source
    node: Node


class _Outcome(NamedTuple):
    """The output of a function's call, and the variables and directory that it changed."""

    printed: list[Call]
    changed: Mapping[str, tuple[Value, ...] | None]
    directory: Word | None


@dataclass(slots=True)
class _State:
    """The state that an `if`, a subshell or a function may change and that is restored or merged afterwards."""

    variables: dict[str, tuple[Value, ...]]
    directory: Word | None


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls of a shell text, in order, with the texts that people read and the parts that could not be
    read."""
    return read_script(normalise(text), offset=offset)


def read_script(
    script: Normalised,
    *,
    offset: int = 0,
    variables: Mapping[str, str] | None = None,
    directory: Word | None = None,
    budget: Budget | None = None,
) -> Reading:
    """Reads a text inside another one like `read`, with its variables and directory, and the remaining budget of the
    whole."""
    shell = _Shell(directory, variables or {}, budget or Budget())
    shell.read_source(Source(script.text, script, offset))
    shell.finish()
    return Reading(
        language=Language.BASH,
        calls=tuple(shell.calls),
        effects=tuple(shell.effects),
        passages=tuple(shell.passages),
        uncovered=tuple(shell.uncovered),
    )


class _Shell:
    """One pass over a text: follows variables, functions and the directory, and collects calls."""

    def __init__(self, directory: Word | None, given: Mapping[str, str], budget: Budget) -> None:
        self.given = given
        self.budget = budget
        self.calls: list[Call] = []
        self.effects: list[Effect] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.state = _State({}, directory)
        self.functions: dict[str, _Function] = {}
        self.aliases: dict[str, str] = {}
        self.doubling: dict[str, int] = {}  # the number of times that a function calls itself without arguments
        self.exported: set[str] = set()
        self.files: dict[str, str] = {}  # files to which the action writes constant text
        self.called: set[str] = set()
        self.printing: set[str] = set()  # functions that only print
        self.read_calls: set[tuple[str, ...]] = set()
        self.outcomes: dict[tuple[object, ...], _Outcome] = {}
        self.emitted: dict[tuple[object, ...], Call] = {}
        self.definitions = 0  # the number of changes of functions, aliases and files
        self.mentioned: dict[str, tuple[int, tuple[str, ...]]] = {}
        self.active: list[str] = []
        self.traps: list[tuple[str, bool, Span]] = []
        self.directories: list[Word | None] = []
        self.checked: set[str] = set()
        self.nounset = False
        self.sure = True
        self.depth = 0
        self.texts = 0
        self.scripts = 0  # the number of enclosing scripts that the action itself wrote and runs
        self.full = False
        self.choice = 0  # the index of the variable's value that is being followed
        self.width = 1  # the most values of any variable in the command
        self.substituted: Call | Word | None = None  # the output of the last $(…)
        self.input: Call | Word | None = None  # the input from <(…) for the current command
        self.receivers: list[Node] = []  # >(…) of the current command, read when their input is known
        self.source = Source("")

    # --- Texts -------------------------------------------------------------------------------------------------------

    def read_source(self, source: Source, stdin: Call | Word | None = None) -> list[Call]:
        """Reads a whole text."""
        before = self.source
        self.depth += 1
        printed: list[Call] = []
        for chunk in chunks(source, self.budget):
            self.source = source.chunk(chunk.start)
            if chunk.root is None:
                self._stop(source.span(chunk.start, chunk.end), "a text too unlike shell to be read in bounded time")
                continue
            self._comments(chunk)
            printed += self._statements(chunk.root.children, stdin)
        self.depth -= 1
        self.source = before
        return printed

    def read_inner(self, text: str, carrier: Span, stdin: Call | Word | None = None) -> list[Call]:
        """Reads the text of `eval`, `trap` or an alias, in this shell."""
        if self.texts > MAX_TEXTS or len(text) > MAX_TEXT:
            self._stop(carrier, "a shell text nested too deeply")
            return []
        self.texts += 1
        printed = self.read_source(Source(text, None, carrier=carrier), stdin)
        self.texts -= 1
        return printed

    def finish(self) -> None:
        """Reads the commands that run at the end, and the functions that nothing called."""
        for text, sure, span in self.traps:
            self.sure = sure
            self.read_inner(text, span)
        self.sure = False
        for name, function in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self._function_body(function, None)

    # --- Statements --------------------------------------------------------------------------------------------------

    def _statements(self, nodes: Sequence[Node], stdin: Call | Word | None = None) -> list[Call]:
        """Reads consecutive statements; returns the calls that print."""
        printed: list[Call] = []
        for node in nodes:
            if self.full:
                break
            if node.is_named:
                printed += self._statement(node, stdin)
        return printed

    def _statement(self, node: Node, stdin: Call | Word | None = None) -> list[Call]:
        self.budget.work += 1
        if self.budget.work > MAX_WORK:
            self._exhausted(self._span(node))
            return []
        if self.depth > MAX_DEPTH:
            self._stop(self._span(node), "commands nested too deeply")
            return []
        kind = node.type
        if kind == "comment":
            return []
        self.depth += 1
        try:
            if kind == "command":
                return self._command(node, stdin, ())
            if kind == "list":
                return self._list(node, stdin)
            if kind == "pipeline":
                return self._pipeline(node.named_children, stdin)
            if kind == "redirected_statement":
                return self._redirected(node, stdin)
            if kind in ("variable_assignment", "variable_assignments"):
                self._assignments(node.named_children if kind == "variable_assignments" else [node])
                return []
            if kind in ("declaration_command", "unset_command"):
                return self._declaration(node)
            if kind == "if_statement":
                return self._if(node, stdin)
            if kind in ("while_statement", "c_style_for_statement"):
                return self._loop(node, stdin)
            if kind == "for_statement":
                return self._for(node, stdin)
            if kind == "case_statement":
                return self._case(node, stdin)
            if kind == "function_definition":
                name = node.child_by_field_name("name")
                if name is not None:
                    self.functions[self._text(name)] = _Function(self.source, node)
                    self.definitions += 1
                return []
            if kind == "subshell":
                return self._subshell(node.children, stdin)
            if kind == "compound_statement" and node.children and node.children[0].type == "((":
                self._substitutions(node)
                return []
            if kind == "test_command":
                self._test(self._text(node))
                self._substitutions(node)
                return []
            if kind == "negated_command" and _IS_SHELL.fullmatch(self._text(node)):
                self._emit(Call("sh", (), self._span(node), path="!" + self._text(node)[1:].strip()))
                return []
            if kind == "ERROR":
                return self._broken(node, stdin)
            if kind in _STATEMENTS:
                return self._statements(node.children, stdin)
            self._substitutions(node)
            return []
        finally:
            self.depth -= 1

    def _list(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        """Reads `a && b || c`, and marks the single calls that run only after the previous one succeeded."""
        printed: list[Call] = []
        surely_succeeded = False
        for operator, part in _parts_of_list(node):
            if self.full:
                break
            first = len(self.calls)
            printing = self._statement(part, stdin)
            is_single = (
                part.type == "command"
                and len(self.calls) == first + 1
                and all(child.type != "variable_assignment" for child in part.children)
            )
            if is_single and surely_succeeded and operator == "&&":
                call = self.calls[first]
                self.calls[first] = chained = replace(call, chained=True)
                printing = [chained if one is call else one for one in printing]
            printed += printing
            # In `a || b && c`, it may be `a` that succeeded.
            surely_succeeded = is_single and operator in ("", "&&")
        return printed

    def _pipeline(self, parts: Sequence[Node], stdin: Call | Word | None) -> list[Call]:
        printed: list[Call] = []
        for part in parts:
            if part.type != "comment":
                printed = self._statement(part, stdin)
                stdin = self._fed(printed, part)
        return printed

    def _fed(self, printed: Sequence[Call], node: Node) -> Call | Word | None:
        """Returns the input of a pipe from these calls: constant text, or the first call whose output isn't
        constant."""
        texts: list[str] = []
        known = True
        for call in printed:
            text = constant_output(call)
            if text is None and call.program == "echo" and not call.redirections:
                text, known = " ".join(word.text for word in call.words) + "\n", False
            elif text is None and call.program == "cat" and not call.words and isinstance(call.stdin, Word):
                text, known = call.stdin.text, False
            if text is None:
                return call
            texts.append(text)
        return Word("".join(texts), self._span(node), known=known) if texts else None

    def _redirected(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        printed: list[Call] = []
        while body is not None and body.type in ("list", "pipeline"):  # they belong to the last command
            parts = [child for child in body.named_children if child.type != "comment"]
            if body.type == "list":
                printed += self._statements([part for _, part in _parts_of_list(body)[:-1]], stdin)
            else:
                for part in parts[:-1]:
                    stdin = self._fed(self._statement(part, stdin), part)
            body = parts[-1]
        if body is not None and body.type == "command":
            return printed + self._command(body, stdin, redirects)
        redirections, given, extra = self._redirections(redirects)
        if body is not None:
            printed += self._statement(body, given or stdin)
        if redirections:
            self._emit(Call(":", tuple(extra), self._span(node), redirections=tuple(redirections), stdin=given))
        self._receive(printed[-1] if printed else None)
        return [] if any(redirection.operator in (">", ">>", ">|", "&>") for redirection in redirections) else printed

    def _subshell(self, nodes: Sequence[Node], stdin: Call | Word | None) -> list[Call]:
        before = self._copied()
        printed = self._statements(nodes, stdin)
        self.state = before
        return printed

    def _if(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        printed: list[Call] = []
        ends: list[_State] = []
        clauses = [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]
        for clause in clauses:
            body = clause.type == "else_clause"
            before = None
            for child in clause.children:
                if child.type == "then":
                    body, before = True, self._copied()
                elif child.is_named and child.type not in ("elif_clause", "else_clause"):
                    printed += self._statement(child, None if body else stdin)
            ends.append(self.state)
            if before is not None:
                self.state = before
        if clauses[-1].type != "else_clause":
            ends.append(self.state)
        self._merge(ends)
        return printed

    def _loop(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        printed: list[Call] = []
        before = self._copied()
        if _never_waits(node) and _ENDLESS.match(self._text(node)):
            self._add_effect(EffectKind.DISRUPT, ObjectKind.PROCESS, "this machine", self._span(node))
        for child in node.children:
            if child.type in ("do_group", "compound_statement"):
                printed += self._statement(child)
            elif child.is_named and child.type in _STATEMENTS and node.type == "while_statement":
                self._statement(child, stdin)
            elif child.is_named:
                self._substitutions(child)
        self._merge([before, self.state])
        return printed

    def _for(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        if _never_waits(node) and _VERY_OFTEN.match(self._text(node)):
            self._add_effect(EffectKind.DISRUPT, ObjectKind.PROCESS, "this machine", self._span(node))
        variable = node.child_by_field_name("variable")
        values = [word for group in _groups(node.children_by_field_name("value")) for word in self._words(group)]
        if variable is not None:
            if not values and "in" not in {child.type for child in node.children}:
                values = [Word("$@", self._span(variable), known=False)]
            if len(values) > 2 and all(word.text.isdigit() for word in values):
                values = values[:2]
            alternatives = [Value((pieces_of(word),)) for word in values]
            self.assign(self._text(variable), *(alternatives or (Value(((Piece(""),),)),)))
        before = self._copied()
        printed: list[Call] = []
        for child in node.children:
            if child.type in ("do_group", "compound_statement"):
                printed += self._statement(child)
        self._merge([before, self.state])
        return printed

    def _case(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        value = node.child_by_field_name("value")
        subject = self._words([value]) if value is not None else []
        known = subject[0].text if len(subject) == 1 and subject[0].known else None
        printed: list[Call] = []
        ends: list[_State] = [self._copied()]
        before, sure = self._copied(), self.sure
        for item in node.named_children:
            if item.type != "case_item":
                continue
            patterns = [self._text(pattern) for pattern in item.children_by_field_name("value")]
            bodies = [child for child in item.named_children if child.type in _STATEMENTS or child.type == "ERROR"]
            matched = known is not None and any(matches(pattern, known) for pattern in patterns)
            if known is not None and not matched and not any("$" in pattern for pattern in patterns):
                continue
            self.sure = sure and (matched or (len(ends) == 1 and "*" in patterns))
            self.state = _State(dict(before.variables), before.directory)
            printed += self._statements(bodies, stdin)
            ends.append(self.state)
            if matched:
                break
        self.sure = sure
        self._merge(ends)
        return printed

    def _copied(self) -> _State:
        self.budget.work += len(self.state.variables) // 50
        return _State(dict(self.state.variables), self.state.directory)

    def _merge(self, ends: Sequence[_State]) -> None:
        """Continues with the state that any of the branches may have left. A branch that leaves a variable unset or
        empty is ignored if another sets it: scripts check that before they use it."""
        merged: dict[str, tuple[Value, ...]] = {}
        for end in ends:
            for name, values in end.variables.items():
                present = merged.get(name)
                if present is None:
                    merged[name] = values
                elif present is not values:
                    union = tuple(dict.fromkeys(present + values))
                    filled = tuple(value for value in union if not is_empty(value))
                    merged[name] = self._followed(filled or union)
            self.budget.work += len(end.variables) // 50
        moved = [end.directory for end in ends if end.directory != ends[0].directory]
        self.state = _State(merged, moved[0] if moved else ends[0].directory)

    def _broken(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        """Reads the commands that the grammar found inside of text that it could not parse, then tries the rest line by
        line."""
        printed: list[Call] = []
        start = self._start(node)
        for child in node.children:
            if child.type in _STATEMENTS or child.type == "ERROR":
                self._salvage(start, self._start(child))
                printed += self._statement(child, stdin)
                start = self._end(child)
        self._salvage(start, self._end(node))
        return printed

    def _salvage(self, start: int, end: int) -> None:
        source = self.source
        fragment = source.text[start:end]
        if all(token in _KEYWORDS or token in _OPERATORS for token in fragment.split()):
            return
        for line in re.finditer(r"[^\n;]+", fragment):
            if all(token in _KEYWORDS or token in _OPERATORS for token in line[0].split()):
                continue
            first = start + line.start()
            part = Source(source.text, source.normalised, source.offset, source.carrier, source.documents, first)
            root = parse(mask(line[0]))
            self.budget.work += 1 + len(line[0]) // 50
            span = source.span(first, first + len(line[0]))
            if self.budget.work > MAX_WORK or self.depth > MAX_DEPTH:
                self._exhausted(span)
                return
            if root.has_error:
                self._not_read(span, "shell syntax that could not be read")
                continue
            self.source = part
            self._statements(root.children)
            self.source = source

    # --- Commands ----------------------------------------------------------------------------------------------------

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
            elif kind in _REDIRECTS:
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
        for index, group in enumerate(_groups([name, *arguments] if name is not None else arguments)):
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
        names = {match[0] for child in assignments if (match := _NAME.match(self._text(child)))}
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
        """Reads a command with its alias replaced. Inside of it, the alias is not replaced again."""
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
        if name is None or program in _SILENT:
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
        named = {_plain_path(word.text.rpartition("=")[2]) for word in words}
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
            before = self.files.get(_plain_path(path), "") if adds else ""
            self.budget.work += (len(before) + len(output)) // 500
            if len(self.files) >= MAX_FILES or len(before) + len(output) > MAX_TEXT:
                self._stop(call.span, "more text in files than is remembered")
                return
            self.files[_plain_path(path)] = before + output
            self.definitions += 1

    def _written_script(self, program: str, words: Sequence[Word], span: Span) -> None:
        """Reads a script that the action wrote before running it: shell here, other languages as if the code were in
        the command."""
        runner = program if program in _RUNNERS else ""
        for index, word in enumerate(words):
            path = _plain_path(word.text)
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

    def _emit(self, call: Call) -> None:
        if call.sure != self.sure or call.directory != self.state.directory:
            call = replace(call, sure=self.sure, directory=self.state.directory)
        self.calls.append(call)
        if len(self.calls) >= MAX_CALLS:
            self._exhausted(call.span)

    def _receive(self, call: Call | None) -> None:
        """Reads the commands in `>(…)` of the command whose output they receive."""
        receivers, self.receivers = self.receivers, []
        for node in receivers:
            self._subshell(node.children, self._fed([call], node) if call is not None else None)

    def _builtin(self, program: str, words: Sequence[Word], stdin: Call | Word | None) -> None:
        operands = [word for word in words if not word.text.startswith("-") or word.text == "-"]
        if program in ("cd", "pushd"):
            if program == "pushd":
                self.directories.append(self.state.directory)
            self._change_directory(operands[0] if operands else None, words)
        elif program == "popd":
            self.state.directory = self.directories.pop() if self.directories else None
        elif program in ("read", "mapfile", "readarray"):
            names = [word.text for word in operands if _NAME.fullmatch(word.text)]
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
                if is_set and _NAME.fullmatch(name):
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

    def _call_function(self, name: str, words: Sequence[Word], stdin: Call | Word | None, span: Span) -> list[Call]:
        key = (name, *(word.text if word.known else "" for word in words))
        if name in self.printing and self.budget.work > MAX_WORK // 4:
            return [Call("echo", tuple(words), span)]
        if len(self.active) > MAX_ACTIVE or (name in self.called and self.budget.work > MAX_WORK * 14 // 15):
            if key not in self.read_calls:
                self._stop(span, "more calls of functions than are followed")
            return []
        circumstances = self._circumstances(name, words) if stdin is None and len(self.calls) > MANY_CALLS else None
        outcome = self.outcomes.get(circumstances) if circumstances is not None else None
        if outcome is not None:
            return self._same_outcome(outcome)
        start = dict(self.state.variables)
        first = len(self.calls)
        variables = None if name in self.called else start
        self.read_calls.add(key)
        self.called.add(name)
        before = {name: value for name, value in self.state.variables.items() if name in _POSITIONAL}
        self._positional(words)
        self.active.append(name)
        printed = self._function_body(self.functions[name], stdin)
        self.active.pop()
        for variable in _POSITIONAL:
            self.state.variables.pop(variable, None)
        self.state.variables.update(before)
        if variables == self.state.variables and all(_only_prints(call) for call in self.calls[first:]):
            self.printing.add(name)
        if circumstances is not None:
            end = self.state.variables
            changed = {name: end.get(name) for name in start | end if start.get(name) is not end.get(name)}
            self.outcomes[circumstances] = _Outcome(printed, changed, self.state.directory)
        return printed

    def _circumstances(self, name: str, words: Sequence[Word]) -> tuple[object, ...]:
        """Returns everything that the behaviour of a function may depend on: in equal circumstances it does the
        same."""
        mentioned = self._mentioned(name)
        variables = self.state.variables
        here = self.state.directory
        return (
            name,
            tuple((word.text, word.known, word.glob, word.if_empty) for word in words),
            tuple(variables.get(variable) for variable in mentioned),
            tuple(variable for variable in mentioned if variable in self.checked),
            tuple(function for function in self.active if function in mentioned),
            (here.text, here.known, here.if_empty) if here is not None else None,
            (self.sure, self.nounset, self.scripts, self.definitions, len(self.exported), len(self.directories)),
        )

    def _mentioned(self, name: str) -> tuple[str, ...]:
        """Returns the words in a function and in those that it calls, including all variables and functions that
        matter."""
        found = self.mentioned.get(name)
        if found is None or found[0] != self.definitions:
            words, reached, waiting = set[str](), set[str](), [name]
            while waiting:
                here = waiting.pop()
                if here in reached:
                    continue
                reached.add(here)
                source, node = self.functions[here]
                text = source.text[node.start_byte + source.base : node.end_byte + source.base]
                self.budget.work += len(text) // 1_000
                inside = set(_NAME.findall(text))
                words |= inside
                waiting += [word for word in self.functions if word in inside or not word.isidentifier()]
            found = self.definitions, tuple(sorted(words))
            self.mentioned[name] = found
        return found[1]

    def _same_outcome(self, outcome: _Outcome) -> list[Call]:
        for name, value in outcome.changed.items():
            self.state.variables.pop(name, None)
            if value is not None:
                self.state.variables[name] = value
        self.state.directory = outcome.directory
        return outcome.printed

    def _calls_itself(self, name: Word | None, words: Sequence[Word], span: Span) -> None:
        """Adds an effect for a fork bomb: a function that calls itself twice without anything that could end it."""
        if name is None or words or name.text != self.active[-1]:
            return
        self.doubling[name.text] = self.doubling.get(name.text, 0) + 1
        if self.doubling[name.text] == 2:
            self.effects.append(
                Effect(
                    kind=EffectKind.DISRUPT,
                    object=ObjectKind.PROCESS,
                    span=span,
                    source="shell function",
                    targets=(Target("this machine", place=Place.SYSTEM),),
                    scope=Scope.ALL,
                    sure=self.sure,
                )
            )

    def _function_body(self, function: _Function, stdin: Call | Word | None) -> list[Call]:
        before, self.source = self.source, function.source
        printed: list[Call] = []
        for child in function.node.children_by_field_name("body"):
            printed += self._statement(child, stdin)
        redirects = [child for child in function.node.children if child.type in _REDIRECTS]
        redirections, _, _ = self._redirections(redirects)
        if redirections:
            self._emit(Call(":", (), self._span(function.node), redirections=tuple(redirections)))
        self.source = before
        return printed

    def _positional(self, words: Sequence[Word]) -> None:
        """Sets `$1` and the other positional parameters. Those after an unknown word may exist."""
        fields = tuple(pieces_of(word) for word in words)
        counted = all(word.known for word in words)
        for variable in _POSITIONAL:
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

    # --- Assignments -------------------------------------------------------------------------------------------------

    def assign(self, name: str, *values: Value) -> None:
        """Sets a variable to one value, or to all values that it may have."""
        self.state.variables[name] = self._followed(values)

    def _followed(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """Returns the values of a variable that are followed. Of too many, plain names are dropped first: a loop over
        packages is long, and its turns are alike."""
        if len(values) <= MAX_ALTERNATIVES:
            return values
        more = [value for value in values if _NAME_OF_THING.fullmatch(constant_text(value.fields) or "") is None]
        if len(more) >= MAX_ALTERNATIVES:
            self._stop(self.source.span(0, len(self.source.text)), "more values of a variable than are followed")
            return tuple(more[:MAX_ALTERNATIVES])
        self._not_read(self.source.span(0, len(self.source.text)), "turns of a loop that are like those that were read")
        plain = [value for value in values if value not in more]
        return tuple(more + plain[: MAX_ALTERNATIVES - len(more)])

    def _assignments(self, nodes: Sequence[Node]) -> None:
        outer = self.choice, self.width
        for node in nodes:
            if node.type != "variable_assignment":
                continue
            target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if target is None:
                continue
            match = _NAME.match(self._text(target))
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
            words = [word for group in _groups(node.named_children) for word in self._words(group)]
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
        for group in _groups(children[1:]):
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
            self.exported.update(match[0] for word in words if (match := _NAME.match(word.text)))
            self._environment(sorted(match[0] for word in words if (match := _NAME.match(word.text))), self._span(node))
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
        plain = _plain_path(path)
        if plain in self.files:
            return self.files[plain]
        inside = "" if plain in (".", "") else plain.rstrip("/") + "/"
        found = (text for file, text in self.files.items() if file.startswith(inside) and (inside or "/" not in file))
        return next(found, None)

    def _add_effect(self, kind: EffectKind, thing: ObjectKind, target: str, span: Span) -> None:
        targets = (Target(target, place=Place.SYSTEM),)
        self.effects.append(Effect(kind, thing, span, "shell", targets, sure=self.sure))

    # --- Redirections ------------------------------------------------------------------------------------------------

    def _redirections(self, nodes: Sequence[Node]) -> tuple[list[Redirection], Call | Word | None, list[Word]]:
        """Returns redirections to and from files, the text of a here-document or here-string, and operands after a
        redirection."""
        redirections: list[Redirection] = []
        given: Call | Word | None = None
        extra: list[Word] = []
        for node in nodes:
            if node.type == "herestring_redirect":
                groups = _groups([child for child in node.named_children if child.type != "file_descriptor"])
                words = [word for group in groups for word in self._words(group, split=False)]
                if words:
                    given = replace(words[0], text=words[0].text + "\n")
                continue
            operator = next((child for child in node.children if child.type[:1] in "<>&"), None)
            if operator is None:
                continue
            document = self.source.documents.get(self._start(operator))
            groups = _groups(node.children_by_field_name("destination"))
            if groups and node.end_byte == groups[-1][-1].end_byte and self._is_descriptor(groups[-1], len(groups)):
                groups = groups[:-1]
            if document is not None:
                given = self._here_document(document)
                groups = groups[1:]
            elif groups and self._text(operator) == "<" and groups[0][0].type == "process_substitution":
                self._words(groups[0])
                given, self.input = self.input, None
                groups = groups[1:]
            elif groups:
                spelling = self.source.text[self._start(operator) : self._end(operator) + 1]
                redirection = self._redirection(spelling, groups[0])
                if redirection is not None:
                    redirections.append(redirection)
                groups = groups[1:]
            for group in groups:
                extra += self._words(group)
        return redirections, given, extra

    def _is_descriptor(self, group: Sequence[Node], count: int) -> bool:
        """Decides whether the last word after a redirection is the number of the next one: `>&x 0>&1`."""
        if count < 2:
            return False
        end = self._end(group[-1])
        return self._text(group[0]).isdigit() and self.source.text[end : end + 1] in ("<", ">")

    def _redirection(self, spelling: str, group: Sequence[Node]) -> Redirection | None:
        operator = next(
            (known for known in ("&>>", "&>", ">>", ">|", ">&", "<&", "<>", ">", "<") if spelling.startswith(known)), ""
        )
        if operator in ("<&", ">&"):
            text = self._text(group[0])
            if operator == "<&" or re.fullmatch(r"\d+-?|-|\$.*", text):
                return None
        words = self._words(group, split=False)
        if not words or not operator:
            return None
        operator = {">&": "&>", "&>>": ">>"}.get(operator, operator)
        return Redirection(operator, words[0])

    def _here_document(self, document: HereDocument) -> Word:
        text = self.source.text[document.start : document.end]
        span = self.source.span(document.start, document.end)
        if document.tabs:
            text = re.sub(r"(?m)^\t+", "", text)
        if self.choice == 0 and len(text) >= LONG_TEXT:
            self.passages.append(Passage(text, span))
        if document.quoted or not re.search(r"[$`\\]", text):
            return Word(text, span)
        if self.depth > MAX_DEPTH:
            self._stop(span, "commands nested too deeply")
            return Word(text, span, known=False)
        before = self.source
        quoted = '"' + text + '"'
        self.source = Source(quoted, None, carrier=span)
        self.depth += 1
        code = mask('"' + text.replace('"', "_") + '"')
        node = _first(parse(code), "string") if marks(code) <= MAX_MARKS else None
        whole = node is not None and node.end_byte - node.start_byte == len(quoted)
        word = make_word(self._string(node), span) if node is not None and whole else None
        self.depth -= 1
        self.source = before
        return word or Word(text, span, known=False)

    # --- Words -------------------------------------------------------------------------------------------------------

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

    def _whole(self, word: Word) -> Word:
        """Returns the word, cut if it is too long."""
        if len(word.text) <= MAX_TEXT:
            return word
        self._stop(word.span, "a word that is too long")
        return replace(word, text=word.text[:MAX_TEXT], known=False)

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
            if child.type in _EXPANSIONS:
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

    # --- Expansions --------------------------------------------------------------------------------------------------

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
        if text is not None and _NAME.fullmatch(text):
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
        redirects = [child for child in node.children if child.type in _REDIRECTS]
        outer = self.choice, self.width, self.receivers
        self.choice, self.width, self.receivers = 0, 1, []
        printed = self._subshell([child for child in node.children if child.type not in _REDIRECTS], None)
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
        """Reads the commands inside of parts that are not commands: arithmetic, tests, patterns."""
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

    # --- Positions ---------------------------------------------------------------------------------------------------

    def _start(self, node: Node) -> int:
        return node.start_byte + self.source.base

    def _start_of_expansion(self, node: Node) -> int:
        """Returns the position at which an expansion is written; between two expansions in quotes, the grammar counts
        blanks as part of the second one."""
        return self._end(node) - len(self._text(node))

    def _end(self, node: Node) -> int:
        return node.end_byte + self.source.base

    def _text(self, node: Node) -> str:
        base = self.source.base
        text = self.source.text[node.start_byte + base : node.end_byte + base]
        return text.lstrip() if text[:1] in _BLANKS and node.type in _EXPANSIONS else text

    def _span(self, node: Node) -> Span:
        return self.source.span(node.start_byte + self.source.base, node.end_byte + self.source.base)

    def _exhausted(self, span: Span) -> None:
        if not self.full:
            self.full = True
            self._stop(span, "more commands than are read of one text")

    def _stop(self, span: Span, reason: str) -> None:
        """Records that a bound was reached, so that some part was not examined."""
        if not any(part.stopped for part in self.uncovered[-1:]):
            self.uncovered.append(Uncovered(span, reason, stopped=True))

    def _not_read(self, span: Span, reason: str) -> None:
        if not self.uncovered or self.uncovered[-1].reason != reason or len(self.uncovered) < 50:
            self.uncovered.append(Uncovered(span, reason))

    def _comments(self, chunk: Chunk) -> None:
        """Adds comments as passages; comments on consecutive lines are one."""
        text = self.source.text
        if chunk.root is None or "#" not in text:
            return
        start = end = -1
        for match in _COMMENT.finditer(text, chunk.start, chunk.end):
            begin = match.start(1)
            if start >= 0 and not text[end:begin].strip():
                end = match.end()
                continue
            node = chunk.root.descendant_for_byte_range(begin - chunk.start, begin - chunk.start)
            if node is None or node.type != "comment":
                continue
            if start >= 0:
                self._add_comment(start, end)
            start, end = begin, match.end()
        if start >= 0:
            self._add_comment(start, end)

    def _add_comment(self, start: int, end: int) -> None:
        text = re.sub(r"(?m)^[ \t]*#+!? ?", "", self.source.text[start:end])
        if text.strip():
            self.passages.append(Passage(text, self.source.span(start, end)))


def _groups(nodes: Sequence[Node]) -> list[list[Node]]:
    """Groups nodes that touch: they are one word, however the grammar splits it."""
    groups: list[list[Node]] = []
    end = -1
    for node in nodes:
        if node.start_byte == end and groups and node.type not in _REDIRECTS:
            groups[-1].append(node)
        else:
            groups.append([node])
        end = node.end_byte
    return groups


def _parts_of_list(node: Node) -> list[tuple[str, Node]]:
    """Returns the commands of `a && b || c` with the operator before each, `?` where a comment hides it. The grammar
    nests them to the left, as deep as the list is long."""
    parts: list[tuple[str, Node]] = []
    while node.type == "list" and (children := node.children):
        for before, child in reversed(list(pairwise(children))):
            if child.is_named:
                parts.append(("?" if before.is_named else before.type, child))
        node = children[0]
    return [*parts, ("", node)][::-1]


def _never_waits(loop: Node) -> bool:
    """Decides whether each statement of a loop's body is sent to the background at once."""
    body = next((child for child in loop.children if child.type in ("do_group", "compound_statement")), None)
    if body is None:
        return False
    statements = sum(child.is_named and child.type != "comment" for child in body.children)
    return 0 < statements == sum(child.type == "&" for child in body.children)


def _first(root: Node, kind: str) -> Node | None:
    """Returns the first node of a kind, from the top."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            return node
        waiting += reversed(node.named_children)
    return None


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


def _only_prints(call: Call) -> bool:
    return call.program in _PRINTING and all(part.target.text in _STREAMS for part in call.redirections)


def _plain_path(path: str) -> str:
    return path.removeprefix("./")


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
