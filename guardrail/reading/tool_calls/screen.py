"""Reads calls of tools that click on a page or control a whole computer."""

from __future__ import annotations

import re
from dataclasses import replace

from guardrail.facts import Facts
from guardrail.model import Effect, Reading, Span, Uncovered
from guardrail.reading import reader_of
from guardrail.reading.deciding import decide
from guardrail.reading.tool_calls.arguments import first_text, span_of
from guardrail.reading.tool_calls.written import ToolCall
from guardrail.vocabulary import Language, Place


def click_reading(call: ToolCall, text: str, offset: int) -> Reading | None:
    """Returns the effects that a button or link announces: "Delete account permanently". Quoted words only name the
    page around it. None if the words announce nothing."""
    label = first_text(call.arguments, _LABELS)
    if label is None or len(label) > _LONGEST_LABEL:
        return None
    words = re.sub(r"[#.\[\]=_-]+", " ", label) if re.match(r"[#.\[]|\w+[#.\[]", label) else label
    # A tool's description puts the role of the element first or last: "button 'Pay now'", "Pay now button".
    quoted = re.fullmatch(r"(?i)\s*(?:the\s+)?(?:button|link|menu ?item)\s*[:\s]\s*['\"“](.+)['\"”]\s*", words)
    words = quoted[1] if quoted else re.sub(r"(?i)\s+(?:button|link|menu ?item)\s*$", "", words)
    words = _CONFIRMED.sub(lambda match: _CONFIRMS[match[1].lower()], words)
    reading = reader_of(Language.PROSE)(words)
    if not reading.effects:
        return None
    span = span_of(label, call, text, offset)
    return Reading(Language.TOOL_CALL, effects=tuple(_on_the_page(effect, span) for effect in reading.effects))


def _on_the_page(effect: Effect, span: Span) -> Effect:
    """Returns the effect of a button, with its target in the page's service."""
    near = (Place.UNKNOWN, Place.WORKSPACE)
    targets = tuple(
        replace(target, place=Place.REMOTE) if target.place in near else target for target in effect.targets
    )
    return replace(effect, targets=targets, span=span)


_CONFIRMS = {
    **dict.fromkeys(("deletion", "removal"), "delete"),
    "cancellation": "cancel",
    **dict.fromkeys(("payment", "transfer", "purchase", "wire transfer", "bank transfer"), "pay"),
}
_CONFIRMED = re.compile(
    rf"(?i)^(?:button\s+)?confirm\s+(?:the\s+|and\s+)?(?:permanent\s+)?({'|'.join(_CONFIRMS)})\b(?:\s+of)?"
)
"""The verbs for nouns after "confirm" on a button."""
_LABELS = ("element", "text", "label", "name", "description", "selector")
_LONGEST_LABEL = 200


def screen_reading(call: ToolCall, text: str, offset: int) -> Reading:
    """Reads a call of a tool that controls a whole computer. The effect of a click or key depends on the screen; a
    typed text may be a command."""
    action = str(call.arguments.get("action", "")).lower()
    if action in _ONLY_LOOKS:
        return Reading(Language.TOOL_CALL)
    unread = Uncovered(call.span, "a click or key, whose effect depends on what the screen shows")
    typed = first_text(call.arguments, ("text",)) if action == "type" else None
    language = decide(typed, Facts()) if typed else Language.PROSE
    if typed is None or language is Language.PROSE:
        return Reading(Language.TOOL_CALL, uncovered=(unread,))
    inner = reader_of(language)(typed, offset=span_of(typed, call, text, offset).start)
    return replace(inner, uncovered=(*inner.uncovered, unread))


_ONLY_LOOKS = frozenset(("screenshot", "zoom", "cursor_position", "mouse_move", "scroll", "wait"))
