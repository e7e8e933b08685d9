"""Schemas of models: each is generated once per process, and publishing does not modify it."""

from copy import deepcopy

from contracts.base import schema_of
from contracts.discovery.encoding import document_bytes
from contracts.discovery.installation import Installation
from contracts.discovery.registry import CapabilityRegistry
from contracts.discovery.schemas import SCHEMA_DIALECT, schema_path
from contracts.publish.registry import PROJECTIONS

REGISTRY_SCHEMA = schema_path("svc-base-capabilities")


def test_two_publications_have_one_schema_of_a_model_which_neither_changes():
    (row,) = (row for row in PROJECTIONS if row.path == REGISTRY_SCHEMA)
    generated = schema_of(CapabilityRegistry, "serialization")
    before = deepcopy(generated)
    first, other = (row.made_for(Installation(url)) for url in ("https://svc.example", "https://other.example"))
    assert schema_of(CapabilityRegistry, "serialization") is generated
    assert generated == before == CapabilityRegistry.model_json_schema(by_alias=True, mode="serialization")
    assert first != other
    assert first == document_bytes(
        {
            "$schema": SCHEMA_DIALECT,
            "$id": f"https://svc.example{REGISTRY_SCHEMA}",
            **before,
        }
    )


def test_requests_and_answers_have_different_schemas():
    sent, answered = (schema_of(CapabilityRegistry, mode) for mode in ("validation", "serialization"))
    assert sent != answered
