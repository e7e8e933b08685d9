"""Seeded bugs in paid claims: each removes one defence, so that a test can show that it would notice.

A bug is given as the functions that it replaces and their replacements; `seeded` puts those into the modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from contracts.access import consent, matching, quotes
from contracts.access.matching import Mismatch, Unknown
from contracts.access.proofs import Proved

Replaced = dict[Callable[..., Any], Callable[..., Any]]

_verify, _settle = matching.verify, matching.settle


def _unknown_is_mismatch(*arguments: Any, **options: Any) -> Any:
    verdict = _verify(*arguments, **options)
    return Mismatch("payment_missing") if isinstance(verdict, Unknown) else verdict


def _first_provider_decides(terms: Any, views: Any) -> Any:
    from dataclasses import replace

    return _settle(replace(terms, quorum=1), views[:1])


def yes(*_: Any, **__: Any) -> bool:
    return True


def no(*_: Any, **__: Any) -> bool:
    return False


MATCHING_BUGS: dict[str, Replaced] = {
    "no_token": {matching.of_asset: yes},
    "no_from": {matching.from_payer: yes},
    "no_to": {matching.to_treasury: yes},
    "no_amount": {matching.pays_amount: yes},
    "ge_amount": {matching.pays_amount: lambda terms, transfer: transfer.amount >= terms.amount},
    "no_status": {matching.succeeded: yes},
    "no_canon": {matching.canonical: yes},
    "no_conf": {matching.buried: yes},
    "no_chainid": {matching.right_chain: yes},
    "one_rpc": {matching.settle: _first_provider_decides},
    "no_agreement": {matching.agreed: yes},
    "no_early": {matching.early: no},
    "no_expiry": {matching.late: no},
    "no_net": {matching.net_covers: yes},
    "err_is_402": {matching.verify: _unknown_is_mismatch},
}
"""Bugs in judging one transaction."""

OWNER_BUGS: dict[str, Replaced] = {
    "operator_owner": {quotes.owner_of: lambda quote, operator_proven: quote.operator},
    "no_consent": {consent.check_consent: lambda proof, wanted: Proved()},
}
"""Bugs in deciding who becomes the owner of a key."""


@contextmanager
def seeded(replaced: Replaced, *importers: ModuleType) -> Iterator[None]:
    """Seeds the bug while the context is open; `importers` are modules that also hold the functions by name."""
    places = [
        (module, each.__name__, each) for each in replaced for module in (sys.modules[each.__module__], *importers)
    ]
    try:
        for module, name, each in places:
            assert getattr(module, name) is each
            setattr(module, name, replaced[each])
        yield
    finally:
        for module, name, each in places:
            setattr(module, name, each)
