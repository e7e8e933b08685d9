"""The description, as it is published, under the linters that others use; in a soak also the one of API v2.

That is a part of the whole and complete, as `test_described_answers.py` shows.
"""

import json
from pathlib import Path

import pytest
from rounds import chosen
from whole_service import whole_service

from contracts.discovery.openapi import OPENAPI_PATH, OPENAPI_V2_PATH

pytestmark = pytest.mark.web


@pytest.fixture(scope="module")
def public(tmp_path_factory) -> Path:
    with whole_service(tmp_path_factory.mktemp("whole")) as service:
        return service.house.current / "public"


@pytest.fixture(params=chosen([OPENAPI_PATH, OPENAPI_V2_PATH]))
def published(request, public) -> str:
    return str(public / request.param.strip("/"))


def test_redocly_finds_nothing(published, web_tools):
    done = web_tools.command("redocly", "lint", published, "--config", "redocly.yaml", "--format", "json")
    found = json.loads(done.stdout)
    assert found["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}, found["problems"]


def test_spectral_finds_nothing(published, web_tools):
    done = web_tools.command("spectral", "lint", published, "--ruleset", "spectral.yaml", "--fail-severity", "warn")
    assert done.returncode == 0, done.stdout
