"""The values that readers produce and the policy judges: words, calls, effects, and parts that could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

from guardrail.record import record
from guardrail.vocabulary import (
    EffectKind,
    Language,
    ObjectKind,
    Origin,
    Place,
    Reversible,
    Scope,
    Sensitivity,
)


class Span(NamedTuple):
    """A part of the action as it was sent, in characters. Parts of decoded or inner texts have the span of the word
    that contains them."""

    start: int
    end: int


@record
class Word:
    """One operand or argument as the program receives it: quotes removed, variables of the same action resolved.

    `known` is false if an expansion remains; then `text` keeps its spelling, such as `$DIR/*` or `$(mktemp -d)/x`, and
    `if_empty` is the text with unresolved variables taken as empty (`/*`), or None if every one has a fallback or is
    always set. `glob` is true if it contains an unquoted `*`, `?`, `[` or `{`. `name` is the parameter's name in a call
    of a tool or function.
    """

    text: str
    span: Span
    known: bool = True
    glob: bool = False
    if_empty: str | None = None
    name: str | None = None


class Redirection(NamedTuple):
    """`operator` is one of `>`, `>>`, `>|`, `&>`, `<`, `<>`; here-documents and here-strings are a call's `stdin`."""

    operator: str
    target: Word


@record
class Call:
    """A program, function or tool that the action would run.

    `program` is the catalogue's key: the base name in lower case without `.exe` (`git`), with a prefix for anything
    that is not a program: `python:shutil.rmtree`, `js:fs.rmSync`, `ps:remove-item` (aliases such as `rm` and `gci`
    resolved), `cmd:del`, `tool:delete_email`. It is `""` if the action computes the name. `words` are the arguments,
    options included, in order. `stdin` is the call that a pipe reads from, or the text of a here-document. `sure` is
    false if the call may never run: a function's body that nothing calls, a branch of a case, a script that is only
    written to a file. `&&`, `||`, `;`, loops and `if` leave it true. `elevated` is true if it runs under sudo or a
    similar program; `host` is the other machine that it runs on (`ssh:db1`, `container:web`, `pod:web`). `directory` is
    the one that an earlier `cd` of the action changed to. `path` is the program's spelling if that contains a directory
    (`./build.sh`, `/tmp/x/run`), else empty. `chained` is true if it runs only after the call before it succeeded
    (`a && b`). `repeated` is true if a loop runs it for each of some things that the action does not list.
    """

    program: str
    words: tuple[Word, ...]
    span: Span
    language: Language = Language.BASH
    redirections: tuple[Redirection, ...] = ()
    stdin: Call | Word | None = None
    sure: bool = True
    elevated: bool = False
    host: str | None = None
    directory: Word | None = None
    path: str = ""
    chained: bool = False
    repeated: bool = False


@record
class Target:
    """The thing that an effect reaches, and what is known about it. `path` is its location if the action changed the
    directory first (`cd src && rm a.txt`), else empty."""

    text: str
    place: Place = Place.UNKNOWN
    sensitivity: Sensitivity = Sensitivity.NONE
    origin: Origin = Origin.UNKNOWN
    path: str = ""

    @property
    def located(self) -> str:
        """The path relative to the directory in which the action began."""
        return self.path or self.text


@record
class Effect:
    """One thing that the action would do.

    `source` names the origin of the claim: a catalogue entry (`git reset`), a reader (`sql delete`) or `generic`.
    `detail` contains values of a closed list for the kind (`execute`: named_file, inline, remote, piped,
    on_host, interactive_shell, pull_request) and facts such as `amount`, `currency`, `recipient`, `url`, `where` (for
    rows: `none` without a condition).
    """

    kind: EffectKind
    object: ObjectKind
    span: Span
    source: str
    targets: tuple[Target, ...] = ()
    scope: Scope = Scope.ONE
    reversible: Reversible = Reversible.YES
    sure: bool = True
    elevated: bool = False
    detail: Mapping[str, str] = field(default_factory=dict)


@record
class Passage:
    """A text that people would read: the prose of an action, a message's body, a commit message. Language rules and
    formats of data are applied to passages. `name` is the argument that contains it, if any."""

    text: str
    span: Span
    name: str | None = None


@record
class Uncovered:
    """A part that could not be read, or a program that the catalogue lacks. `executable` is true if it would run.
    `stopped` is true if reading reached a bound here, so that everything after it is unread."""

    span: Span
    reason: str
    executable: bool = True
    stopped: bool = False


@record
class Reading:
    """The result of reading a text. `effects` are those that need no catalogue (SQL, sentences)."""

    language: Language
    calls: tuple[Call, ...] = ()
    effects: tuple[Effect, ...] = ()
    passages: tuple[Passage, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
