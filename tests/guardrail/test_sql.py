"""SQL is read into effects."""

from __future__ import annotations

import pytest
from guardrail_calls import spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.model import Effect
from guardrail.reading.sql import read


def spelled_effect(effect: Effect) -> str:
    names = ",".join(target.text for target in effect.targets)
    return f"{effect.kind.value} {effect.object.value} {effect.scope.value} {effect.reversible.value} {names}".rstrip()


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("DELETE FROM users", ["delete rows all no users"]),
        ("DELETE FROM users WHERE id = 5", ["delete rows one no users"]),
        ("DELETE FROM users WHERE age > 5", ["delete rows unknown no users"]),
        ("DELETE FROM users WHERE 1=1", ["delete rows all no users"]),
        ("DELETE FROM users WHERE a = 1 OR true", ["delete rows all no users"]),
        ('delete from `shop`."users" where id is not null', ["delete rows all no shop.users"]),
        ("TRUNCATE TABLE a, b", ["delete rows all no a,b"]),
        ("DROP TABLE IF EXISTS a", ["delete table one no a"]),
        ("DROP TABLE a CASCADE", ["delete table many no a"]),
        ("DROP DATABASE shop", ["delete database all no shop"]),
        ("DROP SCHEMA public CASCADE", ["delete schema all no public"]),
        ("DROP INDEX CONCURRENTLY i", ["delete index one yes i"]),
        ("DROP USER bob", ["delete account one yes bob"]),
        ("ALTER TABLE a DROP COLUMN b", ["alter table one no a"]),
        ("ALTER TABLE a ADD COLUMN b int", ["alter table one yes a"]),
        ("UPDATE a SET b = 1", ["alter rows all no a"]),
        ("UPDATE a SET b = 1 WHERE id = 2", ["alter rows one with_backup a"]),
        ("GRANT ALL ON *.* TO bob", ["grant permission all yes bob"]),
        ("REVOKE SELECT ON a FROM bob", ["revoke permission one yes bob"]),
        ("CREATE USER bob SUPERUSER", ["create account one yes bob", "escalate permission one yes bob"]),
        ("ALTER USER bob WITH PASSWORD 'x'", ["rotate credential one yes bob"]),
        ("SELECT * FROM a", ["read rows all yes a"]),
        ("SELECT * FROM a WHERE b = 1", ["read rows many yes a"]),
        ("SELECT 'DROP TABLE a'", []),
        ("-- DROP TABLE a\nSELECT 1", []),
        ("SELECT a INTO OUTFILE '/tmp/x' FROM b", ["write path one yes /tmp/x", "read rows all yes b"]),
        ("SELECT pg_read_file('/etc/passwd')", ["read path one yes /etc/passwd"]),
        ("WITH g AS (DELETE FROM a RETURNING *) SELECT 1", ["delete rows all no a"]),
        ("/*!50000 DROP TABLE a */", ["delete table one no a"]),
        ("DO $$ BEGIN EXECUTE 'DROP TABLE a'; END $$", ["delete table one no a"]),
        ("EXPLAIN DELETE FROM a", []),
        ("EXPLAIN ANALYZE DELETE FROM a", ["delete rows all no a"]),
        ("BEGIN; DELETE FROM a; ROLLBACK;", []),
        ("BEGIN; DELETE FROM a; COMMIT;", ["delete rows all no a"]),
        ("CREATE TEMP TABLE q (a int); DROP TABLE q", ["create table one yes q", "delete table one yes q"]),
        ("IF EXISTS (SELECT 1) DROP TABLE a", ["delete table one no a"]),
        ("SET GLOBAL general_log = OFF", ["disable database one yes general_log"]),
        ("ALTER SYSTEM SET log_statement = 'none'", ["disable database one yes log_statement"]),
        ("ALTER SYSTEM SET work_mem = '64MB'", ["configure database one yes work_mem"]),
        (
            "MERGE INTO a USING b ON a.id = b.id WHEN NOT MATCHED BY SOURCE THEN DELETE",
            ["alter rows unknown yes a", "delete rows many no a"],
        ),
        ("MERGE INTO a USING b ON a.id = b.id WHEN MATCHED THEN UPDATE SET a.n = 1", ["alter rows unknown yes a"]),
        (r"BACKUP DATABASE a TO DISK = '\\10.0.0.1\s\a.bak'", ["send database all yes a"]),
        ("BACKUP DATABASE a TO DISK = 'a.bak'", ["write path one yes a.bak"]),
        ("SHUTDOWN", ["stop service all yes the database server"]),
        ("RESTORE DATABASE a FROM DISK = 'x.bak'", ["overwrite database one no a"]),
        ("PURGE BINARY LOGS TO 'x'", ["delete snapshot_or_backup many no binary logs"]),
        ("DELETE FROM a WHERE id = %s", ["delete rows one no a"]),
        ("DELETE FROM {name}", ["delete rows all no {name}"]),
        ("EXEC sp_MSforeachtable 'DROP TABLE ?'", ["delete table one no ?"]),
        ("UNLOAD ('SELECT 1') TO 's3://b/x'", ["write path one yes s3://b/x"]),
        ("RENAME TABLE a TO b", ["alter table one yes a"]),
        ("SHOW TABLES; VACUUM a; USE b", []),
    ],
)
def test_effects_of_statements_are_read(text: str, effects: list[str]) -> None:
    assert [spelled_effect(effect) for effect in read(text).effects] == effects


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("\\! rm -rf /\nSELECT 1", ["rm -rf /"]),
        (".shell rm x", ["rm x"]),
        ("COPY t FROM PROGRAM 'cat x'", ["cat x"]),
        ("EXEC xp_cmdshell 'del x'", ["cmd:del x"]),
    ],
)
def test_commands_that_a_database_hands_to_a_shell_are_calls(text: str, calls: list[str]) -> None:
    assert spelled(read(text)) == calls


@pytest.mark.parametrize("text", ["DELETE FROM 'a", "DELETE FROM", "UPDATE a", "FROB a", "CALL p()"])
def test_an_incomplete_statement_is_uncovered(text: str) -> None:
    assert read(text).uncovered


def test_the_rows_of_a_table_created_in_the_same_text_are_temporary() -> None:
    effects = read("CREATE TABLE q (a int); DELETE FROM q").effects
    assert [effect.targets[0].place.value for effect in effects] == ["unknown", "temporary"]


@settings(max_examples=30 * ROUNDS, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "DELETE ",
                "FROM ",
                "a",
                "WHERE ",
                "1=1",
                ";",
                "(",
                ")",
                "'",
                '"',
                "$$",
                "--",
                "/*",
                "*/",
                "WITH x AS ",
                "DROP TABLE ",
                "EXEC ",
                "\\! ls\n",
                "\n",
                ",",
                "ALTER TABLE ",
                "DROP ",
                "GRANT ",
                "TO ",
                "é",
                "BEGIN",
            )
        ),
        max_size=30,
    )
)
def test_reading_sql_never_raises(parts: list[str]) -> None:
    text = "".join(parts)
    for effect in read(text).effects:
        assert 0 <= effect.span.start <= effect.span.end <= len(text)
