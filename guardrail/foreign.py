"""Searches the quoted texts of code in a language without a reader: for the command lines that it starts, and the files
that it deletes or writes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import chain
from typing import Literal

from guardrail.record import record

_QUOTED = r"[@rR]?(?:'([^']{2,2000})'|\"([^\"]{2,2000})\")"
_STARTS = re.compile(
    r"\b(?:system|exec|execve|popen|proc_open|passthru|shell_exec|spawn|spawn_sync|run|capture|capture2e?|capture3"
    r"|execute|shell|sh|cmd|call|do shell script|do script|start)\s?[({]?\s?[\[(]?\s?" + _QUOTED
)
_STATEMENTS = re.compile(
    r"\.(?:Exec|ExecContext|MustExec|Query|QueryRow|executeUpdate|executeQuery|prepare|raw|select_all|exec_query"
    r"|ExecuteSqlRaw|ExecuteSqlCommand)\s?\(\s?(?:\w+,\s?)?" + _QUOTED
)
_ARGUMENTS = re.compile(
    r"\b(?:Command|CommandContext|ProcessBuilder|Process\.Start|execlp?|execvp?)\s?"
    r"\(((?:[^()\"']|\"(?:[^\"\\]|\\.)*\"|'[^']*'){2,2000})\)"
)
_BUILDER = re.compile(r"\bCommand::new\(((?:[^;\"]|\"(?:[^\"\\]|\\.)*\"){2,2000})")
_TEXT = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'")
_RECORDS = re.compile(r"(?m)(?:^|[\s;(])([A-Z]\w{1,60})(?:\.all|\.unscoped)?\.(?:delete_all|destroy_all)\b")
_HOME_TREE = re.compile(
    r"\b(?:RemoveAll|remove_dir_all|rm_rf|rm_r|remove_tree|rmtree|deleteRecursively|deleteDirectory)\s?\(?\s?&?"
    r"(?:filepath\.Join\(|path\.Join\(|Path\.Combine\(|File\.join\()?\s?"
    r"(?:Dir\.home|home|homeDir|home_dir|userHome|ENV\[['\"]HOME['\"]\]|os\.Getenv\(\"HOME\"\))(?![\w])"
)
_TICKS = re.compile(r"`([^`]{2,2000})`|(?:%x|\bqx)[({\[/|]([^)}\]/|]{2,2000})[)}\]/|]")
_FILES = re.compile(
    r"\b(unlink|Directory\.Delete|File\.Delete|rmtree|remove_tree|rm_rf|rm_r|rm_f|rmdir|remove_dir|remove_entry|delete|deltree|remove|remove_dir_all"
    r"|remove_file|rm|RemoveAll|Remove|file_put_contents|write_file|WriteFile)\s?[({]?\s?[\[(]?\s?" + _QUOTED
)
_PATH = re.compile(r"[~/.\w$*][^\n]{0,400}\Z")
_WRITES = frozenset(("file_put_contents", "write_file", "WriteFile"))
_TREES = frozenset(
    (
        "Directory.Delete",
        "rmtree",
        "remove_tree",
        "rm_rf",
        "rm_r",
        "remove_dir_all",
        "RemoveAll",
        "deltree",
        "remove_entry",
    )
)

_OPENED = re.compile(
    r"\b(?:open|fopen|file|File\.open|io\.open|IO\.open|openFile|File\.new|file_open)\s?\(?\s?"
    + _QUOTED
    + r"\s?,\s?['\"](?:[wa]|>)"
    r"|(?:\bFile\.write|\bIO\.write|\bspit|\bwriteFile|\bwriteFileSync)\s?\(?\s?" + _QUOTED + r"|>>?\s?" + _QUOTED
)
_NAMED = re.compile(r"['\"`{(<=@]\s?((?:~|\$HOME|/(?:etc|root|home|proc|var|run))/[\w./@+~-]{3,300})")
_RECEIVES = re.compile(
    r"(?i)\b(?:TCPSocket|TCPServer|fsockopen|IO::Socket|use Socket|socket\.tcp|socket\.connect|net\.Socket|Socket\()"
    r"|\bconnect\s?\(\s?['\"]|/inet/tcp/"
)
_RUNS = re.compile(
    r"\b(?:popen3?|exec|execve|system|spawn|proc_open|shell_exec|passthru|os\.execute|run\s?\(|pipeline|Process|Runtime)\b"
)

Kind = Literal["command", "delete", "delete_tree", "write", "named"]

_SHELL_IN_CODE = re.compile(
    r"(?:(?:[({;|]|(?<!#)!)[\s\"'\[]{0,4}|\b(?:system|exec|spawn|popen)\W{1,4})(?:/usr)?/bin/(?:ba|z|da|k|a)?sh(?![\w./-])"
)


@record
class Found:
    """A command line that the code starts, or a path that it deletes (with everything below it: `delete_tree`), writes
    or only names."""

    kind: Kind
    text: str


def look(code: str) -> Iterator[Found]:
    """Yields commands and files that the code contains in quotes: commands and written files first, then deleted
    files."""
    for found in chain(_STARTS.finditer(code), _TICKS.finditer(code), _STATEMENTS.finditer(code)):
        yield Found("command", found[1] or found[2])
    for found in chain(_ARGUMENTS.finditer(code), _BUILDER.finditer(code)):
        words = [text[1] or text[2] or "" for text in _TEXT.finditer(found[1])]
        if len(words) > 1:
            yield Found("command", _line(words))
    for found in _RECORDS.finditer(code):
        yield Found("command", " ".join(("DELETE FROM", found[1])))
    if _HOME_TREE.search(code) is not None:
        yield Found("delete_tree", "~")
    for found in _OPENED.finditer(code):
        path = next(group for group in found.groups() if group is not None)
        if _PATH.match(path):
            yield Found("write", path)
    for found in _NAMED.finditer(code):
        yield Found("named", found[1])
    for found in _FILES.finditer(code):
        path = found[2] or found[3]
        if _PATH.match(path):
            yield Found(_kind(found[1]), path)


def _line(words: list[str]) -> str:
    """Returns the command line that a program and its arguments form, or the script that is passed to a shell."""
    name = words[0].rpartition("/")[2].lower().removesuffix(".exe")
    if name in _SHELLS and len(words) > 2 and words[1].startswith("-"):
        return words[2].replace('\\"', '"')
    if name == "cmd" and words[1].lower().startswith("/c"):
        return words[1][2:].strip() or " ".join(words[2:])
    return shlex.join(words)


_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))


def is_code(text: str) -> bool:
    """Decides whether a text is a program in a language without a reader, by a line that only such programs have."""
    return _PROGRAM.search(text) is not None


_PROGRAM = re.compile(
    # Only comments may precede it, so that a script that writes such a program to a file is not mistaken for one. A
    # comment ends at its first end mark: else a series of comments could be divided in more ways than can be tried.
    r"\A(?:\s|//[^\n]*\n|/\*(?:[^*\0]|\*(?!/)){0,4000}\*/|#(?!!|include|ifndef|pragma)[^\n]*\n|#![^\n]*\n)*"
    r"(?:<\?php\b|package [\w:]+;?\s*\n|use std::|(?:pub )?fn main\(\)|import javax?\.[\w.*]+;|using System(?:\.\w+)*;"
    r"|#include\s*[<\"]|#ifndef \w+\s*\n\s*#\s*define|#pragma once|use strict;|require ['\"][\w/]+['\"]\s*\n"
    r"|(?:public |final )*class \w+[^\n]{0,80}\{\s*\n(?=[^\0]{0,400}\bstatic void main\b)"
    r"|[A-Z]\w{1,60}(?:\.all|\.unscoped)?\.(?:delete_all|destroy_all)\s*(?:\n|$))"
)


def runs_what_it_receives(code: str) -> bool:
    """Decides whether code both opens a connection and starts programs, as remote control of a machine does."""
    return _RECEIVES.search(code) is not None and _RUNS.search(code) is not None


def starts_shell(code: str) -> bool:
    """Decides whether code or a setting starts a shell where a program is expected: `system("/bin/sh")`,
    `write18{/bin/sh}`."""
    return "sh" in code and not code.startswith(("{", "[")) and _SHELL_IN_CODE.search(code) is not None


def _kind(verb: str) -> Kind:
    if verb in _WRITES:
        return "write"
    return "delete_tree" if verb in _TREES else "delete"
