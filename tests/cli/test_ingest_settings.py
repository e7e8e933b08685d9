"""Without its settings, `svc ingest` names the ones that it needs and the page that shows how to set them."""

from __future__ import annotations

import pytest
from commands import called

STORE = {"SVC_PARTITION_BLOCKS": "50", "SVC_PUBLISH_URL": "file://{tmp}/store"}
WORKERS = {
    **STORE,
    "SVC_WORKERS_URL": "postgresql+psycopg2:///none",
    "SVC_RPC_URLS": "http://127.0.0.1:9/",
    "SVC_SIGNING_KEY_FILE": "{tmp}/key.pem",
}
NEEDS = "Ingestion over workers needs settings that are not set here: {}."
HOW = "Set it as docs/operations.md shows under `More than one machine: ingestion`."
TOKEN = "There is no token to read."
WHICH = "Set SVC_TOKEN_ADDRESS, or name further tokens in SVC_TOKENS_FILE."


@pytest.mark.parametrize(
    ("command", "settings", "what", "cure"),
    [
        ("status", {}, NEEDS.format("SVC_PARTITION_BLOCKS, SVC_PUBLISH_URL"), HOW),
        ("status", {"SVC_PUBLISH_URL": STORE["SVC_PUBLISH_URL"]}, NEEDS.format("SVC_PARTITION_BLOCKS"), HOW),
        ("status", STORE, TOKEN, WHICH),
        (
            "workers",
            {},
            NEEDS.format("SVC_PARTITION_BLOCKS, SVC_PUBLISH_URL, SVC_WORKERS_URL, SVC_RPC_URLS, SVC_SIGNING_KEY_FILE"),
            HOW,
        ),
        ("workers", STORE, NEEDS.format("SVC_WORKERS_URL, SVC_RPC_URLS, SVC_SIGNING_KEY_FILE"), HOW),
        ("workers", WORKERS, TOKEN, WHICH),
    ],
)
def test_a_missing_setting_is_named_once_with_its_cure(tmp_path, command, settings, what, cure):
    environment = {name: value.format(tmp=tmp_path) for name, value in settings.items()}
    result = called({"SVC_DATA_DIR": str(tmp_path / "data"), **environment}, "ingest", command)
    assert (result.exit_code, result.stderr.split("\n")) == (2, [f"svc: {what}", f"     {cure}", ""])
