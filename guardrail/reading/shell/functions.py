"""Follows calls of functions that the text defines."""

from __future__ import annotations

from collections.abc import Sequence

from guardrail.model import Call, Effect, Span, Target, Word
from guardrail.reading.shell.nodes import NAME, REDIRECTS
from guardrail.reading.shell.own_words import SILENT, words_of
from guardrail.reading.shell.reader import MAX_WORK, Function, Outcome
from guardrail.reading.shell.redirections import Redirections
from guardrail.reading.shell.variables import POSITIONAL
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Scope

MANY_CALLS = 60  # from this many calls on, repeated ones are read once
MAX_ACTIVE = 12  # nested function calls
_PRINTING = SILENT | {"echo", "printf", "cat", "exit", "basename", "dirname"}  # builtins and programs that only print
_STREAMS = words_of("/dev/null /dev/stdout /dev/stderr /dev/tty &1 &2 1 2")


class Functions(Redirections):
    """Calls functions."""

    def _call_function(self, name: str, words: Sequence[Word], stdin: Call | Word | None, span: Span) -> list[Call]:
        key = (name, *(word.text if word.known else "" for word in words))
        if name in self.printing and self.budget.work > MAX_WORK // 4:
            return [Call("echo", tuple(words), span)]
        if len(self.active) > MAX_ACTIVE or (name in self.called and self.budget.work > MAX_WORK * 14 // 15):
            if key not in self.read_calls:
                self._stop(span, "more function calls than are followed")
            return []
        circumstances = self._circumstances(name, words) if stdin is None and len(self.calls) > MANY_CALLS else None
        outcome = self.outcomes.get(circumstances) if circumstances is not None else None
        if outcome is not None:
            return self._same_outcome(outcome)
        start = dict(self.state.variables)
        first = len(self.calls)
        variables = None if name in self.called else start
        self.read_calls.add(key)
        self.called.add(name)
        before = {name: value for name, value in self.state.variables.items() if name in POSITIONAL}
        self._positional(words)
        self.active.append(name)
        printed = self._function_body(self.functions[name], stdin)
        self.active.pop()
        for variable in POSITIONAL:
            self.state.variables.pop(variable, None)
        self.state.variables.update(before)
        if variables == self.state.variables and all(_only_prints(call) for call in self.calls[first:]):
            self.printing.add(name)
        if circumstances is not None:
            end = self.state.variables
            changed = {name: end.get(name) for name in start | end if start.get(name) is not end.get(name)}
            self.outcomes[circumstances] = Outcome(printed, changed, self.state.directory)
        return printed

    def _circumstances(self, name: str, words: Sequence[Word]) -> tuple[object, ...]:
        """Returns everything that the behaviour of a function may depend on: in equal circumstances it does the
        same."""
        mentioned = self._mentioned(name)
        variables = self.state.variables
        here = self.state.directory
        return (
            name,
            tuple((word.text, word.known, word.glob, word.if_empty) for word in words),
            tuple(variables.get(variable) for variable in mentioned),
            tuple(variable for variable in mentioned if variable in self.checked),
            tuple(function for function in self.active if function in mentioned),
            (here.text, here.known, here.if_empty) if here is not None else None,
            (self.sure, self.nounset, self.scripts, self.definitions, len(self.exported), len(self.directories)),
        )

    def _mentioned(self, name: str) -> tuple[str, ...]:
        """Returns the words in a function and in those that it calls, including all variables and functions that
        matter."""
        found = self.mentioned.get(name)
        if found is None or found[0] != self.definitions:
            words, reached, waiting = set[str](), set[str](), [name]
            while waiting:
                here = waiting.pop()
                if here in reached:
                    continue
                reached.add(here)
                source, node = self.functions[here]
                text = source.text[node.start_byte + source.base : node.end_byte + source.base]
                self.budget.work += len(text) // 1_000
                inside = set(NAME.findall(text))
                words |= inside
                waiting += [word for word in self.functions if word in inside or not word.isidentifier()]
            found = self.definitions, tuple(sorted(words))
            self.mentioned[name] = found
        return found[1]

    def _same_outcome(self, outcome: Outcome) -> list[Call]:
        for name, value in outcome.changed.items():
            self.state.variables.pop(name, None)
            if value is not None:
                self.state.variables[name] = value
        self.state.directory = outcome.directory
        return outcome.printed

    def _calls_itself(self, name: Word | None, words: Sequence[Word], span: Span) -> None:
        """Adds an effect for a fork bomb: a function that calls itself twice without anything that could end it."""
        if name is None or words or name.text != self.active[-1]:
            return
        self.doubling[name.text] = self.doubling.get(name.text, 0) + 1
        if self.doubling[name.text] == 2:
            self.effects.append(
                Effect(
                    kind=EffectKind.DISRUPT,
                    object=ObjectKind.PROCESS,
                    span=span,
                    source="shell function",
                    targets=(Target("this machine", place=Place.SYSTEM),),
                    scope=Scope.ALL,
                    sure=self.sure,
                )
            )

    def _function_body(self, function: Function, stdin: Call | Word | None) -> list[Call]:
        before, self.source = self.source, function.source
        printed: list[Call] = []
        for child in function.node.children_by_field_name("body"):
            printed += self._statement(child, stdin)
        redirects = [child for child in function.node.children if child.type in REDIRECTS]
        redirections, _, _ = self._redirections(redirects)
        if redirections:
            self._emit(Call(":", (), self._span(function.node), redirections=tuple(redirections)))
        self.source = before
        return printed


def _only_prints(call: Call) -> bool:
    return call.program in _PRINTING and all(part.target.text in _STREAMS for part in call.redirections)
