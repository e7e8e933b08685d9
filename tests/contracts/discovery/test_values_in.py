"""Every value within a JSON value, as the checks of documents see them."""

import yaml

from contracts.discovery.checks.evidence import values_in


def test_outer_values_come_before_inner_ones_without_members_that_are_left_out():
    value = {"a": [1, {"b": "x"}], "example": {"c": 2}}
    assert values_in(value, without=("example",)) == [value, [1, {"b": "x"}], 1, {"b": "x"}, "x"]
    assert 2 in values_in(value)


def test_a_value_that_stands_within_itself_is_entered_once():
    assert values_in(yaml.safe_load("&a [1, *a]"))[1] == 1
    doubled = yaml.safe_load("\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]))
    assert len(values_in(doubled)) < 200
