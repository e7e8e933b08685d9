"""Prepares shell text for the grammar: finds here-documents and cuts long texts before parsing.

The grammar parses a copy of the text in which here-documents and a few forms that it doesn't know are blanked,
character for character. It takes quadratic time for some texts that are not shell, so a text is parsed in chunks, each
with a bounded number of structural characters and lines, as long as a budget lasts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from guardrail.model import Span
from guardrail.reading.decoding import Normalised

MAX_MARKS = 700  # structural characters that are parsed at once
MAX_AREA = 10_000_000  # lines times characters that are parsed at once
AREA_OF_MARK = 16  # lines times characters that take as long as a squared structural character
BUDGET = 650_000  # squared structural characters of texts for which the grammar takes quadratic time
MAX_NESTING = 200
MAX_DOCUMENTS = 8_000

_GRAMMAR = Grammar(tree_sitter_bash.language())
_MARKS = b"()|<>;&=[]{}$\"'`!"

TEMPLATE = re.compile(r"\$?\{\{[^{}\n]*\}\}")
_COMMAND_IN_BRACES = re.compile(r"((?:^|[;&|(\n])[ \t]*)\{([\w./\\-]+,[^\s{}();&|<>$`\"']*)\}(?=$|[\s;&|)])")
_NOT_IN_GRAMMAR = re.compile(
    r"\{[A-Za-z_]\w*\}(?=[<>])|\b(?:coproc[ \t]+(?:[A-Za-z_]\w*[ \t]+)?|time[ \t]+(?:-p[ \t]+)?)(?=[{(])"
)
# The grammar reads command names with these signs as variable names, and takes quadratic time to find out that
# they name commands.
_LIKE_VARIABLE = re.compile(r"(?:^|[;&|\n]|(?<!\()\()[ \t]*[\w@?]++(?!\()")
# The same applies to signs in a pattern that is removed from a variable.
_REMOVED = re.compile(r"\$\{[\w!]*[#/][^{}$`\"'\\]*")
_SIGNS_REMOVED = str.maketrans("-~+", "xxx")
_MARK = re.compile(rb"[()|<>;&=\[\]{}$\"'`!]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_LEXEME = re.compile(
    r"\\[\s\S]|(?P<empty>(?:''|\"\")+)|'[^']*'|\"[^\"\\$`]*\"|\$\(\(|\(\(|<<<"
    r"|<<-?[ \t]*(?P<delimiter>(?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s'\"\\|&;<>()`$])+)"
    r"|(?:(?<=[\s;&|(])|^)#[^\n]*|\$\(|[\"()`\n]"
)
_VARIABLE = re.compile(r"\$(?:\{[^}]*\}?|[\w@*#?$!-])")
_QUOTED_LEXEME = re.compile(r"\\[\s\S]|\$\(\(|\$\(|[\"`]")
_OPENS = re.compile(r"[ \t]*(?:if|case|for|while|until|select)\b|.*[{(][ \t]*(?:#.*)?$")
_CLOSES = re.compile(r"[ \t]*(?:fi|esac|done|\}|\))(?![\w-])|.*[;\s](?:fi|esac|done|\})[ \t;]*$")
_BEGINS = re.compile(r"(?!(?:then|else|elif|fi|do|done|esac)\b)[^\s})|&;]")


class HereDocument(NamedTuple):
    """The position of a here-document's body, and its form."""

    start: int
    end: int
    quoted: bool
    tabs: bool


@dataclass(slots=True)
class Source:
    """A text that is being read, and the mapping of its positions to spans. `base` is the start of the parsed chunk."""

    text: str
    normalised: Normalised | None = None
    offset: int = 0
    carrier: Span | None = None  # for texts inside a word: everything has the span of that word
    documents: dict[int, HereDocument] = field(default_factory=dict)
    base: int = 0

    def span(self, start: int, end: int) -> Span:
        """Returns the span in the action."""
        if self.carrier is not None:
            return self.carrier
        if self.normalised is None or not self.normalised.starts:
            return tuple.__new__(Span, (self.offset + start, self.offset + end))  # called for each word
        return Span(self.offset + self.normalised.origin(start), self.offset + self.normalised.origin(end))

    def chunk(self, base: int) -> Source:
        """Returns the same text, parsed from `base` on."""
        return Source(self.text, self.normalised, self.offset, self.carrier, self.documents, base)


class Chunk(NamedTuple):
    """A part of a text with its tree, or without one if it was not parsed."""

    start: int
    end: int
    root: Node | None


@dataclass(slots=True)
class Budget:
    """The remaining effort for texts for which the grammar is slow, and the number of commands, words and expansions
    that have been read."""

    left: int = BUDGET
    work: int = 0

    def spend(self, root: Node, code: bytes) -> None:
        """Subtracts the greatest possible cost of a parse."""
        if root.has_error:
            weight = marks(code)
            self.left -= area(code) // AREA_OF_MARK
        else:
            weight = code.count(b"|") + code.count(b"((") + code.count(b"=(") + code.count(b"in (")
        self.left -= weight * weight


def parse(code: bytes) -> Node:
    """Returns the tree of a masked text."""
    return Parser(_GRAMMAR).parse(code).root_node


def marks(code: bytes) -> int:
    """Returns the number of structural characters in a masked text."""
    return len(code) - len(code.translate(None, _MARKS))


def area(code: bytes) -> int:
    """Returns the number of line ends in a masked text times its characters."""
    return code.count(b"\n") * len(code)


def fits(code: bytes) -> bool:
    """Decides whether a masked text may be parsed at once."""
    return marks(code) <= MAX_MARKS and area(code) <= MAX_AREA


def mask(text: str) -> bytes:
    """Returns the text for the grammar: one byte per character, with unknown forms replaced by known ones."""
    if "<>" in text:
        text = text.replace("<>", "< ")
    if "{{" in text:
        text = TEMPLATE.sub(_template_mask, text)
    if "{" in text and "," in text:
        text = _COMMAND_IN_BRACES.sub(lambda match: f"{match[1]}_{match[2]}_", text)
    if "@" in text or "?" in text:
        text = _LIKE_VARIABLE.sub(lambda match: match[0].replace("@", "_").replace("?", "_"), text)
    if "${" in text:
        text = _REMOVED.sub(lambda match: match[0].translate(_SIGNS_REMOVED), text)
    if "coproc" in text or "time" in text or "}<" in text or "}>" in text:
        text = _NOT_IN_GRAMMAR.sub(lambda match: " " * len(match[0]), text)
    if not text.isascii():
        text = _NON_ASCII.sub("_", text)
    return text.encode("ascii")


def _template_mask(match: re.Match[str]) -> str:
    text = match[0]
    if text.startswith("$"):
        return "${" + "x" * (len(text) - 3) + "}"
    return text if "," in text or ".." in text else "x" * len(text)


def chunks(source: Source, budget: Budget) -> Iterator[Chunk]:
    """Yields the text's chunks with their trees, and adds its here-documents to `source.documents`."""
    text = source.text
    lines: list[int] | None = None
    code = mask(text) if "<<" not in text else b""
    if not code or not fits(code):
        quotes: list[tuple[int, int]] = []
        lines = _scan(source, quotes)
        code = _without_documents(source, mask(text), quotes)
    if fits(code):
        root = parse(code)
        budget.spend(root, code)
        if not root.has_error or lines is None or len(lines) < 3:
            yield Chunk(0, len(text), root)
            return
    if lines is None:
        lines = _scan(source, [])
    for start, end in _cuts(code, lines):
        part = code[start:end]
        if budget.left < 0 or not fits(part):
            yield Chunk(start, end, None)
            continue
        root = parse(part)
        budget.spend(root, part)
        yield Chunk(start, end, root)


def _cuts(code: bytes, lines: list[int]) -> Iterator[tuple[int, int]]:
    """Cuts a text between statements that the layout shows, and where it has too many marks or lines."""
    text = code.decode("ascii")
    start, depth, size, rows, previous = 0, 0, 0, 0, 0
    for line in [*lines, len(text)]:
        written = text[previous:line].rstrip("\n")
        count = marks(code[previous:line])
        ends = code.count(b"\n", previous, line)
        if size + count > MAX_MARKS or (rows + ends) * (line - start) > MAX_AREA:
            if previous > start:
                yield start, previous
            start, size, rows, depth = previous, 0, 0, 0
            if count > MAX_MARKS:
                yield from _cut_line(code, previous, line)
                start, count, ends = line, 0, 0
        size += count
        rows += ends
        if _OPENS.match(written):
            depth += 1
        if _CLOSES.match(written):
            depth = max(depth - 1, 0)
        begins = line < len(text) and _BEGINS.match(text, line) is not None
        if begins and depth == 0 and (size > 100 or line - start > 1500):
            yield start, line
            start, size, rows = line, 0, 0
        previous = line
    if start < len(text):
        yield start, len(text)


def _cut_line(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts a text with too many marks for one parse, between commands if it has separators."""
    separator = start
    size = 0
    for match in _MARK.finditer(code, start, end):
        size += 1
        if size > MAX_MARKS:
            cut = separator if separator > start else match.start()
            yield start, cut
            start, size = cut, marks(code[cut : match.end()])
        if match[0] in b";&":
            separator = match.end()
    if start < end:
        yield start, end


def _without_documents(source: Source, code: bytes, quotes: list[tuple[int, int]]) -> bytes:
    """Returns the masked text with the bodies of here-documents blanked, their operators as ordinary redirections, and
    letters in place of quoted text."""
    changed = bytearray(code)
    for start, end in quotes:
        changed[start:end] = b"x" * (end - start)
    for operator, document in source.documents.items():
        end = operator + (3 if source.text[operator + 2] == "-" else 2)
        changed[operator + 1 : end] = b" " * (end - operator - 1)
        after = _after(source.text, document)
        changed[document.start : after] = b" " * (after - document.start)
    return bytes(changed)


def _after(text: str, document: HereDocument) -> int:
    """Returns the end of the delimiter after the body."""
    line = re.compile(r"[^\n]*").match(text, document.end)
    return document.end + len(line[0].rstrip(" \t)`")) if line else document.end


def _scan(source: Source, quotes: list[tuple[int, int]]) -> list[int]:
    """Finds the here-documents and the quoted texts without an expansion; returns the starts of lines outside quotes
    and brackets."""
    text = source.text
    contexts = ["("]  # the enclosing constructs: ( commands, " double quotes, + arithmetic
    pending: list[tuple[int, re.Match[str]]] = []
    lines: list[int] = []
    position = 0
    while len(contexts) < MAX_NESTING:
        match = (_QUOTED_LEXEME if contexts[-1] == '"' else _LEXEME).search(text, position)
        if match is None:
            break
        lexeme = match[0]
        if contexts[-1] == '"':
            quotes += _between_expansions(text, position, match.start())
        position = match.end()
        if match.lastgroup == "empty":
            continue
        if lexeme[0] == "'" or (lexeme[0] == '"' and len(lexeme) > 1):
            quotes.append((match.start() + 1, position - 1))
        elif lexeme == '"':
            if contexts[-1] == '"':
                contexts.pop()
            else:
                contexts.append('"')
        elif lexeme in ("$((", "(("):
            contexts += ["+", "+"]
        elif lexeme in ("$(", "("):
            contexts.append("+" if contexts[-1] == "+" else "(")
        elif lexeme == ")":
            if len(contexts) > 1:
                contexts.pop()
        elif lexeme == "\n":
            for operator, found in pending:
                document = _here_document(text, position, found)
                source.documents[operator] = document
                position = min(_after(text, document) + 1, len(text))
            pending.clear()
            if len(contexts) == 1 and position < len(text):
                lines.append(position)
        elif match.lastgroup == "delimiter" and contexts[-1] == "(":
            pending = [*pending, (match.start(), match)][: min(200, MAX_DOCUMENTS - len(source.documents))]
    return lines


def _between_expansions(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the parts of double-quoted text without an expansion."""
    for match in _VARIABLE.finditer(text, start, end):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if end > start:
        yield start, end


def _here_document(text: str, start: int, operator: re.Match[str]) -> HereDocument:
    """Returns the body that begins at `start`; if the delimiter is missing, it extends to the end."""
    written = operator["delimiter"]
    tabs = operator[0].startswith("<<-")
    delimiter = re.escape(re.sub(r"['\"\\]", "", written))
    ending = re.compile((r"^\t*" if tabs else "^") + delimiter + r"[ \t]*\)?`?$", re.M)
    found = ending.search(text, start)
    return HereDocument(start, found.start() if found else len(text), bool(re.search(r"['\"\\]", written)), tabs)
