"""What the documents under `/artifacts/` are read from: the settings that were seen, the funnel and the days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from contracts.access.rail import rail_of
from contracts.intake.artifact_documents import Artifact
from contracts.intake.artifacts import ARTIFACT_KINDS, DAYS, FUNNEL, SETTINGS, Facts, LaneFunnel, SeenSettings, artifact
from contracts.intake.intake_documents import DayCounts
from contracts.intake.requests import Lane
from contracts.settings import Settings
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.statements import read_sql

LOOKED_FOR = timedelta(hours=1)
"""How long it is not said anew that the settings are as they were, so that documents keep their bytes."""


def read_artifact(context: DocumentContext, name: str) -> Artifact:
    """One document under `/artifacts/`."""
    connection = context.connection
    asked = (SETTINGS, *ARTIFACT_KINDS[name].questions)
    rows = {question: connection.execute(read_sql(question)).fetchall() for question in asked}
    settings = rows[SETTINGS]
    seen = None
    if settings:
        chain_id, missing, app_url, checked_at = settings[0]
        seen = SeenSettings(chain_id, tuple(missing), app_url, checked_at.replace(tzinfo=UTC))
    funnel = tuple(LaneFunnel(Lane(lane), *counts) for lane, *counts in rows.get(FUNNEL, ()))
    days = tuple(
        DayCounts(day=day, agent=agent, human=human, enterprise=enterprise)
        for day, agent, human, enterprise in rows.get(DAYS, ())
    )
    return artifact(name, Facts(context.base_url, seen, funnel, days))


def see_settings(connection: Connection, settings: Settings, now: datetime, *, anew: bool) -> bool:
    """Note what documents state of the settings, and whether it was: within an hour of the same only `anew`."""
    rail = rail_of(settings)
    found = (rail.chain_id, list(rail.missing), settings.app_url)
    held = connection.execute(read_sql(SETTINGS)).fetchall()
    if held and not anew and held[0][:3] == found and now - held[0][3].replace(tzinfo=UTC) < LOOKED_FOR:
        return False
    values = {
        "chain_id": rail.chain_id,
        "missing": list(rail.missing),
        "app_url": settings.app_url,
        "checked_at": now.astimezone(UTC).replace(tzinfo=None),
    }
    connection.execute(read_sql("put_settings"), values)
    return True
