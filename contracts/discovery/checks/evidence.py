"""What a check is given, the answers of a service, and what it gives: defects, each with its cure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import yaml


@dataclass(frozen=True, slots=True, order=True)
class Defect:
    """Something wrong with a document: `document` is its path below the base address."""

    document: str
    what: str
    cure: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; header names in lower case. `status` 0 is none at all, and `fault` says why."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    fault: str | None = None

    @property
    def media_type(self) -> str:
        """Without its parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """The body as UTF-8; what is none of it becomes a replacement character."""
        return self.body.decode("utf-8", "replace")

    @property
    def value(self) -> Any:
        """The body read as JSON or YAML, as its type says; None where it is neither."""
        return _value(self.media_type, self.body)


@lru_cache(maxsize=512)
def _value(media_type: str, body: bytes) -> Any:
    """Read once, since every check looks at it again."""
    try:
        if media_type == "application/yaml":
            return yaml.load(body.decode("utf-8", "replace"), yaml.CSafeLoader)
        if media_type.endswith(("/json", "+json")):
            return json.loads(body)
    except (ValueError, RecursionError, yaml.YAMLError):
        return None
    return None


@dataclass(frozen=True, slots=True)
class Reading:
    """One document as it was asked for: by GET, by GET with its own ETag, by HEAD, and by OPTIONS."""

    answer: Answer
    again: Answer | None = None
    head: Answer | None = None
    options: Answer | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that was read of the service at `base_url` (no trailing slash).

    `linked` holds the answers of addresses on this host that documents name, `strangers` those of paths that can't
    exist; `tools` is the MCP server's list, None where it was not to be had; `unread` what was left out, and why.
    """

    base_url: str
    now: datetime
    readings: Mapping[str, Reading]
    linked: Mapping[str, Answer] = field(default_factory=dict)
    strangers: Mapping[str, Answer] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def documents(self) -> dict[str, Answer]:
        """What answered with 200, by path."""
        return {path: each.answer for path, each in self.readings.items() if each.answer.status == 200}

    @property
    def linked_documents(self) -> dict[str, Answer]:
        """What documents lead to on this host and answered with 200, by path."""
        found = ((path_below(self.base_url, url), answer) for url, answer in self.linked.items())
        return {path: answer for path, answer in found if path is not None and answer.status == 200}

    def value(self, path: str) -> Any:
        """A document's JSON or YAML; None where there is none."""
        answer = self.documents.get(path)
        return None if answer is None else answer.value

    def text(self, path: str) -> str:
        """A document's text; empty where there is none."""
        answer = self.documents.get(path)
        return "" if answer is None else answer.text


def path_below(base_url: str, url: str) -> str | None:
    """The path (with its query) of an address of this service below its base address; None where it is elsewhere."""
    here, there = urlsplit(base_url), urlsplit(url)
    if (there.scheme, there.netloc) != (here.scheme, here.netloc):
        return None
    if there.path != here.path and not there.path.startswith(here.path + "/"):
        return None
    path = there.path[len(here.path) :] or "/"
    return f"{path}?{there.query}" if there.query else path
