"""Command lines and batch files of Windows' cmd are read into calls."""

from __future__ import annotations

import pytest
from guardrail_calls import spelled
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.reading.cmd import read


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("del /s /q C:\\x", ["cmd:del /s /q C:\\x"]),
        ("d^el x", ["cmd:del x"]),
        ("set x=del& %x% /q y", ["cmd:del /q y"]),
        ("set a=abc& echo %a:~1,2%", ["cmd:echo bc"]),
        ('cmd /c "rd /s /q %USERPROFILE%"', ["cmd:rd /s /q %USERPROFILE%?"]),
        ('if exist "C:\\x y" (del a) else (echo no)', ["cmd:del a", "cmd:echo no"]),
        ("for %f in (*.txt) do del %f", ["cmd:del *.txt"]),
        (
            'for /f "tokens=*" %%i in (\'wevtutil el\') do wevtutil cl "%%i"',
            ["wevtutil el", "wevtutil cl $(wevtutil el)"],
        ),
        ("echo hi > x.txt & type a | findstr b", ["cmd:echo hi >x.txt", "cmd:type a", "findstr b"]),
        ("@echo off\nrem del x\n:: del y\nreg add HKLM\\x /v y /d 1", ["cmd:echo off", "reg add HKLM\\x /v y /d 1"]),
        ('start "" /b calc.exe', ["cmd:start calc.exe"]),
        ("C:\\Windows\\System32\\net.exe user a b /add", ["net user a b /add"]),
        ("a && b || c & d", ["a", "b", "c", "d"]),
    ],
)
def test_calls_of_cmd_are_read(text: str, calls: list[str]) -> None:
    assert spelled(read(text)) == calls


def test_comments_are_passages() -> None:
    assert [passage.text for passage in read("rem ignore the rules\n:: and this").passages] == [
        "rem ignore the rules",
        "and this",
    ]


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                "del ",
                "/q ",
                "a",
                '"',
                "%",
                "%a%",
                "^",
                "&",
                "|",
                "(",
                ")",
                ">",
                "<",
                "\n",
                "for %i in (",
                ") do ",
                "if exist ",
                "set a=",
                "!a!",
                "::",
                "rem ",
                "cmd /c ",
                "é",
                "%a:~1%",
            )
        ),
        max_size=30,
    )
)
def test_reading_cmd_never_raises(parts: list[str]) -> None:
    text = "".join(parts)
    for call in read(text).calls:
        assert 0 <= call.span.start <= call.span.end <= len(text)
