"""Reads whole texts and their statements: lists, pipelines, branches and loops."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from guardrail.model import Call, Span, Word
from guardrail.reading.shell.commands import Commands
from guardrail.reading.shell.nodes import REDIRECTS, STATEMENTS, groups_of, never_waits, parts_of_list
from guardrail.reading.shell.own_words import KEYWORDS
from guardrail.reading.shell.reader import MAX_DEPTH, MAX_WORK, Function, State
from guardrail.reading.shell.text import Source, chunks, mask, parse
from guardrail.reading.shell.words import MAX_TEXT, Piece, Value, is_empty, matches, pieces_of
from guardrail.vocabulary import EffectKind, ObjectKind

MAX_TEXTS = 8  # nested texts of `eval`, `trap` and aliases
_OPERATORS = frozenset(
    {"&", "&&", "||", "|", "|&", ";;", ";&", ";;&", "((", "))", '"', "'", "`", "\n", "$(", "$", "\\"}
)
_READS_LINES = re.compile(r"while\s[^;\n]{0,40}\bread\b")
_ENDLESS = re.compile(
    r"(?:while\s+(?:true|:|1|\[+\s*(?:1|true)\s*\]+|\(\(\s*1\s*\)\))|until\s+false|for\s*\(\(\s*;\s*;\s*\)\))\s*[;\n{]"
)
_VERY_OFTEN = re.compile(r"for\s+\w+\s+in\s+(?:\S*\.\.\d{5,}\}|[$`(]+seq\b[^;\n]*\d{5,})")
_IS_SHELL = re.compile(r"!\s*(?:/usr)?/bin/(?:ba|da|z|k|a)?sh")


class Statements(Commands):
    """One pass over a text: follows variables, functions and the directory, and collects calls."""

    def read_source(self, source: Source, stdin: Call | Word | None = None) -> list[Call]:
        """Reads a whole text."""
        before = self.source
        self.depth += 1
        printed: list[Call] = []
        for chunk in chunks(source, self.budget):
            self.source = source.chunk(chunk.start)
            if chunk.root is None:
                self._stop(source.span(chunk.start, chunk.end), "a text too unlike shell to be read in bounded time")
                continue
            self._comments(chunk)
            printed += self._statements(chunk.root.children, stdin)
        self.depth -= 1
        self.source = before
        return printed

    def read_inner(self, text: str, carrier: Span, stdin: Call | Word | None = None) -> list[Call]:
        """Reads the text of `eval`, `trap` or an alias, in this shell."""
        if self.texts > MAX_TEXTS or len(text) > MAX_TEXT:
            self._stop(carrier, "a shell text nested too deeply")
            return []
        self.texts += 1
        printed = self.read_source(Source(text, None, carrier=carrier), stdin)
        self.texts -= 1
        return printed

    def finish(self) -> None:
        """Reads the commands that run at the end, and the functions that nothing called."""
        for text, sure, span in self.traps:
            self.sure = sure
            self.read_inner(text, span)
        self.sure = False
        for name, function in list(self.functions.items()):
            if name not in self.called:
                self.called.add(name)
                self._function_body(function, None)

    def _statements(self, nodes: Sequence[Node], stdin: Call | Word | None = None) -> list[Call]:
        """Reads consecutive statements; returns the calls that print."""
        printed: list[Call] = []
        for node in nodes:
            if self.full:
                break
            if node.is_named:
                printed += self._statement(node, stdin)
        return printed

    def _statement(self, node: Node, stdin: Call | Word | None = None) -> list[Call]:
        self.budget.work += 1
        if self.budget.work > MAX_WORK:
            self._exhausted(self._span(node))
            return []
        if self.depth > MAX_DEPTH:
            self._stop(self._span(node), "commands nested too deeply")
            return []
        kind = node.type
        if kind == "comment":
            return []
        self.depth += 1
        try:
            if kind == "command":
                return self._command(node, stdin, ())
            if kind == "list":
                return self._list(node, stdin)
            if kind == "pipeline":
                return self._pipeline(node.named_children, stdin)
            if kind == "redirected_statement":
                return self._redirected(node, stdin)
            if kind in ("variable_assignment", "variable_assignments"):
                self._assignments(node.named_children if kind == "variable_assignments" else [node])
                return []
            if kind in ("declaration_command", "unset_command"):
                return self._declaration(node)
            if kind == "if_statement":
                return self._if(node, stdin)
            if kind in ("while_statement", "c_style_for_statement"):
                return self._loop(node, stdin)
            if kind == "for_statement":
                return self._for(node, stdin)
            if kind == "case_statement":
                return self._case(node, stdin)
            if kind == "function_definition":
                name = node.child_by_field_name("name")
                if name is not None:
                    self.functions[self._text(name)] = Function(self.source, node)
                    self.definitions += 1
                return []
            if kind == "subshell":
                return self._subshell(node.children, stdin)
            if kind == "compound_statement" and node.children and node.children[0].type == "((":
                self._substitutions(node)
                return []
            if kind == "test_command":
                self._test(self._text(node))
                self._substitutions(node)
                return []
            if kind == "negated_command" and _IS_SHELL.fullmatch(self._text(node)):
                self._emit(Call("sh", (), self._span(node), path="!" + self._text(node)[1:].strip()))
                return []
            if kind == "ERROR":
                return self._broken(node, stdin)
            if kind in STATEMENTS:
                return self._statements(node.children, stdin)
            self._substitutions(node)
            return []
        finally:
            self.depth -= 1

    def _list(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        """Reads `a && b || c`, and marks the single calls that run only after the previous one succeeded."""
        printed: list[Call] = []
        surely_succeeded = False
        for operator, part in parts_of_list(node):
            if self.full:
                break
            first = len(self.calls)
            printing = self._statement(part, stdin)
            is_single = (
                part.type == "command"
                and len(self.calls) == first + 1
                and all(child.type != "variable_assignment" for child in part.children)
            )
            if is_single and surely_succeeded and operator == "&&":
                call = self.calls[first]
                self.calls[first] = chained = replace(call, chained=True)
                printing = [chained if one is call else one for one in printing]
            printed += printing
            # In `a || b && c`, it may be `a` that succeeded.
            surely_succeeded = is_single and operator in ("", "&&")
        return printed

    def _pipeline(self, parts: Sequence[Node], stdin: Call | Word | None) -> list[Call]:
        printed: list[Call] = []
        for part in parts:
            if part.type != "comment":
                printed = self._statement(part, stdin)
                stdin = self._fed(printed, part)
        return printed

    def _redirected(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.children if child.type in REDIRECTS]
        printed: list[Call] = []
        while body is not None and body.type in ("list", "pipeline"):  # they belong to the last command
            parts = [child for child in body.named_children if child.type != "comment"]
            if body.type == "list":
                printed += self._statements([part for _, part in parts_of_list(body)[:-1]], stdin)
            else:
                for part in parts[:-1]:
                    stdin = self._fed(self._statement(part, stdin), part)
            body = parts[-1]
        if body is not None and body.type == "command":
            return printed + self._command(body, stdin, redirects)
        redirections, given, extra = self._redirections(redirects)
        if body is not None:
            printed += self._statement(body, given or stdin)
        if redirections:
            self._emit(Call(":", tuple(extra), self._span(node), redirections=tuple(redirections), stdin=given))
        self._receive(printed[-1] if printed else None)
        return [] if any(redirection.operator in (">", ">>", ">|", "&>") for redirection in redirections) else printed

    def _subshell(self, nodes: Sequence[Node], stdin: Call | Word | None) -> list[Call]:
        before = self._copied()
        printed = self._statements(nodes, stdin)
        self.state = before
        return printed

    def _if(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        printed: list[Call] = []
        ends: list[State] = []
        clauses = [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]
        for clause in clauses:
            body = clause.type == "else_clause"
            before = None
            for child in clause.children:
                if child.type == "then":
                    body, before = True, self._copied()
                elif child.is_named and child.type not in ("elif_clause", "else_clause"):
                    printed += self._statement(child, None if body else stdin)
            ends.append(self.state)
            if before is not None:
                self.state = before
        if clauses[-1].type != "else_clause":
            ends.append(self.state)
        self._merge(ends)
        return printed

    def _loop(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        printed: list[Call] = []
        before = self._copied()
        reads = _READS_LINES.match(self._text(node)) is not None
        self.loops += reads
        if never_waits(node) and _ENDLESS.match(self._text(node)):
            self._add_effect(EffectKind.DISRUPT, ObjectKind.PROCESS, "this machine", self._span(node))
        for child in node.children:
            if child.type in ("do_group", "compound_statement"):
                printed += self._statement(child)
            elif child.is_named and child.type in STATEMENTS and node.type == "while_statement":
                self._statement(child, stdin)
            elif child.is_named:
                self._substitutions(child)
        self.loops -= reads
        self._merge([before, self.state])
        return printed

    def _for(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        if never_waits(node) and _VERY_OFTEN.match(self._text(node)):
            self._add_effect(EffectKind.DISRUPT, ObjectKind.PROCESS, "this machine", self._span(node))
        variable = node.child_by_field_name("variable")
        values = [word for group in groups_of(node.children_by_field_name("value")) for word in self._words(group)]
        if variable is not None:
            if not values and "in" not in {child.type for child in node.children}:
                values = [Word("$@", self._span(variable), known=False)]
            if len(values) > 2 and all(word.text.isdigit() for word in values):
                values = values[:2]
            alternatives = [Value((pieces_of(word),)) for word in values]
            self.assign(self._text(variable), *(alternatives or (Value(((Piece(""),),)),)))
        before = self._copied()
        printed: list[Call] = []
        open_ended = any(not word.known or word.glob for word in values)
        self.loops += open_ended
        for child in node.children:
            if child.type in ("do_group", "compound_statement"):
                printed += self._statement(child)
        self.loops -= open_ended
        self._merge([before, self.state])
        return printed

    def _case(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        value = node.child_by_field_name("value")
        subject = self._words([value]) if value is not None else []
        known = subject[0].text if len(subject) == 1 and subject[0].known else None
        printed: list[Call] = []
        ends: list[State] = [self._copied()]
        before, sure = self._copied(), self.sure
        for item in node.named_children:
            if item.type != "case_item":
                continue
            patterns = [self._text(pattern) for pattern in item.children_by_field_name("value")]
            bodies = [child for child in item.named_children if child.type in STATEMENTS or child.type == "ERROR"]
            matched = known is not None and any(matches(pattern, known) for pattern in patterns)
            if known is not None and not matched and not any("$" in pattern for pattern in patterns):
                continue
            self.sure = sure and (matched or (len(ends) == 1 and "*" in patterns))
            self.state = State(dict(before.variables), before.directory)
            printed += self._statements(bodies, stdin)
            ends.append(self.state)
            if matched:
                break
        self.sure = sure
        self._merge(ends)
        return printed

    def _merge(self, ends: Sequence[State]) -> None:
        """Continues with the state that any of the branches may have left. A branch that leaves a variable unset or
        empty is ignored if another sets it: scripts check that before they use it."""
        merged: dict[str, tuple[Value, ...]] = {}
        for end in ends:
            for name, values in end.variables.items():
                present = merged.get(name)
                if present is None:
                    merged[name] = values
                elif present is not values:
                    union = tuple(dict.fromkeys(present + values))
                    filled = tuple(value for value in union if not is_empty(value))
                    merged[name] = self._followed(filled or union)
            self.budget.work += len(end.variables) // 50
        moved = [end.directory for end in ends if end.directory != ends[0].directory]
        self.state = State(merged, moved[0] if moved else ends[0].directory)

    def _broken(self, node: Node, stdin: Call | Word | None) -> list[Call]:
        """Reads the commands that the grammar found inside text that it could not parse, then tries the rest line by
        line."""
        printed: list[Call] = []
        start = self._start(node)
        for child in node.children:
            if child.type in STATEMENTS or child.type == "ERROR":
                self._salvage(start, self._start(child))
                printed += self._statement(child, stdin)
                start = self._end(child)
        self._salvage(start, self._end(node))
        return printed

    def _salvage(self, start: int, end: int) -> None:
        source = self.source
        fragment = source.text[start:end]
        if all(token in KEYWORDS or token in _OPERATORS for token in fragment.split()):
            return
        for line in re.finditer(r"[^\n;]+", fragment):
            if all(token in KEYWORDS or token in _OPERATORS for token in line[0].split()):
                continue
            first = start + line.start()
            part = Source(source.text, source.normalised, source.offset, source.carrier, source.documents, first)
            root = parse(mask(line[0]))
            self.budget.work += 1 + len(line[0]) // 50
            span = source.span(first, first + len(line[0]))
            if self.budget.work > MAX_WORK or self.depth > MAX_DEPTH:
                self._exhausted(span)
                return
            if root.has_error:
                self._not_read(span, "shell syntax that could not be read")
                continue
            self.source = part
            self._statements(root.children)
            self.source = source
