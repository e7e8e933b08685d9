"""The rules by which nodes and edges are found in documents, each with a short example, read from `rules.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from pydantic import Field

from contracts.base import Document


class Form(Document):
    """A form of text that is understood."""

    rule: str = Field(description="Its name, as in the `rule` of nodes and edges")
    example: str
    gives: str


@cache
def load_rules() -> list[Form]:
    """Returns every rule of this version."""
    raw = yaml.load((Path(__file__).parent / "rules.yaml").read_text(), yaml.CSafeLoader)
    return [Form(rule=rule, **fields) for rule, fields in raw.items()]
