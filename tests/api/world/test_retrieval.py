"""What a search finds of recorded conversations: the turns that answer a question, among the first answers.

Each turn becomes a node of one owner through the build route, each question one search with its words, beside the
public graph. The bounds are those of `docs/measured.md`; all conversations are asked by `make soak`.
"""

from itertools import islice

import pytest
from keyed_service import bearer, serving
from rounds import ROUNDS

from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.world.load import load_constitution

BUILD, QUERY = "/api/v2/knowledge-graph/build", "/api/v2/world-model/query"
LIMIT = 50


def built(service, headers, turns) -> dict[str, str]:
    """Builds a graph of the turns; returns the turn of each node."""
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
    assert answer.status_code == 201
    return {node["id"]: turn["id"] for node, turn in zip(answer.json()["data"]["nodes"], turns, strict=True)}


@pytest.mark.timeout(3600)
def test_the_evidence_of_a_question_is_among_the_first_answers(recorded_material, tmp_path):
    recalled: dict[int, list[float]] = {10: [], 50: []}
    public_first: list[bool] = []
    settings = Settings(_env_file=None, data_dir=tmp_path, rate_limit_per_minute=0)
    with serving(settings) as service:
        load_constitution(service.ledger)
        for talk in islice(recorded_material.json_lines("eval/retrieval/conversations.jsonl.gz"), ROUNDS):
            headers = bearer(service.key(Tier.PRO, owner=f"local:{talk['conversation']}"))
            turn_of = built(service, headers, talk["turns"])
            for question in talk["questions"]:
                body = {"search": question["question"], "limit": LIMIT}
                (answer,) = service.ask(("POST", QUERY, headers, {"json": body}))
                found = [node["id"] for node in answer.json()["data"]["nodes"]]
                public_first.append(found[0] not in turn_of)
                for most, shares in recalled.items():
                    turns = {turn_of.get(node_id) for node_id in found[:most]}
                    shares.append(len(turns & set(question["evidence"])) / len(question["evidence"]))
    shares = {most: sum(shares) / len(shares) for most, shares in recalled.items()}
    assert shares[10] >= 0.68 and shares[50] >= 0.85
    assert sum(public_first) / len(public_first) < 0.02
