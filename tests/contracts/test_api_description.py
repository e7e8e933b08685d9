"""The description as pages render it: types in words, members of bodies, commands, errors. Literal schemas."""

from typing import Any

import pytest

from contracts.site.api_description import LARGEST_EXAMPLE_CHARACTERS, ApiDescription, Operation, fields_of, kind_of

COMPONENTS: dict[str, Any] = {
    "schemas": {
        "Block": {"type": "integer", "minimum": 0, "maximum": 10**18, "description": "Number of the block"},
        "Tree": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "maxLength": 5},
                "inner": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            },
        },
        "Nothing": {"enum": [None], "nullable": True, "type": "object"},
    },
    "responses": {
        "rate_limited": {
            "description": "",
            "content": {
                "application/problem+json": {
                    "examples": {"rate_limited": {"$ref": "#/components/examples/rate_limited"}},
                }
            },
            "headers": {"RateLimit-Policy": {"description": "The budget"}},
        }
    },
    "examples": {
        "rate_limited": {"summary": "Too many requests", "value": {"code": "rate_limited", "retryable": True}},
        "gone": {"summary": "It is gone", "value": {"code": "gone", "retryable": False}},
        "busy": {"summary": "It is busy", "value": {"code": "busy", "retryable": True}},
        "off": {"summary": "It is off", "value": {"code": "off", "retryable": False}},
    },
}


def described(**paths: Any) -> ApiDescription:
    return ApiDescription(paths=paths, components=COMPONENTS, tags=[{"name": "things", "description": "All things"}])


def operation(method: str = "GET", path: str = "/things", **node: Any) -> Operation:
    filled = {"operationId": "things", "summary": "Things", "tags": ["things"], "security": [], "responses": {}, **node}
    return described(**{path: {method.lower(): filled}}).operations["things"]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "nullable": True}, "string or null"),
        ({"type": "string", "format": "date-time"}, "string (date-time)"),
        ({"type": "string", "minLength": 1, "maxLength": 200}, "string (1 to 200 characters)"),
        ({"type": "string", "maxLength": 8194}, "string (at most 8,194 characters)"),
        ({"type": "number", "minimum": 0.0, "maximum": 1.0}, "number (0 to 1)"),
        ({"type": "integer", "minimum": 1}, "integer (at least 1)"),
        ({"$ref": "#/components/schemas/Block"}, "integer (from 0)"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Block"}}, "array of integer (from 0)"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 8}, "array (at most 8 items) of string"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, "array (at least 1 item) of string"),
        (
            {"type": "array", "items": {"type": "string", "maxLength": 5}, "minItems": 1, "maxItems": 100},
            "array (1 to 100 items) of string (at most 5 characters)",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2, "nullable": True},
            "array (exactly 2 items) of string or null",
        ),
        (
            {"type": "object", "anyOf": [{"required": ["text"]}, {"required": ["url"]}]},
            "object",
        ),
        ({"type": "object", "maxProperties": 200}, "object (at most 200 members)"),
        ({"type": "string", "minLength": 1}, "string (at least 1 character)"),
        ({"type": "string", "enum": ["a", "b", None], "nullable": True}, '`"a"` or `"b"` or null'),
        (
            {"anyOf": [{"$ref": "#/components/schemas/Tree"}, {"$ref": "#/components/schemas/Nothing"}]},
            "object or null",
        ),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "string"}]}, "string or integer"),
        ({}, "any"),
    ],
)
def test_a_type_is_described_in_words(schema: dict[str, Any], words: str):
    assert kind_of(described(), schema) == words


def test_members_have_paths_and_a_schema_within_itself_is_entered_once():
    schema = {
        "type": "object",
        "required": ["tree"],
        "properties": {
            "tree": {"$ref": "#/components/schemas/Tree"},
            "by": {
                "type": "object",
                "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}}},
            },
        },
    }
    rows = [(field.name, field.kind, field.is_required) for field in fields_of(described(), schema)]
    assert rows == [
        ("tree", "object", True),
        ("tree.name", "string (at most 5 characters)", True),
        ("tree.inner", "array of object", False),
        ("by", "object", False),
        ("by.*.x", "string", False),
    ]


def test_alternatives_that_share_a_member_show_it_once_and_need_it_only_if_all_do():
    one = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    other = {"type": "object", "properties": {"a": {"type": "string", "description": "Said here"}}}
    body = {"content": {"application/json": {"schema": {"anyOf": [one, other]}}}}
    (field,) = operation("POST", requestBody=body).body_fields
    assert (field.name, field.description, field.is_required) == ("a", "Said here", False)


def test_a_member_that_an_alternative_only_narrows_keeps_its_type_and_limits():
    nodes = {"type": "array", "items": {"type": "string"}, "maxItems": 10, "description": "What to write"}
    schema = {
        "type": "object",
        "properties": {"nodes": nodes, "text": {"type": "string"}},
        "anyOf": [
            {"required": ["nodes"], "properties": {"nodes": {"minItems": 1}}},
            {"required": ["text"], "properties": {"text": {"type": "string"}}},
        ],
    }
    body = {"content": {"application/json": {"schema": schema}}}
    fields = operation("POST", requestBody=body).body_fields
    assert [(field.name, field.kind, field.is_required, field.description) for field in fields] == [
        ("nodes", "array (1 to 10 items) of string", False, "What to write"),
        ("text", "string", False, ""),
    ]


def test_a_command_holds_what_the_examples_hold():
    parameters = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "example": "a b"},
        {"name": "limit", "in": "query", "required": True, "schema": {"type": "integer"}, "example": 3},
        {"name": "cursor", "in": "query", "schema": {"type": "string"}, "example": "x"},
    ]
    read = operation(path="/things/{id}", parameters=parameters)
    assert read.command("https://svc.example/things/{id}") == "curl 'https://svc.example/things/a b?limit=3'"
    unknown = operation(
        "DELETE", "/things/{id}", parameters=[{**parameters[0], "example": None}], security=[{"key": []}]
    )
    assert unknown.command("https://svc.example/things/{id}") == (
        'curl -X DELETE "https://svc.example/things/$ID" -H "Authorization: Bearer $KEY"'
    )
    body = {"content": {"application/json": {"schema": {}, "examples": {"one": {"value": {"title": "it's"}}}}}}
    written = operation("POST", requestBody=body).command("https://svc.example/things")
    assert written.splitlines()[0] == "curl https://svc.example/things \\"
    assert written.endswith("""-d '{"title": "it'"'"'s"}'""")
    large = {"content": {"application/json": {"schema": {}, "examples": {"one": {"value": {"title": "x" * 900}}}}}}
    assert operation("PUT", requestBody=large).command("https://svc.example/things").endswith("-d @body.json")
    headers = [
        {"name": name, "in": "header", "required": is_required, "schema": {"type": "string"}, "example": example}
        for name, is_required, example in (
            ("Idempotency-Key", False, None),
            ("X-Trace", True, "a"),
            ("X-Mode", True, None),
            ("X-Spare", False, "b"),
        )
    ]
    made, *sent = operation("POST", parameters=headers).command("https://svc.example/things").splitlines()
    assert made.startswith("IDEMPOTENCY_KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')  #")
    assert [part.strip(" \\") for part in sent] == [
        "curl -X POST https://svc.example/things",
        '-H "Idempotency-Key: $IDEMPOTENCY_KEY"',
        '-H "X-Trace: a"',
        '-H "X-Mode: $X_MODE"',
    ]


KEYED = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}, "example": "goal-2"}


def command_of(*bodies: dict[str, Any], **parameter: Any) -> list[str]:
    examples = {f"body{number}": {"value": body} for number, body in enumerate(bodies)}
    content = {"content": {"application/json": {"schema": {}, "examples": examples}}}
    written = operation("POST", requestBody=content, parameters=[{**KEYED, **parameter}])
    return [part.strip(" \\") for part in written.command("https://svc.example/things").splitlines()]


@pytest.mark.parametrize("is_required", [True, False])
def test_a_command_sends_the_random_idempotency_key_that_it_makes_and_never_the_published_one(is_required: bool):
    made, *sent = command_of({"title": "a"}, required=is_required)
    assert made.startswith("IDEMPOTENCY_KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')")
    assert sent == [
        "curl https://svc.example/things",
        '-H "Idempotency-Key: $IDEMPOTENCY_KEY"',
        "-H 'Content-Type: application/json'",
        """-d '{"title": "a"}'""",
    ]


def test_a_command_sends_a_body_that_does_not_name_the_request_or_leaves_the_header_out():
    named, other = {"title": "a", "idempotencyKey": "goal-1"}, {"title": "b"}
    assert command_of(named, other)[2:] == [
        '-H "Idempotency-Key: $IDEMPOTENCY_KEY"',
        "-H 'Content-Type: application/json'",
        """-d '{"title": "b"}'""",
    ]
    assert command_of(named) == [
        "curl https://svc.example/things",
        "-H 'Content-Type: application/json'",
        """-d '{"title": "a", "idempotencyKey": "goal-1"}'""",
    ]


def test_answers_are_apart_from_errors_and_errors_say_what_to_do():
    gone = {"content": {"application/problem+json": {"examples": {"gone": {"$ref": "#/components/examples/gone"}}}}}
    fine = {
        "description": "Fine",
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
                "examples": {
                    "secondPage": {"value": {"ok": True}},
                    "published": {"externalValue": "https://svc.example/things"},
                    "long": {"value": "x" * 2 * LARGEST_EXAMPLE_CHARACTERS},
                },
            }
        },
        "links": {"next": {"operationId": "more", "description": "More"}},
    }
    responses = {"200": fine, "404": gone, "429": {"$ref": "#/components/responses/rate_limited"}}
    found = operation(responses=responses)
    (answer,) = found.answers
    assert [(example.title, example.address) for example in answer.examples] == [
        ("Second page", None),
        ("The published document", "https://svc.example/things"),
        ("Long", None),
    ]
    assert [(link.operation_id, link.description) for link in answer.links] == [("more", "More")]
    assert [(problem.status, problem.code, problem.title, problem.advice) for problem in found.problems] == [
        (404, "gone", "It is gone", "Check the id in the address."),
        (429, "rate_limited", "Too many requests", "Wait `Retry-After` seconds."),
    ]
    assert found.is_limited and not operation(responses={"200": fine}).is_limited


def test_a_415_names_the_media_types_of_its_operation_and_the_catalogue_none():
    problem = {"content": {"application/problem+json": {"examples": {"unfit": {"$ref": "#/components/examples/off"}}}}}
    binary = {"schema": {"type": "string"}}
    taken = {"content": {"application/octet-stream": binary, "application/x-ndjson": binary}}
    chunk = operation("PUT", requestBody=taken, responses={"415": problem})
    assert [problem.advice for problem in chunk.problems] == [
        "Send the body with `Content-Type: application/octet-stream` or `Content-Type: application/x-ndjson`."
    ]
    plain = operation("POST", requestBody={"content": {"application/json": {}}}, responses={"415": problem})
    assert [problem.advice for problem in plain.problems] == ["Send the body with `Content-Type: application/json`."]
    assert [problem.advice for problem, _ in chunk.described.problems] == [
        "Send the body with a `Content-Type` that the page of the operation names."
    ]


def test_a_reused_key_is_answered_with_what_helps_on_every_route():
    codes = ("idempotency_mismatch", "idempotency_key_reused")
    examples = {name: {"$ref": "#/components/examples/off"} for name in codes}
    refused = {"409": {"content": {"application/problem+json": {"examples": examples}}}}
    advice = "Repeat the first request unchanged to get its answer again, or send this one with a fresh key."
    assert [problem.advice for problem in operation("POST", responses=refused).problems] == [
        f"{advice} For a claim, `links` lead to the issued one, and to the case of a second payment.",
        advice,
    ]


def test_only_a_refusal_that_has_a_case_says_that_money_is_in_one():
    codes = ("amount_mismatch", "quote_mismatch", "payer_proof_invalid")
    examples = {name: {"$ref": "#/components/examples/off"} for name in codes}
    refused = {"402": {"content": {"application/problem+json": {"examples": examples}}}}
    assert {problem.code: problem.advice for problem in operation("POST", responses=refused).problems} == {
        "amount_mismatch": "With `caseId` the money is in a case: don't pay again, `links.case` tells what happens "
        "next. Without it, the transaction contained no money for this quote.",
        "quote_mismatch": "Send the quote's id and both hashes unchanged. No transaction was checked.",
        "payer_proof_invalid": "Have the payer sign the quote, then claim again. No transaction was checked.",
    }


def test_a_503_is_retried_only_if_that_may_help():
    refused = {
        "content": {
            "application/problem+json": {
                "examples": {name: {"$ref": f"#/components/examples/{name}"} for name in ("busy", "off")}
            }
        }
    }
    assert [(problem.code, problem.advice) for problem in operation(responses={"503": refused}).problems] == [
        ("busy", "Wait `Retry-After` seconds, then send the same request again."),
        ("off", "Don't repeat the request: this installation does not offer it. `detail` names the reason."),
    ]


def test_groups_follow_the_tags_and_every_code_names_its_operations():
    limited = {"429": {"$ref": "#/components/responses/rate_limited"}}
    node = {"summary": "", "tags": ["things"], "security": [], "responses": limited}
    api = described(
        **{"/a": {"get": {**node, "operationId": "a"}}, "/b": {"get": {**node, "operationId": "b"}}},
    )
    assert [(tag["name"], [one.id for one in operations]) for tag, operations in api.groups] == [("things", ["a", "b"])]
    assert [(problem.code, [one.id for one in operations]) for problem, operations in api.problems] == [
        ("rate_limited", ["a", "b"])
    ]
