"""Answers to wallets, built from values only."""

import pytest
from world_graphs import node

from contracts.discovery import wallet_actions
from contracts.discovery.installation import Installation

HERE = Installation("https://svc.example")


@pytest.mark.parametrize(
    ("given", "in_address", "value"),
    [
        (None, None, None),
        ({}, None, None),
        ({"a": "x"}, None, "x"),
        ({"a": "x"}, "y", "y"),
        ({"a": "x"}, "", None),
        ({"a": ["x", "z"]}, None, "x"),
        ({"a": []}, None, None),
        ({"a": ""}, None, None),
        ({"a": " \n"}, None, " \n"),
        ({"b": "x"}, None, None),
    ],
)
def test_a_parameter_is_taken_from_the_address_first(given, in_address, value):
    assert wallet_actions.ActionRequest(account="0x", data=given, unknown=1).value("a", in_address) == value


def test_a_wallet_is_shown_only_the_hits_that_may_be_published():
    nodes = [
        node("a", title="Answer within the hour"),
        node("b", title="Ada Example", type="Person"),
        node("c", title="Write to ada@example.com"),
    ]
    answer = wallet_actions.nodes_answer(HERE, 1_234, nodes)
    assert answer.message == "1,234 public nodes match"
    assert answer.links.next.action.description.splitlines() == [
        "Answer within the hour (Goal, VISION)",
        "Person (Person, FOUNDATION)",
        "Write to [removed] (Goal, VISION)",
    ]
    assert wallet_actions.nodes_answer(HERE, 1, nodes[:1]).message == "One public node matches"


def test_members_without_a_value_are_left_out():
    assert b"null" not in wallet_actions.guardrail_action(HERE).body()
    assert b"null" not in wallet_actions.world_action(HERE, "off").body()
    assert wallet_actions.world_action(HERE, "off").error.message == "off"
