"""One command, and what it runs in turn: wrappers such as sudo and xargs, and interpreters that are handed a script."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Dialect = Literal["posix", "windows"]

INNER_SPACE = "␣"
"""Stands for white space inside one word, so that a quoted text can't be mistaken for a command."""

_WHITE = re.compile(r"\s")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_BIN_DIRECTORY = re.compile(r"(?:.*/)?(?:s?bin|libexec|busybox)/([^/]+)$")
_WINDOWS_PROGRAM = re.compile(
    r"(?i)^(?:.*[\\/](?:system32|syswow64|sysnative|windows|v1\.0)[\\/])?([^\\/]+?)(?:\.exe|\.com)?$"
)


@dataclass
class Command:
    """One simple command: its words without quotes, redirections in place as words of their own.

    `line` is for a command whose words are all there: it is kept, since most views ask for it.
    """

    words: list[str] = field(default_factory=list)
    heredoc: str | None = None
    depth: int = 0

    @cached_property
    def line(self) -> str:
        """The words joined by one space; white space inside a word is `INNER_SPACE`, an empty word is `''`."""
        joined = " ".join(self.words)
        if joined.split() == self.words:
            return joined
        return " ".join(_WHITE.sub(INNER_SPACE, word) if word else "''" for word in self.words)


def program_name(word: str, dialect: Dialect) -> str:
    """The first word without the directory of a system program, and on Windows without `.exe`, in lower case."""
    if dialect == "windows":
        found = _WINDOWS_PROGRAM.match(word)
        return found[1].lower() if found else word
    found = _BIN_DIRECTORY.match(word)
    return found[1] if found else word


SHELLS = frozenset(
    ("sh", "bash", "dash", "zsh", "ksh", "ash", "csh", "tcsh", "fish", "mksh", "rbash", "pwsh", "powershell", "cmd")
)

# Options of a wrapper that take a value in the next word; its other options stand alone.
_WRAPPERS: Mapping[str, frozenset[str]] = {
    name: frozenset(options.split())
    for name, options in {
        "sudo": "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type",
        "doas": "-u -C",
        "pkexec": "--user",
        "run0": "-u --user -g --group -D --chdir",
        "env": "-u --unset -C --chdir",
        "nohup": "",
        "setsid": "",
        "command": "",
        "builtin": "",
        "exec": "-a",
        "time": "-f -o --format --output",
        "nice": "-n --adjustment",
        "ionice": "-c -n -p --class --classdata",
        "chrt": "-T -P -D",
        "taskset": "",
        "stdbuf": "-i -o -e --input --output --error",
        "unbuffer": "",
        "timeout": "-s -k --signal --kill-after",
        "xargs": "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace --max-lines",
        "parallel": "-j --jobs -a -I --delay --timeout",
        "watch": "-n --interval",
        "strace": "-e -o -p -s -E -u",
        "ltrace": "-e -o -p -s -u",
        "chroot": "",
        "unshare": "-S -G -R -w",
        "nsenter": "-t -S -G --target",
        "systemd-run": "-p -u -E --property --unit --uid --gid --slice",
        "flock": "-w -E --timeout",
        "busybox": "",
        "toybox": "",
        "proxychains": "-f",
        "proxychains4": "-f",
        "torsocks": "",
        "wsl": "-d -u --distribution --user --cd",
        "caffeinate": "-t -w",
        "start": "",
        "then": "",
        "do": "",
        "else": "",
        "if": "",
        "elif": "",
        "while": "",
        "until": "",
        "!": "",
        "{": "",
        "&": "",
        ".": "",
    }.items()
}
# Wrappers whose first operand is not yet the command.
_LEADING_OPERANDS = {"timeout": 1, "chrt": 1, "taskset": 1, "chroot": 1, "flock": 1}
_ENCODED_OPTION = re.compile(r"(?i)^[-/](?:e|ec|en[a-z]*)$")
_COMMAND_OPTION = re.compile(r"(?i)^[-/]c(?:o[a-z]*)?$")
_SHELL_SCRIPT_OPTION = re.compile(r"^-[a-zA-Z]*c$")
_FIND_ENDS = (";", "+", "\\;")
_REDIRECT = re.compile(r"(?:\d+|&)?(?:<<<|<<-?|<>|>>|>\||>&|<&|>|<)")
_SCRIPT_FILE = re.compile(r"\.(?:ba|da|z|k)?sh$")
_C_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|(.))", re.DOTALL)
_C_NAMES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b"}


def inner_commands(command: Command, dialect: Dialect) -> Iterator[str | list[str]]:
    """What a command runs in turn: the words of a command, or the text of a script."""
    words = command.words
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not words:
        return
    if len(words) < len(command.words):
        yield words
        return
    name = program_name(words[0], dialect)
    if name != words[0] and name:
        yield [name, *words[1:]]
        return
    if name == "find" or name == "fd":
        yield from _find_actions(words)
    elif name in ("powershell", "pwsh"):
        yield from _powershell(words)
    elif name == "cmd":
        yield from _after_option(words, re.compile(r"(?i)^/[ckr]$"))
    elif name == "forfiles":
        yield from _after_option(words, re.compile(r"(?i)^/c$"), one=True)
    elif name in SHELLS:
        yield from _after_option(words, _SHELL_SCRIPT_OPTION, one=True)
        yield from _here_texts(command)
    elif name in ("su", "script", "runuser"):
        yield from _after_option(words, re.compile(r"^(?:-c|--command)$"), one=True)
        yield from (word.partition("=")[2] for word in words if word.startswith("--command="))
    elif name in ("at", "batch"):
        yield from _here_texts(command)
    elif name == "eval":
        yield " ".join(words[1:])
    elif name == "alias":
        yield from (word.partition("=")[2] for word in words[1:])
    elif name == "trap" and len(words) > 1:
        yield words[1]
    elif name == "ssh":
        yield from _over_ssh(words)
    elif name == "tmux":
        yield from (word for word in words[1:] if _WHITE.search(word))
    elif name == "watch" and len(words) > 1:
        yield " ".join(_operands(words, _WRAPPERS["watch"]))
    elif name in ("docker", "podman", "kubectl", "nerdctl", "crictl", "lxc"):
        yield from _in_container(words)
    elif name in _WRAPPERS:
        yield from _wrapped(name, words)


def unescaped(text: str) -> str:
    """Text with the escapes that `printf`, `echo -e` and `$'...'` know resolved."""
    return _C_ESCAPE.sub(_c_escape, text)


def _c_escape(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        return chr(int(found[1] or found[2], 16))
    if found[3]:
        return chr(int(found[3], 8))
    return _C_NAMES.get(found[4], found[4])


_ONLY_TEXT = re.compile(
    r"^(?:(?:echo|printf|write-(?:output|host)|grep|egrep|fgrep|rg|ag|ack|cat|tee|less|more|head|tail|wc|sort|uniq|man|whatis"
    r"|apropos|logger|notify-send|say|fold|nl|column|rem)(?:\.exe)?|git (?:commit|tag|log|grep|notes|shortlog)"
    r"|gh (?:issue|pr|release) (?:create|comment|edit))(?: |$)"
)
_READ_BY_PEOPLE = re.compile(
    r"(?i)(?:\.(?:md|markdown|rst|adoc|txt|html?|tex|csv|log|po|org)|/dev/(?:null|stdout|stderr)|^[12&-]?)$"
)


def only_text(pipeline: list[Command]) -> bool:
    """Whether a pipeline only shows, searches or notes texts: none of it is run, and what it writes is for people."""
    for command in pipeline:
        if not _ONLY_TEXT.match(command.line) or any("$(" in word or "`" in word for word in command.words):
            return False
        if not all(_READ_BY_PEOPLE.search(target) for target in _written_files(command)):
            return False
    return True


def _written_files(command: Command) -> list[str]:
    """What a command's output is redirected to, and what `tee` is told to write."""
    words = command.words
    targets = [words[at + 1] for at, word in enumerate(words[:-1]) if ">" in word and _REDIRECT.fullmatch(word)]
    if words[:1] == ["tee"]:
        targets += [word for word in words[1:] if not word.startswith("-")]
    return targets


def fed_script(pipeline: list[Command], dialect: Dialect) -> Iterator[str]:
    """The script that a pipeline feeds to a shell or saves as one, where it stands in the pipeline.

    `echo ... | base64 -d | sh`, `cat > x.sh <<EOF`.
    """
    runs = len(pipeline) > 1 and program_name(_unwrapped(pipeline[-1].words, dialect), dialect) in SHELLS
    if not runs and not any(_SCRIPT_FILE.search(target) for target in _written_files(pipeline[-1])):
        return
    first = _without_redirects(pipeline[0].words)
    program = program_name(first[0], dialect) if first else ""
    if program not in ("echo", "printf", "cat", "tee", "write-output"):
        return
    options = [word for word in first[1:] if re.match(r"^-[neE]+$", word)]
    text = pipeline[0].heredoc or " ".join(word for word in first[1:] if word not in options)
    if program == "printf" or any("e" in option for option in options):
        text = unescaped(text)
    for each in pipeline[1:-1] if runs else pipeline[1:]:
        line = each.line
        if re.match(r"(?:\S*/)?(?:base64 .*(?:-d|-D|--decode)|openssl .*base64.* -d)", line):
            text = _from_base64(text, "utf-8") or ""
        elif re.match(r"(?:\S*/)?xxd .*-r", line):
            try:
                text = bytes.fromhex(text).decode("utf-8", "replace")
            except ValueError:
                return
        elif line.split(" ")[0] == "rev":
            text = text[::-1]
        elif not re.match(r"(?:tee|cat|tr -d)", line):
            return
    if text:
        yield text


def _without_redirects(words: list[str]) -> list[str]:
    """The words that are neither redirections nor what they name."""
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not _REDIRECT.fullmatch(word) and not _REDIRECT.fullmatch(before)
    ]


def _unwrapped(words: list[str], dialect: Dialect) -> str:
    for word in words:
        if not word.startswith("-") and not _ASSIGNMENT.match(word) and word not in _WRAPPERS:
            return word
    return ""


def _operands(words: list[str], with_value: frozenset[str]) -> list[str]:
    """The words from the first operand on."""
    at = 1
    while at < len(words) and ((words[at].startswith("-") and words[at] != "-") or _ASSIGNMENT.match(words[at])):
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in with_value else 1
    return words[at:]


def _wrapped(name: str, words: list[str]) -> Iterator[str | list[str]]:
    if name == "env":
        for at, word in enumerate(words[:-1]):
            if word in ("-S", "--split-string"):
                yield " ".join(words[at + 1 :])
                return
        yield from (word.partition("=")[2] for word in words if word.startswith("--split-string="))
        yield from (word[2:] for word in words if word.startswith("-S") and len(word) > 2)
    rest = _operands(words, _WRAPPERS[name])[_LEADING_OPERANDS.get(name, 0) :]
    if name == "flock" and rest[:1] == ["-c"]:
        yield " ".join(rest[1:])
    elif rest:
        yield rest


def _here_texts(command: Command) -> Iterator[str]:
    """What a here-document or a here-string gives a command to read."""
    if command.heredoc:
        yield command.heredoc
    yield from (word for before, word in zip(command.words, command.words[1:], strict=False) if before == "<<<")


def _find_actions(words: list[str]) -> Iterator[list[str]]:
    at = 0
    while at < len(words):
        if words[at] in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X"):
            stop = next((end for end in range(at + 1, len(words)) if words[end] in _FIND_ENDS), len(words))
            if words[at + 1 : stop]:
                yield words[at + 1 : stop]
            at = stop
        at += 1


def _after_option(words: list[str], option: re.Pattern[str], one: bool = False) -> Iterator[str]:
    for at, word in enumerate(words[1:-1], 1):
        if option.match(word):
            yield words[at + 1] if one else " ".join(words[at + 1 :])
            return


def _powershell(words: list[str]) -> Iterator[str]:
    for at, word in enumerate(words[1:-1], 1):
        if _ENCODED_OPTION.match(word) and (plain := _from_base64(words[at + 1], "utf-16-le")):
            yield plain
            return
        if _COMMAND_OPTION.match(word):
            yield " ".join(words[at + 1 :])
            return
    operands = [word for word in words[1:] if not word.startswith("-")]
    if operands and "-file" not in (word.lower() for word in words):
        yield " ".join(words[words.index(operands[0]) :])


def _from_base64(text: str, encoding: str) -> str | None:
    try:
        return base64.b64decode(text.strip() + "=" * (-len(text.strip()) % 4)).decode(encoding)
    except (binascii.Error, ValueError):
        return None


_SSH_OPTIONS = frozenset(f"-{letter}" for letter in "bcDEeFIiJLlmOopQRSWw")
_CONTAINER_OPTIONS = frozenset(
    ("-n", "--namespace", "-c", "--container", "-u", "--user", "-w", "--workdir", "-e", "--env", "-v", "--volume", "-p")
)


def _over_ssh(words: list[str]) -> Iterator[str]:
    rest = _operands(words, _SSH_OPTIONS)
    if len(rest) > 1:
        yield " ".join(rest[1:])


def _in_container(words: list[str]) -> Iterator[list[str]]:
    """The command after the container's or pod's name, for `exec` and `run`."""
    if "--" in words:
        rest = words[words.index("--") + 1 :]
    else:
        verb = next((at for at, word in enumerate(words) if word in ("exec", "run")), None)
        rest = [] if verb is None else _operands(words[verb:], _CONTAINER_OPTIONS)[1:]
    if rest:
        yield rest
