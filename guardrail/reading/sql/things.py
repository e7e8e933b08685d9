"""Reads statements that create, change, grant and drop objects of a database."""

from __future__ import annotations

from guardrail.model import Span, Uncovered
from guardrail.reading.sql.rows import Rows
from guardrail.reading.sql.tokens import (
    Statement,
    bare_name,
    name_at,
    names_at,
)
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope

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
# The objects that DROP names, and whether they can be recreated.
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
"""Objects that protect a database or record what is done; dropping or altering one switches it off."""


class Things(Rows):
    """Adds statements about tables, schemas, accounts and other objects of a database."""

    def _drop(self, statement: Statement, span: Span) -> None:
        at = statement.skip(
            1, "TEMPORARY", "TEMP", "MATERIALIZED", "FOREIGN", "UNIQUE", "EXTERNAL", "EVENT", "OR", "PUBLIC"
        )
        thing = statement.word(at)
        if thing == "OWNED":
            self._add(EffectKind.DELETE, ObjectKind.SCHEMA, names_at(statement, at + 2), span, Scope.ALL, Reversible.NO)
            return
        entry = _THINGS.get(thing)
        if entry is None:
            if thing:
                self.uncovered.append(Uncovered(span, f"it drops a {thing.lower()[:40]}"))
            return
        kind, reversible = entry
        at = statement.skip(at + 1, "IF", "EXISTS", "CONCURRENTLY", "MAPPING", "FOR")
        names = names_at(statement, at)
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
            temporary or all(bare_name(name) in self.made or name.startswith("#") for name in names)
        ):
            self._add(EffectKind.DELETE, kind, names, span, scope, Reversible.YES, place=Place.TEMPORARY)
            return
        effect = EffectKind.DISABLE if statement.word(1) in _DEFENCES else EffectKind.DELETE
        self._add(effect, kind, names, span, scope, reversible)

    def _create(self, statement: Statement, span: Span) -> None:
        replaces = statement.begins(1, "OR REPLACE") or statement.begins(1, "OR ALTER")
        at = 3 if replaces else 1
        temporary = False
        while statement.word(at) in _ADJECTIVES:
            temporary = temporary or statement.word(at) in ("TEMPORARY", "TEMP")
            at += 1
        thing = statement.word(at)
        at = statement.skip(at + 1, "IF", "NOT", "EXISTS", "CONCURRENTLY")
        name, after = name_at(statement, at)
        if thing == "TABLE":
            if not statement.begins(at - 3, "IF NOT EXISTS") and not replaces:
                self.made.add(bare_name(name))
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

    def _routine(self, statement: Statement, thing: str, name: str, span: Span) -> None:
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

    def _alter(self, statement: Statement, span: Span) -> None:
        thing = statement.word(1)
        at = statement.skip(2, "IF", "EXISTS", "ONLY")
        name, after = name_at(statement, at)
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
        elif thing == "SYSTEM" and statement.word(2) == "SET":
            self._parameter(statement, 3, span)
        elif thing in ("DATABASE", "SCHEMA", "SYSTEM", "SERVER", "SESSION"):
            if thing != "SESSION":
                self._add(EffectKind.CONFIGURE, ObjectKind.DATABASE, [name] if thing != "SYSTEM" else [], span)
        else:
            kind = _THINGS.get(thing, (ObjectKind.SCHEMA, Reversible.YES))[0]
            effect = EffectKind.DISABLE if thing in _DEFENCES else EffectKind.ALTER
            self._add(effect, kind, [name], span)

    def _parameter(self, statement: Statement, at: int, span: Span) -> None:
        """Adds the effects of setting a parameter of the server; its name is the word at `at`."""
        name, at = name_at(statement, at)
        off = statement.text(at + 1).upper().strip("'") in ("OFF", "0", "FALSE", "NONE")
        if off and any(part in name.lower() for part in ("log", "audit", "ssl", "secure", "safe")):
            self._add(EffectKind.DISABLE, ObjectKind.DATABASE, [name], span)
        else:
            self._add(EffectKind.CONFIGURE, ObjectKind.DATABASE, [name], span)

    def _alter_table(self, statement: Statement, name: str, at: int, span: Span) -> None:
        reversible = Reversible.YES
        detail = {}
        for number in range(at, len(statement.tokens)):
            word = statement.word(number)
            following = statement.word(number + 1)
            if word == "DROP" and following not in _LOOSE:
                reversible, detail = Reversible.NO, {"says": "drops a column with its data"}
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

    def _grant(self, statement: Statement, span: Span) -> None:
        end = statement.find(1, "TO", "FROM")
        to = names_at(statement, end + 1) if end > 0 else []
        rights = statement.tokens[1 : end if end > 0 else None]
        broad = rights[:1] and rights[0].text in ("ALL", "SUPER", "DBA", "SYSDBA", "FILE", "CONTROL")
        scope = Scope.ALL if broad else Scope.ONE
        if statement.word(0) in ("REVOKE", "DENY"):
            self._add(EffectKind.REVOKE, ObjectKind.PERMISSION, to, span, scope)
            return
        self._add(EffectKind.GRANT, ObjectKind.PERMISSION, to, span, scope)
        if "PUBLIC" in (name.upper() for name in to):
            self._add(EffectKind.EXPOSE, ObjectKind.TABLE, to, span, detail={"says": "lets every user in"})

    def _rename(self, statement: Statement, span: Span) -> None:
        name, _ = name_at(statement, statement.skip(1, "TABLE", "TABLES"))
        self._add(EffectKind.ALTER, ObjectKind.TABLE, [name], span)

    def _purge(self, statement: Statement, span: Span) -> None:
        words = {token.text for token in statement.tokens[:4]}
        if words & {"BINARY", "MASTER", "BACKUP"}:
            self._add(
                EffectKind.DELETE, ObjectKind.SNAPSHOT_OR_BACKUP, ["binary logs"], span, Scope.MANY, Reversible.NO
            )
        elif words & {"TABLE", "RECYCLEBIN", "DBA_RECYCLEBIN", "INDEX"}:
            self._add(EffectKind.DELETE, ObjectKind.TABLE, names_at(statement, 2), span, reversible=Reversible.NO)

    def _backup(self, statement: Statement, span: Span) -> None:
        name, _ = name_at(statement, statement.skip(1, "DATABASE", "LOG", "TABLE", "TO"))
        if statement.word(0) == "RESTORE":
            if statement.word(1) in ("DATABASE", "LOG", "TABLE"):
                self._add(EffectKind.OVERWRITE, ObjectKind.DATABASE, [name], span, reversible=Reversible.NO)
            return
        for path in statement.strings(max(statement.find(1, "TO"), 1))[:1]:
            if path.startswith("\\\\"):  # a share of another machine
                url = "file:" + path.replace("\\", "/")
                self._add(EffectKind.SEND, ObjectKind.DATABASE, [name], span, Scope.ALL, detail={"url": url})
            else:
                self._path(EffectKind.WRITE, path, span)

    def _attach(self, statement: Statement, span: Span) -> None:
        for path in statement.strings()[:1]:
            self._path(EffectKind.READ, path, span)
