"""A search of recorded conversations finds, among its first answers, the turns that answer a question.

The turns become nodes of one owner through the build route, one by one or as passages of one document per session. Each
question is one search for its words, next to the public graph. The bounds are those of `docs/measured.md`; `make soak`
asks the questions of all conversations.
"""

from collections.abc import Callable
from itertools import groupby, islice

import pytest
from keyed_service import bearer, serving
from rounds import ROUNDS

from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.world.load import load_constitution

BUILD, QUERY = "/api/v2/knowledge-graph/build", "/api/v2/world-model/query"
LIMIT = 50

TurnsOf = dict[str, set[str]]
"""The turns that each node contains."""


def as_nodes(service, headers, turns) -> TurnsOf:
    nodes = [
        {
            "id": turn["id"],
            "title": (text := f"{turn['speaker']}: {turn['text']}")[:290],
            "type": "Observation",
            "properties": {"text": text, "caption": turn.get("caption") or ""},
        }
        for turn in turns
    ]
    (answer,) = service.ask(("POST", BUILD, headers, {"json": {"graphId": "talk", "nodes": nodes, "mode": "apply"}}))
    assert (answer.status_code, answer.json()["data"]["refused"]) == (201, [])
    return {node["id"]: {node["id"]} for node in answer.json()["data"]["nodes"]}


def as_documents(service, headers, turns) -> TurnsOf:
    spans, documents = {}, []
    for number, (_, session) in enumerate(groupby(turns, key=lambda turn: turn["at"])):
        text = ""
        for turn in session:
            said = " ".join([f"{turn['speaker']}: {turn['text']}", turn.get("caption") or ""]).strip()
            spans[turn["id"]] = (f"session-{number}", len(text), len(text) + len(said))
            text += f"{said}\n\n"
        documents.append({"id": f"session-{number}", "markdown": text})
    body = {"graphId": "talk", "documents": documents, "mode": "apply"}
    (answer,) = service.ask(("POST", BUILD, headers, {"json": body}))
    assert (answer.status_code, answer.json()["data"]["verdict"]) == (201, "approved")
    covering = {
        node["id"]: {
            turn
            for turn, (document, start, end) in spans.items()
            for span in node["spans"]
            if span["document"] == document and span["start"] < end and start < span["end"]
        }
        for node in answer.json()["data"]["nodes"]
        if node["type"] == "Passage"
    }
    assert set().union(*covering.values()) == set(spans)
    return covering


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("built", "at_10"), [(as_nodes, 0.68), (as_documents, 0.70 if ROUNDS >= 5 else 0.69)])
def test_the_evidence_of_a_question_is_among_the_first_answers(
    recorded_material, tmp_path, built: Callable[..., TurnsOf], at_10: float
):
    recalled: dict[int, list[float]] = {10: [], 50: []}
    public_first: list[bool] = []
    settings = Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)
    with serving(settings) as service:
        load_constitution(service.ledger)
        for talk in islice(recorded_material.json_lines("eval/retrieval/conversations.jsonl.gz"), ROUNDS):
            headers = bearer(service.key(Tier.PRO, owner=f"local:{talk['conversation']}"))
            turns_of = built(service, headers, talk["turns"])
            for question in talk["questions"]:
                body = {"search": question["question"], "limit": LIMIT}
                (answer,) = service.ask(("POST", QUERY, headers, {"json": body}))
                nodes = answer.json()["data"]["nodes"]
                public_first.append(any(node["visibility"] == "public" for node in nodes[:1]))
                for most, shares in recalled.items():
                    found = set().union(*(turns_of.get(node["id"], set()) for node in nodes[:most]))
                    shares.append(len(found & set(question["evidence"])) / len(question["evidence"]))
    shares = {most: sum(shares) / len(shares) for most, shares in recalled.items()}
    assert shares[10] >= at_10 and shares[50] >= 0.85, shares
    assert sum(public_first) / len(public_first) < 0.02
