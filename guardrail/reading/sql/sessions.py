"""Reads statements that run others, transactions, settings, and functions that reach outside the database."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guardrail.model import Span, Uncovered
from guardrail.reading.sql.things import Things
from guardrail.reading.sql.tokens import (
    Statement,
    Token,
    bare_name,
    name_at,
    plain_text,
    to_bracket,
)
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Scope

_COMPUTED = "computed"
"""Placeholder for a computed name in the statement that is composed with it."""
_FORMATTED = re.compile(r"%(?:\d+\$)?-?\d*[IsL]")
_TRANSACTIONAL = frozenset((ObjectKind.ROWS, ObjectKind.TABLE, ObjectKind.SCHEMA, ObjectKind.INDEX))
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
_STARTS = frozenset(
    ("EXEC", "EXECUTE", "DELETE", "UPDATE", "INSERT", "DROP", "TRUNCATE", "ALTER", "CREATE", "GRANT", "SELECT")
)


class Sessions(Things):
    """Adds statements that run others, and those about transactions, settings and the server."""

    def _execute_statement(self, statement: Statement, span: Span) -> None:
        """Reads `EXEC xp_cmdshell '…'`, `EXECUTE IMMEDIATE '…'`, `EXEC('…')`, `CALL p()`."""
        computed = statement.sign(1) == "(" or (len(statement.tokens) > 1 and statement.tokens[1].kind == "s")
        name = "" if computed else name_at(statement, 1)[0]
        member = bare_name(name)
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
                says = {"says": "lets the database run system commands"}
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
                self.uncovered.append(Uncovered(span, "an SQL statement that is computed"))
        elif not member.startswith(("sp_help", "sp_who", "sp_columns", "sp_tables", "sp_spaceused")):
            self.uncovered.append(Uncovered(span, f"what the procedure {name} does"))

    def _block(self, statement: Statement, span: Span) -> None:
        """Reads `DO $$ … $$`, `PREPARE s FROM '…'`."""
        for body in statement.strings(1)[:2]:
            self._inner(body, span)

    def _explain(self, statement: Statement, span: Span) -> None:
        """Reads EXPLAIN, which only shows a plan, unless it analyses it: then the statement runs."""
        at = statement.find(1, "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH")
        if at > 0 and any(token.text in ("ANALYZE", "ANALYSE") for token in statement.tokens[:at]):
            self._statement(statement.behind(at), span)

    def _begin(self, statement: Statement, span: Span) -> None:
        inner = statement.word(1)
        if statement.word(0) == "DECLARE":
            return
        if self._is_statement(inner) and inner not in ("BEGIN", "START"):  # a block of procedures
            self._statement(statement.behind(1), span)
        elif self.began is None:
            self.began = len(self.effects)

    def _end(self, statement: Statement, span: Span) -> None:
        """Ends a transaction; after a rollback it has no effect on data."""
        verb = statement.word(0)
        if verb in ("ROLLBACK", "ABORT") and statement.find(1, "TO") < 0 and self.began is not None:
            kept = [effect for effect in self.effects[self.began :] if effect.object not in _TRANSACTIONAL]
            self.effects[self.began :] = kept
        if statement.find(1, "TO") < 0:
            self.began = None

    def _set(self, statement: Statement, span: Span) -> None:
        words = {token.text for token in statement.tokens[:6]}
        if "PASSWORD" in words:
            self._add(EffectKind.ROTATE, ObjectKind.CREDENTIAL, statement.strings()[:1], span)
        elif words & {"GLOBAL", "PERSIST", "@@GLOBAL"}:
            self._parameter(statement, 2, span)

    def _kill(self, statement: Statement, span: Span) -> None:
        target = statement.text(len(statement.tokens) - 1)
        self._add(EffectKind.STOP, ObjectKind.PROCESS, [target], span)

    def _shutdown(self, statement: Statement, span: Span) -> None:
        self._add(EffectKind.STOP, ObjectKind.SERVICE, ["the database server"], span, Scope.ALL, place=Place.SYSTEM)

    def _loop(self, statement: Statement, span: Span) -> None:
        """Reads `FOR row IN SELECT … LOOP …`: the query, and the first statement of its body."""
        body = statement.find(1, "LOOP")
        if body > 0:
            self._use(Statement(statement.tokens[:body]), span)
            self._statement(statement.behind(body + 1), span)
        else:
            self._use(statement, span)

    def _use(self, statement: Statement, span: Span) -> None:
        """Reads `DECLARE … EXEC …` and `IF … DROP TABLE …`: T-SQL needs no semicolon between statements."""
        for at in range(1, len(statement.tokens)):
            word = statement.word(at)
            if word in _STARTS and (word != "SET") and statement.sign(at - 1) not in ("(", ","):
                if word in ("EXECUTE", "UPDATE", "DELETE") and statement.word(at - 1) in ("AS", "ON", "FOR", "BEFORE"):
                    continue
                self._statement(statement.behind(at), span)
                return

    def _functions(self, statement: Statement, span: Span) -> None:
        """Adds the effects of functions that reach outside the database, wherever they are called."""
        for at, token in enumerate(statement.tokens):
            if token.kind != "w" or statement.sign(at + 1) != "(":
                continue
            name = token.text.lower()
            if name not in _REACHING:
                continue
            given = Statement(to_bracket(statement.tokens[at + 2 :])).strings()
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


def _composed(tokens: Sequence[Token]) -> str | None:
    """Returns the statement that `'DROP TABLE ' || name || ' CASCADE'` or `format('DROP TABLE %I', name)` composes, or
    None if the tokens don't begin with a text or compose nothing."""
    tokens = [token for token in tokens if token.text not in ("(", ")", "N", "IMMEDIATE")]
    if tokens and tokens[0].kind == "w" and tokens[0].text == "FORMAT" and len(tokens) > 1 and tokens[1].kind == "s":
        return _FORMATTED.sub(_COMPUTED, plain_text(tokens[1]))
    if len(tokens) < 2 or tokens[0].kind != "s" or tokens[1].text not in ("||", "|", "+"):
        return None
    parts: list[str] = []
    for token in tokens:
        if token.kind == "s":
            parts.append(plain_text(token))
        elif token.kind == "w" and token.text == "USING":
            break
        elif (not parts or parts[-1] != _COMPUTED) and token.kind != "p":
            parts.append(_COMPUTED)
    return "".join(parts)
