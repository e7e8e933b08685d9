"""The published description passes the linters that others use; in a soak so does the description of API v2.

The latter is a part of the whole and complete, as `test_described_answers.py` shows. The service listens at the address
that the description contains, since Redocly requests each example there that is a published document.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from addressed_service import addressed_service
from rounds import chosen

from contracts.discovery.openapi import OPENAPI_PATH, OPENAPI_V2_PATH

pytestmark = pytest.mark.web

QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
"""Keeps Redocly from contacting other hosts."""


@pytest.fixture(scope="module")
def public(tmp_path_factory) -> Iterator[Path]:
    with addressed_service(tmp_path_factory.mktemp("whole")) as (service, _):
        yield service.house.current / "public"


@pytest.fixture(params=chosen([OPENAPI_PATH, OPENAPI_V2_PATH]))
def published(request, public) -> str:
    return str(public / request.param.strip("/"))


def test_redocly_finds_nothing(published, web_tools):
    done = web_tools.command("redocly", "lint", published, "--config", "redocly.yaml", "--format", "json", **QUIET)
    found = json.loads(done.stdout)
    assert found["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}, found["problems"]


def test_spectral_finds_nothing(published, web_tools):
    done = web_tools.command("spectral", "lint", published, "--ruleset", "spectral.yaml", "--fail-severity", "warn")
    assert done.returncode == 0, done.stdout
