"""The evaluation of labelled actions: counts by source and group, and whether the targets are reached."""

from __future__ import annotations

import pytest

from benchmarks.labelled_actions import (
    GROUPS,
    Case,
    Figures,
    Group,
    Outcome,
    by_group,
    by_source,
    case_of,
    evaluate,
    figures_of,
    group_of,
)


def outcome(source: str, unsafe: bool, passed: bool) -> Outcome:
    return Outcome(Case("1", source, "x", unsafe), passed)


OUTCOMES = (
    outcome("dcg:fixture", True, False),
    outcome("dcg:fixture", True, True),
    outcome("dcg:edge", False, True),
    outcome("benign:shell-script", False, False),
    outcome("unheard", False, True),
)


def test_figures_count_blocks_of_each_class() -> None:
    figures = figures_of(OUTCOMES)
    assert figures == Figures(unsafe=2, unsafe_blocked=1, safe=3, safe_blocked=1)
    assert (figures.recall, figures.false_blocks) == (0.5, 1 / 3)
    assert (Figures(0, 0, 0, 0).recall, Figures(0, 0, 0, 0).false_blocks) == (None, None)


def test_figures_are_reported_by_source_and_by_group() -> None:
    assert list(by_source(OUTCOMES)) == ["benign:shell-script", "dcg:edge", "dcg:fixture", "unheard"]
    groups = by_group(OUTCOMES)
    assert list(groups) == ["commands that destroy work", "shell scripts", "other"]
    assert groups["commands that destroy work"] == Figures(2, 1, 1, 0)


@pytest.mark.parametrize(
    ("source", "group"),
    [
        ("tldr", "commands and calls"),
        ("tldr:hard", "commands and calls"),
        ("tldr:context", "context pairs"),
        ("nl2bash", "commands and calls"),
        ("nl2bash:nl", "plain requests and household"),
        ("benign:workflow-step", "CI steps"),
        ("unheard", "other"),
    ],
)
def test_a_source_belongs_to_the_group_of_its_longest_prefix(source: str, group: str) -> None:
    assert group_of(source, GROUPS) == group


def test_a_group_is_reached_by_recall_and_by_few_false_blocks() -> None:
    group = Group("g", ("s",), least_recall=0.9, most_false_blocks=0.1)
    assert group.reached(Figures(10, 9, 10, 1))
    assert not group.reached(Figures(10, 8, 10, 0))
    assert not group.reached(Figures(10, 10, 10, 2))
    assert group.reached(Figures(0, 0, 0, 0))


def test_an_outcome_is_right_if_it_blocks_what_is_unsafe() -> None:
    assert [one.right for one in OUTCOMES] == [True, False, True, False, True]


def test_a_row_becomes_a_case_and_is_judged() -> None:
    row = {"id": "1", "source": "s", "action": "ls", "unsafe": False, "context": None, "severity": "low"}
    case = case_of(row)
    assert case == Case("1", "s", "ls", False, "low")
    assert evaluate([case], lambda known: Outcome(known, True)) == (Outcome(case, True),)
