"""The page of the guardrail: examples show the library's verdicts, every rule can be linked to, and failures are
shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from html_pages import Read
from hypothesis import given
from hypothesis import strategies as st

from contracts.discovery.installation import Installation
from contracts.guardrail import RulesetInvalid, loaded_guardrail
from contracts.publish.projection import ExpiringBody
from contracts.publish.registry import PROJECTIONS
from contracts.site.guardrail_page import EXAMPLES, WORDS, Marked, guardrail_page, judged, pieces
from contracts.site.page import page_content
from contracts.site.pages import PAGES
from guardrail import vocabulary
from guardrail.policy import Stage, default_policy
from pipelines.publish.site import filled

GRAVEST_FIRST: tuple[Marked, ...] = ("blocks", "unread", "noticed")
HERE = Installation("https://svc.example")
(PAGE,) = (page for page in PAGES if page.name == "guardrail")


def rendered(load: Any = loaded_guardrail) -> str:
    (row,) = (row for row in PROJECTIONS if row.path == PAGE.path)
    page = replace(PAGE, view=lambda documents: guardrail_page(documents, load))
    body = filled(row, page_content(page, PAGES, HERE, {}))
    assert isinstance(body, ExpiringBody)
    return body.fresh.decode()


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["id"] for example in EXAMPLES])
def test_an_example_is_judged_as_a_check_judges_it(example: dict[str, Any]):
    guardrail = loaded_guardrail()
    shown = judged(guardrail, **example)
    assert shown.verdict == guardrail.check(example["action"], context=example.get("context"))
    assert "".join(piece.text for piece in shown.pieces) == example["action"]
    assert len(shown.effects) == len(shown.verdict.effects)


def test_there_are_ten_examples_of_which_some_are_blocked_and_some_pass():
    decisions = [judged(loaded_guardrail(), **example).verdict.decision for example in EXAMPLES]
    assert len(decisions) == 10
    assert {"allow", "deny"} <= set(decisions)


def test_everything_that_a_verdict_names_can_be_looked_up_on_the_page():
    page = Read(rendered())
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {f"rule-{row.id}" for row in default_policy().rows} <= ids
    linked = {str(each["href"])[1:] for each in page.all("a") if str(each["href"]).startswith("#rule-")}
    assert linked and linked <= ids


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("kind", vocabulary.EffectKind),
        ("object", vocabulary.ObjectKind),
        ("scope", vocabulary.Scope),
        ("place", vocabulary.Place),
        ("reversible", vocabulary.Reversible),
        ("sensitivity", vocabulary.Sensitivity),
        ("stage", Stage),
    ],
)
def test_every_word_of_a_verdict_has_its_meaning(words: str, known: Any):
    assert set(WORDS[words]) == {each.value for each in known}


def test_without_rules_the_page_says_so_and_shows_no_verdict():
    def unusable() -> Any:
        raise RulesetInvalid("The guardrail can't be loaded: policy.yaml, line 3.", cure="Mend it.")

    page = Read(rendered(unusable))
    assert "Nothing can be judged at the moment. The guardrail can't be loaded: policy.yaml, line 3." in page.text
    assert page.all("form") == []


@given(st.text(max_size=30), st.lists(st.tuples(*[st.integers(0, 35)] * 2, st.sampled_from(GRAVEST_FIRST)), max_size=6))
def test_an_action_is_divided_without_loss_and_each_part_has_the_gravest_mark(
    action: str, marks: list[tuple[int, int, Marked]]
):
    found = pieces(action, marks)
    assert all(piece.text for piece in found)
    assert "".join(piece.text for piece in found) == action
    over = [{mark for start, end, mark in marks if start <= at < end} for at in range(len(action))]
    gravest = [next((mark for mark in GRAVEST_FIRST if mark in here), "") for here in over]
    assert [piece.mark for piece in found for _ in piece.text] == gravest
