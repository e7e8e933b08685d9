"""Reads a crontab as the commands that it runs later: blanks the times and the users, so that the rest is a shell text
in which every command keeps its position."""

from __future__ import annotations

import re
from collections.abc import Container

_FIELD = r"(?:\*|[0-9]{1,2}(?:-[0-9]{1,2})?|[A-Za-z]{3}(?:-[A-Za-z]{3})?)(?:/[0-9]{1,2})?"
_FIELDS = rf"{_FIELD}(?:,{_FIELD}){{0,60}}"
_NICKNAMES = "reboot|yearly|annually|monthly|weekly|daily|midnight|hourly"
_TIMES = re.compile(rf"[ \t]*(?:@(?:{_NICKNAMES})|{_FIELDS}(?:[ \t]+{_FIELDS}){{4}})[ \t]+(?=\S)")
_NAME_OF_USER = re.compile(r"([a-z_][a-z0-9_-]{0,31})[ \t]+(?=(\S+))")
_USERS = frozenset(("root", "www-data", "postgres", "mysql", "nobody", "daemon", "ubuntu", "git", "redis", "jenkins"))
_SETTING = re.compile(r"[ \t]*[A-Za-z_]\w*[ \t]*=[^`$;&|]*\Z")
_PART = r"(?:(?!\.\.)[\w.{}/-]){0,100}"
_OLD = rf"/{_PART}(?<![A-Za-z])(?:logs?|backups?|te?mp|cache|archives?|dumps?|sessions?|spool)\b{_PART}"
_TEST = r"-\w{1,20}[ \t]+[^\s;&|`$]{1,100}[ \t]+"
_REMOVES = r"-delete|-exec[ \t]+(?:/bin/)?rm[ \t]+(?:-[rf]{1,2}[ \t]+)?['\"]?\{\}['\"]?[ \t]+(?:\\;|\+)"
_RETENTION = re.compile(
    rf"find[ \t]+(?:{_OLD}[ \t]+){{1,8}}(?:{_TEST}){{0,8}}-[mca]time[ \t]+\+[1-9][0-9]{{0,4}}[ \t]+"
    rf"(?:{_TEST}){{0,8}}(?:{_REMOVES})"
)


def is_crontab(text: str) -> bool:
    """Decides whether every line of a text is a time with a command, a setting or a comment."""
    return commands_of(text, frozenset()) is not None


def commands_of(text: str, programs: Container[str]) -> str | None:
    """Returns the commands of a crontab with blanks in place of the times, or None if the text is no crontab. A line
    may name a user before the command; `programs` tells users from commands. A search for old logs or backups is left
    out: most crontabs keep them for some days."""
    if not _fits(text.partition("\n")[0]):
        return None  # most texts, without a look at their other lines
    lines = text.split("\n")
    timed = False
    for number, line in enumerate(lines):
        times = _TIMES.match(line)
        if times is not None:
            timed = True
            lines[number] = _command(line, times.end(), programs)
        elif not _fits(line):
            return None
    return "\n".join(lines) if timed else None


def _fits(line: str) -> bool:
    """Decides whether a line may be in a crontab."""
    if not line.strip() or line.lstrip().startswith("#"):
        return True
    return _TIMES.match(line) is not None or _SETTING.match(line) is not None


def _command(line: str, start: int, programs: Container[str]) -> str:
    user = _NAME_OF_USER.match(line, start)
    if user is not None and (
        user[1] in _USERS
        or (user[1] not in programs and (user[2][:1] == "/" or user[2].rpartition("/")[2] in programs))
    ):
        start = user.end()
    kept = _RETENTION.match(line, start)
    if kept is not None:
        return " " * start + ":" + " " * (kept.end() - start - 1) + line[kept.end() :]
    return " " * start + line[start:]
