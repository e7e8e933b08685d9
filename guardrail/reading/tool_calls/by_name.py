"""Reads a call by the name of its tool: what the tool does, and which program of the catalogue it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guardrail.language.actions import Meaning, meaning_of_name, objects_in, tokens_of_name
from guardrail.language.lexicon import Token
from guardrail.model import Call, Passage, Reading, Uncovered, Word
from guardrail.reading.tool_calls.arguments import Leaf, plain_name, words_of
from guardrail.reading.tool_calls.effects import effects_of_tool, request_effects, signed_permit
from guardrail.reading.tool_calls.tables import PATH_NAMES, memory_words, tool_names
from guardrail.reading.tool_calls.written import ToolCall
from guardrail.vocabulary import EffectKind, Language, ObjectKind


def reading_by_name(
    call: ToolCall,
    tokens: tuple[Token, ...],
    tail: str,
    leaves: list[Leaf],
    passages: tuple[Passage, ...],
    text: str,
    offset: int,
) -> Reading:
    """Returns the effects that the tool's name implies, and the tool itself as a call that the catalogue may know."""
    if _is_in_memory(call):
        unknown = Uncovered(call.span, f"a method of {call.name.rpartition('.')[0][:40]}", executable=False)
        return Reading(Language.TOOL_CALL, passages=passages, uncovered=(unknown,))
    tokens = _passed_on(tokens, leaves) or tokens
    meaning = meaning_of_name(tokens) or _meaning_of_arguments(tokens, leaves)
    patched = tuple(_patched_files(tail, leaves, call))
    if patched:
        return Reading(Language.TOOL_CALL, patched, passages=passages)
    files = _program_for_files(tail, meaning, leaves)
    program = files or f"tool:{call.name.lower()}"
    calls = (Call(program, words_of(leaves, call, text, offset), call.span, Language.TOOL_CALL),)
    if files is not None:
        return Reading(Language.TOOL_CALL, calls, passages=passages)
    effects = request_effects(call, tail, leaves)
    if effects is None and meaning is not None:
        effects = effects_of_tool(call, meaning, tokens, leaves)
    return Reading(Language.TOOL_CALL, calls, (*(effects or ()), *signed_permit(call, leaves)), passages)


def _is_in_memory(call: ToolCall) -> bool:
    """Decides whether the text is code that changes a value in memory, such as `seen.discard(3)`, and calls no tool."""
    owner, dot, method = call.name.rpartition(".")
    if not dot or not all(name.isdecimal() for name in call.arguments):
        return False
    memory, words = memory_words(), re.split(r"[._]", owner.lower())
    if not memory["kept"].isdisjoint(words):
        return False
    if words[-1] in memory["values"]:
        return True
    if plain_name(method) not in memory["methods"]:
        return False
    return owner in memory["values_by_method"] or not objects_in(tokens_of_name(owner))


def _passed_on(tokens: tuple[Token, ...], leaves: list[Leaf]) -> tuple[Token, ...]:
    """Returns the words of the action that one argument names, if the tool only passes it on to the thing that another
    argument names: `call_service(domain="lock", service="unlock")`."""
    if not any(token.text in ("call", "invoke", "perform", "trigger") for token in tokens):
        return ()
    deed = next((leaf.value for leaf in leaves if leaf.name in ("service", "action", "operation", "method")), None)
    thing = next((leaf.value for leaf in leaves if leaf.name in ("domain", "resource", "entity_type", "device")), None)
    if not isinstance(deed, str) or not isinstance(thing, str) or len(deed) + len(thing) > _LONGEST_VERB:
        return ()
    return tokens_of_name(f"{deed} {thing}")


def _meaning_of_arguments(tokens: tuple[Token, ...], leaves: list[Leaf]) -> Meaning | None:
    """Returns the meaning of a tool whose name has no verb, if an argument names one:
    `cluster(verb="delete", resource="pod")`."""
    named = [leaf for leaf in leaves if leaf.name.lower() in _SAYS_VERB and isinstance(leaf.value, str)]
    things = [leaf for leaf in leaves if leaf.name.lower() in _SAYS_THING and isinstance(leaf.value, str)]
    if not named or len(str(named[0].value)) > _LONGEST_VERB:
        return None
    words = [str(leaf.value) for leaf in (*named[:1], *things[:1])]
    return meaning_of_name((*tokens_of_name(" ".join(words)), *tokens))


_SAYS_VERB = ("verb", "action", "operation", "op", "method", "command", "subcommand")
_SAYS_THING = ("resource", "resource_type", "resourcetype", "kind", "type", "entity", "object", "object_type")
_LONGEST_VERB = 40
_FILE_PROGRAMS = {
    EffectKind.OVERWRITE: "tool:path.write",
    EffectKind.CREATE: "tool:path.write",
    EffectKind.WRITE: "tool:path.edit",
    EffectKind.ALTER: "tool:path.edit",
    EffectKind.DELETE: "tool:path.delete",
    EffectKind.READ: "tool:path.read",
}
"""The catalogue's programs for tools that change files, whatever a harness calls them."""


def _program_for_files(tail: str, meaning: Meaning | None, leaves: list[Leaf]) -> str | None:
    if not any(leaf.name in PATH_NAMES and isinstance(leaf.value, str) for leaf in leaves):
        return None
    if tail in tool_names()["file_writer"]:
        return _FILE_PROGRAMS[EffectKind.OVERWRITE]
    if tail in tool_names()["file_editor"]:
        return _FILE_PROGRAMS[EffectKind.WRITE]
    if meaning is None or meaning.object not in (None, ObjectKind.PATH):
        return None
    if "move" in tail or "rename" in tail or "copy" in tail:
        return "tool:path.move"
    if meaning.kind is EffectKind.DELETE and (
        _TREE.search(tail)
        or any(leaf.name in PATH_NAMES and _OF_HOME.search(str(leaf.value)) for leaf in leaves)
        or any(leaf.name == "recursive" and leaf.value is True for leaf in leaves)
    ):
        return "tool:path.delete_tree"
    return _FILE_PROGRAMS.get(meaning.kind)


_OF_HOME = re.compile(
    r"(?:^~|/(?:home|Users)/[^/]+)(?:/(?:Documents|Desktop|Downloads|Pictures|Photos|Music|Videos|Library))?/?$"
)
"""Directories that every home contains, and the home itself."""
_TREE = re.compile(r"director|folder|dir$|tree")
_PATCHED = re.compile(r"(?m)^\*\*\* (Add|Update|Delete) File: ([^\n]{1,400})$")
_PATCHES = {"Add": EffectKind.OVERWRITE, "Update": EffectKind.WRITE, "Delete": EffectKind.DELETE}


def _patched_files(tail: str, leaves: list[Leaf], call: ToolCall) -> Iterator[Call]:
    """Yields calls for the files that a patch in an argument adds, changes and deletes."""
    if tail not in tool_names()["file_editor"]:
        return
    for leaf in leaves:
        if isinstance(leaf.value, str):
            for match in _PATCHED.finditer(leaf.value):
                word = Word(match[2].strip(), call.span, name="path")
                yield Call(_FILE_PROGRAMS[_PATCHES[match[1]]], (word,), call.span, Language.TOOL_CALL)
