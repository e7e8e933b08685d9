"""Reads the OpenAPI description as its readers do: with shared components resolved."""

from __future__ import annotations

from functools import cache
from typing import Any


def expanded(described: dict[str, Any], kinds: tuple[str, ...] = ("responses", "parameters", "headers")) -> Any:
    """Returns the description with each reference to a component of these kinds replaced by that component, the same
    object wherever it is used."""

    @cache
    def component(kind: str, name: str) -> Any:
        return put(described["components"][kind][name])

    def put(node: Any) -> Any:
        if isinstance(node, list):
            return [put(each) for each in node]
        if not isinstance(node, dict):
            return node
        ref = node.get("$ref")
        if isinstance(ref, str) and ref.split("/")[2] in kinds:
            _, _, kind, name = ref.split("/")
            return component(kind, name)
        return {name: put(each) for name, each in node.items()}

    return put(described)
