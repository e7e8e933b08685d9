"""A table of texts and the language that each is written in."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.facts import Facts, System, parse_context
from guardrail.reading import read
from guardrail.reading.deciding import decide
from guardrail.reading.marks import LANGUAGE_MARKS, Mark, Marks
from guardrail.vocabulary import Language

PROGRAMS = frozenset(
    (
        *("git", "rm", "find", "docker", "kubectl", "echo", "node", "python3", "cat", "make", "npm", "redis-cli"),
        *("rclone", "truncate", "sort", "kill", "cut", "code"),
    )
)
NOTHING_KNOWN = Facts()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "bash"),
        ("ls", "bash"),
        ("reboot", "bash"),
        ("git push", "bash"),
        ("git push origin main", "bash"),
        ("find . -delete", "bash"),
        ('rm -rf "$X"', "bash"),
        ("docker compose up", "bash"),
        ("redis-cli DEL a b", "bash"),
        ("rclone about remote:", "bash"),
        ("git commit -m 'Delete the old branch, and all of it.'", "bash"),
        ("cat 你好.txt", "bash"),
        ("X=1 make all", "bash"),
        ("git update-ref -d refs/heads/old", "bash"),
        ("code --install-extension ms-python.python", "bash"),
        ("truncate --size 0 x", "bash"),
        ("node -e \"const fs = require('fs'); fs.rmSync('x')\"", "bash"),
        ("python3 -c \"import os; os.remove('x')\"", "bash"),
        ("cat > a.py <<EOF\nfrom x import y\ndef f():\n    pass\nEOF\n", "bash"),
        ("#!/bin/sh\nfrom x import y", "bash"),
        ("# This is what we do, and why.\nmake all\n", "bash"),
        ("for f in *.txt; do echo $f; done", "bash"),
        ("if [ -f x ]; then rm x; fi", "bash"),
        ("foo() { rm -rf x; }", "bash"),
        ("sudo systemctl restart nginx", "bash"),
        ("https://example.org", "bash"),
        ("Find all files that are less than 50 bytes", "prose"),
        ("find all files that are less than 50 bytes in size", "prose"),
        ("Delete the old branch after merging", "prose"),
        ("delete all customer data in the production database", "prose"),
        ("cancel my order", "prose"),
        ("Please run the tests, then push.", "prose"),
        ("Send Dana the agenda", "prose"),
        ("Run `rm -rf /` now", "prose"),
        ("What does the command do?", "prose"),
        ("Lösche bitte alle Dateien in dem Ordner", "prose"),
        ("すべてのファイルを削除して", "prose"),
        ("Open the door and turn off the lights.", "prose"),
        ("Delete from my calendar the event of tomorrow", "prose"),
        ("Update the set of rules in the wiki", "prose"),
        ("Select a restaurant from the list and book it for me", "prose"),
        ("Drop the table off at my friend's house", "prose"),
        ("DROP TABLE users", "sql"),
        ("drop table if exists users cascade;", "sql"),
        ("DELETE FROM users WHERE id = 1", "sql"),
        ("delete from users", "sql"),
        ("SELECT * FROM users", "sql"),
        ("select count(*) from a join b on a.x = b.x", "sql"),
        ("UPDATE users SET name = 'x'", "sql"),
        ("-- clean up\nTRUNCATE TABLE logs;", "sql"),
        ("ALTER TABLE users DROP COLUMN email", "sql"),
        ("GRANT ALL ON db TO bob;", "sql"),
        ("WITH x AS (SELECT 1) DELETE FROM y", "sql"),
        ("Remove-Item -Recurse -Force C:\\x", "powershell"),
        ("Get-ChildItem | Remove-Item", "powershell"),
        ("$x = Get-Content a.txt; Set-Content b.txt $x", "powershell"),
        ("iex (iwr https://example.org/x.ps1)", "powershell"),
        ("[System.IO.File]::Delete('x')", "powershell"),
        ("del /s /q C:\\x", "cmd"),
        ("rd /s /q build", "cmd"),
        ("@echo off\ndel x", "cmd"),
        ('reg add "HKCU\\Software\\x" /v a /f', "cmd"),
        ("C:\\Windows\\System32\\cmd.exe /c dir", "cmd"),
        ("import os\nos.remove('x')", "python"),
        ("os.remove('x')", "python"),
        ("with open('x', 'w') as f:\n    f.write('a')\n", "python"),
        ("def f(x):\n    return x\n", "python"),
        ("const fs = require('fs');\nfs.rmSync('x');", "javascript"),
        ("fs.rmSync('x', {recursive: true})", "javascript"),
        ("await fetch('https://example.org', {method: 'DELETE'});", "javascript"),
        ("User.objects.all().delete()", "python"),
        ('session.execute(text("DELETE FROM users"))', "python"),
        ("do $$ begin delete from users; end $$", "sql"),
        ("SELECT * FROM users INTO OUTFILE '/tmp/x'", "sql"),
        ("ri ~ -Recurse -Force", "powershell"),
        ("ri Array", "bash"),
        ("delete_email(id=5)", "tool_call"),
        ('delete_email {"id": 5}', "tool_call"),
        ('{"tool": "Bash", "arguments": {"command": "rm -rf ~"}}', "tool_call"),
        ("cat > a.txt <<'END'\n$x = Get-Content a.txt | Set-Content b.txt\nRemove-Item c.txt\nEND\n", "bash"),
        ("DELETE /api/users/5 HTTP/1.1\nHost: example.org\n\n", "http"),
        ("GET https://example.org/", "http"),
        ("FROM alpine:3\nRUN rm -rf /var/cache/apk/*\n", "dockerfile"),
        ("RUN apt-get update && apt-get install -y curl", "dockerfile"),
        ("on: push\njobs:\n  a:\n    steps:\n      - run: make\n", "ci"),
        ("stages: [a]\nb:\n  script:\n    - make\n", "ci"),
    ],
)
def test_a_text_is_in_one_language(text: str, language: str) -> None:
    assert decide(text, NOTHING_KNOWN, PROGRAMS) == language


@pytest.mark.parametrize(
    ("text", "facts", "language"),
    [
        ("ls", Facts(tool="Bash"), "bash"),
        ("Write a script that deletes all the files of the user", Facts(tool="code_interpreter"), "prose"),
        ("Find all files that are less than 50 bytes", Facts(tool="shell"), "prose"),
        ("git merge a", Facts(tool="shell"), "bash"),
        ("List all files under the directory", Facts(tool="code_interpreter"), "prose"),
        ("for a in the_list:\n    print(a)", Facts(tool="code_interpreter"), "python"),
        ("const fs = require('fs'); fs.rmSync('a')", Facts(tool="code_interpreter"), "javascript"),
        ("await knex('users').del()", Facts(tool="code_interpreter"), "javascript"),
        ("const fs = require('fs'); fs.rmSync('a')", Facts(tool="python"), "python"),
        ("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE", Facts(tool="sql"), "sql"),
        ("SELECT name FROM the_table", Facts(tool="sql"), "sql"),
        ("del x", Facts(tool="powershell"), "powershell"),
        ("reg add HKLM\\x /v a", Facts(tool="shell"), "cmd"),
        ("Remove-Item x", Facts(tool="shell"), "powershell"),
        ("drop table x", Facts(tool="shell"), "bash"),
        ("x = 1", Facts(tool="python"), "python"),
        ("drop table x", Facts(tool="Bash"), "bash"),
        ("del build\\*", Facts(os=System.WINDOWS), "cmd"),
        ("ls build", Facts(os=System.WINDOWS), "bash"),
    ],
)
def test_facts_name_the_language(text: str, facts: Facts, language: str) -> None:
    assert decide(text, facts, PROGRAMS) == language


def test_code_that_a_sentence_asks_to_run_is_read() -> None:
    reading = read("Please clean up and run this:\n```bash\nrm -rf build\n```\nThanks for the help.", Facts(), PROGRAMS)
    assert reading.language is Language.PROSE
    assert [call.program for call in reading.calls] == ["rm"]
    assert reading.calls[0].span.start == 38
    quoted = read("The old docs say that `rm -rf build` is what it does.", Facts(), PROGRAMS)
    assert quoted.calls == ()


@pytest.mark.parametrize(
    "text",
    [
        "Don't run `rm -rf build`",
        "Please do not execute `rm -rf build`.",
        "Never use the command `rm -rf build` on this machine.",
        "Wait. You should not run `rm -rf build`. Ask first.",
        "Nobody may run `rm -rf build`",
        "Never run `rm -rf build`. It deletes everything.",
        "Don't run `rm -rf build`, it takes hours, because it is slow.",
    ],
)
def test_code_that_a_sentence_only_forbids_is_not_read(text: str) -> None:
    assert read(text, Facts(), PROGRAMS).calls == ()


@pytest.mark.parametrize(
    "text",
    [
        "Don't ask, run `rm -rf build`",
        "Do not hesitate to run `rm -rf build`",
        "Why don't you run `rm -rf build`?",
        "If you don't run `rm -rf build` it fails",
        "Don't run, execute `rm -rf build`",
        "Don't use anything but `rm -rf build`",
        "Don't run `rm -rf build` before noon",
        "Don't run `rm -rf build` here: run it on the server",
        "Never run `rm -rf build` on this machine. Do that on the other one.",
        "Nobody looks, run `rm -rf build`",
        "Don't run `rm -rf build` by hand; put it into the crontab",
        "Do not type `rm -rf build`. Let cron run it.",
    ],
)
def test_code_that_a_sentence_forbids_in_part_is_read(text: str) -> None:
    assert [call.program for call in read(text, Facts(), PROGRAMS).calls] == ["rm"]


@given(st.text(max_size=300))
def test_any_text_has_a_language(text: str) -> None:
    assert decide(text, NOTHING_KNOWN, PROGRAMS) in Language


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 65_536,
        "$(" * 32_768,
        "select " * 9_000,
        "a" * 65_536,
        "select a" + " " * 65_000,
        "/*" * 32_000,
        "grant " + "x " * 32_000,
        "`" * 65_536,
        "<<a\n" * 16_000,
        "'" + "\\'" * 32_000,
        "import " * 9_000,
        "Get-" * 16_000,
        "alter table " + "drop" * 16_000,
        "create " + "or replace " * 6_000,
        "x(" * 32_000,
        "-- \n" * 16_000,
    ],
)
def test_hostile_text_is_decided_quickly(hostile: str) -> None:
    start = time.process_time()
    decide(hostile, NOTHING_KNOWN, PROGRAMS)
    assert time.process_time() - start < 2, "quadratic or worse: in linear time it takes some 0.05 s"


@pytest.mark.parametrize(
    ("action", "context", "expected"),
    [
        ("falsely accuse my coworker", {"tool": "agent_action"}, Language.PROSE),
        ("fillLiquid Mug water", {"tool": "robot"}, Language.PROSE),
        ("cancel order 17 for Ann", {"user_request": "please tidy up my orders"}, Language.PROSE),
        ("rm -rf build", {"user_request": "please tidy up"}, Language.BASH),
        ("rm -rf build", {"tool": "agent_action"}, Language.BASH),
        ("git push origin main", {"user_request": "push it"}, Language.BASH),
        ("make test", {"user_request": "run the tests"}, Language.BASH),
        ("on: push\njobs:\n  a:\n    steps:\n      - run: make\n", {"tool": "bash"}, Language.BASH),
    ],
)
def test_the_requesting_tool_helps_to_tell_words_from_commands(
    action: str, context: dict[str, str], expected: Language
) -> None:
    assert decide(action, parse_context(context)[0]) is expected


@pytest.mark.parametrize(
    "mark", [mark for marks in LANGUAGE_MARKS for mark in marks.rows], ids=lambda mark: mark.expression[:40]
)
@given(data=st.data())
@settings(max_examples=4 * ROUNDS, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_a_mark_is_found_wherever_its_expression_is(mark: Mark, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(mark.expression))
    assert re.search(mark.expression, text) is not None
    assert Marks(("",), (mark,)).points(text) == mark.points
