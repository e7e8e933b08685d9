"""Builds shell words from their pieces: splits, expands and cuts text. Parses no syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import translate
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from guardrail.model import Span, Word

MAX_BRACES = 256  # words that braces expand one word to
MAX_RANGE = 64  # numbers or letters of `{1..1000}`, which are alike
MAX_BRACE_DEPTH = 12
MAX_TEXT = 64 * 1024  # characters of a word

_GLOB = re.compile(r"[*?\[{]")


class Piece(NamedTuple):
    """A part of a word. `empty` is its text if unresolved variables are empty; `split` is true if blanks in it end a
    word; `glob` is true if it was already matched against files."""

    text: str
    known: bool = True
    quoted: bool = False
    split: bool = False
    empty: str | None = None
    glob: bool = False


BREAK = Piece("", quoted=True)  # between the fields of "${array[@]}", compared by identity


class Value(NamedTuple):
    """The content of a variable: one field, or those of an array."""

    fields: tuple[tuple[Piece, ...], ...]
    array: bool = False


def make_word(pieces: Sequence[Piece], span: Span) -> Word:
    text = "".join(piece.text for piece in pieces)
    known = all(piece.known for piece in pieces)
    if_empty = None
    if not known and any(piece.empty is not None for piece in pieces):
        if_empty = "".join(piece.text if piece.empty is None else piece.empty for piece in pieces)
    glob = any(piece.glob or (not piece.quoted and _GLOB.search(piece.text)) for piece in pieces if piece.known)
    return Word(text, span, known=known, glob=glob, if_empty=if_empty)


def in_double_quotes(text: str) -> str:
    return re.sub(r'\\(?:([$`"\\])|\n)', r"\1", text) if "\\" in text else text


def pieces_of(word: Word) -> tuple[Piece, ...]:
    return (Piece(word.text, word.known, empty=word.if_empty, glob=word.glob),)


def inserted(fields: Sequence[Sequence[Piece]], quoted: bool, joined: bool) -> list[Piece]:
    """Returns the pieces of a value at the position where it is used."""
    pieces: list[Piece] = []
    for index, part in enumerate(fields):
        if index:
            pieces.append(Piece(" ", quoted=True) if joined else BREAK)
        pieces += [piece._replace(quoted=quoted, split=not quoted and piece.known) for piece in part]
    return pieces


def constant_text(fields: Sequence[Sequence[Piece]]) -> str | None:
    """Returns the text of a value with one field, if it is known."""
    if len(fields) > 1 or not all(piece.known for part in fields for piece in part):
        return None
    return "".join(piece.text for part in fields for piece in part)


def is_empty(value: Value) -> bool:
    return all(piece.known and not piece.text for part in value.fields for piece in part)


def added(first: Value, second: Value, array: bool) -> Value:
    if first.array or second.array or array:
        return Value(first.fields + second.fields, array=True)
    head, tail = (first.fields[0] if first.fields else ()), (second.fields[0] if second.fields else ())
    if head and tail and BREAK not in (head[-1], tail[0]) and len(head[-1].text) < _LONGEST_JOINED:
        text = head[-1].text + tail[0].text
        if head[-1]._replace(text=text) == tail[0]._replace(text=text):
            return Value(((*head[:-1], tail[0]._replace(text=text), *tail[1:]),))
    return Value((head + tail,))


_LONGEST_JOINED = 4_096
"""Maximum length of a piece that another one is joined to: many short additions yield few pieces, and long texts are
not copied for each."""


def without_key(word: Word) -> Word:
    """Removes the `[key]=` before an element of an array."""
    match = re.match(r"\[[^\]]*\]=", word.text)
    return replace(word, text=word.text[match.end() :], glob=False) if match else word


def after_equals(word: Word) -> str | None:
    return None if word.if_empty is None else word.if_empty.partition("=")[2]


def fields_of(pieces: Sequence[Piece], separators: str) -> Iterator[list[Piece]]:
    """Splits inserted text at blanks, and drops words that become empty."""
    if not any(piece.split or piece is BREAK for piece in pieces):
        if pieces:
            yield list(pieces)
        return
    current: list[Piece] = []
    whole = False  # a quoted or literal part is a word even if it is empty
    for piece in pieces:
        if piece is BREAK:
            if current or whole:
                yield current or [piece]
            current, whole = [], False
        elif not piece.split or not piece.known:
            current.append(piece)
            whole = True
        else:
            parts = re.split("[" + re.escape(separators) + "]+", piece.text) if separators else [piece.text]
            for index, part in enumerate(parts):
                if index:
                    if current or whole:
                        yield current
                    current, whole = [], False
                if part:
                    current.append(piece._replace(text=part))
    if current or whole:
        yield current


def braced(pieces: list[Piece]) -> list[list[Piece]]:
    """Expands the braces `{a,b}` and `{1..3}` outside quotes. More words than `MAX_BRACES` mean that the result is
    incomplete."""
    written = [piece for piece in pieces if not piece.quoted and not piece.split and piece.known and "{" in piece.text]
    if not written or not any("}" in piece.text for piece in pieces):
        return [pieces]
    atoms: list[Piece] = []
    for piece in pieces:
        if piece.quoted or piece.split or not piece.known:
            atoms.append(piece)
        else:
            atoms += [piece._replace(text=part) for part in re.split(r"([{},])", piece.text) if part]
    return [_merged(expanded) for expanded in _expanded(atoms, MAX_BRACE_DEPTH)]


def _merged(atoms: Sequence[Piece]) -> list[Piece]:
    return list(atoms) or [Piece("", quoted=False)]


def _expanded(atoms: list[Piece], depth: int) -> list[list[Piece]]:
    if depth == 0:
        return [_joined(atoms)]  # a long rest is part of every word
    for start, end, commas in _groups_in_braces(atoms):
        options = _options(atoms[start + 1 : end], [comma - start - 1 for comma in commas])
        if not options:
            continue
        tails = _expanded(atoms[end + 1 :], depth - 1)
        expanded = (
            atoms[:start] + head + tail for option in options for head in _expanded(option, depth - 1) for tail in tails
        )
        return list(islice(expanded, MAX_BRACES + 1))
    return [atoms]


def _joined(atoms: Sequence[Piece]) -> list[Piece]:
    """Returns the atoms, with consecutive plain ones joined."""
    joined: list[Piece] = []
    for is_plain, together in groupby(atoms, lambda atom: atom is not BREAK and atom == Piece(atom.text)):
        run = list(together)
        joined += [Piece("".join(atom.text for atom in run))] if is_plain else run
    return joined


def _groups_in_braces(atoms: Sequence[Piece]) -> Iterator[tuple[int, int, list[int]]]:
    """Yields the positions of braces and of their commas, in the order in which the braces open. It reads only as far
    as the outermost braces that the caller consumes: each group in a row is expanded with the rest of the row."""
    groups: list[tuple[int, int, list[int]]] = []
    opened: list[tuple[int, list[int]]] = []
    for index, atom in enumerate(atoms):
        mark = "" if atom.quoted else atom.text
        if mark == "{":
            opened.append((index, []))
        elif mark == "," and opened:
            opened[-1][1].append(index)
        elif mark == "}" and opened:
            start, commas = opened.pop()
            groups.append((start, index, commas))
            if not opened:
                yield from sorted(groups, key=itemgetter(0))
                groups = []
    yield from sorted(groups, key=itemgetter(0))


def _options(atoms: list[Piece], commas: list[int]) -> list[list[Piece]]:
    if commas:
        bounds = [-1, *commas, len(atoms)]
        return [atoms[first + 1 : last] for first, last in pairwise(bounds)]
    match = re.fullmatch(
        r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,4}))?", "".join(a.text for a in atoms)
    )
    if match is None:
        return []
    first, last, step = match.groups()
    if first.lstrip("-").isdigit() != last.lstrip("-").isdigit():
        return []
    numeric = first.lstrip("-").isdigit()
    low, high = (int(first), int(last)) if numeric else (ord(first), ord(last))
    stride = max(abs(int(step or 1)), 1) * (1 if low <= high else -1)
    numbers = list(range(low, high + (1 if stride > 0 else -1), stride))[:MAX_RANGE]
    return [[Piece(str(number) if numeric else chr(number), quoted=True)] for number in numbers]


def matches(pattern: str, text: str) -> bool:
    if len(pattern) > 200 or pattern.count("*") > 4:
        return False
    pattern = re.sub(r"['\"\\]", "", pattern)
    return re.fullmatch(translate(pattern.replace("[^", "[!")), text[:1000]) is not None


def changed_value(text: str, operator: str, argument: str | None) -> str | None:
    """Returns the value after `${X%…}`, `${X/…/…}`, `${X:…}` and similar expansions, if it can be computed."""
    text = text[:1000]
    if operator[0] in "^,":
        head, tail = (text, "") if len(operator) == 2 else (text[:1], text[1:])
        return (head.upper() if operator[0] == "^" else head.lower()) + tail
    if operator[0] == "@":
        return text
    if argument is None:
        return None
    if operator in ("%", "%%", "#", "##"):
        lengths = range(len(text) + 1) if len(operator) == 1 else range(len(text), -1, -1)
        for length in lengths if len(text) * max(argument.count("*"), 1) < 500 else ():
            part = text[len(text) - length :] if operator[0] == "%" else text[:length]
            if matches(argument, part):
                return text[: len(text) - length] if operator[0] == "%" else text[length:]
        return text
    if operator == ":":
        match = re.fullmatch(r"\s*(-?\d{1,6})\s*(?::\s*(-?\d{1,6})\s*)?", argument)
        if match is None:
            return None
        rest = text[int(match[1]) :]
        return rest[: int(match[2])] if match[2] else rest
    if operator in ("/", "//"):
        pattern, _, replacement = argument.partition("/")
        if re.search(r"[*?\[#%\\]", pattern) or not pattern:
            return None
        return text.replace(pattern, replacement, -1 if operator == "//" else 1)
    return None


def joined_path(path: str) -> str:
    """Normalises a path like `cd`: without `.`, `..` and doubled slashes."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in ("..", "~", ""):
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if path.startswith("/"):
        while parts and parts[0] == "..":
            parts.pop(0)
        return "/" + "/".join(parts)
    return "/".join(parts) or "."
