"""What the pages of the other rooms show: home, the watched contract, trust, and the state of the service."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from contracts.bidwall import WEI_DECIMALS, ContractTransfer, UsdValue
from contracts.discovery.capabilities import Status
from contracts.discovery.connect_page import connect_facts
from contracts.discovery.texts import shared_facts
from contracts.site.charts import lengths
from contracts.site.figures import STATES, Figure, State, address, dollars, percent, tokens, whole
from contracts.site.page import Documents
from contracts.site.shown import BALANCE, CAPABILITIES, HOLDERS, METRICS, PRICE, TRUST, TRUST_RULES
from contracts.site.token_pages import holder_figures, largest_holders, price_figures, since_yesterday, sparklines
from contracts.token.holder_documents import Token


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
    """Returns balance, worth and progress of the watched contract, and its newest transfers."""
    document = documents.read(BALANCE)
    at = document.at if document else None
    source = documents.source(BALANCE, block=at.block if at else None)
    trigger, eth = (document.trigger, document.eth_usd) if document else (None, None)

    holders = documents.read(HOLDERS)
    token = holders.token if holders else None

    def ether(raw: str | None) -> Figure:
        return source.figure(raw, partial(tokens, decimals=WEI_DECIMALS), unit="ETH")

    return {
        "wall": document,
        "token": token,
        "wall_source": source,
        "balance": ether(document.balance_wei if document else None),
        "worth": source.figure(eth.balance_usd if eth else None, dollars, state=_state_of(eth)),
        "is_worth_stale": bool(eth and eth.stale),
        "trigger": ether(trigger.trigger_wei if trigger else None),
        "remaining": ether(trigger.remaining_wei if trigger else None),
        "progress": source.figure(trigger.progress if trigger else None, percent),
        "is_reached": bool(trigger and trigger.reached),
        "level": None if trigger is None or trigger.progress is None else round(min(trigger.progress, 1) * 240, 1),
        "events": [
            {
                "event": event,
                "amount": _amount(event, token),
                "token": address(event.token),
                "is_ours": token is not None and event.token == token.address,
                "other": address(event.recipient if event.direction == "out" else event.sender),
                "transaction": event.transaction_hash,
            }
            for event in (document.events if document else ())
        ],
    }


def _amount(event: ContractTransfer, token: Token | None) -> str | None:
    """Returns an amount in whole tokens where the token is the service's, whose decimals are known."""
    if token is None or token.decimals is None or event.token != token.address:
        return None
    return tokens(event.value_raw, token.decimals)


def _state_of(eth: UsdValue | None) -> State | None:
    return None if eth is None else "stale" if eth.stale else STATES[eth.quality]


def bidwall_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the page of the watched contract."""
    return bidwall_figures(documents)


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
        "agents": [(agent, address(agent.agent)) for agent in (document.agents if document else ())],
        "attesters": [(one, address(one.attester), bar) for one, bar in zip(attesters, bars, strict=True)],
        "attestations": [
            (one, address(one.agent), address(one.attester)) for one in (document.attestations[:20] if document else ())
        ],
    }


def connect_page(documents: Documents) -> Mapping[str, Any]:
    """Returns what the connect page states: plans, a quote, recorded answers, and what the registry calls live."""
    registry = documents.read(CAPABILITIES)
    return {
        **shared_facts(documents.installation),
        **connect_facts(documents.installation),
        "capabilities": registry.capabilities if registry else [],
    }


def status_page(documents: Documents) -> Mapping[str, Any]:
    """Returns what is live, and how fresh every number is."""
    registry = documents.read(CAPABILITIES)
    metrics = documents.read(METRICS)
    for shown in (HOLDERS, PRICE, BALANCE, TRUST):
        documents.source(shown)
    documents.source(METRICS)
    entries = registry.capabilities if registry else []
    return {
        "by_status": [
            (status, [entry for entry in entries if entry.status == status])
            for status in (Status.LIVE, Status.PLANNED, Status.OFF)
        ],
        "metrics": [] if metrics is None else list(metrics.metrics.model_dump(by_alias=True).items()),
        "lanes": list(documents.sources.values()),
    }
