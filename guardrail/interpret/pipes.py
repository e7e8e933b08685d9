"""Finds what a call receives from a pipe, a redirection or a here-string, and what it prints or saves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from guardrail import environment
from guardrail.interpret.frame import MAX_DEPTH
from guardrail.model import Call, Word
from guardrail.options import Parsed
from guardrail.paths.spelling import is_nowhere

_CONNECTIONS = frozenset(("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd", "telnet", "socat"))
_ENDLESS = frozenset(("/dev/zero", "/dev/urandom", "/dev/random"))
_SAVES = frozenset(("-o", "-O", "--output", "--remote-name", "-sSLo", "-fsSLo", "-Lo", "-sLo"))
_NETWORK = re.compile(r"/dev/(tcp|udp)/([^/\s]+)/([^/\s]+)")


def never_ends(call: Call) -> bool:
    """Decides whether a program prints until the disk is full."""
    return call.program == "yes" or (call.program == "cat" and bool(call.words) and call.words[0].text in _ENDLESS)


def saves_download(call: Call) -> bool:
    """Decides whether a client saves its download in a file, so that it prints nothing."""
    following = zip(call.words, (*call.words[1:], None), strict=True)
    return any(word.text in _SAVES and (after is None or after.text != "-") for word, after in following)


def connection_of(source: Call | Word) -> str | None:
    """Returns the other end of a bare connection in a pipe, which can send any command."""
    here: Call | Word | None = source
    while isinstance(here, Call):
        words = [word.text for word in here.words]
        if here.program in _CONNECTIONS or (here.program == "openssl" and "s_client" in words):
            return " ".join((here.program, *words))
        here = here.stdin
    return None


def network_address(path: str) -> str | None:
    """Returns the address in a path through which bash opens a connection: `/dev/tcp/host/port`."""
    found = _NETWORK.match(path) if path.startswith("/dev/") else None
    return f"{found[1]}://{found[2]}:{found[3]}" if found else None


def prints_nothing(call: Call) -> bool:
    """Decides whether a redirection of the call's output only empties a file."""
    if call.program in (":", "true"):
        return call.stdin is None
    if call.program not in ("cat", "echo", "printf"):
        return False
    words = [word.text for word in call.words if not word.text.startswith("-")]
    if call.program == "cat":
        return words == ["/dev/null"] or (not words and receives_nothing(call))
    return not any(words)


def receives_nothing(call: Call) -> bool:
    """Decides whether the input of a call is empty: `tee x < /dev/null`, `cat /dev/null | tee x`."""
    if isinstance(call.stdin, Call):
        return prints_nothing(call.stdin)
    return any(found.operator == "<" and found.target.text == "/dev/null" for found in call.redirections)


def dumps_database(source: Call | Word | None) -> bool:
    """Decides whether a pipe begins with a copy of a database."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        source = source.stdin
    return isinstance(source, Call) and source.program in _DUMPS


_DUMPS = frozenset(("mysqldump", "mariadb-dump", "pg_dump", "pg_dumpall", "mongodump", "mongoexport"))


def decodes(source: Call | Word | None) -> bool:
    """Decides whether the input of a pipe comes from a program that decodes text into other content."""
    for _ in range(MAX_DEPTH):
        if not isinstance(source, Call):
            return False
        options = _DECODERS.get(source.program)
        if options is not None and (not options or any(word.text in options for word in source.words)):
            return True
        source = source.stdin
    return False


_DECODERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("base64", "base32", "basenc"), frozenset(("-d", "-D", "--decode", "-di"))),
    "xxd": frozenset(("-r", "-rp", "-p")),
    "openssl": frozenset(("-d",)),
    "rev": frozenset(),
    "uudecode": frozenset(),
}
"""Programs that decode, with the options that make them do so; a program without options always decodes."""


def written_text(call: Call) -> str | None:
    """Returns the text that a call writes if it is constant, with variables by their names."""
    source: Call | Word | None = call
    if call.program in ("tee", "cat"):
        source = call.stdin
    if isinstance(source, Word):
        return source.text
    if not isinstance(source, Call) or source.program not in ("echo", "printf"):
        return None
    words = [word.text for word in source.words if word.text not in ("-e", "-n", "-E", "-ne", "-en", "--")]
    return " ".join(words).replace("\\n", "\n")


def prints_environment(source: Call | Word | None) -> bool:
    """Decides whether a pipe begins with the whole environment, including keys and passwords."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        source = source.stdin
    return isinstance(source, Call) and environment.prints_everything(
        source.program, [word.text for word in source.words]
    )


def lists_what_ended(source: Call | Word | None) -> bool:
    """Decides whether a pipe selects what failed or ended, or what is already gone: `kubectl get pods | grep Evicted`,
    `systemctl --failed`, `git ls-files -d`."""
    while isinstance(source, Call):
        words = [word.text for word in source.words]
        if source.program == "git" and words[:1] == ["ls-files"]:
            return bool(_GONE & set(words)) and all(word in _ONLY_GONE for word in words[1:] if word.startswith("-"))
        if source.program == "systemctl" and not _FAILED.isdisjoint(words):
            return True
        if source.program in _FILTERS and not _inverts(source) and any(map(_ENDED.search, words)):
            return True
        source = source.stdin
    return False


def picks_by_pattern(source: Call | Word | None) -> bool:
    """Decides whether a filter in a pipe keeps only the lines that match a pattern with some letters: `grep worker`."""
    while isinstance(source, Call):
        if source.program in _FILTERS and not _inverts(source):
            patterns = [word.text for word in source.words if not word.text.startswith("-")][:1]
            if source.program in _AWKS:
                patterns = [match[1] for text in patterns for match in _LINES_OF_AWK.finditer(text)]
            if any(_LETTERS.search(pattern) for pattern in patterns):
                return True
        source = source.stdin
    return False


def _inverts(call: Call) -> bool:
    if call.program in _AWKS:
        return any("!" in word.text for word in call.words)
    return any(word.text.startswith("-") and "v" in word.text for word in call.words)


_GONE = frozenset(("-d", "--deleted"))
_ONLY_GONE = _GONE | {"-z", "-t", "--full-name"}
_FAILED = frozenset(("--failed", "--state=failed"))
_AWKS = frozenset(("awk", "gawk"))
_FILTERS = _AWKS | {"grep", "egrep", "rg"}
_LINES_OF_AWK = re.compile(r"(?:^|[\s&|(~])/([^/\n]{1,200})/")
_LETTERS = re.compile(r"[^\W_]{2}")
_ENDED = re.compile(
    r"(?i)(?:^|\W)(?:evicted|completed|succeeded|failed|error|crashloopbackoff|imagepullbackoff|exited)(?:\W|$)"
)


def prints_secrets(source: Call | Word | None, hosts: Sequence[str]) -> bool:
    """Decides whether a pipe or here-string contains a variable whose name marks it as a secret."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        source = source.stdin
    words = source.words if isinstance(source, Call) and source.program in _PRINTERS else ()
    words = (source,) if isinstance(source, Word) else words
    return any(not word.known and environment.foreign_secrets(word.text, hosts) for word in words)


_PRINTERS = frozenset(("echo", "printf", "cat"))


def waits_for_typing(parsed: Parsed) -> bool:
    """Decides whether a shell gets neither a command nor a script nor piped input."""
    call = parsed.call
    fed = call.stdin is not None or any(
        redirection.operator == "<" and not is_nowhere(redirection.target.text) for redirection in call.redirections
    )
    return not parsed.operands and not fed and not any(option.value is not None for option in parsed.options)
