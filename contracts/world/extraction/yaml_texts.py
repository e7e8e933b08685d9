"""Recognises YAML in texts that are sent as prose, and composes it with the positions of its parts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import yaml

from contracts.world.extraction.findings import Part

_LINE = re.compile(
    r"(?P<indent> {0,40})(?P<item>-(?: +|$))?"
    r"(?:(?P<key>[A-Za-z_][\w.-]{0,60}|<<|\"[^\"]*\"|'[^']*') *:(?= |$) *(?P<value>.*)|(?P<text>.*))"
)
_BLOCK = re.compile(r"[|>][-+]?")
_NAMES = frozenset({"name", "title", "id"})
"""Keys that make a list item an object by themselves."""
_UNREAD = re.compile(r"[&*!{]|\[.*[\[{]")
"""Beginnings of values with anchors, tags or nested collections, which are not read."""
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Composed(NamedTuple):
    """A YAML document: its tree with positions, and its value, with numbers and days as texts."""

    tree: yaml.Node
    value: Any


class _NotReadError(Exception):
    """A YAML document with a part that is not read, such as a key that occurs twice."""


def yaml_in(text: str, part: Part, *, has_headings: bool) -> list[Composed] | None:
    """Returns the documents of a part that is YAML with nested keys; none of them if it has a piece that is not read.

    Returns None for any other part. In "team:\\n  - name: Bo\\n    role: CTO" the keys are nested. Labelled lines and
    lists of texts are prose. With `has_headings` a line that begins with "#" is not a comment.
    """
    lines = list(_lines_of(text[part.start : part.end], has_headings=has_headings))
    if None in lines or not _is_nested([line for line in lines if line is not None]):
        return None
    is_read = not any(line is not None and _UNREAD.match(line["value"] or line["text"] or "") for line in lines)
    return _composed(text, part) if is_read else []


def _composed(text: str, part: Part) -> list[Composed]:
    """Returns the documents of a part, with positions in the whole text; none if it can't be read."""
    try:
        trees = list(yaml.compose_all(text[part.start : part.end].replace("\ufeff", "\n"), Loader=_Loader))
        return [Composed(tree, _value_of(tree, part.start, set())) for tree in trees if tree is not None]
    except (yaml.YAMLError, _NotReadError):
        return []


def _lines_of(text: str, *, has_headings: bool) -> Iterator[re.Match[str] | None]:
    """Yields the lines with a key or a list item, and None for a line with neither."""
    block: int | None = None
    for line in text.removeprefix("\ufeff").splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or (block is not None and indent > block):
            continue
        block = None
        if line.rstrip() in ("---", "...") or (line.lstrip().startswith("#") and not has_headings):
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None or (match["key"] is None and match["item"] is None):
            yield None
            return
        if _BLOCK.fullmatch(match["value"] or ""):
            block = indent
        yield match


def _is_nested(lines: Sequence[re.Match[str]]) -> bool:
    """Decides whether a list item is an object, or an object is below a key."""
    keyed = [line for line in lines if line["key"] is not None]
    are_lower = not any(line["key"][0].isupper() for line in keyed)
    is_deeper = any(
        line["item"] is None and len(line["indent"]) > len(above["indent"]) for above, line in pairwise(keyed)
    )
    return (is_deeper and are_lower) or any(line["item"] and line["key"].lower() in _NAMES for line in keyed)


def _value_of(tree: yaml.Node, offset: int, seen: set[int]) -> Any:
    """Returns the value of a tree, whose positions are shifted by an offset."""
    if id(tree) in seen:
        raise _NotReadError
    seen.add(id(tree))
    tree.start_mark, tree.end_mark = (
        yaml.Mark("", mark.index + offset, mark.line, mark.column, None, 0) for mark in (tree.start_mark, tree.end_mark)
    )
    if isinstance(tree, yaml.MappingNode):
        members = {}
        for key, value in tree.value:
            _value_of(key, offset, seen)
            if not isinstance(key, yaml.ScalarNode) or key.value in members:
                raise _NotReadError
            members[key.value] = _value_of(value, offset, seen)
        return members
    if isinstance(tree, yaml.SequenceNode):
        return [_value_of(value, offset, seen) for value in tree.value]
    if tree.tag == "tag:yaml.org,2002:null":
        return None
    is_bool = tree.tag == "tag:yaml.org,2002:bool"
    return tree.value.lower() in ("true", "yes", "on") if is_bool else tree.value
