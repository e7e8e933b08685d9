"""Reads the inputs of the documents under `/artifacts/`: the recorded settings, the funnel and the daily counts."""

from datetime import datetime, timedelta

from contracts.access.rail import rail_of
from contracts.intake.artifact_documents import Artifact
from contracts.intake.artifacts import ARTIFACT_KINDS, DAYS, FUNNEL, SETTINGS, Facts, LaneFunnel, SeenSettings, artifact
from contracts.intake.intake_documents import DayCounts
from contracts.intake.requests import Lane
from contracts.settings import Settings
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Connection
from warehouse.duck.rows import aware_utc, upsert
from warehouse.statements import read_sql

LOOKED_FOR = timedelta(hours=1)
"""Unchanged settings are recorded again at most this often, so that documents keep their bytes."""


def read_artifact(context: DocumentContext, name: str) -> Artifact:
    """Returns one document under `/artifacts/`."""
    connection = context.connection
    questions = (SETTINGS, *ARTIFACT_KINDS[name].questions)
    rows = {question: connection.execute(read_sql(question)).fetchall() for question in questions}
    settings = rows[SETTINGS]
    seen = None
    if settings:
        chain_id, missing, app_url, checked_at = settings[0]
        seen = SeenSettings(chain_id, tuple(missing), app_url, aware_utc(checked_at))
    funnel = tuple(LaneFunnel(Lane(lane), *counts) for lane, *counts in rows.get(FUNNEL, ()))
    days = tuple(
        DayCounts(day=day, agent=agent, human=human, enterprise=enterprise)
        for day, agent, human, enterprise in rows.get(DAYS, ())
    )
    return artifact(name, Facts(context.base_url, seen, funnel, days))


def see_settings(connection: Connection, settings: Settings, now: datetime, *, again: bool) -> bool:
    """Records the settings that documents state. Returns True if it did.

    Without `again`, unchanged settings are not recorded again within an hour.
    """
    rail = rail_of(settings)
    current = (rail.chain_id, list(rail.missing), settings.app_url)
    recorded = connection.execute(read_sql(SETTINGS)).fetchall()
    if recorded and not again and recorded[0][:3] == current and now - aware_utc(recorded[0][3]) < LOOKED_FOR:
        return False
    row = {"chain_id": rail.chain_id, "missing_payment_settings": list(rail.missing), "app_url": settings.app_url}
    upsert(connection, "out_intake__settings", row | {"only_row": True, "checked_at": now})
    return True
