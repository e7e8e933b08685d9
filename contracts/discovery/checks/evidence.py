"""Defines the input of a check, which is a service's answers, and its output: defects, each with its cure."""

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
    """A fault of a document: `document` is its path below the base address."""

    document: str
    what: str
    cure: str


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One answer; header names in lower case. `status` 0 means that there was no answer, and `fault` is the reason."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    fault: str | None = None

    @property
    def media_type(self) -> str:
        """Returns the media type without its parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """Returns the body as UTF-8; invalid bytes become replacement characters."""
        return self.body.decode("utf-8", "replace")

    @property
    def value(self) -> Any:
        """Returns the body parsed as JSON or YAML, according to its type, or None if it is neither."""
        return _value(self.media_type, self.body)


@lru_cache(maxsize=512)
def _value(media_type: str, body: bytes) -> Any:
    """Parses a body only once, because every check uses the value again."""
    try:
        if media_type == "application/yaml":
            return yaml.load(body.decode("utf-8", "replace"), yaml.CSafeLoader)
        if media_type.endswith(("/json", "+json")):
            return json.loads(body)
    except (ValueError, RecursionError, yaml.YAMLError):
        return None
    return None


EXAMPLES = ("example", "examples")
"""Members of a description that contain other bodies."""


def values_in(value: Any, without: tuple[str, ...] = ()) -> list[Any]:
    """Returns a JSON value and every value within it, outer before inner, without members named in `without`.

    A YAML alias puts one value in many places, even within itself. Each value is therefore entered only once.
    """
    found, entered = [value], set[int]()
    for inner in found:  # the list grows during the loop
        is_list = isinstance(inner, list)
        if not (is_list or isinstance(inner, dict)) or id(inner) in entered:
            continue
        entered.add(id(inner))
        if is_list:
            found += inner
        elif without:
            found += [part for name, part in inner.items() if name not in without]
        else:
            found += inner.values()
    return found


@dataclass(frozen=True, slots=True)
class DocumentAnswers:
    """The answers for one document: to GET, to GET with its own ETag, to HEAD, and to OPTIONS."""

    answer: HttpAnswer
    again: HttpAnswer | None = None
    head: HttpAnswer | None = None
    options: HttpAnswer | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Every answer of the service at `base_url` (no trailing slash).

    `linked` contains the answers of addresses on this host that documents name, and `strangers` those of paths that
    must not exist. `tools` is the MCP server's list, or None if it was unavailable. `unread` lists the skipped
    documents with the reasons.
    """

    base_url: str
    now: datetime
    readings: Mapping[str, DocumentAnswers]
    linked: Mapping[str, HttpAnswer] = field(default_factory=dict)
    strangers: Mapping[str, HttpAnswer] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def documents(self) -> dict[str, HttpAnswer]:
        """Returns the answers with status 200, by path."""
        return {path: reading.answer for path, reading in self.readings.items() if reading.answer.status == 200}

    @property
    def linked_documents(self) -> dict[str, HttpAnswer]:
        """Returns the answers with status 200 to addresses on this host that documents name, by path."""
        answers = ((path_below(self.base_url, url), answer) for url, answer in self.linked.items())
        return {path: answer for path, answer in answers if path is not None and answer.status == 200}

    def value(self, path: str) -> Any:
        """Returns a document's JSON or YAML, or None."""
        answer = self.documents.get(path)
        return None if answer is None else answer.value

    def text(self, path: str) -> str:
        """Returns a document's text, or an empty one if the document is missing."""
        answer = self.documents.get(path)
        return "" if answer is None else answer.text


def path_below(base_url: str, url: str) -> str | None:
    """Returns the path (with its query) below the base address, or None for an address elsewhere."""
    here, there = urlsplit(base_url), urlsplit(url)
    if (there.scheme, there.netloc) != (here.scheme, here.netloc):
        return None
    if there.path != here.path and not there.path.startswith(here.path + "/"):
        return None
    path = there.path[len(here.path) :] or "/"
    return f"{path}?{there.query}" if there.query else path
