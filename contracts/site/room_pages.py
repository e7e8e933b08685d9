"""Computes the pages of the other rooms: home, the watched contract, trust, and the state of the service."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from contracts.access.rail import ASSET_SYMBOL, USDC_DECIMALS
from contracts.base import Quality
from contracts.bidwall import WEI_DECIMALS, ContractBalancePoint, ContractBalanceSeries, ContractTransfer, UsdValue
from contracts.discovery.capabilities import Status
from contracts.discovery.connect_page import connect_facts
from contracts.discovery.registry import DeterminedBy
from contracts.discovery.texts import shared_facts
from contracts.site.charts import lengths
from contracts.site.figures import (
    NO_VALUE,
    STATES,
    Figure,
    State,
    address,
    dollars,
    percent,
    reason_in_words,
    short,
    tokens,
    whole,
)
from contracts.site.page import Documents, Shown
from contracts.site.plots import Chart, chart, line_panel
from contracts.site.shown import (
    BALANCE,
    BALANCE_DAYS,
    BALANCE_HOURS,
    CAPABILITIES,
    CONTRACT_TRANSFERS,
    HOLDERS,
    TRUST,
    TRUST_RULES,
)
from contracts.site.status_history import DAYS_SHOWN, status_charts
from contracts.site.token_pages import holder_figures, largest_holders, price_figures, since_yesterday, sparklines
from contracts.trust import LISTED_AT_MOST, ListedAgent

LEVEL_WORDS: Mapping[str, str] = {"high": "high", "medium": "medium", "low": "low", "none": "not trusted"}
"""The words for the level of an attested address. One whose score meets no threshold is not trusted."""

_UNATTESTED = "Nobody attested this address, so it has no score."
_UNLISTED = (
    f"Not among the {LISTED_AT_MOST} agents listed here. Look the address up under Holders: its page has its score."
)

_STATUS_HEADINGS = {
    Status.LIVE: "What is live here",
    Status.UNKNOWN: "Not checked yet",
    Status.PLANNED: "Planned",
    Status.OFF: "Switched off here",
}
_HOW_KNOWN: Mapping[DeterminedBy, str] = {
    "http": "queried at its public address",
    "warehouse": "read from its data",
    "settings": "read from the settings",
}
_DIRECTIONS: Mapping[str, str] = {"in": "to the contract", "out": "from the contract", "self": "to itself"}
_DAYS_SHOWN = 60
_HOURS_SHOWN = 72


def home_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the four numbers of the front page, and a short answer to each question that its pages answer."""
    balance, trust = bidwall_figures(documents), documents.read(TRUST)
    source = documents.source(TRUST)
    agents = trust.totals.agents if trust and trust.totals else None
    return {
        **holder_figures(documents),
        **price_figures(documents),
        **sparklines(documents),
        **largest_holders(documents),
        "yesterday": since_yesterday(documents),
        "best": None if not trust or not trust.agents else (trust.agents[0], address(trust.agents[0].agent)),
        "balance": balance["balance"],
        "progress": balance["progress"],
        "attestations": None if not trust or not trust.totals else whole(trust.totals.attestations),
        "agents": source.figure(agents, whole),
    }


def bidwall_figures(documents: Documents) -> dict[str, Any]:
    """Returns balance, value and progress of the watched contract."""
    document = documents.read(BALANCE)
    at = document.at if document else None
    source = documents.source(BALANCE, block=at.block if at else None)
    trigger, eth = (document.trigger, document.eth_usd) if document else (None, None)

    def ether(raw: str | None) -> Figure:
        return source.figure(raw, partial(tokens, decimals=WEI_DECIMALS), unit="ETH")

    return {
        "wall": document,
        "wall_source": source,
        "balance": ether(document.balance_wei if document else None),
        "worth": source.figure(eth.balance_usd if eth else None, dollars, state=_state_of(eth)),
        "is_worth_stale": bool(eth and eth.stale),
        "trigger": ether(trigger.trigger_wei if trigger else None),
        "remaining": ether(trigger.remaining_wei if trigger else None),
        "progress": source.figure(trigger.progress if trigger else None, percent),
        "is_reached": bool(trigger and trigger.reached),
        "level": None if trigger is None or trigger.progress is None else round(min(trigger.progress, 1) * 240, 1),
    }


def _transfers(documents: Documents) -> dict[str, Any]:
    """Returns the newest transfers of the watched contract, and the tokens and directions that occur in them."""
    document, holders = documents.read(CONTRACT_TRANSFERS), documents.read(HOLDERS)
    documents.source(CONTRACT_TRANSFERS, block=document.events_info.block if document else None)
    token = holders.token if holders else None
    coin = documents.installation.rail.asset
    decimals = {coin: USDC_DECIMALS, **({token.address: token.decimals} if token else {})}
    events = document.events if document else []
    return {
        "token": token,
        "tokens": [address(found) for found in dict.fromkeys(event.token for event in events)],
        "coin": coin,
        "coin_symbol": ASSET_SYMBOL,
        "directions": [way for way in _DIRECTIONS.items() if any(event.direction == way[0] for event in events)],
        "transfers_path": CONTRACT_TRANSFERS.path,
        "events": [
            {
                "event": event,
                "amount": _amount(event, decimals),
                "token": address(event.token),
                "other": address(event.recipient if event.direction == "out" else event.sender),
            }
            for event in events
        ],
    }


def _amount(event: ContractTransfer, decimals: Mapping[str, int | None]) -> str | None:
    """Returns an amount in whole tokens, or None if the token's decimals are unknown."""
    known = decimals.get(event.token)
    return None if known is None else tokens(event.value_raw, known, 6)


def _state_of(eth: UsdValue | None) -> State | None:
    """Returns the state of the balance's worth: a product with a price is at most derived."""
    if eth is None or eth.stale:
        return None if eth is None else "stale"
    return "derived" if eth.quality is Quality.EXACT else STATES[eth.quality]


def bidwall_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the page of the watched contract."""
    drawn = (balance_chart(documents, BALANCE_DAYS, _DAYS_SHOWN), balance_chart(documents, BALANCE_HOURS, _HOURS_SHOWN))
    charts = [one for one in drawn if one is not None]
    return {**bidwall_figures(documents), **_transfers(documents), "charts": charts}


def balance_chart(documents: Documents, shown: Shown[ContractBalanceSeries], most: int) -> Chart | None:
    """Returns the balance over the last points of a series, or None if there is only one, which needs no chart."""
    series = documents.read(shown)
    points = series.points[-most:] if series else []
    if series is None or len(points) < 2:
        return None
    source = documents.source(shown, block=next((point.at.block for point in reversed(points) if point.at), None))
    by, last = ("day", "days") if shown is BALANCE_DAYS else ("hour", "hours")
    values = [_ether(point.balance_wei) for point in points]
    bounds = [(_ether(point.lowest_wei), _ether(point.highest_wei)) for point in points]
    known = [value for value in values if value is not None]
    reasons = [reason_in_words(point.reason) for point in points]
    change = f"from {short(known[0], 4)} to {short(known[-1], 4)} ETH" if known else "no value"
    return chart(
        shown.id,
        f"The last {len(points)} {last}",
        f"By {by}: {change}",
        [point.start for point in points],
        [
            line_panel(
                "Balance, ETH",
                values,
                short,
                height=180,
                band=[None if least is None or most_ is None else (least, most_) for least, most_ in bounds],
                reasons=reasons,
            )
        ],
        ("Balance, ETH", "Lowest", "Highest", "Block"),
        [_balance_row(point, reason) for point, reason in zip(points, reasons, strict=True)],
        source,
    )


def _balance_row(point: ContractBalancePoint, reason: str | None) -> tuple[str, ...]:
    if point.at is None:
        return f"{NO_VALUE} ({reason})", NO_VALUE, NO_VALUE, NO_VALUE
    amounts = (point.balance_wei, point.lowest_wei, point.highest_wei)
    shown = tuple(NO_VALUE if wei is None else tokens(wei, WEI_DECIMALS, 6) for wei in amounts)
    pending = "" if point.quality is Quality.EXACT else ", pending"
    return *shown, f"{point.at.block}{pending}"


def _ether(wei: str | None) -> float | None:
    return None if wei is None else int(wei) / 10**WEI_DECIMALS


def trust_page(documents: Documents) -> Mapping[str, Any]:
    """Returns agents by score, attesters, the newest attestations and the rule."""
    document, rules = documents.read(TRUST), documents.read(TRUST_RULES)
    block = document.consistency.block if document and document.consistency else None
    source = documents.source(TRUST, block=block)
    documents.source(TRUST_RULES, block=block)
    totals = document.totals if document else None
    attesters = document.attesters if document else []
    bars = lengths([attester.attestation_count for attester in attesters])
    half_life_s = rules.weighting.half_life_s if rules else None
    return {
        "registry": document,
        "rules": rules,
        "half_life_days": None if half_life_s is None else round(half_life_s / 86_400, 1),
        "sampled": document.consistency.sampled if document and document.consistency else None,
        "attestations_total": source.figure(totals.attestations if totals else None, whole),
        "agents_total": source.figure(totals.agents if totals else None, whole),
        "attesters_total": source.figure(totals.attesters if totals else None, whole),
        "level_words": LEVEL_WORDS,
        "unlisted": _UNLISTED if document and document.truncated else _UNATTESTED,
        "agents": [(agent, address(agent.agent), _verdict(agent)) for agent in (document.agents if document else ())],
        "attesters": [(one, address(one.attester), bar) for one, bar in zip(attesters, bars, strict=True)],
        "attestations": [
            (one, address(one.agent), address(one.attester)) for one in (document.attestations[:20] if document else ())
        ],
    }


def _verdict(agent: ListedAgent) -> str:
    word = LEVEL_WORDS[agent.level]
    trust = word.capitalize() if agent.level == "none" else f"Trusted: {word}"
    count = f"{agent.attestation_count:,} attestation{'' if agent.attestation_count == 1 else 's'}"
    return f"{trust}. Weighted score {agent.weighted_score} of 100 from {count}."


def holder_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the words of trust levels and the attesters with their counts. A script adds the rest."""
    registry = documents.read(TRUST)
    return {"level_words": LEVEL_WORDS, "attesters": registry.attesters if registry else []}


def connect_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the connect page: plans, a quote, recorded answers, and the registry's capabilities."""
    registry = documents.read(CAPABILITIES)
    return {
        **shared_facts(documents.installation),
        **connect_facts(documents.installation),
        "capabilities": registry.capabilities if registry else [],
    }


def status_page(documents: Documents) -> Mapping[str, Any]:
    """Returns which capabilities are live with the evidence, and how fresh every number is."""
    registry = documents.read(CAPABILITIES)
    for shown in documents.shows:
        if shown.ages:
            documents.source(shown)
    entries = registry.capabilities if registry else []
    return {
        "by_status": [(status, [entry for entry in entries if entry.status == status]) for status in _STATUS_HEADINGS],
        "headings": _STATUS_HEADINGS,
        "how_known": _HOW_KNOWN,
        "lanes": list(documents.sources.values()),
        "charts": status_charts(documents),
        "days_shown": DAYS_SHOWN,
    }
