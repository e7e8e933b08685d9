"""Entries of the full-text index are the same whichever process builds them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from multiprocessing import active_children

import msgspec
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from warehouse.world.index_entries import ENTRIES_AT_ONCE, entries_beside, entries_here
from warehouse.world.language import split_words
from warehouse.world.snapshot import NOBODY


def nodes_of(numbers: Iterable[int]) -> pa.RecordBatch:
    """Returns nodes of which every seventh is visible to nobody, and every second has edges."""
    return pa.RecordBatch.from_pylist(
        [
            {
                "num": number,
                "type": 1,
                "domain": 2,
                "owner": 3 if number % 7 else NOBODY,
                "body": f'{{"title":"Harbour {number}","properties":{{"text":"running boats"}}}}' if number % 7 else "",
                "edge_types": ["DEPENDS_ON"] if number % 2 else None,
                "edge_properties": ['{"note":"of the lighthouse"}'] if number % 2 else None,
                "aliases": None,
            }
            for number in numbers
        ]
    )


NODES, REVERSED = nodes_of(range(2 * ENTRIES_AT_ONCE + 3)), nodes_of(reversed(range(2 * ENTRIES_AT_ONCE + 3)))
SEEN = [number for number in range(2 * ENTRIES_AT_ONCE + 3) if number % 7]


def as_comparable(entry: str) -> dict[str, list[str]]:
    return {name: sorted(str(value).split()) for name, value in msgspec.json.decode(entry).items()}


def test_a_second_process_makes_the_entries_that_would_be_made_here_and_if_it_is_lost_they_are() -> None:
    here = list(entries_here(NODES))
    assert [msgspec.json.decode(entry)["num"] for entry, _ in here] == SEEN
    with entries_beside() as entries_of:
        following = entries_of(NODES), entries_of(REVERSED)  # both begin at the same time
        beside = list(chain(*following))
        for child in active_children():
            child.kill()
            child.join()
        without = list(chain(entries_of(NODES), entries_of(REVERSED)))
    assert active_children() == []
    expected = [*here, *here[::-1]]
    for made in (beside, without):
        assert [length for _, length in made] == [length for _, length in expected]
        assert [as_comparable(entry) for entry, _ in made] == [as_comparable(entry) for entry, _ in expected]


@given(st.lists(st.text(st.characters(codec="ascii"), max_size=120)))
def test_ascii_is_split_as_any_other_text(words: list[str]) -> None:
    text = " ".join(words)
    assert list(chain(split_words(text), ["é"])) == split_words(f"{text} é")
