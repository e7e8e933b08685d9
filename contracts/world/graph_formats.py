"""Writes the records of an export as JSON Lines, JSON-LD or GraphML, piece by piece. Pure.

A writer buffers only the earlier states of one node or edge, so memory use does not grow with the graph. JSON-LD and
GraphML are for other programs to read; only JSON Lines can be imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import msgspec

from contracts.world.portable import (
    DecisionRecord,
    EdgeRecord,
    EndRecord,
    Header,
    NodeRecord,
    OntologyRecord,
    Record,
    line_of,
)

Format = Literal["jsonl", "jsonld", "graphml"]

VOCABULARY = "urn:svc:world:"

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True)
class GraphFormat:
    """One format: its media type and file name extension."""

    name: Format
    media_type: str
    suffix: str


FORMATS: dict[Format, GraphFormat] = {
    "jsonl": GraphFormat("jsonl", "application/x-ndjson", "jsonl"),
    "jsonld": GraphFormat("jsonld", "application/ld+json", "jsonld"),
    "graphml": GraphFormat("graphml", "application/graphml+xml", "graphml"),
}


def written(records: Iterable[Record], form: Format) -> Iterator[bytes]:
    """Yields the bytes of records in a format. An export may be written page by page: the joined pages equal the whole
    export."""
    match form:
        case "jsonl":
            return map(line_of, records)
        case "jsonld":
            return _json_ld(records)
        case "graphml":
            return _graphml(records)


_CONTEXT: dict[str, Any] = {
    "@vocab": VOCABULARY,
    "source": {"@id": f"{VOCABULARY}source", "@type": "@id"},
    "target": {"@id": f"{VOCABULARY}target", "@type": "@id"},
    "stateOf": {"@id": f"{VOCABULARY}stateOf", "@type": "@id"},
    "endedBy": {"@id": f"{VOCABULARY}endedBy", "@type": "@id"},
    "decision": {"@id": f"{VOCABULARY}decision", "@type": "@id"},
    "properties": {"@id": f"{VOCABULARY}properties", "@type": "@json"},
    "stages": {"@id": f"{VOCABULARY}stages", "@type": "@json"},
    "words": {"@id": f"{VOCABULARY}words", "@type": "@json"},
}


def _json_ld(records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        if isinstance(record, Header):
            header = {"@id": f"{VOCABULARY}graph", "@type": "Graph", **_fields(record)}
            yield b'{"@context":' + _encode(_CONTEXT) + b',"@graph":[\n' + _encode(header)
        elif isinstance(record, EndRecord):
            yield b"\n]}\n"
        else:
            yield b",\n" + _encode(_linked(record))


def _linked(record: OntologyRecord | DecisionRecord | NodeRecord | EdgeRecord) -> dict[str, Any]:
    fields = _fields(record)
    if isinstance(record, OntologyRecord):
        return fields | {"@type": "Ontology"}
    if isinstance(record, DecisionRecord):
        return _without_none(fields | {"@type": "Decision", "id": None, "@id": _decision_iri(record.id)})
    if record.decision is not None:
        fields["decision"] = _decision_iri(record.decision)
    if isinstance(record, NodeRecord):
        own = {"@id": _iri(record.id)} if record.current else {"stateOf": _iri(record.id)}
        kind = record.type if record.current else [record.type, "EarlierState"]
        ended_by = {"endedBy": _iri(record.ended_by)} if record.ended_by else {}
        # a node's `source` is where it was stated, but an edge's `source` is a node
        return _without_none(fields | own | ended_by | {"@type": kind, "source": None, "statedIn": record.source})
    ends = {"source": _iri(record.source), "target": _iri(record.target)}
    return _without_none(fields | ends | {"@type": "Edge" if record.current else ["Edge", "EarlierState"]})


def _fields(record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(record)
    return {name: value for name, value in fields.items() if name != "kind" and value is not None}


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _iri(node_id: str) -> str:
    return f"{VOCABULARY}node:{quote(node_id, safe='')}"


def _decision_iri(decision_id: str) -> str:
    return f"{VOCABULARY}decision:{quote(decision_id, safe='')}"


_GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""

_TEXTS = (
    "type",
    "title",
    "source",
    "domain",
    "validFrom",
    "validTo",
    "recordedAt",
    "author",
    "sourceClass",
    "statedAt",
    "statedTo",
    "statedIn",
    "endedBy",
    "confirmedAs",
    "confirmedAt",
    "decision",
)
_BOOLEANS = ("current", "immutable", "retracted", "disputed")
_JSON = ("properties", "history")


def _graphml(records: Iterable[Record]) -> Iterator[bytes]:
    """Yields a directed graph. Earlier states of a node or an edge are JSON in its `history`; decisions and the owner's
    words are JSON data of the graph element."""
    earlier: list[dict[str, Any]] = []
    for record in records:
        if isinstance(record, Header):
            keys = [(name, "string") for name in (*_TEXTS, *_JSON)] + [(name, "boolean") for name in _BOOLEANS]
            declared = "".join(
                f'<key id="{name}" for="all" attr.name="{name}" attr.type="{kind}"/>\n' for name, kind in keys
            )
            scope = f'<key id="scope" for="graph" attr.name="scope" attr.type="string"/>\n{_KEYS_OF_THE_GRAPH}'
            yield f'{_GRAPHML_HEAD}{declared}{scope}<graph edgedefault="directed">\n'.encode()
            yield f'<data key="scope">{record.scope}</data>\n'.encode()
        elif isinstance(record, EndRecord):
            yield b"</graph>\n</graphml>\n"
        elif isinstance(record, OntologyRecord):
            yield f'<data key="ontology">{_xml(_encode(record.words).decode())}</data>\n'.encode()
        elif isinstance(record, DecisionRecord):
            yield f'<data key="decided">{_xml(_encode(_fields(record)).decode())}</data>\n'.encode()
        elif not record.current:
            earlier.append(_fields(record))
        else:
            yield _element(record, earlier).encode()
            earlier = []


_KEYS_OF_THE_GRAPH = "".join(
    f'<key id="{name}" for="graph" attr.name="{name}" attr.type="string"/>\n' for name in ("decided", "ontology")
)


def _element(record: NodeRecord | EdgeRecord, earlier: list[dict[str, Any]]) -> str:
    fields = _fields(record)
    if isinstance(record, NodeRecord):
        name, attributes = "node", f"id={quoteattr(fields.pop('id'))}"
    else:
        ends = fields.pop("source"), fields.pop("target")
        name, attributes = "edge", f"source={quoteattr(ends[0])} target={quoteattr(ends[1])}"
    if earlier:
        fields["history"] = earlier
    data = "".join(
        f'<data key="{key}">{_xml(value if isinstance(value, str) else _encode(value).decode())}</data>'
        for key, value in fields.items()
    )
    return f"<{name} {attributes}>{data}</{name}>\n"


def _xml(text: str) -> str:
    """Escapes a text for XML. The only control characters in the graph's texts are line breaks; two more code points
    are non-characters, which XML forbids."""
    return escape(text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd"), {"\r": "&#13;"})
