"""A sealed text can be opened only together with the context that it was sealed for."""

from __future__ import annotations

import pytest

from contracts.sealing import seal, unseal

KEY, OTHER = b"k" * 32, b"o" * 32


def test_a_sealed_text_opens_only_under_its_key_and_for_its_owner() -> None:
    sealed = seal(KEY, "the key", "claim_1")
    assert "the key" not in sealed
    assert unseal(KEY, sealed, "claim_1") == "the key"
    assert unseal(OTHER, sealed, "claim_1") is None
    assert unseal(KEY, sealed, "claim_2") is None


@pytest.mark.parametrize("sealed", ["", "A", "AAAA", "é", "A" * 80])
def test_a_text_that_was_tampered_with_opens_under_no_key(sealed: str) -> None:
    assert unseal(KEY, sealed, "claim_1") is None
