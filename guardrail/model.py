"""What readers make of an action, and what is judged: words, calls, effects, and what could not be read."""

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
    """A part of the action as it was sent, in characters. Parts of decoded or inner texts have the span of what
    carries them."""

    start: int
    end: int


@record
class Word:
    """One operand or argument as the program receives it: quotes removed, variables of the same action resolved.

    `known` is false where an expansion remains; then `text` keeps its spelling, such as `$DIR/*` or `$(mktemp -d)/x`,
    and `if_empty` is the text with unresolved variables taken as empty (`/*`), or None if every one has a fallback or
    is always set. `glob` says that an unquoted `*`, `?`, `[` or `{` stands in it. `name` is the parameter's name in a
    call of a tool or function.
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

    `program` is the catalogue's key: the base name in lower case without `.exe` (`git`), with a prefix for what isn't a
    program: `python:shutil.rmtree`, `js:fs.rmSync`, `ps:remove-item` (aliases such as `rm` and `gci` resolved),
    `cmd:del`, `tool:delete_email`. A program whose name is computed is `""`.
    `words` are what follows, options included, in order. `stdin` is what a pipe feeds it, or the text of a
    here-document. `sure` is false where it may never run: a function's body that nothing calls, a branch of a case, a
    script that is only written to a file. `&&`, `||`, `;`, loops and `if` leave it true.
    `elevated` by sudo and kin; `host` is where it runs if not here (`ssh:db1`, `container:web`, `pod:web`).
    `directory` is where an earlier `cd` of the action put it. `path` is the program as it is spelled if that names a
    directory (`./build.sh`, `/tmp/x/run`), else empty. `chained` if it runs only after the call before it succeeded
    (`a && b`).
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


@record
class Target:
    """What an effect reaches, with what is known of it. `path` is where that lies if the action went to another
    directory first (`cd src && rm a.txt`), else empty."""

    text: str
    place: Place = Place.UNKNOWN
    sensitivity: Sensitivity = Sensitivity.NONE
    origin: Origin = Origin.UNKNOWN
    path: str = ""

    @property
    def located(self) -> str:
        """The path as seen from where the action began."""
        return self.path or self.text


@record
class Effect:
    """One thing that the action would do.

    `source` names what says so: a catalogue entry (`git reset`), a reader (`sql delete`) or `generic`. `detail` has
    values of a closed list of the kind (`execute`: named_file, inline, remote, piped, interactive_shell) and facts as
    `amount`, `currency`, `recipient`, `url`, `where` (for rows: `none` without a condition).
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
    formats of data look at passages. `name` is the argument that holds it, if any."""

    text: str
    span: Span
    name: str | None = None


@record
class Uncovered:
    """A part that could not be read, or a program that the catalogue lacks. `executable` if it would run. `stopped` if
    a bound was reached here, so that what follows was not looked at at all."""

    span: Span
    reason: str
    executable: bool = True
    stopped: bool = False


@record
class Reading:
    """What a reader made of a text. `effects` are those that need no catalogue (SQL, sentences)."""

    language: Language
    calls: tuple[Call, ...] = ()
    effects: tuple[Effect, ...] = ()
    passages: tuple[Passage, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
