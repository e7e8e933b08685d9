"""Splits a text into statements and commands of database shells, and reads each statement by its first word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guardrail.model import Span, Uncovered
from guardrail.reading.sql.sessions import Sessions
from guardrail.reading.sql.tokens import (
    Statement,
    Token,
    to_bracket,
)
from guardrail.vocabulary import EffectKind, ObjectKind, Reversible

MAX_STATEMENTS = 1_000
LONG_TEXT = 40
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


class Statements(Sessions):
    """Adds the splitting of a text into statements, and reads it."""

    def run(self) -> None:
        self.text_of(self.source.text)

    def text_of(self, text: str) -> None:
        """Reads a text of statements."""
        text = _without_condition(text) if "/*!" in text else text
        text = _HASH_COMMENT.sub(lambda match: " " * len(match[0]), text) if "#" in text else text
        text = self._meta_commands(text)
        statement: list[Token] = []
        for token in self._tokens(text):
            if _ends(token, text, not statement):
                self._read(statement)
                statement = []
            else:
                statement.append(token)
        self._read(statement)

    def _tokens(self, text: str) -> list[Token]:
        tokens: list[Token] = []
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
                    tokens.append(Token("s", text[end:found], at, found + len(match[0])))
                    end = found + len(match[0])
                else:
                    missed += 1
                    tokens.append(Token("p", match[0], at, end))
            elif kind == "open":
                self.uncovered.append(Uncovered(self._span(at, size), "SQL with a quote that isn't closed"))
                break
            elif kind != "blank":
                spelled = match[0]
                tokens.append(Token(kind, spelled.upper() if kind == "w" else spelled, at, end))
                if kind == "s" and len(spelled) >= LONG_TEXT and " " in spelled:
                    self._passage(spelled[1:-1], at, end)
            at = end
        self.text = text
        return tokens

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

    def _read(self, tokens: Sequence[Token], span: Span | None = None) -> None:
        """Reads one statement."""
        if not tokens:
            return
        self.count += 1
        if self.count > MAX_STATEMENTS:
            if self.count == MAX_STATEMENTS + 1:
                span = self._span(tokens[0].start, tokens[-1].end)
                self.uncovered.append(Uncovered(span, "more statements than are read from one text", stopped=True))
            return
        start = 0
        while start < len(tokens) and tokens[start].kind == "p" and tokens[start].text in "({":
            start += 1
        statement = Statement(tuple(tokens[start:]))
        if statement.tokens:
            self._statement(statement, span or self._span(tokens[0].start, tokens[-1].end))

    def _statement(self, statement: Statement, span: Span) -> None:
        verb = statement.word(0)
        handler = _HANDLERS.get(verb)
        if handler is not None:
            handler(self, statement, span)
        elif verb not in _SILENT and verb:
            self.uncovered.append(Uncovered(span, f"an unknown SQL statement: {verb.lower()[:40]}"))
        elif not verb:
            self.uncovered.append(Uncovered(span, "text that is not an SQL statement", executable=False))
        if verb not in ("DO", "EXPLAIN"):
            self._functions(statement, span)

    def _nested(self, statement: Statement, span: Span) -> None:
        """Reads statements in brackets that change data: `WITH gone AS (DELETE FROM t RETURNING *) SELECT …`."""
        for at, token in enumerate(statement.tokens):
            if token.text in ("DELETE", "UPDATE", "INSERT") and at and statement.sign(at - 1) == "(":
                _HANDLERS[token.text](self, Statement(to_bracket(statement.tokens[at:])), span)

    def _with(self, statement: Statement, span: Span) -> None:
        self._nested(statement, span)
        main = statement.find(1, "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE")
        if main > 0:
            self._statement(statement.behind(main), span)

    def _is_statement(self, word: str) -> bool:
        return word in _HANDLERS


def _without_condition(text: str) -> str:
    """Returns the text with blanks in place of the marks of comments that MySQL runs: `/*!50000 drop table a */`."""
    end = text.rfind("*/") + 2  # after the last end, a search from each beginning would reach the end of the text
    return _CONDITIONAL.sub(lambda match: match[1].rjust(len(match[0])), text[:end]) + text[end:]


def _ends(token: Token, text: str, first: bool) -> bool:
    """Decides whether a token ends a statement: a semicolon, or GO at the beginning of a line."""
    if token.kind == "p":
        return token.text == ";"
    return token.text == "GO" and token.kind == "w" and (first or text[token.start - 1 : token.start] == "\n")


_HANDLERS = {
    "SELECT": Statements._select,
    "TABLE": Statements._select,
    "WITH": Statements._with,
    "DELETE": Statements._delete,
    "UPDATE": Statements._update,
    "INSERT": Statements._insert,
    "REPLACE": Statements._insert,
    "UPSERT": Statements._insert,
    "MERGE": Statements._merge,
    "TRUNCATE": Statements._truncate,
    "DROP": Statements._drop,
    "CREATE": Statements._create,
    "ALTER": Statements._alter,
    "GRANT": Statements._grant,
    "REVOKE": Statements._grant,
    "DENY": Statements._grant,
    "COPY": Statements._copy,
    "LOAD": Statements._load,
    "INSTALL": Statements._load,
    "EXEC": Statements._execute_statement,
    "EXECUTE": Statements._execute_statement,
    "CALL": Statements._execute_statement,
    "DO": Statements._block,
    "PREPARE": Statements._block,
    "EXPLAIN": Statements._explain,
    "BEGIN": Statements._begin,
    "START": Statements._begin,
    "COMMIT": Statements._end,
    "END": Statements._end,
    "ROLLBACK": Statements._end,
    "ABORT": Statements._end,
    "SET": Statements._set,
    "BACKUP": Statements._backup,
    "RESTORE": Statements._backup,
    "UNLOAD": Statements._backup,
    "RENAME": Statements._rename,
    "PURGE": Statements._purge,
    "RESET": Statements._purge,
    "KILL": Statements._kill,
    "SHUTDOWN": Statements._shutdown,
    "ATTACH": Statements._attach,
    "USE": Statements._use,
    "DECLARE": Statements._use,
    "IF": Statements._use,
    "WHILE": Statements._use,
    "ELSE": Statements._use,
    "PRINT": Statements._use,
    "FOR": Statements._loop,
    "LOOP": Statements._use,
}
