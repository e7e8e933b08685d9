"""Intake requests, field by field: literal values in, acceptance or the pointer to the fault out."""

import pytest
from intakes import AGENT, ENTERPRISE, HUMAN
from pydantic import TypeAdapter, ValidationError

from contracts.intake.formats import LONGEST_LINE, LONGEST_TEXT
from contracts.intake.requests import CONTACT_FIELDS, PERSON_FIELDS, IntakeRequest, details_of, person_of

REQUESTS = TypeAdapter(IntakeRequest)


def taken(body) -> bool:
    try:
        REQUESTS.validate_python(body)
    except ValidationError:
        return False
    return True


REQUIRED = [
    *((AGENT, name) for name in ("agentId", "serviceOffer", "endpoint", "consent")),
    *((HUMAN, name) for name in ("name", "useCase", "telegram", "consent")),
    *(
        (ENTERPRISE, name)
        for name in ("orgName", "contactFullName", "contactRole", "contactEmail", "useCase", "consent")
    ),
]


@pytest.mark.parametrize(("body", "name"), REQUIRED)
def test_a_required_field_must_be_present_and_not_null(body, name):
    assert taken(body)
    assert not taken({key: value for key, value in body.items() if key != name})
    assert not taken(body | {name: None})


OPTIONAL = {
    "agent": (AGENT, ("runtime", "wallet", "rail", "domain", "type", "sector", "agentContact")),
    "human": (
        HUMAN,
        (
            "agentName",
            "role",
            "workspaceName",
            "operatorScope",
            "modelProvider",
            "modelAccess",
            "governanceMode",
            "runtimeProfile",
            "activationPreference",
            "billingReadiness",
            "firstMission",
            "twitter",
        ),
    ),
    "enterprise": (ENTERPRISE, ("teamSize", "telegram")),
}


@pytest.mark.parametrize(("body", "name"), [(body, name) for body, names in OPTIONAL.values() for name in names])
def test_an_optional_text_may_be_short_or_left_out_and_is_a_text(body, name):
    assert taken(body | {name: "x"})
    without = {key: value for key, value in body.items() if key != name}
    assert taken(without)
    assert REQUESTS.validate_python(body | {name: ""}) == REQUESTS.validate_python(without)
    assert not taken(body | {name: 5})
    assert not taken(body | {name: ["x"]})
    assert not taken(body | {name: " "})
    assert not taken(body | {name: "a\x00b"})
    assert not taken(body | {name: "x" * 4_001})


LENGTHS = [
    (AGENT, "agentId", 3, LONGEST_LINE),
    (AGENT, "serviceOffer", 8, LONGEST_TEXT),
    (HUMAN, "name", 2, LONGEST_LINE),
    (HUMAN, "useCase", 10, LONGEST_TEXT),
    (HUMAN, "telegram", 2, LONGEST_LINE),
    (ENTERPRISE, "orgName", 2, LONGEST_LINE),
    (ENTERPRISE, "contactFullName", 2, LONGEST_LINE),
    (ENTERPRISE, "contactRole", 2, LONGEST_LINE),
    (ENTERPRISE, "contactName", 2, LONGEST_LINE),
    (ENTERPRISE, "useCase", 10, LONGEST_TEXT),
]


@pytest.mark.parametrize(("body", "name", "shortest", "longest"), LENGTHS)
def test_a_text_has_its_least_and_most_length(body, name, shortest, longest):
    assert taken(body | {name: "x" * shortest})
    assert taken(body | {name: "x" * longest})
    assert not taken(body | {name: "x" * (shortest - 1)})
    assert not taken(body | {name: "x" * (longest + 1)})


@pytest.mark.parametrize(("name", "most"), [("worldSources", 8), ("executionSurfaces", 6)])
def test_a_list_has_its_most_items(name, most):
    assert taken(HUMAN | {name: []})
    assert taken(HUMAN | {name: ["x"] * most})
    assert not taken(HUMAN | {name: ["x"] * (most + 1)})
    assert not taken(HUMAN | {name: "x"})
    assert not taken(HUMAN | {name: [5]})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("assistantId", ("codex", "claude-code", "gemini", "grok", "custom")),
        ("experiencePath", ("new_to_agents", "existing_agent_operator")),
        ("launchPath", ("/create-my-agent", "/upgrade-my-agent", "/launch-builder")),
    ],
)
def test_an_enumerated_field_accepts_only_its_values(name, values):
    assert all(taken(HUMAN | {name: value}) for value in values)
    assert not any(taken(HUMAN | {name: value}) for value in ("", values[0].upper(), f"{values[0]} ", "other", 1))


@pytest.mark.parametrize("lane", ["Agent", "AGENT", "agents", "", None, 1, True, ["agent"], {}])
def test_a_lane_is_one_of_three(lane):
    assert not taken(AGENT | {"lane": lane})


def test_a_field_of_another_lane_is_refused():
    assert not taken(AGENT | {"orgName": "Example"})
    assert not taken(HUMAN | {"agentId": "abc"})


@pytest.mark.parametrize("name", ["source", "consentVersion"])
def test_an_empty_source_or_version_is_left_out(name):
    assert REQUESTS.validate_python(AGENT | {name: ""}) == REQUESTS.validate_python(AGENT)
    consent = {"accepted": True}
    assert REQUESTS.validate_python(AGENT | {"consent": {**consent, "policyVersion": ""}}) == (
        REQUESTS.validate_python(AGENT | {"consent": consent})
    )


@pytest.mark.parametrize("consent", [True, {"accepted": True}, {"accepted": True, "at": "2026-01-01T00:00:00Z"}])
def test_consent_is_true_or_an_object(consent):
    assert taken(AGENT | {"consent": consent})


@pytest.mark.parametrize(
    "consent",
    [
        False,
        None,
        1,
        "true",
        "yes",
        [],
        {},
        {"accepted": False},
        {"accepted": "true"},
        {"accepted": 1},
        {"accepted": None},
        {"accepted": True, "at": "yesterday"},
        {"accepted": True, "at": 1_700_000_000},
        {"accepted": True, "policyVersion": 1},
        {"accepted": True, "more": 1},
    ],
)
def test_any_other_value_is_no_consent(consent):
    assert not taken(AGENT | {"consent": consent})


@pytest.mark.parametrize(
    "email",
    ["a@b.co", "first.last+tag@sub.example.com", "o'hara@example.ie", "x@xn--bcher-kva.example", f"{'a' * 64}@b.co"],
)
def test_an_email_address_is_taken(email):
    assert taken(HUMAN | {"email": email})
    assert taken(ENTERPRISE | {"contactEmail": email})


@pytest.mark.parametrize(
    "email",
    [
        "",
        "a",
        "a@",
        "@b.co",
        "a@b",
        "a@b..co",
        "a..b@c.co",
        ".a@b.co",
        "a.@b.co",
        "a@-b.co",
        "a@b-.co",
        "a@b.c",
        "a@b.1",
        "a b@c.co",
        "a@b.co\n",
        "a@b@c.co",
        "Ada <a@b.co>",
        '"a b"@c.co',
        "a@[127.0.0.1]",
        "а@b.co",
        "a@bücher.example",
        "a@exаmple.com",
        "mailto:a@b.co",
        f"{'a' * 65}@b.co",
        f"a@{'b' * 250}.co",
        "a@b.invalid",
        "a@printer.local",
        "a@xn--a.co",
    ],
)
def test_a_text_that_only_looks_like_an_email_address_is_refused(email):
    assert not taken(HUMAN | {"email": email})
    assert not taken(ENTERPRISE | {"contactEmail": email})


@pytest.mark.parametrize(
    "uri",
    [
        "https://a.example",
        "HTTP://a.example/b?c=d#e",
        "http://localhost:8080/",
        "http://my_agent:8080/",
        "http://127.0.0.1/admin",
        "http://169.254.169.254/latest",
        "http://[::1]:9/",
        "https://a.example/%C3%A4",
    ],
)
def test_a_web_address_is_kept_as_text_wherever_it_leads(uri):
    assert taken(AGENT | {"endpoint": uri, "proof": uri})


def test_a_proof_may_be_content_addressed():
    assert taken(AGENT | {"proof": "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/a"})
    assert not taken(AGENT | {"endpoint": "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi"})


@pytest.mark.parametrize(
    ("uri", "as_endpoint", "as_proof"),
    [
        ("did:web:agent.example", True, True),
        ("did:web:agent.example%3A8443:agents:7", True, True),
        ("did:pkh:eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", True, True),
        ("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK#keys-1", True, True),
        ("did:web:agent.example?service=a2a&relativeRef=/tasks", True, True),
        ("wss://agent.example/a2a", True, False),
        ("ws://127.0.0.1:9000/", True, False),
        ("ipns://k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8/a", False, True),
        ("did:web", False, False),
        ("did:web:", False, False),
        ("did:Web:agent.example", False, False),
        ("DID:web:agent.example", False, False),
        ("did:web:agent.example/ b", False, False),
        ("did:web:agent%zz", False, False),
        ("wss://user:secret@agent.example/", False, False),
        ("urn:isbn:0451450523", False, False),
        ("mailto:me@agent.example", False, False),
    ],
)
def test_an_endpoint_may_be_a_socket_and_a_proof_content_and_both_a_decentralised_identifier(
    uri, as_endpoint, as_proof
):
    assert (taken(AGENT | {"endpoint": uri}), taken(AGENT | {"proof": uri})) == (as_endpoint, as_proof)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "a.example",
        "//a.example",
        "/a",
        "javascript:alert(1)",
        "JavaScript://a.example/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://a.example",
        "https://",
        "https:///a",
        "https:a.example",
        "https://a.example/ b",
        "https://a.example/\n",
        "https://a.example/<script>",
        "https://user:secret@a.example/",
        "https://a.example:99999/",
        "https://a.example:port/",
        "https://a..example/",
        "https://a..b/",
        "https://ä.example/",
        "https://a.example/%zz",
        "https://[::1/",
        "https://a.example/" + "x" * 2_000,
    ],
)
def test_an_invalid_web_address_is_refused(uri):
    assert not taken(AGENT | {"endpoint": uri})
    assert not taken(AGENT | {"proof": uri})


@pytest.mark.parametrize("at", ["2026-01-31T12:00:00Z", "2026-01-31t12:00:00.123456789z", "2026-01-31T12:00:00-05:30"])
def test_a_time_with_an_offset_is_accepted(at):
    assert taken(AGENT | {"consentAt": at})


@pytest.mark.parametrize(
    "at",
    [
        "",
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31 12:00:00Z",
        "2026-02-30T12:00:00Z",
        "2026-01-31T24:30:00Z",
        "20260131T120000Z",
        "2026-W05-6T12:00:00Z",
        "0001-01-01T00:00:00+23:59",
        1_700_000_000,
    ],
)
def test_an_invalid_time_is_refused(at):
    assert not taken(AGENT | {"consentAt": at})


def test_the_sender_and_the_details_of_a_request_are_separated():
    for body in (AGENT, HUMAN, ENTERPRISE):
        asked = REQUESTS.validate_python(body)
        details, person = details_of(asked), person_of(asked)
        assert {**details, **person}.items() >= {k: v for k, v in body.items() if k not in ("lane", "consent")}.items()
        assert not details.keys() & person.keys()
    fields = {field for model in (AGENT, HUMAN, ENTERPRISE) for field in model}
    assert {"email", "telegram", "twitter", "contactEmail", "contactName", "agentContact"} <= fields
    assert not set(CONTACT_FIELDS) & set(PERSON_FIELDS)
