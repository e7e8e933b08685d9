"""Installations with different settings, and every discovery document built for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from contracts.access.signing import KeySet, key_text, new_private_key, parse_key_set
from contracts.discovery.agent_card import signed_card
from contracts.discovery.encoding import document_bytes
from contracts.discovery.installation import Installation, installation_of
from contracts.discovery.registry import Finding, registry
from contracts.discovery.wallet_actions import ACTIONS_PATH
from contracts.discovery.x402 import x402_manifest, x402_metadata
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from contracts.settings import Settings

PREFIXED = "https://h.example/prefix"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROWS = {row.name: row for row in PROJECTIONS}
KEYS: KeySet = parse_key_set(key_text(new_private_key()), "a key of tests")

EVERYTHING: dict[str, Any] = {
    "rpc_urls": ("http://127.0.0.1:1",),
    "token_address": "0x" + "11" * 20,
    "pool_address": "0x" + "12" * 20,
    "bidwall_address": "0x" + "13" * 20,
    "usdc_address": "0x" + "14" * 20,
    "treasury_address": "0x" + "15" * 20,
    "trust_registry_address": "0x" + "16" * 20,
    "escrow_address": "0x" + "17" * 20,
    "chainlink_feed_address": "0x" + "18" * 20,
    "partner_url": "https://partner.example/snapshot",
    "marketplace_url": "https://marketplace.example",
    "marketplace_agent_id": "84",
    "relayer_key_file": Path("/nowhere/relayer.key"),
    "app_url": "https://app.example",
    "contact_email": "operator@example.com",
}
"""Every setting that some capability needs."""


def installed(base_url: str = PREFIXED, **changes: Any) -> Installation:
    """Returns an installation with everything configured except `changes`; None switches a setting off."""
    given = {name: value for name, value in (EVERYTHING | changes).items() if value is not None}
    return installation_of(Settings(base_url=base_url, _env_file=None, **given), KEYS)


def bare(base_url: str = PREFIXED) -> Installation:
    """Returns an installation without any setting but its address."""
    return installation_of(Settings(base_url=base_url, _env_file=None), KEYS)


def bodies(installation: Installation, findings: Mapping[str, Finding] | None = None) -> dict[str, bytes]:
    """Returns the bytes of every discovery document with absolute addresses, by its name."""
    contents: dict[str, Any] = {
        row.name: row.made_for(installation)
        for row in PROJECTIONS
        if row.make is not None and row.media_type.endswith("json") and row.path != ACTIONS_PATH
    }
    contents["agent_card"] = json.dumps(signed_card(installation, KEYS.signer(NOON))).encode()
    contents["x402_manifest"] = document_bytes(x402_manifest(installation, findings or {}))
    contents["x402_metadata"] = document_bytes(x402_metadata(installation, findings or {}))
    contents["capability_registry"] = registry(installation, findings or {})
    origin = Origin("20261121T120000Z-000001", NOON)
    return {name: render(ROWS[name], content, origin) for name, content in contents.items()}


def documents(installation: Installation, findings: Mapping[str, Finding] | None = None) -> dict[str, Any]:
    """Returns every discovery document by its name, as a client reads it."""
    return {name: json.loads(body) for name, body in bodies(installation, findings).items()}


def texts_in(value: Any) -> Iterator[str]:
    """Yields every text within a JSON value, excluding the names of members."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)
    elif isinstance(value, str):
        yield value
