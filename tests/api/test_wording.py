"""Errors about a body speak of JSON, not of the framework's own objects."""

import pytest
from intakes import HUMAN
from pydantic import TypeAdapter, ValidationError

from api.wording import in_words, pointer_to
from contracts.connect.messages import PlanArguments
from contracts.connect.progress import StepReport
from contracts.intake.requests import IntakeRequest

REQUESTS = TypeAdapter(IntakeRequest)


@pytest.mark.parametrize(
    ("adapter", "body", "words"),
    [
        (REQUESTS, [], "must be an object"),
        (TypeAdapter(PlanArguments), "x", "must be an object"),
        (TypeAdapter(StepReport), {"step_id": "pay", "outcome": "done", "evidence": []}, "must be an object"),
        (REQUESTS, HUMAN | {"worldSources": ["notes"] * 9}, "must have at most 8 items, not 9"),
        (REQUESTS, HUMAN | {"worldSources": "notes"}, "must be a valid list"),
        (REQUESTS, HUMAN | {"consent": {}}, "is required"),
        (REQUESTS, HUMAN | {"wallet": "0x"}, "is not known"),
        (REQUESTS, HUMAN | {"name": "x"}, "must have at least 2 characters"),
    ],
)
def test_a_fault_is_described_in_terms_of_json(adapter, body, words):
    with pytest.raises(ValidationError) as refused:
        adapter.validate_python(body)
    assert [in_words(fault) for fault in refused.value.errors()] == [words]


def test_a_pointer_escapes_what_names_may_hold():
    assert pointer_to(("traverse", 0, "a/b~c")) == "/traverse/0/a~1b~0c"
    assert pointer_to(()) == ""
