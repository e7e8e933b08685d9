"""Reads the stores of memory plans, the kinds of data that fill them, and the levels of privacy from `stores.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

Privacy = Literal["public", "internal", "private", "regulated"]
Method = Literal["recent", "full_text", "traverse"]
Concern = Literal["all", "lasting_personal", "special"]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreKind(_Row):
    """A store that a plan may have."""

    title: str
    purpose: str
    node_types: tuple[str, ...]
    always: bool = False
    session: bool = False
    weight: float
    smallest_tokens: int
    keep_days: int
    personal: bool
    method: Method


class DataKind(_Row):
    """A kind of data. `personal` is None if only the source can tell whether it is about people."""

    about: str
    stores: tuple[str, ...]
    personal: bool | None


class PrivacyRule(_Row):
    """The demands of a level of privacy on retention and on writes."""

    personal_days: int | None
    most_personal_days: int | None
    special_categories: bool
    least_confidence: float
    needs: Mapping[str, Concern]


class StoreKinds(_Row):
    """The whole content of `stores.yaml`."""

    stores: Mapping[str, StoreKind]
    data_kinds: Mapping[str, DataKind]
    special_categories: tuple[str, ...]
    privacy: Mapping[Privacy, PrivacyRule]


@cache
def load_store_kinds() -> StoreKinds:
    """Returns the stores of this version."""
    return StoreKinds.model_validate(yaml.load((Path(__file__).parent / "stores.yaml").read_text(), yaml.CSafeLoader))
