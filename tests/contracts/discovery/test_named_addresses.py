"""The addresses that `svc docs check` finds in a description and follows."""

import json

from contracts.discovery.checks.evidence import HttpAnswer
from contracts.discovery.checks.links import addresses_in

HERE = "https://svc.example.net"
ELSEWHERE = "https://standard.example.org/rules"


def named(*routes: str, example: str = ELSEWHERE) -> set[str]:
    description = {"paths": {route: {"get": {"examples": [example]}} for route in routes}}
    body = json.dumps(description).encode()
    return addresses_in(HERE, "/openapi.json", HttpAnswer(200, {"content-type": "application/json"}, body))


def test_addresses_with_an_id_from_an_example_are_of_the_past_and_not_followed():
    past = f"{HERE}/claims/claim_1"
    assert named("/claims/{id}", "/plans", example=past) == {f"{HERE}/plans"}
    assert past in named("/claims/claim_1/more", example=past)


def test_addresses_elsewhere_are_followed_whether_routes_have_parameters_or_not():
    assert named("/claims/{id}") == {ELSEWHERE}
    assert named("/plans") == {ELSEWHERE, f"{HERE}/plans"}
