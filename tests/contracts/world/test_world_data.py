"""The ontology and the constitution as data, and the states that telemetry makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from world_writes import held_node

import contracts.world.ontology
from contracts.world.constitution import load_constitution_drafts, read_constitution
from contracts.world.ontology import DOMAINS, load_ontology, read_ontology
from contracts.world.track import Noticed, Reading, metric_proposal, noticed_proposal

TEXT = (Path(contracts.world.ontology.__file__).parent / "ontology.yaml").read_text()
TEN = datetime(2026, 11, 21, 10, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda raw: raw["domains"].pop("TRACK"), "the domains must be"),
        (lambda raw: raw["node_types"]["Goal"].update(domain="DREAMS"), "Goal: no domain DREAMS"),
        (lambda raw: raw["node_types"]["Goal"]["properties"].update(x="colour"), "Goal: no kind colour"),
        (lambda raw: raw["relationship_types"]["PURSUES"].update(ends=[[["Wish"], ["ANY"]]]), "PURSUES: no node type"),
    ],
)
def test_an_ontology_that_contradicts_itself_is_refused(change: object, fault: str) -> None:
    raw = yaml.safe_load(TEXT)
    change(raw)  # type: ignore[operator]
    with pytest.raises(ValueError, match=fault):
        read_ontology(yaml.safe_dump(raw, sort_keys=False))


def test_every_type_of_the_design_is_there() -> None:
    ontology = load_ontology()
    assert {name for name, each in ontology.node_types.items() if each.domain == "TRACK"} >= {
        "Metric",
        "Signal",
        "Observation",
        "Pattern",
        "Alert",
    }
    assert {each.domain for each in ontology.node_types.values()} == set(DOMAINS)
    assert ontology.edge_types["MITIGATED_BY"].allows("Risk", "Decision")
    assert not ontology.edge_types["MITIGATED_BY"].allows("Goal", "Decision")
    assert ontology.edge_types["ASSIGNED_TO"].single_valued


def test_the_constitution_has_weight_in_all_seven_domains() -> None:
    nodes, edges = load_constitution_drafts()
    assert len(nodes) >= 100
    assert len(edges) > len(nodes)
    for domain in DOMAINS:
        assert sum(node.domain == domain for node in nodes) >= 10, domain
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    assert {node.id for node in nodes} == ends, "no node is isolated, and no edge leads outside"
    assert {node.id for node in nodes if node.immutable} >= {"value:proof", "principle:governed-change"}


def test_a_constitution_file_names_a_domain() -> None:
    with pytest.raises(ValueError, match="no domain DREAMS"):
        read_constitution(["domain: DREAMS\nnodes: []"])


def reading(value: float | str, minutes: float = 0, least_change: float = 0.0) -> Reading:
    at = TEN + timedelta(minutes=minutes)
    return Reading("metric:holders", "Holders", "0xab", value, at, "out_holders__lists", least_change)


def metric_of(value: float | str) -> object:
    proposed = metric_proposal(reading(value), None)
    assert proposed is not None
    draft = proposed.nodes[0]
    return held_node(draft.id, type="Metric", properties=draft.properties, valid_from=draft.valid_from)


@pytest.mark.parametrize(
    ("before", "now", "minutes", "least_change", "said"),
    [
        (990.0, 990.0, 300, 0.0, None),  # a day without events
        (990.0, 991.0, 30, 0.0, None),  # within the hour
        (990.0, 991.0, 51, 0.0, ["Metric"]),  # in the next one
        (990.0, 991.0, 300, 0.01, None),  # too little a change
        (990.0, 1001.0, 30, 0.0, ["Metric", "Observation"]),  # past a round number
        (1001.0, 990.0, 30, 0.0, ["Metric", "Observation"]),  # and back
        (990.0, 991.0, -1, 0.0, None),  # older than the state that is held
        ("proven", "failed", 1, 0.0, ["Metric"]),  # words count whenever they differ
        ("proven", "proven", 300, 0.0, None),
        (0.0, 3.0, 51, 0.0, ["Metric"]),
    ],
)
def test_a_metric_speaks_once_an_hour_or_when_it_passes_a_round_number(
    before: float | str, now: float | str, minutes: float, least_change: float, said: list[str] | None
) -> None:
    proposed = metric_proposal(reading(now, minutes, least_change), metric_of(before))
    assert (proposed and [node.type for node in proposed.nodes]) == said


def test_an_observation_made_twice_in_a_bucket_is_one_node() -> None:
    def noticed(bucket: str) -> str:
        found = Noticed("large-mover", "Observation", "0xab", bucket, "0xab moved", TEN, "out_holders__lists", {})
        return noticed_proposal(found).nodes[0].id

    assert noticed("1-2") == noticed("1-2") != noticed("2-3")


def test_whole_numbers_are_written_as_such() -> None:
    proposed = metric_proposal(reading(990.0), None)
    assert proposed is not None
    assert repr(proposed.nodes[0].properties["value"]) == "990"
