"""Builds the URLs of the documents to which an intake links."""

from contracts.discovery.service import CONNECT_PAGE_PATH

PAGE_WITHOUT_APP = CONNECT_PAGE_PATH
"""The page on which to continue if no companion application is configured."""

ARTIFACTS = "/artifacts/"


def artifact_path(name: str) -> str:
    return f"{ARTIFACTS}{name}"


def artifact_url(base_url: str, name: str) -> str:
    return base_url + artifact_path(name)


def page_url(base_url: str, app_url: str | None) -> str:
    """Returns the URL of the page on which a person continues."""
    return app_url or base_url + PAGE_WITHOUT_APP
