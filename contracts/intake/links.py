"""Addresses of the documents that an intake links to."""

from __future__ import annotations

from contracts.discovery.service import CONNECT_PAGE_PATH

PAGE_WITHOUT_APP = CONNECT_PAGE_PATH
"""Where to go on by hand where no companion application is configured."""

ARTIFACTS = "/artifacts/"


def artifact_path(name: str) -> str:
    """The path of a published artifact."""
    return f"{ARTIFACTS}{name}"


def artifact_url(base_url: str, name: str) -> str:
    """The address of a published artifact."""
    return base_url + artifact_path(name)


def page_url(base_url: str, app_url: str | None) -> str:
    """Where a person goes on."""
    return app_url or base_url + PAGE_WITHOUT_APP
