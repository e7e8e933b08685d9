"""Reads SQL into effects, with knowledge of the statements of common databases and of the commands of their shells.

Statements are read token by token, so that dialects' own statements, half statements and hostile lengths are treated
alike: loading a parser and making its tree takes longer than a whole check may, and provides no more than is needed
here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from guardrail.model import Call, Effect, Passage, Reading, Span, Target, Uncovered
from guardrail.reading.decoding import Normalised, normalise
from guardrail.record import record
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Reversible, Scope

MAX_STATEMENTS = 1_000
MAX_TARGETS = 500
MAX_DEPTH = 6
MAX_CONDITION = 400
MAX_PASSAGES = 100
LONG_TEXT = 40

_NONE = {"where": "none"}


class _Token(NamedTuple):
    """`kind` is w (word), q (quoted name), s (string), n (number), p (sign). `text` is upper case for words."""

    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<comment>--[^\n]*|/\*)"
    r"|(?P<s>(?:[nNeEbBxX](?='))?'(?:[^'\\]|''|\\.)*'|'[^']*')"
    r"|(?P<q>\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[A-Za-z_][^\]\n]{0,128}\])"
    r"|(?P<dollar>\$\w*\$)"
    r"|(?P<w>\$\{[^}]{0,80}\}|\{\w{0,40}\}|%\(\w{1,40}\)s|%s\b|\?|[^\W\d][\w$#@]*|[@#:$][\w@#$]+)"
    r"|(?P<n>\d[\w.]*)"
    r"|(?P<open>['\"`])"
    r"|(?P<p>.)",
    re.S,
)
_META = re.compile(r"(?m)^[ \t]*\\(\S+)[ \t]*([^\n]*)$|(?m:^)[ \t]*\.([a-z]+)[ \t]*([^\n]*)$")
_HASH_COMMENT = re.compile(r"(?m)^[ \t]*#(?![A-Za-z_])[^\n]*$")
_CONDITIONAL = re.compile(r"/\*!\d{0,6}(.*?)\*/", re.S)


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the effects of a text's statements, the commands that they pass to a shell, and the parts that could not
    be read."""
    reader = _Reader(normalise(text), offset)
    reader.run()
    return Reading(
        language=Language.SQL,
        calls=tuple(reader.calls),
        effects=tuple(reader.effects),
        passages=tuple(reader.passages),
        uncovered=tuple(reader.uncovered),
    )


@record
class _Statement:
    """Tokens of one statement, with a position to read from."""

    tokens: tuple[_Token, ...]

    def word(self, at: int) -> str:
        """Returns the word at a position, or "" if there is none."""
        if at < len(self.tokens) and self.tokens[at].kind == "w":
            return self.tokens[at].text
        return ""

    def sign(self, at: int) -> str:
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].kind == "p" else ""

    def text(self, at: int) -> str:
        return self.tokens[at].text if at < len(self.tokens) else ""

    def begins(self, at: int, words: str) -> bool:
        """Decides whether these words are at the position."""
        return all(self.word(at + number) == word for number, word in enumerate(words.split()))

    def skip(self, at: int, *words: str) -> int:
        """Returns the position after any of these words."""
        while self.word(at) in words:
            at += 1
        return at

    def find(self, at: int, *words: str) -> int:
        """Returns the position of the first of these words outside of brackets, or -1."""
        depth = 0
        for number in range(at, len(self.tokens)):
            token = self.tokens[number]
            if token.kind == "p":
                depth += (token.text == "(") - (token.text == ")")
                if depth < 0:
                    return -1
            elif depth == 0 and token.kind == "w" and token.text in words:
                return number
        return -1

    def strings(self, at: int = 0) -> list[str]:
        return [_plain(token) for token in self.tokens[at:] if token.kind == "s"]

    def behind(self, at: int) -> _Statement:
        return _Statement(self.tokens[at:])


_AUDIT = re.compile(r"audit_?(?:logs?|trails?|events?|records?|entries|history)?")
"""Tables that record what was done, to which rows are only added."""

_COMPUTED = "computed"
"""Stands for a name that a statement computes, in the statement that it is composed into."""


def _composed(tokens: Sequence[_Token]) -> str | None:
    """Returns the statement that `'DROP TABLE ' || name || ' CASCADE'` or `format('DROP TABLE %I', name)` composes, or
    None if the tokens don't begin with a text or compose nothing."""
    tokens = [token for token in tokens if token.text not in ("(", ")", "N", "IMMEDIATE")]
    if tokens and tokens[0].kind == "w" and tokens[0].text == "FORMAT" and len(tokens) > 1 and tokens[1].kind == "s":
        return _FORMATTED.sub(_COMPUTED, _plain(tokens[1]))
    if len(tokens) < 2 or tokens[0].kind != "s" or tokens[1].text not in ("||", "|", "+"):
        return None
    parts: list[str] = []
    for token in tokens:
        if token.kind == "s":
            parts.append(_plain(token))
        elif token.kind == "w" and token.text == "USING":
            break
        elif (not parts or parts[-1] != _COMPUTED) and token.kind != "p":
            parts.append(_COMPUTED)
    return "".join(parts)


_FORMATTED = re.compile(r"%(?:\d+\$)?-?\d*[IsL]")


class _Reader:
    """One pass over a text."""

    def __init__(self, source: Normalised, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.calls: list[Call] = []
        self.effects: list[Effect] = []
        self.passages: list[Passage] = []
        self.uncovered: list[Uncovered] = []
        self.made: set[str] = set()  # tables that the text itself creates
        self.began: int | None = None  # the number of effects when a transaction began
        self.count = 0
        self.sure = True
        self.depth = 0
        self.carrier: Span | None = None

    def run(self) -> None:
        self.text_of(self.source.text)

    def text_of(self, text: str) -> None:
        """Reads a text of statements."""
        text = _CONDITIONAL.sub(lambda match: match[1].rjust(len(match[0])), text) if "/*!" in text else text
        text = _HASH_COMMENT.sub(lambda match: " " * len(match[0]), text) if "#" in text else text
        text = self._meta_commands(text)
        statement: list[_Token] = []
        for token in self._tokens(text):
            if self._ends(token, text, not statement):
                self._read(statement)
                statement = []
            else:
                statement.append(token)
        self._read(statement)

    @staticmethod
    def _ends(token: _Token, text: str, first: bool) -> bool:
        """Decides whether a token ends a statement: a semicolon, or GO at the beginning of a line."""
        if token.kind == "p":
            return token.text == ";"
        return token.text == "GO" and token.kind == "w" and (first or text[token.start - 1 : token.start] == "\n")

    def _tokens(self, text: str) -> list[_Token]:
        tokens: list[_Token] = []
        at, size, missed = 0, len(text), 0
        while at < size:
            match = _TOKEN.match(text, at)
            if match is None:
                break
            kind = match.lastgroup or "p"
            end = match.end()
            if kind == "comment":
                if match[0] == "/*":
                    found = text.find("*/", end)
                    end = found + 2 if found >= 0 else size
                self._passage(text[at:end].strip("-*/ \n"), at, end)
            elif kind == "dollar":
                found = text.find(match[0], end) if missed < 20 else -1
                if found >= 0:
                    tokens.append(_Token("s", text[end:found], at, found + len(match[0])))
                    end = found + len(match[0])
                else:
                    missed += 1
                    tokens.append(_Token("p", match[0], at, end))
            elif kind == "open":
                self.uncovered.append(Uncovered(self._span(at, size), "SQL with a quote that isn't closed"))
                break
            elif kind != "blank":
                spelled = match[0]
                tokens.append(_Token(kind, spelled.upper() if kind == "w" else spelled, at, end))
                if kind == "s" and len(spelled) >= LONG_TEXT and " " in spelled:
                    self._passage(spelled[1:-1], at, end)
            at = end
        self.text = text
        return tokens

    def _passage(self, text: str, start: int, end: int) -> None:
        if text and len(self.passages) < MAX_PASSAGES:
            self.passages.append(Passage(text, self._span(start, end)))

    def _meta_commands(self, text: str) -> str:
        """Removes the lines that are commands of psql, mysql or sqlite3 themselves."""
        if "\\" not in text and "\n." not in text and not text.lstrip().startswith("."):
            return text
        kept: list[str] = []
        end = 0
        for match in _META.finditer(text):
            if self.count >= MAX_STATEMENTS:
                break
            self.count += 1
            name, rest = match[1] or match[3], (match[2] or match[4] or "").strip()
            if self._meta(name, rest, self._span(match.start(), match.end()), dotted=match[3] is not None):
                kept.append(text[end : match.start()] + " " * (match.end() - match.start()))
                end = match.end()
        return "".join((*kept, text[end:]))

    def _meta(self, name: str, rest: str, span: Span, dotted: bool) -> bool:
        """Reads a command of a database's shell; returns whether it is one."""
        rest = rest.removesuffix(";").strip()
        file = rest.split()[-1].strip("'\"") if rest else ""
        if dotted:
            if name in ("shell", "system"):
                self._shell(rest, span)
            elif name in ("output", "once", "save", "backup", "clone", "log") and file and file != "stdout":
                self._command_in(file, span, EffectKind.OVERWRITE)
            elif name in ("read", "import", "open", "load", "restore", "cd"):
                first = rest.split()[0].strip("'\"") if rest else ""
                if first.startswith("|"):
                    self._shell(rest.strip("'\"")[1:], span)
                elif name == "load":
                    self._execute(first, span)
                elif name == "restore":
                    self._add(EffectKind.OVERWRITE, ObjectKind.DATABASE, ["main"], span, reversible=Reversible.NO)
                elif first:
                    self._command_in(first, span, EffectKind.READ)
            return True
        if name.startswith("!"):
            self._shell(f"{name[1:]} {rest}".strip(), span)
        elif name in ("i", "ir", "include", "include_relative", "."):
            self._command_in(file, span, EffectKind.READ)
        elif name in ("o", "out", "w", "write", "T") and file:
            if rest.startswith("|"):
                self._shell(rest[1:], span)
            else:
                self._command_in(file, span, EffectKind.OVERWRITE)
        elif name == "copy":
            self._read(list(self._tokens(f"copy {rest}")), span)
        elif name in ("g", "gx") and rest.startswith("|"):
            self._shell(rest[1:], span)
        elif name == "password":
            self._add(EffectKind.ALTER, ObjectKind.CREDENTIAL, [rest or "own"], span)
        return True

    # Statements

    def _read(self, tokens: Sequence[_Token], span: Span | None = None) -> None:
        """Reads one statement."""
        if not tokens:
            return
        self.count += 1
        if self.count > MAX_STATEMENTS:
            if self.count == MAX_STATEMENTS + 1:
                span = self._span(tokens[0].start, tokens[-1].end)
                self.uncovered.append(Uncovered(span, "more statements than are read of one text", stopped=True))
            return
        start = 0
        while start < len(tokens) and tokens[start].kind == "p" and tokens[start].text in "({":
            start += 1
        statement = _Statement(tuple(tokens[start:]))
        if statement.tokens:
            self._statement(statement, span or self._span(tokens[0].start, tokens[-1].end))

    def _statement(self, statement: _Statement, span: Span) -> None:
        verb = statement.word(0)
        handler = _HANDLERS.get(verb)
        if handler is not None:
            handler(self, statement, span)
        elif verb not in _SILENT and verb:
            self.uncovered.append(Uncovered(span, f"a statement of SQL that is not known: {verb.lower()[:40]}"))
        elif not verb:
            self.uncovered.append(Uncovered(span, "what is no statement of SQL", executable=False))
        if verb not in ("DO", "EXPLAIN"):
            self._functions(statement, span)

    def _nested(self, statement: _Statement, span: Span) -> None:
        """Reads statements in brackets that change data: `WITH gone AS (DELETE FROM t RETURNING *) SELECT …`."""
        for at, token in enumerate(statement.tokens):
            if token.text in ("DELETE", "UPDATE", "INSERT") and at and statement.sign(at - 1) == "(":
                _HANDLERS[token.text](self, _Statement(_to_bracket(statement.tokens[at:])), span)

    def _with(self, statement: _Statement, span: Span) -> None:
        self._nested(statement, span)
        main = statement.find(1, "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE")
        if main > 0:
            self._statement(statement.behind(main), span)

    def _delete(self, statement: _Statement, span: Span) -> None:
        at = statement.skip(1, "LOW_PRIORITY", "QUICK", "IGNORE", "TOP")
        source = statement.find(1, "FROM")
        joins = source > at
        if source >= 0:
            at = source + 1
        at = statement.skip(at, "ONLY", "TABLE")
        name, _ = _name(statement, at)
        if not name:
            self.uncovered.append(Uncovered(span, "half a statement that deletes rows"))
            return
        scope = self._reach(statement, joins and statement.find(at, "JOIN") > 0)
        self._rows(EffectKind.DELETE, [name], span, scope)

    def _update(self, statement: _Statement, span: Span) -> None:
        at = statement.skip(1, "LOW_PRIORITY", "IGNORE", "ONLY", "OR", "ROLLBACK", "REPLACE", "ABORT", "FAIL")
        if statement.word(at) == "STATISTICS":
            return
        name, at = _name(statement, at)
        if statement.find(at, "SET") < 0:
            self.uncovered.append(Uncovered(span, "half a statement that changes rows"))
            return
        self._rows(EffectKind.ALTER, [name], span, self._reach(statement, statement.find(at, "JOIN") > 0))
        if _AUDIT.fullmatch(_bare(name)):
            says = {"says": "rewrites a record of what was done"}
            self._add(EffectKind.DISABLE, ObjectKind.DATABASE, [name], span, detail=says)

    def _reach(self, statement: _Statement, joined: bool) -> Scope:
        """Returns the share of the rows that the condition leaves."""
        where = statement.find(1, "WHERE")
        if where < 0:
            return Scope.UNKNOWN if joined or statement.find(1, "LIMIT", "TOP") > 0 else Scope.ALL
        end = statement.find(where + 1, "RETURNING", "ORDER", "LIMIT", "OPTION")
        condition = statement.tokens[where + 1 : end if end > 0 else where + 1 + MAX_CONDITION]
        return _reach_of(condition)

    def _rows(self, kind: EffectKind, names: Sequence[str], span: Span, scope: Scope) -> None:
        detail = _NONE if scope is Scope.ALL else {}
        reversible = Reversible.NO if kind is EffectKind.DELETE or scope is Scope.ALL else Reversible.WITH_BACKUP
        self._add(kind, ObjectKind.ROWS, names, span, scope=scope, reversible=reversible, detail=detail)

    def _insert(self, statement: _Statement, span: Span) -> None:
        at = statement.skip(1, "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "OR", "REPLACE", "ABORT", "FAIL")
        replaces = statement.word(0) == "REPLACE" or statement.word(at) == "OVERWRITE"
        at = statement.skip(at, "INTO", "OVERWRITE", "TABLE", "ALL", "FIRST")
        if statement.word(at) in ("DIRECTORY", "LOCAL"):
            for path in statement.strings(at)[:1]:
                self._path(EffectKind.OVERWRITE, path, span)
            return
        name, _ = _name(statement, at)
        if statement.begins(1, "OVERWRITE"):
            self._add(EffectKind.OVERWRITE, ObjectKind.TABLE, [name], span, reversible=Reversible.NO)
            return
        kind = EffectKind.ALTER if replaces else EffectKind.CREATE
        self._add(kind, ObjectKind.ROWS, [name], span, scope=Scope.UNKNOWN if replaces else Scope.ONE)

    def _merge(self, statement: _Statement, span: Span) -> None:
        name, _ = _name(statement, statement.skip(1, "INTO"))
        self._add(EffectKind.ALTER, ObjectKind.ROWS, [name], span, scope=Scope.UNKNOWN)

    def _truncate(self, statement: _Statement, span: Span) -> None:
        names = _names(statement, statement.skip(1, "TABLE", "ONLY", "IF", "EXISTS"))
        self._rows(EffectKind.DELETE, names or ["?"], span, Scope.ALL)

    def _drop(self, statement: _Statement, span: Span) -> None:
        at = statement.skip(
            1, "TEMPORARY", "TEMP", "MATERIALIZED", "FOREIGN", "UNIQUE", "EXTERNAL", "EVENT", "OR", "PUBLIC"
        )
        thing = statement.word(at)
        if thing == "OWNED":
            self._add(EffectKind.DELETE, ObjectKind.SCHEMA, _names(statement, at + 2), span, Scope.ALL, Reversible.NO)
            return
        entry = _THINGS.get(thing)
        if entry is None:
            if thing:
                self.uncovered.append(Uncovered(span, f"it drops a {thing.lower()[:40]}"))
            return
        kind, reversible = entry
        at = statement.skip(at + 1, "IF", "EXISTS", "CONCURRENTLY", "MAPPING", "FOR")
        names = _names(statement, at)
        if not names:
            self.uncovered.append(Uncovered(span, f"it drops a {thing.lower()} that is not named"))
            return
        scope = Scope.MANY if len(names) > 1 else Scope.ONE
        if kind in (ObjectKind.SCHEMA, ObjectKind.DATABASE) and reversible is Reversible.NO:
            scope = Scope.ALL
        elif kind is ObjectKind.TABLE and statement.find(at, "CASCADE") > 0:
            scope = Scope.MANY
        temporary = statement.word(1) in ("TEMPORARY", "TEMP")
        if kind is ObjectKind.TABLE and (
            temporary or all(_bare(name) in self.made or name.startswith("#") for name in names)
        ):
            self._add(EffectKind.DELETE, kind, names, span, scope, Reversible.YES, place=Place.TEMPORARY)
            return
        effect = EffectKind.DISABLE if statement.word(1) in _DEFENCES else EffectKind.DELETE
        self._add(effect, kind, names, span, scope, reversible)

    def _create(self, statement: _Statement, span: Span) -> None:
        replaces = statement.begins(1, "OR REPLACE") or statement.begins(1, "OR ALTER")
        at = 3 if replaces else 1
        temporary = False
        while statement.word(at) in _ADJECTIVES:
            temporary = temporary or statement.word(at) in ("TEMPORARY", "TEMP")
            at += 1
        thing = statement.word(at)
        at = statement.skip(at + 1, "IF", "NOT", "EXISTS", "CONCURRENTLY")
        name, after = _name(statement, at)
        if thing == "TABLE":
            if not statement.begins(at - 3, "IF NOT EXISTS") and not replaces:
                self.made.add(_bare(name))
            if replaces and not temporary:
                self._add(EffectKind.OVERWRITE, ObjectKind.TABLE, [name], span, reversible=Reversible.NO)
                return
            place = Place.TEMPORARY if temporary else Place.UNKNOWN
            self._add(EffectKind.CREATE, ObjectKind.TABLE, [name], span, place=place)
        elif thing in ("USER", "ROLE", "LOGIN"):
            self._add(EffectKind.CREATE, ObjectKind.ACCOUNT, [name], span)
            if statement.find(after, "SUPERUSER") > 0:
                self._add(
                    EffectKind.ESCALATE, ObjectKind.PERMISSION, [name], span, detail={"says": "makes an administrator"}
                )
        elif thing == "EXTENSION":
            self._add(EffectKind.INSTALL, ObjectKind.PACKAGE, [name], span)
        elif thing in ("FUNCTION", "PROCEDURE", "TRIGGER", "AGGREGATE", "EVENT"):
            self._routine(statement, thing, name, span)
        else:
            kind = _THINGS.get(thing, (ObjectKind.SCHEMA, Reversible.YES))[0]
            if thing in _DEFENCES:
                kind = ObjectKind.PERMISSION
            self._add(EffectKind.CREATE, kind, [name] if name else [], span)

    def _routine(self, statement: _Statement, thing: str, name: str, span: Span) -> None:
        """Reads the definition of a function: its body may run later; a body in a library or an untrusted language is
        code."""
        self._add(EffectKind.CREATE, ObjectKind.SCHEDULED_TASK if thing == "EVENT" else ObjectKind.SCHEMA, [name], span)
        library = statement.find(1, "SONAME", "LIBRARY")
        language = statement.find(1, "LANGUAGE")
        spoken = statement.text(language + 1).strip("'\"").lower() if language > 0 else ""
        if library > 0 or spoken == "c":
            for path in statement.strings()[:1]:
                self._execute(path, span)
        elif spoken.endswith("u") and spoken.startswith("pl"):
            self._add(EffectKind.EXECUTE, ObjectKind.PROCESS, [], span, detail={"code": "inline"})
            self.uncovered.append(Uncovered(span, f"code in {spoken}"))
        else:
            sure, self.sure = self.sure, False
            for body in statement.strings():
                self._inner(body, span)
            self.sure = sure

    def _alter(self, statement: _Statement, span: Span) -> None:
        thing = statement.word(1)
        at = statement.skip(2, "IF", "EXISTS", "ONLY")
        name, after = _name(statement, at)
        if thing in ("USER", "ROLE", "LOGIN"):
            password = statement.find(after, "PASSWORD", "IDENTIFIED") > 0
            raised = any(token.text in ("SUPERUSER", "BYPASSRLS", "CREATEROLE") for token in statement.tokens[after:])
            if password:
                self._add(EffectKind.ROTATE, ObjectKind.CREDENTIAL, [name], span)
            if raised:
                self._add(EffectKind.ESCALATE, ObjectKind.PERMISSION, [name], span)
            if not password and not raised:
                self._add(EffectKind.ALTER, ObjectKind.ACCOUNT, [name], span)
        elif thing == "TABLE":
            self._alter_table(statement, name, after, span)
        elif thing in ("DATABASE", "SCHEMA", "SYSTEM", "SERVER", "SESSION"):
            if thing != "SESSION":
                self._add(EffectKind.CONFIGURE, ObjectKind.DATABASE, [name] if thing != "SYSTEM" else [], span)
        else:
            kind = _THINGS.get(thing, (ObjectKind.SCHEMA, Reversible.YES))[0]
            effect = EffectKind.DISABLE if thing in _DEFENCES else EffectKind.ALTER
            self._add(effect, kind, [name], span)

    def _alter_table(self, statement: _Statement, name: str, at: int, span: Span) -> None:
        reversible = Reversible.YES
        detail = {}
        for number in range(at, len(statement.tokens)):
            word = statement.word(number)
            following = statement.word(number + 1)
            if word == "DROP" and following not in _LOOSE:
                reversible, detail = Reversible.NO, {"says": "drops a column with what it holds"}
                if following in ("PARTITION", "SUBPARTITION"):
                    self._rows(EffectKind.DELETE, [f"{name} ({statement.text(number + 2)})"], span, Scope.MANY)
            elif word in ("DELETE", "UPDATE") and statement.find(number, "WHERE") > 0:  # mutations of ClickHouse
                if word == "UPDATE" or following == "WHERE":
                    kind = EffectKind.DELETE if word == "DELETE" else EffectKind.ALTER
                    self._rows(kind, [name], span, self._reach(statement, False))
            elif word == "TRUNCATE":
                self._rows(EffectKind.DELETE, [name], span, Scope.MANY)
            elif word == "DISABLE" and following in ("TRIGGER", "ROW", "KEYS", "CONSTRAINT") and following != "KEYS":
                says = {"says": "switches checks of the table off"}
                self._add(EffectKind.DISABLE, ObjectKind.TABLE, [name], span, detail=says)
        self._add(EffectKind.ALTER, ObjectKind.TABLE, [name], span, reversible=reversible, detail=detail)

    def _grant(self, statement: _Statement, span: Span) -> None:
        end = statement.find(1, "TO", "FROM")
        to = _names(statement, end + 1) if end > 0 else []
        rights = statement.tokens[1 : end if end > 0 else None]
        broad = rights[:1] and rights[0].text in ("ALL", "SUPER", "DBA", "SYSDBA", "FILE", "CONTROL")
        scope = Scope.ALL if broad else Scope.ONE
        if statement.word(0) in ("REVOKE", "DENY"):
            self._add(EffectKind.REVOKE, ObjectKind.PERMISSION, to, span, scope)
            return
        self._add(EffectKind.GRANT, ObjectKind.PERMISSION, to, span, scope)
        if "PUBLIC" in (name.upper() for name in to):
            self._add(EffectKind.EXPOSE, ObjectKind.TABLE, to, span, detail={"says": "lets every user in"})

    def _copy(self, statement: _Statement, span: Span) -> None:
        name = "query" if statement.sign(1) == "(" else _name(statement, 1)[0]
        self._nested(statement, span)
        at = statement.find(1, "FROM", "TO")
        if at < 0:
            return
        writes = statement.word(at) == "TO"
        given = statement.strings(at)[:1]
        if statement.word(at + 1) == "PROGRAM":
            self._shell(given[0] if given else "", span)
        elif given:
            self._path(EffectKind.OVERWRITE if writes else EffectKind.READ, given[0], span)
        if not writes:
            self._add(EffectKind.CREATE, ObjectKind.ROWS, [name], span, Scope.MANY)

    def _select(self, statement: _Statement, span: Span) -> None:
        self._nested(statement, span)
        into = statement.find(1, "INTO")
        if into > 0 and statement.word(into + 1) in ("OUTFILE", "DUMPFILE"):
            for path in statement.strings(into)[:1]:
                self._path(EffectKind.WRITE, path, span)
        source = statement.find(1, "FROM")
        if source < 0:
            return
        names = _names(statement, source + 1)
        limited = statement.find(source, "WHERE", "LIMIT", "FETCH") > 0 or statement.word(1) == "TOP"
        if names and names != ["?"]:
            self._add(EffectKind.READ, ObjectKind.ROWS, names, span, Scope.MANY if limited else Scope.ALL)

    def _load(self, statement: _Statement, span: Span) -> None:
        for path in statement.strings(1)[:1]:
            if statement.word(1) == "DATA":
                self._path(EffectKind.READ, path, span)
            else:
                self._execute(path, span)
        into = statement.find(1, "TABLE")
        if into > 0:
            self._add(EffectKind.CREATE, ObjectKind.ROWS, [_name(statement, into + 1)[0]], span, Scope.MANY)

    def _execute_statement(self, statement: _Statement, span: Span) -> None:
        """Reads `EXEC xp_cmdshell '…'`, `EXECUTE IMMEDIATE '…'`, `EXEC('…')`, `CALL p()`."""
        computed = statement.sign(1) == "(" or (len(statement.tokens) > 1 and statement.tokens[1].kind == "s")
        name = "" if computed else _name(statement, 1)[0]
        member = _bare(name)
        given = statement.strings(1)
        if member in ("xp_cmdshell", "sys_exec", "sys_eval", "shell"):
            self._shell(given[0] if given else "", span, windows=member == "xp_cmdshell")
        elif member.startswith(("xp_regwrite", "xp_regdelete", "xp_regaddmultistring")):
            self._add(EffectKind.CONFIGURE, ObjectKind.REGISTRY_KEY, ["\\".join(given[:2])], span)
        elif member in ("xp_dirtree", "xp_fileexist", "xp_subdirs"):
            for path in given[:1]:
                self._path(EffectKind.READ, path, span)
        elif member == "xp_delete_file":
            self._path(EffectKind.DELETE, given[0] if given else "?", span)
        elif member.startswith(("sp_oacreate", "sp_oamethod")):
            self._add(EffectKind.EXECUTE, ObjectKind.PROCESS, [], span, detail={"code": "inline"})
        elif member == "sp_configure":
            dangerous = any(
                text.lower() in ("xp_cmdshell", "ole automation procedures", "clr enabled") for text in given
            )
            self._add(EffectKind.CONFIGURE, ObjectKind.DATABASE, given[:1], span)
            if dangerous and statement.text(len(statement.tokens) - 1) != "0":
                says = {"says": "lets the database run commands of the system"}
                self._add(EffectKind.ESCALATE, ObjectKind.DATABASE, given[:1], span, detail=says)
        elif member in ("sp_addsrvrolemember", "sp_addrolemember"):
            self._add(EffectKind.GRANT, ObjectKind.PERMISSION, given[1:2] or given[:1], span, Scope.ALL)
        elif member in ("sp_addlogin", "sp_adduser", "sp_grantlogin"):
            self._add(EffectKind.CREATE, ObjectKind.ACCOUNT, given[:1], span)
        elif member in ("sp_droplogin", "sp_dropuser", "sp_revokelogin"):
            self._add(EffectKind.DELETE, ObjectKind.ACCOUNT, given[:1], span)
        elif member == "sp_dropserver" or member == "sp_delete_job":
            self._add(EffectKind.DELETE, ObjectKind.SCHEDULED_TASK, given[:1], span)
        elif (
            member == "sp_msforeachtable"
            or member in ("sp_executesql", "immediate", "format", "")
            or member.startswith("@")
        ):
            composed = _composed(statement.tokens[1:])
            for text in [composed] if composed is not None else given[:2]:
                self._inner(text, span)
            if not given:
                self.uncovered.append(Uncovered(span, "a statement of SQL that is computed"))
        elif not member.startswith(("sp_help", "sp_who", "sp_columns", "sp_tables", "sp_spaceused")):
            self.uncovered.append(Uncovered(span, f"what the procedure {name} does"))

    def _block(self, statement: _Statement, span: Span) -> None:
        """Reads `DO $$ … $$`, `PREPARE s FROM '…'`."""
        for body in statement.strings(1)[:2]:
            self._inner(body, span)

    def _explain(self, statement: _Statement, span: Span) -> None:
        """Reads EXPLAIN, which only shows a plan, unless it analyses it: then the statement runs."""
        at = statement.find(1, "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH")
        if at > 0 and any(token.text in ("ANALYZE", "ANALYSE") for token in statement.tokens[:at]):
            self._statement(statement.behind(at), span)

    def _begin(self, statement: _Statement, span: Span) -> None:
        inner = statement.word(1)
        if statement.word(0) == "DECLARE":
            return
        if inner in _HANDLERS and inner not in ("BEGIN", "START"):  # a block of procedures
            self._statement(statement.behind(1), span)
        elif self.began is None:
            self.began = len(self.effects)

    def _end(self, statement: _Statement, span: Span) -> None:
        """Ends a transaction; after a rollback it has no effect on data."""
        verb = statement.word(0)
        if verb in ("ROLLBACK", "ABORT") and statement.find(1, "TO") < 0 and self.began is not None:
            kept = [effect for effect in self.effects[self.began :] if effect.object not in _TRANSACTIONAL]
            self.effects[self.began :] = kept
        if statement.find(1, "TO") < 0:
            self.began = None

    def _set(self, statement: _Statement, span: Span) -> None:
        words = {token.text for token in statement.tokens[:6]}
        if "PASSWORD" in words:
            self._add(EffectKind.ROTATE, ObjectKind.CREDENTIAL, statement.strings()[:1], span)
        elif words & {"GLOBAL", "PERSIST", "@@GLOBAL"}:
            name, at = _name(statement, 2)
            off = statement.text(at + 1).upper().strip("'") in ("OFF", "0", "FALSE")
            if off and any(part in name.lower() for part in ("log", "audit", "ssl", "secure", "safe")):
                self._add(EffectKind.DISABLE, ObjectKind.DATABASE, [name], span)
            else:
                self._add(EffectKind.CONFIGURE, ObjectKind.DATABASE, [name], span)

    def _backup(self, statement: _Statement, span: Span) -> None:
        name, _ = _name(statement, statement.skip(1, "DATABASE", "LOG", "TABLE", "TO"))
        if statement.word(0) == "RESTORE":
            if statement.word(1) in ("DATABASE", "LOG", "TABLE"):
                self._add(EffectKind.OVERWRITE, ObjectKind.DATABASE, [name], span, reversible=Reversible.NO)
            return
        for path in statement.strings(max(statement.find(1, "TO"), 1))[:1]:
            self._path(EffectKind.WRITE, path, span)

    def _rename(self, statement: _Statement, span: Span) -> None:
        name, _ = _name(statement, statement.skip(1, "TABLE", "TABLES"))
        self._add(EffectKind.ALTER, ObjectKind.TABLE, [name], span)

    def _purge(self, statement: _Statement, span: Span) -> None:
        words = {token.text for token in statement.tokens[:4]}
        if words & {"BINARY", "MASTER", "BACKUP"}:
            self._add(
                EffectKind.DELETE, ObjectKind.SNAPSHOT_OR_BACKUP, ["binary logs"], span, Scope.MANY, Reversible.NO
            )
        elif words & {"TABLE", "RECYCLEBIN", "DBA_RECYCLEBIN", "INDEX"}:
            self._add(EffectKind.DELETE, ObjectKind.TABLE, _names(statement, 2), span, reversible=Reversible.NO)

    def _kill(self, statement: _Statement, span: Span) -> None:
        target = statement.text(len(statement.tokens) - 1)
        self._add(EffectKind.STOP, ObjectKind.PROCESS, [target], span)

    def _shutdown(self, statement: _Statement, span: Span) -> None:
        self._add(EffectKind.STOP, ObjectKind.SERVICE, ["the database server"], span)

    def _attach(self, statement: _Statement, span: Span) -> None:
        for path in statement.strings()[:1]:
            self._path(EffectKind.READ, path, span)

    def _loop(self, statement: _Statement, span: Span) -> None:
        """Reads `FOR row IN SELECT … LOOP …`: the query, and the first statement of its body."""
        body = statement.find(1, "LOOP")
        if body > 0:
            self._use(_Statement(statement.tokens[:body]), span)
            self._statement(statement.behind(body + 1), span)
        else:
            self._use(statement, span)

    def _use(self, statement: _Statement, span: Span) -> None:
        """Reads `DECLARE … EXEC …` and `IF … DROP TABLE …`: T-SQL needs no semicolon between statements."""
        for at in range(1, len(statement.tokens)):
            word = statement.word(at)
            if word in _STARTS and (word != "SET") and statement.sign(at - 1) not in ("(", ","):
                if word in ("EXECUTE", "UPDATE", "DELETE") and statement.word(at - 1) in ("AS", "ON", "FOR", "BEFORE"):
                    continue
                self._statement(statement.behind(at), span)
                return

    def _functions(self, statement: _Statement, span: Span) -> None:
        """Adds the effects of functions that reach out of the database, wherever they are called."""
        for at, token in enumerate(statement.tokens):
            if token.kind != "w" or statement.sign(at + 1) != "(":
                continue
            name = token.text.lower()
            if name not in _REACHING:
                continue
            given = _Statement(_to_bracket(statement.tokens[at + 2 :])).strings()
            kind = _REACHING[name]
            if kind is EffectKind.EXECUTE:
                self._shell(given[0] if given else "", span)
            elif kind is EffectKind.STOP:
                every = not statement.text(at + 2).isdecimal() and statement.find(1, "WHERE") < 0
                kind = EffectKind.DISRUPT if every else kind
                self._add(kind, ObjectKind.PROCESS, [statement.text(at + 2)], span, Scope.ALL if every else Scope.ONE)
            elif kind is EffectKind.INJECT:
                for text in given[-1:]:
                    self._inner(text, span)
            else:
                for path in given[:1]:
                    if "://" in path or path.startswith("\\\\"):
                        self._add(EffectKind.READ, ObjectKind.NETWORK, [path], span, detail={"url": path})
                    else:
                        self._path(kind, path, span)

    # Effects

    def _inner(self, text: str, span: Span) -> None:
        """Reads statements in a string."""
        if self.depth >= MAX_DEPTH:
            self.uncovered.append(Uncovered(span, "statements inside of statements, too deep to follow", stopped=True))
            return
        before, carrier, outer = len(self.passages), self.carrier, getattr(self, "text", "")
        self.depth += 1
        self.carrier = carrier or span
        self.text_of(text)
        self.depth -= 1
        self.carrier, self.text = carrier, outer
        del self.passages[before:]

    def _shell(self, command: str, span: Span, windows: bool = False) -> None:
        """Adds a command that the database passes to a shell."""
        detail = {"code": "inline", "starter": "database"} if windows else {"code": "inline"}
        self._add(EffectKind.EXECUTE, ObjectKind.PROCESS, [], span, detail=detail)
        if not command:
            self.uncovered.append(Uncovered(span, "a command that the database runs"))
            return
        if windows:
            from guardrail.reading.powershell import read_cmd as read_command
        else:
            from guardrail.reading.shell import read as read_command
        reading = read_command(command, offset=span.start)
        self.calls += reading.calls if self.sure else [replace(call, sure=False) for call in reading.calls]
        self.uncovered += [replace(part, span=span) for part in reading.uncovered]

    def _execute(self, path: str, span: Span) -> None:
        target = (Target(path),)
        self._effect(EffectKind.EXECUTE, ObjectKind.PATH, target, span, detail={"code": "named_file"})

    def _command_in(self, path: str, span: Span, kind: EffectKind) -> None:
        self._path(kind, path, span)

    def _path(self, kind: EffectKind, path: str, span: Span) -> None:
        reversible = Reversible.NO if kind in (EffectKind.OVERWRITE, EffectKind.DELETE) else Reversible.YES
        self._effect(kind, ObjectKind.PATH, (Target(path),), span, reversible=reversible)

    def _add(
        self,
        kind: EffectKind,
        thing: ObjectKind,
        names: Sequence[str],
        span: Span,
        scope: Scope = Scope.ONE,
        reversible: Reversible = Reversible.YES,
        place: Place = Place.UNKNOWN,
        detail: dict[str, str] | None = None,
    ) -> None:
        changes = thing in (ObjectKind.ROWS, ObjectKind.TABLE) and kind is not EffectKind.CREATE
        if place is Place.UNKNOWN and changes and names and all(_bare(name) in self.made for name in names):
            place = Place.TEMPORARY
        targets = tuple(Target(name, place=place) for name in names[:MAX_TARGETS] if name)
        self._effect(kind, thing, targets, span, scope, reversible, detail)

    def _effect(
        self,
        kind: EffectKind,
        thing: ObjectKind,
        targets: tuple[Target, ...],
        span: Span,
        scope: Scope = Scope.ONE,
        reversible: Reversible = Reversible.YES,
        detail: dict[str, str] | None = None,
    ) -> None:
        self.effects.append(
            Effect(
                kind=kind,
                object=thing,
                span=self.carrier or span,
                source=f"sql {kind.value}",
                targets=targets,
                scope=scope,
                reversible=reversible,
                sure=self.sure,
                detail=detail or {},
            )
        )

    def _span(self, start: int, end: int) -> Span:
        if self.carrier is not None:
            return self.carrier
        return Span(self.offset + self.source.origin(start), self.offset + self.source.origin(end))


def _plain(token: _Token) -> str:
    """Returns a string without its quotes."""
    text = token.text
    if text[:1] in "nNeEbBxX" and text[1:2] == "'":
        text = text[1:]
    return text[1:-1].replace("''", "'") if text[:1] == "'" else text


def _name(statement: _Statement, at: int) -> tuple[str, int]:
    """Returns the normalised name at a position with its schema, and the position after it."""
    parts: list[str] = []
    while at < len(statement.tokens):
        token = statement.tokens[at]
        if token.kind == "q":
            parts.append(token.text.strip('`"[]'))
        elif token.kind == "s" and not parts:
            parts.append(_plain(token))
        elif token.kind == "w":
            parts.append(token.text.lower())
        else:
            break
        at += 1
        if statement.sign(at) != ".":
            break
        at += 1
    return ".".join(parts), at


def _names(statement: _Statement, at: int) -> list[str]:
    """Returns names separated by commas."""
    names: list[str] = []
    while at < len(statement.tokens) and len(names) < MAX_TARGETS:
        name, at = _name(statement, at)
        if not name:
            break
        names.append(name)
        at = statement.skip(at, "AS")
        if statement.word(at) and statement.sign(at + 1) == ",":
            at += 1
        if statement.sign(at) != ",":
            break
        at += 1
    return names


def _bare(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _to_bracket(tokens: Sequence[_Token]) -> tuple[_Token, ...]:
    """Returns the tokens up to the bracket that closes the enclosing pair."""
    depth = 0
    for at, token in enumerate(tokens):
        if token.kind == "p":
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0:
                return tuple(tokens[:at])
    return tuple(tokens)


def _reach_of(condition: Sequence[_Token]) -> Scope:
    """Returns the share of the rows that a condition leaves: all if it always holds, one if a column equals a value,
    else unknown."""
    plain = [token for token in condition if not (token.kind == "p" and token.text in "()")]
    parts: list[list[_Token]] = [[]]
    connectives = set()
    for token in plain:
        if token.kind == "w" and token.text in ("AND", "OR") and not _between(parts[-1]):
            connectives.add(token.text)
            parts.append([])
        else:
            parts[-1].append(token)
    always = [_always(part) for part in parts]
    if all(always) or ("OR" in connectives and any(always) and "AND" not in connectives):
        return Scope.ALL
    if any(_equals_value(part) for part in parts) and "OR" not in connectives:
        return Scope.ONE
    return Scope.UNKNOWN


def _between(part: Sequence[_Token]) -> bool:
    return any(token.text == "BETWEEN" for token in part[-2:])


def _equals_value(part: Sequence[_Token]) -> bool:
    return len(part) >= 3 and part[0].kind in "wq" and part[-2].text == "=" and part[-1].kind != "p"


def _always(part: Sequence[_Token]) -> bool:
    """Decides whether a condition always holds, or holds for every realistic row."""
    texts = [token.text for token in part]
    if len(part) == 1:
        return texts[0] in ("TRUE", "1")
    if len(part) == 3 and texts[1] == "=":
        return texts[0] == texts[2]
    if texts[-3:] == ["IS", "NOT", "NULL"]:
        return True
    if len(part) == 3 and texts[1] == "LIKE":
        return texts[2] in ("'%'", "'%%'")
    if len(part) >= 3 and texts[1] == ">":
        return "".join(texts[2:]) in ("0", "=0", "-1", "=1")
    return len(part) == 4 and "".join(texts[1:3]) in ("<>", "!=") and texts[3] in ("''", "0", "-1", "NULL")


_TRANSACTIONAL = frozenset((ObjectKind.ROWS, ObjectKind.TABLE, ObjectKind.SCHEMA, ObjectKind.INDEX))
_ADJECTIVES = frozenset(
    (
        *(
            "TEMPORARY",
            "TEMP",
            "GLOBAL",
            "LOCAL",
            "UNLOGGED",
            "UNIQUE",
            "MATERIALIZED",
            "FOREIGN",
            "EXTERNAL",
            "CLUSTERED",
        ),
        *("NONCLUSTERED", "FULLTEXT", "SPATIAL", "RECURSIVE", "VIRTUAL", "PUBLIC", "EDITIONABLE", "FORCE", "TRANSIENT"),
        *("CONSTRAINT", "SECURE", "TRUSTED", "BITMAP", "COLUMNSTORE", "DEFINER"),
    )
)
_LOOSE = frozenset(
    ("CONSTRAINT", "INDEX", "KEY", "FOREIGN", "PRIMARY", "DEFAULT", "NOT", "EXPRESSION", "IDENTITY", "CHECK")
)
# The objects that DROP names, and whether they can be made again.
_THINGS: dict[str, tuple[ObjectKind, Reversible]] = {
    "TABLE": (ObjectKind.TABLE, Reversible.NO),
    "TABLES": (ObjectKind.TABLE, Reversible.NO),
    "DATABASE": (ObjectKind.DATABASE, Reversible.NO),
    "SCHEMA": (ObjectKind.SCHEMA, Reversible.NO),
    "KEYSPACE": (ObjectKind.DATABASE, Reversible.NO),
    "TABLESPACE": (ObjectKind.DATABASE, Reversible.NO),
    "CATALOG": (ObjectKind.DATABASE, Reversible.NO),
    "WAREHOUSE": (ObjectKind.RESOURCE, Reversible.YES),
    "STAGE": (ObjectKind.RESOURCE, Reversible.NO),
    "DATASET": (ObjectKind.DATABASE, Reversible.NO),
    "STREAM": (ObjectKind.QUEUE, Reversible.NO),
    "VIEW": (ObjectKind.INDEX, Reversible.YES),
    "INDEX": (ObjectKind.INDEX, Reversible.YES),
    **dict.fromkeys(
        ("FUNCTION", "PROCEDURE", "TRIGGER", "SEQUENCE", "TYPE", "DOMAIN", "AGGREGATE", "OPERATOR", "RULE", "SYNONYM"),
        (ObjectKind.INDEX, Reversible.YES),
    ),
    **dict.fromkeys(("USER", "ROLE", "LOGIN", "GROUP"), (ObjectKind.ACCOUNT, Reversible.YES)),
    "EXTENSION": (ObjectKind.PACKAGE, Reversible.YES),
    "PACKAGE": (ObjectKind.PACKAGE, Reversible.YES),
    "JOB": (ObjectKind.SCHEDULED_TASK, Reversible.YES),
    "POLICY": (ObjectKind.DATABASE, Reversible.YES),
    "AUDIT": (ObjectKind.DATABASE, Reversible.YES),
    "SERVER": (ObjectKind.RESOURCE, Reversible.YES),
    "PUBLICATION": (ObjectKind.RESOURCE, Reversible.YES),
    "SUBSCRIPTION": (ObjectKind.RESOURCE, Reversible.YES),
}
_DEFENCES = ("POLICY", "AUDIT")
"""Things of a database that guard it or record what is done; to drop or alter one switches it off."""
_REACHING = {
    "load_file": EffectKind.READ,
    "pg_read_file": EffectKind.READ,
    "pg_read_binary_file": EffectKind.READ,
    "pg_ls_dir": EffectKind.READ,
    "lo_import": EffectKind.READ,
    "readfile": EffectKind.READ,
    "bfilename": EffectKind.READ,
    "openrowset": EffectKind.READ,
    "lo_export": EffectKind.OVERWRITE,
    "pg_file_write": EffectKind.OVERWRITE,
    "writefile": EffectKind.OVERWRITE,
    "pg_file_unlink": EffectKind.DELETE,
    "load_extension": EffectKind.READ,
    "sys_exec": EffectKind.EXECUTE,
    "sys_eval": EffectKind.EXECUTE,
    "edit": EffectKind.EXECUTE,
    "pg_terminate_backend": EffectKind.STOP,
    "pg_cancel_backend": EffectKind.STOP,
    "dblink": EffectKind.INJECT,
    "dblink_exec": EffectKind.INJECT,
    "query_to_xml": EffectKind.INJECT,
}
_HANDLERS = {
    "SELECT": _Reader._select,
    "TABLE": _Reader._select,
    "WITH": _Reader._with,
    "DELETE": _Reader._delete,
    "UPDATE": _Reader._update,
    "INSERT": _Reader._insert,
    "REPLACE": _Reader._insert,
    "UPSERT": _Reader._insert,
    "MERGE": _Reader._merge,
    "TRUNCATE": _Reader._truncate,
    "DROP": _Reader._drop,
    "CREATE": _Reader._create,
    "ALTER": _Reader._alter,
    "GRANT": _Reader._grant,
    "REVOKE": _Reader._grant,
    "DENY": _Reader._grant,
    "COPY": _Reader._copy,
    "LOAD": _Reader._load,
    "INSTALL": _Reader._load,
    "EXEC": _Reader._execute_statement,
    "EXECUTE": _Reader._execute_statement,
    "CALL": _Reader._execute_statement,
    "DO": _Reader._block,
    "PREPARE": _Reader._block,
    "EXPLAIN": _Reader._explain,
    "BEGIN": _Reader._begin,
    "START": _Reader._begin,
    "COMMIT": _Reader._end,
    "END": _Reader._end,
    "ROLLBACK": _Reader._end,
    "ABORT": _Reader._end,
    "SET": _Reader._set,
    "BACKUP": _Reader._backup,
    "RESTORE": _Reader._backup,
    "UNLOAD": _Reader._backup,
    "RENAME": _Reader._rename,
    "PURGE": _Reader._purge,
    "RESET": _Reader._purge,
    "KILL": _Reader._kill,
    "SHUTDOWN": _Reader._shutdown,
    "ATTACH": _Reader._attach,
    "USE": _Reader._use,
    "DECLARE": _Reader._use,
    "IF": _Reader._use,
    "WHILE": _Reader._use,
    "ELSE": _Reader._use,
    "PRINT": _Reader._use,
    "FOR": _Reader._loop,
    "LOOP": _Reader._use,
}
_STARTS = frozenset(
    ("EXEC", "EXECUTE", "DELETE", "UPDATE", "INSERT", "DROP", "TRUNCATE", "ALTER", "CREATE", "GRANT", "SELECT")
)
_SILENT = frozenset(
    (
        *(
            "SHOW",
            "DESCRIBE",
            "DESC",
            "PRAGMA",
            "VACUUM",
            "ANALYZE",
            "ANALYSE",
            "REINDEX",
            "OPTIMIZE",
            "CHECK",
            "REPAIR",
        ),
        *(
            "FLUSH",
            "LOCK",
            "UNLOCK",
            "SAVEPOINT",
            "RELEASE",
            "DEALLOCATE",
            "CLOSE",
            "OPEN",
            "FETCH",
            "LISTEN",
            "NOTIFY",
        ),
        *(
            "UNLISTEN",
            "DISCARD",
            "REFRESH",
            "COMMENT",
            "CLUSTER",
            "CHECKPOINT",
            "VALUES",
            "HELP",
            "DELIMITER",
            "DETACH",
        ),
        *("RAISE", "RETURN", "SECURITY", "REASSIGN", "PERFORM", "GO", "WAITFOR", "HANDLER", "SOURCE", "QUIT"),
        *("EXIT", "EXCEPTION", "WHEN", "THEN", "LANGUAGE", "NEXT", "LIST", "STATUS", "INHERIT"),
    )
)
