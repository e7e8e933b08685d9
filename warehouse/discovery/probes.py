"""Stores findings about the capabilities, and reads the discovery documents that need a store or a clock."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from contracts.discovery.agent_card import agent_card, signed_card
from contracts.discovery.capabilities import Status
from contracts.discovery.encoding import document_bytes
from contracts.discovery.registry import CapabilityRegistry, Finding, kept_findings, registry
from contracts.discovery.texts import security_txt
from contracts.discovery.x402 import x402_manifest, x402_metadata
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection, transaction
from warehouse.duck.rows import aware_utc, upsert
from warehouse.statements import read_sql

PROBES = "discovery_probes"
OWN_ENDPOINTS = "own_endpoints"
"""The name of this service in the log of requests to sources."""

_GENERATION = re.compile(r"[A-Za-z0-9-]{1,80}")


def read_registry(context: DocumentContext) -> CapabilityRegistry:
    """Returns every capability's status, according to the settings and the newest findings."""
    return registry(context.installation, read_findings(context.connection))


def read_x402_manifest(context: DocumentContext) -> bytes:
    """Returns the payment manifest, which offers signed payments only while the newest probe found that they work."""
    return document_bytes(x402_manifest(context.installation, read_findings(context.connection)))


def read_x402_metadata(context: DocumentContext) -> bytes:
    """Returns the kinds of payment, according to the same findings."""
    return document_bytes(x402_metadata(context.installation, read_findings(context.connection)))


def read_agent_card(context: DocumentContext) -> bytes:
    """Returns the agent card, signed with the current key if keys are available."""
    installation = context.installation
    if installation.keys is None:
        return document_bytes(agent_card(installation))
    return document_bytes(signed_card(installation, installation.keys.signer(datetime.now(UTC))))


def read_security_txt(context: DocumentContext) -> bytes:
    """Returns the security.txt of today."""
    return security_txt(context.installation, datetime.now(UTC).date())


def read_findings(connection: Connection) -> dict[str, Finding]:
    """Returns the last findings by capability."""
    try:
        rows = connection.execute(read_sql(PROBES)).fetchall()
    except duckdb.CatalogException:
        return {}  # a warehouse of an earlier version, which the next run brings up to date
    return {
        capability: Finding(capability, Status(status), reason, determined_by, evidence, aware_utc(checked_at))
        for capability, status, reason, determined_by, evidence, checked_at in rows
    }


def looked_at(connection: Connection) -> datetime | None:
    """Returns the time of the last probe of the service itself (UTC), or None before the first."""
    try:
        ((asked_at, _),) = connection.execute(read_sql("last_attempt"), {"source": OWN_ENDPOINTS}).fetchall()
    except duckdb.CatalogException:
        return None  # as in `read_findings`
    newest: datetime | None = aware_utc(asked_at)
    return newest


def record_findings(connection: Connection, findings: Mapping[str, Finding], known: set[str]) -> int:
    """Stores findings; an unchanged one keeps its time for an hour. Returns the number of changed rows.

    A capability of `known` without a new finding keeps its last one.
    """
    stored = read_findings(connection)
    current = {id_: finding for id_, finding in stored.items() if id_ in known} | kept_findings(stored, findings)
    with transaction(connection):
        connection.execute(read_sql("drop_probes"), {"known": sorted(known)})
        changed = [finding for id_, finding in current.items() if stored.get(id_) != finding]
        upsert(connection, "out_discovery__probes", map(asdict, changed))
    return len(changed)


def is_our_generation(data_dir: Path, generation: str) -> bool:
    """Decides whether a generation with that id is stored here: a service that reports it is ours."""
    return _GENERATION.fullmatch(generation) is not None and (data_dir / "generations" / generation).is_dir()
