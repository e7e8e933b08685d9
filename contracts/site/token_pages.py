"""What the pages of the token show: price, supply, proof, holders, and the comparison of two lists."""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from contracts.site import charts
from contracts.site.figures import (
    Figure,
    Source,
    State,
    address,
    dollars,
    exact_tokens,
    percent,
    short,
    signed_percent,
    tokens,
    whole,
)
from contracts.site.page import Documents
from contracts.site.shown import COMPARISON, HOLDER_LIST, HOLDERS, PRICE
from contracts.token.holder_documents import CohortDelta, Concentration, Holder, Mover, Token, TokenHolders
from contracts.token.proof import Proof, Verdict

_BUBBLES = 100


def holder_figures(documents: Documents) -> dict[str, Any]:
    """Returns count, supply, concentration and proof of the holder list."""
    document = documents.read(HOLDERS)
    consistency = document.consistency if document else None
    source = documents.source(HOLDERS, block=consistency.block if consistency else None)
    proof = consistency.proof if consistency else None
    proven: State | None = "proven" if proof and proof.verdict is Verdict.PROVEN else None
    concentration = document.concentration if document else None
    return {
        "holders": document,
        "token": document.token if document else None,
        "proof": proof,
        "is_proven": proven is not None,
        "holder_count": source.figure(document.holder_count if document else None, whole, state=proven),
        "supply": source.figure(
            document.total_supply if document else None, short, unit=_symbol(document), state=proven
        ),
        "concentration": _concentration(source, concentration, proven),
        "equation": None if proof is None or document is None else _equation(proof, document.token),
        "snapshots": document.snapshots if document else [],
        "backfill": document.backfill if document else None,
        "discrepancy": document.discrepancy if document else [],
    }


def price_figures(documents: Documents) -> dict[str, Any]:
    """Returns price, capitalisation, liquidity, trades and what every source says."""
    document = documents.read(PRICE)
    data = document.data if document else None
    source = documents.source(PRICE, block=data.block if data else None)

    buys, sells = (data.buys_24h, data.sells_24h) if data else (None, None)
    total = (buys or 0) + (sells or 0)
    return {
        "price": source.figure(data.price if data else None, dollars),
        "market_cap": source.figure(data.mcap if data else None, dollars),
        "liquidity": source.figure(data.liquidity_usd if data else None, dollars),
        "volume": source.figure(data.volume_24h if data else None, dollars),
        "change_24h": source.figure(data.change_24h if data else None, signed_percent),
        "change_1h": source.figure(data.change_1h if data else None, signed_percent),
        "trades": None if buys is None or sells is None or not total else (buys, sells, round(100 * buys / total, 2)),
        "price_sources": data.sources if data else [],
        "change_check": data.change_check if data else None,
    }


def token_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the page of the token."""
    return {**holder_figures(documents), **price_figures(documents)}


def holders_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the page of holders: map, list and distribution."""
    document = documents.read(HOLDER_LIST)
    source = documents.source(HOLDER_LIST, block=document.block if document else None)
    holders = document.holders if document else []
    largest = holders[:_BUBBLES]
    others = 1 - sum(holder.share for holder in largest)
    packed = charts.bubbles(tuple(holder.share for holder in largest))
    return {
        **holder_figures(documents),
        "list_source": source,
        "rows": [_row(holder) for holder in holders],
        "total": document.total if document else None,
        "bubbles": [(bubble, _row(holder)) for bubble, holder in zip(packed, largest, strict=True)],
        "others": None
        if document is None or not document.total
        else (document.total - len(largest), percent(max(others, 0))),
        "next": document.links.next if document else None,
        "cohorts": _by_cohort(holders),
    }


def comparison_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the comparison of two holder lists."""
    document = documents.read(COMPARISON)
    source = documents.source(COMPARISON, block=document.to.block if document and document.to else None)
    if document is None or document.churn is None or document.from_ is None or document.to is None:
        return {**holder_figures(documents), "compared": None, "comparison": source}
    churn, decimals = document.churn, document.token.decimals if document.token else None
    movers = [*(document.movers.up if document.movers else ()), *(document.movers.down if document.movers else ())]
    lengths = charts.lengths([float(mover.change_raw) for mover in movers])
    moved = [(_mover(mover, decimals), length) for mover, length in zip(movers, lengths, strict=True)]
    return {
        **holder_figures(documents),
        "comparison": source,
        "compared": document,
        "entered": source.figure(churn.entered, whole),
        "left": source.figure(churn.left, whole),
        "retained": source.figure(churn.retained, whole),
        "rate": source.figure(churn.rate, partial(percent, digits=2)),
        "before": _concentration(source, document.from_.concentration, None),
        "after": _concentration(source, document.to.concentration, None),
        "up": [row for row in moved if not row[0]["change"].startswith("−")],
        "down": [row for row in moved if row[0]["change"].startswith("−")],
        "sizes": _cohort_bars(document.cohorts.size if document.cohorts else []),
        "ages": _cohort_bars(document.cohorts.age if document.cohorts else []),
    }


def _symbol(document: TokenHolders | None) -> str:
    return (document.token.symbol if document and document.token else None) or "tokens"


def _concentration(source: Source, found: Concentration | None, state: State | None) -> dict[str, Figure]:
    return {
        "top10": source.figure(found.top10_share if found else None, percent, state=state),
        "gini": source.figure(found.gini if found else None, "{:.3f}".format, state=state),
        "hhi": source.figure(found.hhi if found else None, "{:.3f}".format, state=state),
    }


def _equation(proof: Proof, token: Token | None) -> list[tuple[str, str, str]]:
    """Returns minted, burned and total supply: what it is, short, and exactly in the smallest units."""
    decimals = token.decimals if token else None
    rows: tuple[tuple[str, str | None], ...] = (
        ("minted", proof.minted),
        ("burned", proof.burned),
        ("sum of all balances", proof.sum_of_balances),
        ("totalSupply()", proof.total_supply),
    )
    return [
        (name, whole(raw) if decimals is None else tokens(raw, decimals), raw) for name, raw in rows if raw is not None
    ]


def _row(holder: Holder) -> dict[str, Any]:
    return {
        "rank": holder.rank,
        "address": address(holder.address),
        "balance": short(holder.balance, 6) if holder.balance is not None else whole(holder.balance_raw),
        "exact": holder.balance or holder.balance_raw,
        "share": percent(holder.share, 3),
        "length": round(100 * holder.share, 3),
        "first_seen": holder.first_seen_at,
        "last_active": holder.last_active_at,
        "kind": holder.kind,
        "cohort": holder.cohort,
    }


def _by_cohort(holders: list[Holder]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for holder in holders:
        counts[holder.cohort] = counts.get(holder.cohort, 0) + 1
    return list(counts.items())


def _mover(mover: Mover, decimals: int | None) -> dict[str, Any]:
    amount = Decimal(mover.change_raw) if decimals is None else exact_tokens(mover.change_raw, decimals)
    text = short(abs(amount), 5)
    return {
        "address": address(mover.address),
        "change": f"{'−' if amount < 0 else '+'}{text}",
        "exact": mover.change_raw,
        "rank_before": mover.rank_before,
        "rank_after": mover.rank_after,
    }


def _cohort_bars(deltas: list[CohortDelta]) -> list[tuple[CohortDelta, float, float]]:
    longest = max((max(delta.before, delta.after) for delta in deltas), default=0) or 1
    return [(delta, round(100 * delta.before / longest, 2), round(100 * delta.after / longest, 2)) for delta in deltas]
