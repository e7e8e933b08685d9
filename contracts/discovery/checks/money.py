"""Checks prices, limits and payment addresses in all documents against the plan catalog."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from contracts.discovery.checks.evidence import Defect, Evidence, values_in

CATALOG = "/api/agent-access/plans"

_ID_NAMES = ("id", "planId", "plan_id", "plan")
_PLAN_NAMES = frozenset(_ID_NAMES)
_RAIL_NAMES = frozenset(("asset", "payTo", "network"))
_PRICE_NAMES = ("price", "priceUsd", "price_usd", "amountUsd", "amount", "amountUnits", "amountUnitsFrom")
_LIMIT_NAMES = ("requestsPerDay", "requests_per_day")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NETWORK = re.compile(r"eip155:\d+")
_TAG = re.compile(r"<[^>]*>")
_BLOCK_END = re.compile(r"</(?:li|tr|option|article|section)>")
_USD = re.compile(r"\$ ?(\d+(?:\.\d+)?)|\b(\d+(?:\.\d+)?) (?:USDC?|US dollars)\b")
_REQUESTS = re.compile(r"\b(\d[\d,]*) (?:API v2 )?requests a (?:UTC )?day")
_UNITS = Decimal(1_000_000)
_SMALLEST_UNITS = 10_000
"""A number from here on is in the coin's smallest unit, because no plan costs that many dollars."""


@dataclass(frozen=True, slots=True)
class _Plan:
    price: Decimal
    highest: Decimal
    requests: int | None


def money_defects(evidence: Evidence) -> Iterator[Defect]:
    """Yields differences from the catalog in a price, a limit, a payment address or a network."""
    catalog = evidence.value(CATALOG)
    plans = _plans(catalog)
    offers = _offers(catalog, plans)
    payment = catalog.get("payment", {}) if isinstance(catalog, dict) else {}
    bodies = {**evidence.linked_documents, **evidence.documents}
    for path, answer in bodies.items():
        value = answer.value
        if value is None:
            if answer.media_type.startswith("text/"):
                yield from _text_defects(path, answer.text, answer.media_type, plans)
            continue
        for row in values_in(value):
            if not isinstance(row, dict):
                continue
            if not _PLAN_NAMES.isdisjoint(row):
                yield from _plan_defects(path, row, plans)
            if "extra" in row:
                yield from _offer_defects(path, row, offers)
            if not _RAIL_NAMES.isdisjoint(row):
                yield from _rail_defects(path, row, payment)


def _plans(catalog: Any) -> dict[str, _Plan]:
    plans: dict[str, _Plan] = {}
    rows = catalog.get("plans", []) if isinstance(catalog, dict) else []
    for row in rows:
        try:
            price = Decimal(row["price"]["amount"])
            highest = Decimal(row["price"]["amountUnitsTo"]) / _UNITS
            plans[row["id"]] = _Plan(price, highest, row.get("requestsPerDay"))
        except (KeyError, TypeError, InvalidOperation):
            continue
    return plans


def _plan_defects(path: str, row: dict[str, Any], plans: dict[str, _Plan]) -> Iterator[Defect]:
    id_ = next((row[name] for name in _ID_NAMES if isinstance(row.get(name), str) and row[name] in plans), None)
    if id_ is None:
        return
    plan, amounts = plans[id_], [_amount(row[name]) for name in _PRICE_NAMES if name in row]
    # The quote of a supplement is for the amount that the first payment lacked.
    lowest = Decimal(0) if "supplementTo" in row else plan.price
    for amount in amounts:
        dollars = _dollars(amount)
        if dollars is not None and not lowest <= dollars <= plan.highest:
            yield Defect(path, f"states {dollars} USD for {id_}", f"The catalog says {plan.price}.")
    for name in _LIMIT_NAMES:
        if name in row and row[name] != plan.requests:
            yield Defect(path, f"states {row[name]} requests a day for {id_}", f"The catalog says {plan.requests}.")


def _offers(catalog: Any, plans: dict[str, _Plan]) -> dict[str, int]:
    """Returns the amount of a signed payment in smallest units, by offer: a plan's key or a single call."""
    payment = catalog.get("payment", {}) if isinstance(catalog, dict) else {}
    rows = payment.get("calls", []) if isinstance(payment, dict) else []
    calls = {row["id"]: int(row["amountUnits"]) for row in rows if str(row.get("amountUnits", "")).isdecimal()}
    return {id_: int(plan.price * _UNITS) for id_, plan in plans.items()} | calls


def _offer_defects(path: str, row: dict[str, Any], offers: dict[str, int]) -> Iterator[Defect]:
    """Checks an x402 requirement, which names its offer."""
    extra = row.get("extra")
    id_ = extra.get("offer") if isinstance(extra, dict) else None
    if id_ in offers and row.get("amount") != str(offers[id_]):
        stated, right = _usd(row.get("amount")), _usd(offers[id_])
        yield Defect(path, f"states {stated} USD for {id_}", f"The catalog says {right}.")


def _usd(units: Any) -> str:
    return f"{Decimal(units) / _UNITS:f}" if str(units).isdecimal() else str(units)


def _text_defects(path: str, text: str, media_type: str, plans: dict[str, _Plan]) -> Iterator[Defect]:
    """Checks prices and daily limits in the pieces of a text (line, list item, row) that name plans.

    If a piece names several plans, the first price and limit after each name count.
    """
    if not any(id_ in text for id_ in plans):
        return
    ids = re.compile("|".join(map(re.escape, plans)))
    for piece in _BLOCK_END.split(text) if media_type == "text/html" else text.splitlines():
        places = list(ids.finditer(piece))
        if len({place[0] for place in places}) == 1:
            yield from _plan_text_defects(path, _plain(piece), places[0][0], plans[places[0][0]])
            continue
        ends = [*(place.start() for place in places[1:]), len(piece)]
        for place, end in zip(places, ends, strict=False):
            yield from _plan_text_defects(path, _plain(piece[place.end() : end]), place[0], plans[place[0]], most=1)


def _plan_text_defects(path: str, text: str, id_: str, plan: _Plan, most: int | None = None) -> Iterator[Defect]:
    for match in list(_USD.finditer(text))[:most]:
        dollars = Decimal(match[1] or match[2])
        if not plan.price <= dollars <= plan.highest:
            yield Defect(path, f"states {dollars} USD for {id_}", f"The catalog says {plan.price}.")
    for match in list(_REQUESTS.finditer(text))[:most]:
        if int(match[1].replace(",", "")) != plan.requests:
            yield Defect(path, f"states {match[1]} requests a day for {id_}", f"The catalog says {plan.requests}.")


def _plain(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _rail_defects(path: str, row: dict[str, Any], payment: dict[str, Any]) -> Iterator[Defect]:
    if "transactionHash" in row:
        return  # a past payment in a receipt
    for name in ("asset", "payTo"):
        stated, right = row.get(name), payment.get(name)
        if isinstance(stated, str) and _ADDRESS.fullmatch(stated) and stated.lower() != str(right).lower():
            yield Defect(path, f"names {stated} as {name}", f"The catalog names {right}: money would go astray.")
    network = row.get("network")
    if isinstance(network, str) and _NETWORK.fullmatch(network) and network != payment.get("network", network):
        yield Defect(path, f"names the network {network}", f"The catalog names {payment['network']}.")


def _amount(value: Any) -> Any:
    return value.get("amount") if isinstance(value, dict) else value


def _dollars(amount: Any) -> Decimal | None:
    try:
        value = Decimal(str(amount))
    except InvalidOperation:
        return None
    return value / _UNITS if value >= _SMALLEST_UNITS else value
