"""The tokens of an SQL statement, and the reading of names among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from guardrail.record import record

MAX_TARGETS = 500


class Token(NamedTuple):
    """`kind` is w (word), q (quoted name), s (string), n (number), p (sign). `text` is upper case for words."""

    kind: str
    text: str
    start: int
    end: int


@record
class Statement:
    """Tokens of one statement, with a position to read from."""

    tokens: tuple[Token, ...]

    def word(self, at: int) -> str:
        """Returns the word at a position, or "" if there is none."""
        if at < len(self.tokens) and self.tokens[at].kind == "w":
            return self.tokens[at].text
        return ""

    def sign(self, at: int) -> str:
        """Returns the sign at a position, or "" if there is none."""
        return self.tokens[at].text if at < len(self.tokens) and self.tokens[at].kind == "p" else ""

    def text(self, at: int) -> str:
        """Returns the text at a position, or "" after the end."""
        return self.tokens[at].text if at < len(self.tokens) else ""

    def begins(self, at: int, words: str) -> bool:
        """Decides whether these words are at the position."""
        return all(self.word(at + number) == word for number, word in enumerate(words.split()))

    def skip(self, at: int, *words: str) -> int:
        """Returns the position after any of these words."""
        while self.word(at) in words:
            at += 1
        return at

    def find(self, at: int, *words: str) -> int:
        """Returns the position of the first of these words outside brackets, or -1."""
        depth = 0
        for number in range(at, len(self.tokens)):
            token = self.tokens[number]
            if token.kind == "p":
                depth += (token.text == "(") - (token.text == ")")
                if depth < 0:
                    return -1
            elif depth == 0 and token.kind == "w" and token.text in words:
                return number
        return -1

    def strings(self, at: int = 0) -> list[str]:
        """Returns the strings from a position on, without their quotes."""
        return [plain_text(token) for token in self.tokens[at:] if token.kind == "s"]

    def behind(self, at: int) -> Statement:
        """Returns the statement that begins at a position."""
        return Statement(self.tokens[at:])


def plain_text(token: Token) -> str:
    """Returns a string without its quotes."""
    text = token.text
    if text[:1] in "nNeEbBxX" and text[1:2] == "'":
        text = text[1:]
    return text[1:-1].replace("''", "'") if text[:1] == "'" else text


def name_at(statement: Statement, at: int) -> tuple[str, int]:
    """Returns the normalised name at a position with its schema, and the position after it."""
    parts: list[str] = []
    while at < len(statement.tokens):
        token = statement.tokens[at]
        if token.kind == "q":
            parts.append(token.text.strip('`"[]'))
        elif token.kind == "s" and not parts:
            parts.append(plain_text(token))
        elif token.kind == "w":
            parts.append(token.text.lower())
        else:
            break
        at += 1
        if statement.sign(at) != ".":
            break
        at += 1
    return ".".join(parts), at


def names_at(statement: Statement, at: int) -> list[str]:
    """Returns names separated by commas."""
    names: list[str] = []
    while at < len(statement.tokens) and len(names) < MAX_TARGETS:
        name, at = name_at(statement, at)
        if not name:
            break
        names.append(name)
        at = statement.skip(at, "AS")
        if statement.word(at) and statement.sign(at + 1) == ",":
            at += 1
        if statement.sign(at) != ",":
            break
        at += 1
    return names


def bare_name(name: str) -> str:
    """Returns a name in lower case without its schema."""
    return name.rpartition(".")[2].lower()


def to_bracket(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Returns the tokens up to the bracket that closes the enclosing pair."""
    depth = 0
    for at, token in enumerate(tokens):
        if token.kind == "p":
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0:
                return tuple(tokens[:at])
    return tuple(tokens)
