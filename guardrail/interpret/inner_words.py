"""Finds the words of a call that are an inner action, and the paths and values that a search or a pipe adds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from shlex import quote

from guardrail.catalogue.entries import Inner, option_name
from guardrail.catalogue.loader import Catalogue
from guardrail.facts import Facts
from guardrail.interpret.programs import entry_of
from guardrail.model import Call, Reading, Word
from guardrail.options import Parsed, parse
from guardrail.vocabulary import Language

_THIS_MACHINE = frozenset(("localhost", "127.0.0.1", "::1"))


def host_of_inner(inner: Inner, parsed: Parsed) -> str | None:
    """Returns the machine that the inner action runs on, such as `container:web`."""
    if inner.host is None:
        return None
    prefix, colon, part = inner.host.partition(":")
    if colon and prefix in ("operand", "operands", "option", "argument", "text"):
        prefix, part = parsed.program.name, inner.host
    words = parsed.part(part)
    if words and words[0].text.rpartition("@")[2] in _THIS_MACHINE:
        return None
    return f"{prefix}:{words[0].text if words else ''}"


def words_of_inner(inner: Inner, parsed: Parsed) -> Iterator[Sequence[Word]]:
    """Yields the words of each inner action."""
    words = parsed.call.words
    if inner.after:
        style, ignore_case = parsed.program.style, parsed.program.ignore_case
        at = 0
        while at < len(words):
            at += 1
            if option_name(words[at - 1].text, style, ignore_case) not in inner.after:
                continue
            start = at
            while at < len(words) and words[at].text not in inner.until:
                at += 1
            yield words[start:at][inner.skip :]
            if not inner.repeated:
                return
    elif inner.part == "rest":
        rest = words[parsed.places[inner.skip] :] if len(parsed.places) > inner.skip else ()
        if rest or inner.program is not None:
            yield _after_assignments(rest) if inner.skip_assignments else rest
    elif inner.part is not None:
        found = parsed.part(inner.part)
        if inner.language != "argv" and inner.part.startswith(("option", "value_of", "argument", "operand:")):
            yield from ([word] for word in found)
        else:
            yield found[inner.skip :]


_PARAMETER = re.compile(r"\"\$(?:\{(\d|[@*])\}|(\d|[@*]))\"|\$(?:\{(\d|[@*])\}|(\d|[@*]))")


def with_parameters(text: str, parsed: Parsed) -> str:
    """Returns the script of `sh -c` with the words after it in place of its parameters: `sh -c 'rm "$1"' _ file`. A
    parameter without a word remains."""
    words = parsed.part("operands")
    if not words or "$" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        name = next(filter(None, match.groups()))
        given = words[1:] if name in "@*" else words[int(name) : int(name) + 1]
        # A pattern that stands for the results of a search must remain a pattern.
        return " ".join(word.text if word.glob else quote(word.text) for word in given) or match[0]

    return _PARAMETER.sub(value, text)


_LIST_OF_COMMANDS = re.compile(r"\s*(?:\{\s*)?[\"']?commands?[\"']?\s*[=:]\s*(\[.*\]|[\"'].*[\"'])[\s}]*", re.DOTALL)
_LISTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'")


def listed_commands(text: str) -> str:
    """Returns the commands that a parameter of a cloud's agent lists, `{"commands": ["uptime", "df"]}` or
    `commands=["uptime"]`, one per line; otherwise the text itself."""
    listed = _LIST_OF_COMMANDS.fullmatch(text)
    if listed is None:
        return text
    return "\n".join(
        found[1].replace('\\"', '"') if found[1] is not None else found[2] for found in _LISTED.finditer(listed[1])
    )


def _after_assignments(words: Sequence[Word]) -> Sequence[Word]:
    at = 0
    while at < len(words) and "=" in words[at].text and words[at].text.partition("=")[0].isidentifier():
        at += 1
    return words[at:]


def typed(words: Sequence[Word]) -> str:
    """Returns the lines that arrive in a terminal if these words are typed there: `'ls -l' Enter`, `'ls -l^M'`."""
    return "".join(_KEYS.get(word.text.lower()) or _LINE_ENDS.sub("\n", word.text) for word in words)


_KEYS = {**dict.fromkeys(("enter", "kpenter", "c-m", "c-j"), "\n"), "space": " ", "c-c": "\n", "c-u": "\n"}
_LINE_ENDS = re.compile(r"\\(?:[nr]|0?1[25]|x0[ad])|\^[MJ]|\$\(printf ['\"]?\\+(?:[nr]|0?1[25])['\"]?\)")


_BEFORE_COMMAND = re.compile(r"(ext::)|[\w.:-]+=!?")


def command_in(text: str) -> str:
    """Returns the command that a setting or an address names: `exec=CMD`, `ui.ssh=CMD`, and `ext::CMD`, in which `% `
    is a blank."""
    before = _BEFORE_COMMAND.match(text)
    command = text[before.end() :] if before else text
    return command.replace("% ", " ").replace("%%", "%") if before and before[1] else command


def found_by_search(parsed: Parsed) -> list[Word]:
    """Returns the paths that a search such as `find` yields: its start directories, joined with the names that it looks
    for."""
    words = parsed.call.words
    first = min((option.at for option in parsed.options), default=len(words))
    starts = [word for word, at in zip(parsed.operands, parsed.places, strict=True) if at < first and word.text != "!"]
    starts = starts or [Word(".", parsed.call.span)]
    names = [
        option.value
        for option in parsed.options
        if option.value is not None and option.name in _NAMES and words[option.at - 1].text not in ("!", "-not")
    ]
    extensions = [option.value for option in parsed.options if option.name in ("-e", "--extension") and option.value]
    names += [replace(word, text=f"*.{word.text.lstrip('.')}") for word in extensions]
    if any(option.name == "-empty" for option in parsed.options):
        names = names or [Word("[empty]", parsed.call.span)]  # the paths found are empty
    filtered = any(option.name in _FILTERS for option in parsed.options)
    found = []
    for start in starts:
        base = start.text.rstrip("/")
        for name in [word.text for word in names] or ["[found]" if filtered else "*"]:
            text = f"{base}/{name.removeprefix('./').removeprefix('*/')}"
            empty = None if start.if_empty is None else f"{start.if_empty.rstrip('/')}/*"
            found.append(Word(text, start.span, start.known, glob=True, if_empty=empty))
    return found


_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "--glob"))
_FILTERS = frozenset(
    (
        *("-regex", "-iregex", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-newer", "-size"),
        *("-user", "-group", "-perm", "-samefile", "-inum", "-uid", "-gid", "-nouser", "-nogroup", "-links", "-xtype"),
    )
)


def with_piped(words: Sequence[Word], parsed: Parsed, piped: Sequence[Word]) -> Sequence[Word]:
    """Returns the command of `xargs` with the piped words: in the places that `-I` marks, else at the end."""
    named = [value.text for option in ("-I", "-J", "--replace") for value in parsed.values_of(option)]
    placeholder = named[0] if named and named[0] else "{}"
    if any(placeholder in word.text for word in words):
        return replaced(words, placeholder, piped or [Word("$(stdin)", parsed.call.span, known=False)])
    return [*words, *piped]


def selected_by_client(
    words: Sequence[Word], source: Call | Word | None, *, picked: bool, catalogue: Catalogue
) -> list[Word] | None:
    """Returns the words that select what a client lists, for a command of the same client that gets the list from a
    pipe: `kubectl get pods -l app=web -o name | xargs kubectl delete` deletes as `kubectl delete pods -l app=web`.
    `picked` is true if a filter after the list keeps only lines that match a pattern. Returns None for other lists, for
    unlimited lists, and if the command takes the words anywhere but at its end."""
    while isinstance(source, Call) and isinstance(source.stdin, Call):
        if source.program not in _REDUCE:
            return None
        source = source.stdin
    if not isinstance(source, Call) or not words or not words[0].known:
        return None
    client = entry_of(catalogue, source.program)
    if client is None or client.name != "kubectl" or entry_of(catalogue, words[0].text) is not client:
        return None
    lister = parse(client, source)
    command = parse(client, replace(source, words=tuple(words[1:])))
    if lister.path != ["get"] or len(lister.operands) != 1 or any("{" in word.text for word in words):
        return None
    limits = [
        word
        for option in lister.options
        if option.name in _SELECTS and option.value is not None
        for word in (Word(option.name, source.span), option.value)
    ]
    if not limits and picked:
        limits = [Word("--selector", source.span), Word("$(picked)", source.span, known=False)]
    names = any(option.value is not None and option.value.text == "name" for option in lister.options)
    if not limits or not (command.operands or names):
        return None
    everywhere = [Word(name, source.span) for name in ("--all-namespaces",) if lister.has("-A") or lister.has(name)]
    return [*(() if command.operands else lister.operands), *limits, *everywhere]


_REDUCE = frozenset(("grep", "egrep", "rg", "awk", "gawk", "head", "tail", "sort", "uniq", "cut", "tr", "sed"))
"""Programs that pass on lines of a list, or parts of them."""
_SELECTS = frozenset(("-l", "--selector", "--field-selector"))


def replaced(words: Sequence[Word], placeholder: str, found: Sequence[Word]) -> Sequence[Word]:
    """Replaces a placeholder in words with the paths found or the piped words."""
    replaced: list[Word] = []
    for word in words:
        if word.text == placeholder:
            replaced += found
        elif placeholder in word.text and found:
            text = word.text.replace(placeholder, found[0].text)
            replaced.append(Word(text, word.span, word.known and found[0].known, glob=True))
        else:
            replaced.append(word)
    return replaced


def mounts_of(parsed: Parsed) -> tuple[tuple[str, str], ...]:
    """Returns the mounts of a new container as paths inside with the path on this machine, the longest path first."""
    mounts = []
    for option in parsed.options:
        value = option.value.text if option.value is not None else ""
        if option.name in ("-v", "--volume"):
            outside, _, rest = value.partition(":")
            mounts.append((rest.partition(":")[0], outside))
        elif option.name == "--mount":
            fields = dict(field.partition("=")[::2] for field in value.split(","))
            inside = fields.get("target") or fields.get("destination") or fields.get("dst") or ""
            mounts.append((inside, fields.get("source") or fields.get("src") or ""))
    named = [(inside.rstrip("/").lower() or "/", outside) for inside, outside in mounts if inside.startswith("/")]
    return tuple(sorted(named, key=lambda mount: -len(mount[0])))


def substitution(text: str) -> str | None:
    """Returns the inner command if the text is exactly one command substitution."""
    stripped = text.strip().strip('"')
    if stripped.startswith("$(") and stripped.endswith(")") and not stripped.startswith("$(("):
        return stripped[2:-1] if _closes_last(stripped[1:]) else None
    if len(stripped) > 2 and stripped[0] == stripped[-1] == "`" and "`" not in stripped[1:-1]:
        return stripped[1:-1]
    return None


def _closes_last(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at + 1 == len(text)
    return False


def read_as(text: str, language: str, facts: Facts, catalogue: Catalogue) -> Reading:
    """Reads a text in the language that the catalogue or a caller names; `auto` detects the language."""
    if language == "auto":
        from guardrail.reading import read

        return read(text, facts, catalogue)
    return _reader(language)(text)


def _reader(language: str) -> Callable[[str], Reading]:
    from guardrail.reading import reader_of

    return reader_of(Language(language))
