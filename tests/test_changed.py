"""The tests that `make test-quick` runs for a change."""

import changed
import pytest

EXISTING = changed.places_of_tests()


def concerned(path: str) -> set[str]:
    return set(changed.tests_of([path], EXISTING))


def test_a_room_is_tested_in_every_layer():
    found = concerned("warehouse/intake/statistics.py")
    assert {"tests/warehouse/intake", "tests/api/intake", "tests/contracts/intake", "tests/pipelines/intake"} <= found
    assert not found & {"tests/warehouse/world", "tests/guardrail"}


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("guardrail/catalogue/programs/git.yaml", "tests/guardrail"),
        ("cli/commands/world.py", "tests/cli/test_command_line.py"),
        ("cli/doctor.py", "tests/cli/test_doctor.py"),
        ("pipelines/schedules.py", "tests/pipelines/test_definitions.py"),
        ("site/pages/status.html.j2", "tests/pipelines/site"),
        ("clients/python/svc_client/flows.py", "tests/client_libraries"),
        ("docs/recipes.md", "tests/test_documentation.py"),
        ("warehouse/token/tables/out_holders__daily.sql", "tests/warehouse/open_data"),
    ],
)
def test_modules_outside_of_rooms_have_tests_too(path: str, tests: str):
    assert tests in concerned(path)


def test_a_helper_concerns_the_tests_that_import_it():
    assert concerned("tests/document_faults.py") == {"tests/cli/test_docs_check.py"}
    assert concerned("tests/test_changed.py") == {"tests/test_changed.py"}


def test_every_named_test_exists():
    named = {
        *changed.ALWAYS,
        *changed.TABLE_TESTS,
        *(place for places in changed.BY_PLACE.values() for place in places),
    }
    assert named <= EXISTING.keys()
