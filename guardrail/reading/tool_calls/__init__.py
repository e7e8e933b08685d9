"""Reads calls of an agent's tools, as harnesses write them: `name(key=value)`, `name {json}`, JSON, tags. The lexicon
of verbs and things determines a tool's effects from its name and arguments; commands, code, SQL and requests inside an
argument are read by the readers of their languages.

`written.py` finds the calls in a text, `arguments.py` reads their arguments. `inner.py`, with `programs.py` and
`screen.py`, reads what a tool is given to run; `by_name.py`, with `effects.py`, determines the effects of any other
tool. `tables.py` lists the names of tools and arguments.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from guardrail.language.actions import tokens_of_name
from guardrail.model import Reading, Span, Uncovered
from guardrail.reading import reader_of
from guardrail.reading.tool_calls.arguments import leaves_of, passages_in, plain_name, span_of
from guardrail.reading.tool_calls.by_name import reading_by_name
from guardrail.reading.tool_calls.inner import inner_reading
from guardrail.reading.tool_calls.programs import joined, run_later, typed_into
from guardrail.reading.tool_calls.written import MAX_CALLS, Code, Stopped, ToolCall, calls_in, is_call
from guardrail.vocabulary import Language

__all__ = ["is_call", "read", "typed_into"]


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns the calls that a text consists of. A text that is not a call yields a reading with only an uncovered
    part."""
    whole = Span(offset, offset + len(text))
    try:
        calls = list(islice(calls_in(text, offset), MAX_CALLS + 1))
        if len(calls) > MAX_CALLS:
            raise Stopped("more tool calls than are read from one text")
        readings = [_read_call(call, text, offset) for call in calls]
    except Stopped as stop:
        return Reading(Language.TOOL_CALL, uncovered=(Uncovered(whole, stop.reason, stopped=True),))
    if not calls:
        return Reading(Language.TOOL_CALL, uncovered=(Uncovered(whole, "not a tool call"),))
    return joined(readings)


def _read_call(call: ToolCall, text: str, offset: int) -> Reading:
    tokens = tokens_of_name(call.name)
    tail = plain_name(re.split(r"__|[./:]", call.name)[-1])
    leaves = list(leaves_of(call.arguments))
    passages = passages_in(leaves, call, text, offset)
    inner = inner_reading({"".join(token.text for token in tokens), tail}, tokens, call, text, offset)
    if inner is not None:
        return replace(inner, language=Language.TOOL_CALL, passages=(*inner.passages, *passages))
    reading = reading_by_name(call, tokens, tail, leaves, passages, text, offset)
    reading = replace(reading, calls=(*reading.calls, *run_later(tokens, call, text, offset)))
    for leaf in leaves:
        if isinstance(leaf.value, Code):
            code = reader_of(Language.PYTHON)(leaf.value, offset=span_of(leaf.value, call, text, offset).start)
            reading = replace(
                reading,
                calls=(*reading.calls, *code.calls),
                effects=(*reading.effects, *code.effects),
                uncovered=(*reading.uncovered, *code.uncovered),
            )
    return reading
