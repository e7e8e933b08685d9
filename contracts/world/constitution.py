"""Loads the constitution from `constitution/*.yaml`: the public nodes and edges of every new installation."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from contracts.world.ontology import DOMAINS
from contracts.world.proposal import EdgeDraft, NodeDraft

SOURCE = "constitution"
"""The source of its statements, without the file name that follows it."""


@cache
def load_constitution_drafts() -> tuple[tuple[NodeDraft, ...], tuple[EdgeDraft, ...]]:
    """Returns nodes and edges of this version's constitution, by domain.

    Raises `ValueError` if a file names an unknown domain.
    """
    texts = [path.read_text() for path in sorted((Path(__file__).parent / "constitution").glob("*.yaml"))]
    return read_constitution(texts)


def read_constitution(texts: list[str]) -> tuple[tuple[NodeDraft, ...], tuple[EdgeDraft, ...]]:
    """Parses the texts of constitution files into drafts. A node's `links` list targets by relationship type."""
    files: list[dict[str, Any]] = [yaml.load(text, yaml.CSafeLoader) for text in texts]
    for file in files:
        if file["domain"] not in DOMAINS:
            raise ValueError(f"no domain {file['domain']}")
    files.sort(key=lambda file: DOMAINS.index(file["domain"]))
    nodes = [(file["domain"], node) for file in files for node in file["nodes"]]
    return (
        tuple(
            NodeDraft(
                id=node["id"],
                type=node["type"],
                title=node["title"],
                domain=domain,
                properties=node.get("properties", {}),
                visibility="public",
                immutable=node.get("immutable", False),
            )
            for domain, node in nodes
        ),
        tuple(
            EdgeDraft(source=node["id"], target=target, type=edge_type, visibility="public")
            for _, node in nodes
            for edge_type, targets in node.get("links", {}).items()
            for target in targets
        ),
    )
