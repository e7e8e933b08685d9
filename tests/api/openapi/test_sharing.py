"""Sharing components changes nothing: a reader who resolves references sees the same description as before."""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.openapi import describing
from api.openapi.sharing import share

Document = dict[str, Any]


def resolved(document: Document, original: Document) -> Document:
    """Returns the document with every component inlined that the original doesn't have."""

    def put(node: Any) -> Any:
        if isinstance(node, list):
            return [put(each) for each in node]
        if not isinstance(node, dict):
            return node
        if isinstance(ref := node.get("$ref"), str):
            _, _, kind, name = ref.split("/")
            if name not in original["components"].get(kind, {}):
                return put(document["components"][kind][name])
        return {name: put(each) for name, each in node.items()}

    kept = {
        kind: {name: part for name, part in parts.items() if name in original["components"].get(kind, {})}
        for kind, parts in document["components"].items()
    }
    return put({**document, "components": {kind: kept[kind] for kind in original["components"]}})


def shared(document: Document) -> Document:
    found = copy.deepcopy(document)
    share(found)
    return found


def document_of(answers: list[Document], schemas: Document) -> Document:
    return {
        "paths": {
            f"/{number}": {"get": {"operationId": f"operation_{number}", "parameters": [], "responses": answer}}
            for number, answer in enumerate(answers)
        },
        "components": {"schemas": schemas, "headers": {"ETag": {"schema": {"type": "string"}}}},
    }


def test_the_whole_description_says_the_same_and_is_much_shorter(monkeypatch):
    monkeypatch.setattr(describing, "share", lambda document: None)
    whole = describing.description()
    short = shared(whole)
    repeated = {name for item in whole["paths"].values() for one in item.values() for name in one["responses"]}
    assert repeated >= {"400", "401", "405", "429", "503"}
    for operations in whole["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["schema"].get("description") == parameter.get("description"):
                    parameter["schema"].pop("description", None)
    assert resolved(short, whole) == whole
    assert len(json.dumps(short)) < 0.65 * len(json.dumps(whole))


def test_answers_that_repeat_are_named_by_their_problem_or_status_and_successes_stay_at_their_operation():
    refused = {"description": "no", "content": {"application/problem+json": {"x-problem-codes": ["unauthorized"]}}}
    other = {**refused, "description": "no, and why"}
    unchanged = {"description": "unchanged"}
    done = {"description": "done"}
    usual = {"200": done, "304": unchanged, "401": refused}
    document = document_of([usual, usual, {"401": other}, {"401": other}, {"404": {"description": "once"}}], {})
    found = shared(document)
    first, _, third, _, last = (item["get"]["responses"] for item in found["paths"].values())
    assert first == {
        "200": done,
        "304": {"$ref": "#/components/responses/not_modified"},
        "401": {"$ref": "#/components/responses/unauthorized"},
    }
    assert third == {"401": {"$ref": "#/components/responses/unauthorized_2"}}
    assert last == {"404": {"description": "once"}}


def test_a_schema_contained_in_several_others_is_named_by_its_member():
    reason = {
        "type": "string",
        "description": "Why it is missing, as a stable code; null when it is not missing at all",
    }
    rows = {name: {"type": "object", "properties": {"reason": reason, name: {"type": "string"}}} for name in "abcd"}
    schemas = shared(document_of([], rows))["components"]["schemas"]
    assert schemas["Reason"] == reason
    assert {json.dumps(schemas[name]["properties"]["reason"]) for name in rows} == {
        '{"$ref": "#/components/schemas/Reason"}'
    }
    assert "Reason_2" in shared(document_of([], {**rows, "Reason": {"type": "integer"}}))["components"]["schemas"]


def test_short_schemas_and_single_ones_stay_where_they_are():
    document = document_of([], {name: {"type": "object", "properties": {"x": {"type": "string"}}} for name in "abc"})
    assert shared(document)["components"]["schemas"] == document["components"]["schemas"]


texts = st.text("abc", min_size=1, max_size=3)
schemas = st.recursive(
    st.builds(lambda text: {"type": "string", "description": text * 30}, texts),
    lambda inner: st.one_of(
        st.builds(lambda parts: {"type": "object", "properties": parts}, st.dictionaries(texts, inner, max_size=3)),
        st.builds(lambda part: {"type": "array", "items": part}, inner),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)
answers = st.dictionaries(
    st.sampled_from(["200", "304", "400", "429"]),
    st.builds(
        lambda text, schema, header: {
            "description": text,
            "content": {"application/json": {"schema": schema}},
            "headers": {"X": {"description": header}},
        },
        texts,
        schemas,
        texts,
    ),
    max_size=4,
)


@given(st.lists(answers, max_size=5), st.dictionaries(texts, schemas, max_size=5))
def test_any_description_resolves_to_itself(answers: list[Document], schemas: Document):
    document = document_of(answers, schemas)
    assert resolved(shared(document), document) == document
