"""Reads redirections, here-documents and here-strings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from guardrail.model import Call, Passage, Redirection, Word
from guardrail.reading.shell.nodes import first_node, groups_of
from guardrail.reading.shell.reader import LONG_TEXT, MAX_DEPTH
from guardrail.reading.shell.text import MAX_MARKS, HereDocument, Source, marks, mask, parse
from guardrail.reading.shell.variables import Variables
from guardrail.reading.shell.words import make_word


class Redirections(Variables):
    """Reads redirections."""

    def _redirections(self, nodes: Sequence[Node]) -> tuple[list[Redirection], Call | Word | None, list[Word]]:
        """Returns redirections to and from files, the text of a here-document or here-string, and operands after a
        redirection."""
        redirections: list[Redirection] = []
        given: Call | Word | None = None
        extra: list[Word] = []
        for node in nodes:
            if node.type == "herestring_redirect":
                groups = groups_of([child for child in node.named_children if child.type != "file_descriptor"])
                words = [word for group in groups for word in self._words(group, split=False)]
                if words:
                    given = replace(words[0], text=words[0].text + "\n")
                continue
            operator = next((child for child in node.children if child.type[:1] in "<>&"), None)
            if operator is None:
                continue
            document = self.source.documents.get(self._start(operator))
            groups = groups_of(node.children_by_field_name("destination"))
            if groups and node.end_byte == groups[-1][-1].end_byte and self._is_descriptor(groups[-1], len(groups)):
                groups = groups[:-1]
            if document is not None:
                given = self._here_document(document)
                groups = groups[1:]
            elif groups and self._text(operator) == "<" and groups[0][0].type == "process_substitution":
                self._words(groups[0])
                given, self.input = self.input, None
                groups = groups[1:]
            elif groups:
                spelling = self.source.text[self._start(operator) : self._end(operator) + 1]
                redirection = self._redirection(spelling, groups[0])
                if redirection is not None:
                    redirections.append(redirection)
                groups = groups[1:]
            for group in groups:
                extra += self._words(group)
        return redirections, given, extra

    def _is_descriptor(self, group: Sequence[Node], count: int) -> bool:
        """Decides whether the last word after a redirection is the number of the next one: `>&x 0>&1`."""
        if count < 2:
            return False
        end = self._end(group[-1])
        return self._text(group[0]).isdigit() and self.source.text[end : end + 1] in ("<", ">")

    def _redirection(self, spelling: str, group: Sequence[Node]) -> Redirection | None:
        operator = next(
            (known for known in ("&>>", "&>", ">>", ">|", ">&", "<&", "<>", ">", "<") if spelling.startswith(known)), ""
        )
        if operator in ("<&", ">&"):
            text = self._text(group[0])
            if operator == "<&" or re.fullmatch(r"\d+-?|-|\$.*", text):
                return None
        words = self._words(group, split=False)
        if not words or not operator:
            return None
        operator = {">&": "&>", "&>>": ">>"}.get(operator, operator)
        return Redirection(operator, words[0])

    def _here_document(self, document: HereDocument) -> Word:
        text = self.source.text[document.start : document.end]
        span = self.source.span(document.start, document.end)
        if document.tabs:
            text = re.sub(r"(?m)^\t+", "", text)
        if self.choice == 0 and len(text) >= LONG_TEXT:
            self.passages.append(Passage(text, span))
        if document.quoted or not re.search(r"[$`\\]", text):
            return Word(text, span)
        if self.depth > MAX_DEPTH:
            self._stop(span, "commands nested too deeply")
            return Word(text, span, known=False)
        before = self.source
        quoted = '"' + text + '"'
        self.source = Source(quoted, None, carrier=span)
        self.depth += 1
        code = mask('"' + text.replace('"', "_") + '"')
        node = first_node(parse(code), "string") if marks(code) <= MAX_MARKS else None
        whole = node is not None and node.end_byte - node.start_byte == len(quoted)
        word = make_word(self._string(node), span) if node is not None and whole else None
        self.depth -= 1
        self.source = before
        return word or Word(text, span, known=False)

    def _receive(self, call: Call | None) -> None:
        """Reads the commands in `>(…)` of the command whose output they receive."""
        receivers, self.receivers = self.receivers, []
        for node in receivers:
            self._subshell(node.children, self._fed([call], node) if call is not None else None)
