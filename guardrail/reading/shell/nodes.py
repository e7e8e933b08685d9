"""The nodes of the grammar: kinds that are treated alike, and nodes that belong together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from tree_sitter import Node

from guardrail.reading.shell.own_words import words_of

NAME = re.compile(r"[A-Za-z_]\w*")
BLANKS = frozenset((" ", "\t", "\n"))
EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
STATEMENTS = words_of(
    "command redirected_statement pipeline list if_statement for_statement while_statement c_style_for_statement "
    "case_statement function_definition subshell compound_statement negated_command test_command "
    "declaration_command unset_command variable_assignment variable_assignments do_group elif_clause else_clause "
    "case_item command_substitution process_substitution program"
)


def groups_of(nodes: Sequence[Node]) -> list[list[Node]]:
    """Groups nodes that touch: they are one word, however the grammar splits it."""
    groups: list[list[Node]] = []
    end = -1
    for node in nodes:
        if node.start_byte == end and groups and node.type not in REDIRECTS:
            groups[-1].append(node)
        else:
            groups.append([node])
        end = node.end_byte
    return groups


def parts_of_list(node: Node) -> list[tuple[str, Node]]:
    """Returns the commands of `a && b || c` with the operator before each, `?` where a comment hides it. The grammar
    nests them to the left, as deep as the list is long."""
    parts: list[tuple[str, Node]] = []
    while node.type == "list" and (children := node.children):
        for before, child in reversed(list(pairwise(children))):
            if child.is_named:
                parts.append(("?" if before.is_named else before.type, child))
        node = children[0]
    return [*parts, ("", node)][::-1]


def never_waits(loop: Node) -> bool:
    """Decides whether each statement of a loop's body is sent to the background at once."""
    body = next((child for child in loop.children if child.type in ("do_group", "compound_statement")), None)
    if body is None:
        return False
    statements = sum(child.is_named and child.type != "comment" for child in body.children)
    return 0 < statements == sum(child.type == "&" for child in body.children)


def first_node(root: Node, kind: str) -> Node | None:
    """Returns the first node of a kind, from the top."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            return node
        waiting += reversed(node.named_children)
    return None
