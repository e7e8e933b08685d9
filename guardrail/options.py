"""Parses a call's words as its program does: options by style, subcommands, operands, and the parts that catalogue rows
name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from guardrail.catalogue.entries import Condition, Inner, Program, Subcommand, beginnings, option_name, pattern
from guardrail.model import Call, Word
from guardrail.record import record

GROUP_DEPTH = 4
OFF = frozenset(("false", "no", "none", "off", "0", "$false"))


@record
class Option:
    """An option in its normalised spelling, its value if it has one, and the index of its word in the call. `attached`
    is true if the value is in the same word, as in `--dry-run=client`."""

    name: str
    value: Word | None
    at: int
    attached: bool = False

    @property
    def on(self) -> bool:
        """True unless the option is switched off, like `--force=false`."""
        return not (self.attached and self.value is not None and self.value.text.lower() in OFF)


@dataclass(slots=True)
class Parsed:
    """A call's words as its program parses them. `levels` goes from the program to the innermost subcommand, `path`
    contains the words of the subcommands, `places` the index of each operand's word in the call. `unlisted` is the word
    of a subcommand that the catalogue lacks."""

    program: Program
    call: Call
    levels: list[Subcommand]
    path: list[str] = field(default_factory=list)
    options: list[Option] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    unlisted: str | None = None
    only_shows_help: bool = False

    @property
    def level(self) -> Subcommand:
        """The innermost level."""
        return self.levels[-1]

    def without_effect(self) -> bool:
        """Decides whether the call only prints help or only reports what it would do."""
        return self.only_shows_help or (
            bool(self.options) and any(self.has(option) for level in self.levels for option in level.without_effect)
        )

    def has(self, name: str) -> bool:
        """Decides whether the option is present and not switched off. A name such as `--name=value` also requires that
        value."""
        # A loop, since this runs for each option that some row names.
        for option in self.options:
            if option.name == name and option.on:
                return True
        if not self.options or "=" not in name:
            return False
        head, _, value = name.partition("=")
        return any(
            option.name == head and option.value is not None and option.value.text == value for option in self.options
        )

    def values_of(self, name: str) -> list[Word]:
        """Returns the values of all options with this name, in order."""
        return [option.value for option in self.options if option.name == name and option.value is not None]

    def argument(self, spellings: str) -> Word | None:
        """Returns the first given argument among alternatives such as `1|path`, or None."""
        for spelling in spellings.split("|"):
            if spelling.isdecimal():
                if 0 < int(spelling) <= len(self.operands):
                    return self.operands[int(spelling) - 1]
                continue
            name = spelling.lower() if self.program.ignore_case else spelling
            for option in self.options:
                if option.value is not None and option.name.lstrip("-") == name:
                    return option.value
        return None

    def part(self, part: str) -> list[Word]:
        """Returns the words that a part such as `operand:1` or `option:-o` names. The interpreter handles `stdin`."""
        name, _, rest = part.partition(":")
        if name == "operands":
            return _slice(self.operands, rest)
        if name == "operand":
            if rest == "last":
                return self.operands[-1:]
            return self.operands[int(rest) - 1 : int(rest)]
        if name in ("option", "pair"):
            return self.values_of(rest)
        if name == "options":
            return [
                option.value
                for option in self.options
                if option.value is not None and pattern(rest).search(option.name)
            ]
        if name == "argument":
            found = self.argument(rest)
            return [found] if found is not None else []
        if name == "value_of":
            return [value for word in self.part(rest) if (value := _value_of(word)) is not None]
        if name == "at_file":
            return [file for word in self.part(rest) if (file := _at_file(word)) is not None]
        if name == "text":
            return [Word(rest, self.call.span)]
        return []

    def holds(self, condition: Condition | None) -> bool:
        """Decides whether the condition is met in all its parts."""
        if condition is None:
            return True
        if condition.any_option and not any(self.has(name) for name in condition.any_option):
            return False
        if not all(self.has(name) for name in condition.all_options):
            return False
        if any(self.has(name) for name in condition.no_option):
            return False
        if condition.stdin is not None and condition.stdin != self.is_fed():
            return False
        if condition.operands is not None:
            least, most = condition.operands
            if len(self.operands) < least or (most is not None and len(self.operands) > most):
                return False
        for name, expression in condition.option_value:
            if not _found(expression, self.values_of(name)):
                return False
        for position, expression in condition.operand:
            words = self.operands if position == "any" else self.part(f"operand:{position}")
            if not _found(expression, words):
                return False
        for spellings, expression in condition.argument:
            argument = self.argument(spellings)
            if argument is None or not _found(expression, (argument,)):
                return False
        if condition.no_operand is not None and _found(condition.no_operand, self.operands):
            return False
        if condition.inverse is not None and self.holds(condition.inverse):
            return False
        return not condition.any_of or any(self.holds(inner) for inner in condition.any_of)

    def is_fed(self) -> bool:
        """Decides whether the call reads from a pipe or a redirection."""
        return self.call.stdin is not None or any(redirection.operator == "<" for redirection in self.call.redirections)


def parse(program: Program, call: Call) -> Parsed:
    """Parses the call's words as its program does."""
    return _Parser(program, call).run()


class _Parser:
    def __init__(self, program: Program, call: Call) -> None:
        self.program = program
        self.words = call.words
        self.parsed = Parsed(program, call, [program.level])
        self.values: frozenset[str] = frozenset()
        self.known: frozenset[str] = frozenset()
        self.looking = True  # for a subcommand
        self.groups = 0
        self.operands_before_end: int | None = None
        self.at = 0
        self.begins: dict[str, tuple[str, ...]] = {}  # options that another command follows, with the words that end it
        self._enter(program.level)

    def run(self) -> Parsed:
        words = self.words
        functional = ":" in self.program.name
        if self.program.bundled and words and not words[0].text.startswith("-") and words[0].name is None:
            self._bundle()
        while self.at < len(words):
            word = words[self.at]
            self.at += 1
            if word.name is not None and functional:
                self.parsed.options.append(Option(self._name(word.name), word, self.at - 1, attached=True))
            elif self._ended():
                self._operand(word)
            elif word.text == "--" and self.program.style in ("posix", "single_dash", "pairs"):
                self.operands_before_end = 0
                self.parsed.options.append(Option("--", None, self.at - 1))
            elif not self._option(word):
                self._word(word)
        self._help()
        return self.parsed

    def _ended(self) -> bool:
        """Decides whether all further words are operands, whatever they look like."""
        limit = self.operands_before_end
        return limit is not None and len(self.parsed.operands) >= limit

    def _enter(self, level: Subcommand) -> None:
        self.values = (self.values - level.switches) | level.values if self.values else level.values
        self.known = self.known | level.known_options if self.known else level.known_options
        self.looking = level.subcommands is not None or level.groups
        if level.inner:
            self.begins |= {name: inner.until for inner in level.inner if inner.until for name in inner.after}
            rest = [at for inner in level.inner if (at := _command_begins(inner)) is not None]
            if rest:
                self.operands_before_end = min(rest)
        if level.stop_at_operand:
            self.operands_before_end = 1

    def _name(self, name: str) -> str:
        return option_name(name, self.program.style, self.program.ignore_case)

    def _operand(self, word: Word) -> None:
        self.parsed.operands.append(word)
        self.parsed.places.append(self.at - 1)

    def _word(self, word: Word) -> None:
        """Parses a word that is not an option: a pair, a subcommand or an operand."""
        if self.program.style == "pairs" and "=" in word.text:
            name, _, _ = word.text.partition("=")
            self.parsed.options.append(Option(name, _tail(word, len(name) + 1), self.at - 1, attached=True))
            return
        if self.looking and self._subcommand(word):
            return
        self._operand(word)

    def _subcommand(self, word: Word) -> bool:
        name = word.text.lower() if self.program.ignore_case else word.text
        found = self._level(name) if word.known else None
        if found is not None:
            self.parsed.levels.append(found)
            self.parsed.path.append(name)
            self.groups = 0
            self._enter(found)
            return True
        self.looking = False
        if name == "help" or name == "version":
            self.parsed.only_shows_help = True
            return True
        if word.known and self.groups < GROUP_DEPTH and any(level.groups for level in self.parsed.levels):
            self.groups += 1
            self.looking = True
            self.parsed.path.append(name)
            self.parsed.unlisted = name
            return True
        if not any(level.other_subcommands_harmless for level in self.parsed.levels):
            self.parsed.unlisted = word.text
        return False

    def _level(self, name: str) -> Subcommand | None:
        """Returns the level that the word leads to: listed subcommands first, then patterns, inner levels before outer
        ones."""
        levels = [level for level in reversed(self.parsed.levels) if level.subcommands is not None or level.groups]
        inner = self.parsed.level
        found = inner.subcommands.get(name) if inner.subcommands is not None else None
        if found is None:
            found = next(
                (inner for level in levels for match, inner in level.patterns if pattern(match).search(name)), None
            )
        if found is not None:
            self.parsed.unlisted = None
        return found

    # Options

    def _option(self, word: Word) -> bool:
        text = word.text
        style = self.program.style
        if word.name is not None or len(text) < 2:
            return False
        if style == "windows":
            return self._windows_option(word)
        if text[0] != "-":
            return False
        if style == "powershell":
            self._powershell_option(word)
        elif style == "single_dash" or text.startswith("--"):
            self._long_option(word)
        else:
            self._cluster(word)
        return True

    def _add(self, name: str, value: Word | None, attached: bool = False) -> None:
        at = self.at - 1
        if name in self.begins:
            while self.at < len(self.words) and self.words[self.at].text not in self.begins[name]:
                self.at += 1
        elif value is None and self._takes_value(name) and self.at < len(self.words):
            value = self.words[self.at]
            self.at += 1
        self.parsed.options.append(Option(name, value, at, attached))

    def _takes_value(self, name: str) -> bool:
        if name in self.values:
            return True
        flags = next((level.flags for level in reversed(self.parsed.levels) if level.flags is not None), None)
        if flags is None or name.startswith("--no-"):
            return False
        if any(level.flags is not None and name in level.flags for level in self.parsed.levels):
            return False
        return self.at < len(self.words) and not _looks_like_option(self.words[self.at])

    def _long_option(self, word: Word) -> None:
        head, equals, _ = word.text.partition("=")
        name = self._name(head)
        if self.program.prefixes and name not in self.known and len(name) > 3:
            fitting = {known for known in self.known if known.startswith(name)}
            name = fitting.pop() if len(fitting) == 1 else name
        if equals:
            self._add(name, _tail(word, len(head) + 1), attached=True)
        else:
            self._add(name, None)

    def _cluster(self, word: Word) -> None:
        """Parses `-rf` as `-r -f`; the text after an option with a value is that value."""
        text = word.text
        head, equals, _ = text.partition("=")
        if (
            text in self.known
            or text in ("-version", "-help")
            or text[1:].isdecimal()
            or (not word.known and text[1:2] in "$`")
        ):
            self._add(self._name(text), None)
        elif equals and head in self.known:
            self._add(self._name(head), _tail(word, len(head) + 1), attached=True)
        else:
            self._letters(word, 1)

    def _letters(self, word: Word, start: int) -> None:
        text = word.text
        for at in range(start, len(text)):
            name = self._name(f"-{text[at]}")
            last = at + 1 == len(text)
            if name in self.values and not last:
                self._add(name, _tail(word, at + (2 if text[at + 1] == "=" else 1)), attached=False)
                return
            if last:
                self._add(name, None)
            else:
                self.parsed.options.append(Option(name, None, self.at - 1))

    def _bundle(self) -> None:
        """Parses the first word of `tar xzf a.tgz` as a cluster without a dash; the values follow in order."""
        word = self.words[0]
        self.at = 1
        for letter in word.text:
            self._add(self._name(f"-{letter}"), None)

    def _windows_option(self, word: Word) -> bool:
        text = word.text
        if text.startswith("--"):
            self._long_option(word)
            return True
        if text[0] == "-":
            text = "/" + text[1:]
        if text[0] != "/" or not (text[1].isalnum() or text[1] == "?"):
            return False
        name = _WINDOWS_NAME.match(text)
        pieces = text[1:].split("/") if name is None else ()
        if len(pieces) > 1:
            if not all(len(piece) in (1, 2) and piece.isalnum() for piece in pieces):
                return False
            for piece in pieces:
                self.parsed.options.append(Option(self._name(f"/{piece}"), None, self.at - 1))
            return True
        if name is not None:
            head = name[0][:-1]
            self._add(self._name(head), _tail(word, len(head) + 1), attached=True)
            return True
        self._add(self._name(text), None)
        return True

    def _powershell_option(self, word: Word) -> None:
        head, colon, _ = word.text.partition(":")
        name = self._name(head)
        if name not in self.known:
            fitting = {known for known in self.known if known.startswith(name)}
            name = fitting.pop() if len(fitting) == 1 else name
        if colon and len(word.text) > len(head) + 1:
            self._add(name, _tail(word, len(head) + 1), attached=True)
        else:
            self._add(name, None)

    def _help(self) -> None:
        """Recognises help: `--help` anywhere, `-h` and `--version` as the only word, `help` and `version` as a
        subcommand."""
        parsed = self.parsed
        names = {option.name for option in parsed.options if option.value is None or not option.attached}
        if not _HELP.isdisjoint(names) and not names & self.values & {"--help", "-help"}:
            parsed.only_shows_help = True
        elif len(parsed.options) == 1 and not parsed.operands and parsed.options[0].value is None:
            parsed.only_shows_help = bool(names & {"-h", "--version", "-version", "-V"})
        elif (
            len(parsed.operands) == 1
            and parsed.operands[0].text == "help"
            and len(parsed.levels) > 1
            and any(level.groups for level in parsed.levels)
        ):
            parsed.only_shows_help = True


_HELP = frozenset(("--help", "-help", "/?", "-?"))
_WINDOWS_NAME = re.compile(r"/[^/:=,]*[:=,]")
"""The name of a Windows option whose value is in the same word, such as `/i:http://x/a.sct`."""


def _command_begins(inner: Inner) -> int | None:
    """Returns the number of the operand that starts an inner command: all further words belong to that command."""
    if inner.part in ("rest", "operands"):
        return inner.skip + 1
    if inner.part is not None and inner.part.startswith("operands:") and inner.part.endswith("-"):
        return int(inner.part.removeprefix("operands:").removesuffix("-"))
    return None


def _looks_like_option(word: Word) -> bool:
    return len(word.text) > 1 and word.text[0] == "-" and not word.text[1].isdigit()


def _tail(word: Word, start: int) -> Word:
    """Returns the part of a word from a position on, as a new word."""
    head = word.text[:start]
    empty = word.if_empty
    if empty is not None:
        empty = empty[start:] if empty.startswith(head) else None
    text = word.text[start:]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return Word(text, word.span, word.known, word.glob, empty)


def _at_file(word: Word) -> Word | None:
    """Returns the file in `@name` or `field=@name`; curl also reads the text in `<name` from a file."""
    text = word.text
    if text.startswith("@"):
        return _tail(word, 1)
    for mark in ("=@", "=<"):
        at = text.find(mark)
        if at > 0:
            file = _tail(word, at + 2)
            name, semicolon, _ = file.text.partition(";")
            return Word(name, file.span, file.known, file.glob) if semicolon else file
    return None


def _value_of(word: Word) -> Word | None:
    """Returns the text after `name=` or `name `, without the mark of a command: `alias.x=!cmd`, `ProxyCommand cmd`."""
    found = _SETTING.match(word.text)
    return _tail(word, found.end()) if found else None


_SETTING = re.compile(r"\s*[\w.-]+(?:\s*=\s*|\s+)!?")


def _slice(words: Sequence[Word], spelled: str) -> list[Word]:
    if not spelled:
        return list(words)
    start, _, end = spelled.partition("-")
    first = int(start) - 1 if start else 0
    if not end:
        return list(words[first:])
    return list(words[first:-1] if end == "last" else words[first : int(end)])


def _found(expression: str, words: Iterable[Word]) -> bool:
    compiled, begins = pattern(expression), beginnings(expression)
    for word in words:
        text = word.text
        # Most expressions are anchored at the beginning, and most words begin differently.
        if begins and text.isascii() and not text.lower().startswith(begins):
            continue
        if compiled.search(text):
            return True
    return False
