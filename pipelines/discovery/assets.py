"""The status of every capability as an asset: from the settings, the documents and the service's own answers."""

import asyncio
from datetime import UTC, datetime

import dagster as dg

from contracts.discovery.capabilities import Status, capability_states, load_capabilities
from contracts.discovery.installation import installation_of
from contracts.discovery.judging import documents_needed, judge, requests_needed
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import fields_of
from pipelines.discovery.probe import ask_ourselves, is_due
from pipelines.presentation import markdown_table, other_spec, row_count, table_asset
from pipelines.resources import Runtime
from warehouse.discovery.probes import OWN_ENDPOINTS, PROBES, is_our_generation, record_findings
from warehouse.duck.fetch_log import record_attempt
from warehouse.duck.inspection import preview
from warehouse.publish.lineage import tables_of
from warehouse.publish.readers import context_for, read

GROUP = "discovery"
TABLE = "out_discovery__probes"

_JUDGED = {row.judged.what[0] for row in load_capabilities().values() if row.judged.way == "document"}
DOCUMENTS = {row.path: row for row in PROJECTIONS if row.path in _JUDGED}
"""The documents that show whether a capability has data to offer."""

own_endpoints = other_spec(
    OWN_ENDPOINTS,
    GROUP,
    "This service at SVC_BASE_URL, queried like a client: HEAD, OPTIONS and /health, never a write.",
    "rest",
)


@table_asset(
    GROUP,
    "The status of every capability: live, planned or off, with its reason and evidence. An unchanged row "
    "is rewritten hourly.",
    deps=[OWN_ENDPOINTS, *sorted(set().union(*map(tables_of, DOCUMENTS.values())))],
    kinds=("rest",),
)
def out_discovery__probes(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Reads the documents, probes the service itself if that is due, and stores the findings."""
    installation = installation_of(runtime.settings)
    states = capability_states(installation)
    now = datetime.now(UTC)
    with runtime.warehouse.connect() as connection:
        context = context_for(connection, runtime.settings)
        documents = {path: fields_of(read(DOCUMENTS[path], context)) for path in documents_needed(states)}
        due = is_due(connection, states, now)
    answers = None
    if due:
        answers, attempt = asyncio.run(
            ask_ourselves(
                installation.base_url,
                requests_needed(states),
                lambda generation: is_our_generation(runtime.data_dir, generation),
            )
        )
    findings = judge(states, documents, answers, now)
    with runtime.warehouse.connect() as connection:
        if due:
            record_attempt(connection, attempt)
        changed = record_findings(connection, findings, set(states))
        metadata = row_count(connection, TABLE)
        metadata["preview"] = markdown_table(preview(connection, PROBES), rows=50)
    live = sum(finding.status is Status.LIVE for finding in findings.values())
    return dg.MaterializeResult(metadata={**metadata, "asked": due, "changed_rows": changed, "found_live": live})
