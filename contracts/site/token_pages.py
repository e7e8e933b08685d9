"""Computes the pages of the token: price, supply, proof, holders, and the comparison of two lists."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from contracts.feed import SHOWN, EventKind, FeedItem
from contracts.market import TokenPriceData
from contracts.open_data.names import DATA_PREFIX
from contracts.site import charts
from contracts.site.curves import Lorenz, lorenz_curve
from contracts.site.figures import (
    NO_VALUE,
    STATES,
    THIN,
    Address,
    Figure,
    Source,
    State,
    address,
    dollars,
    exact_tokens,
    percent,
    reason_in_words,
    short,
    signed_percent,
    tokens,
    whole,
)
from contracts.site.page import Documents, Shown
from contracts.site.plots import Chart, Panel, bar_panel, chart, line_panel, mark_panel, sparkline
from contracts.site.shown import COMPARISON, DAYS, EDGES, FEED, HOLDER_LIST, HOLDERS, HOURS, PRICE
from contracts.token.history_documents import SeriesPoint, TokenSeries
from contracts.token.holder_documents import CohortDelta, Concentration, Holder, Mover, Token, TokenHolders
from contracts.token.holders import SIZE_COHORTS, csv_path
from contracts.token.proof import Proof, Verdict

_BUBBLES = 100
_LINKS = 100
"""Number of pairs of holders with transfers between them for which a page has room."""
_SMALL_MAP, _SMALL_MAP_SIZE = 30, 200
_DAYS_SHOWN = 60
_HOURS_SHOWN = 72
_TWO_SNAPSHOTS = "the two newest snapshots"
_FIRST_AND_NEWEST = "the first and the newest list"
"""The comparison shown until there are two snapshots."""

_MARKED: Mapping[EventKind, tuple[str, str]] = {
    EventKind.SNAPSHOT: ("snapshot", "snapshots"),
    EventKind.LARGE_MOVER: ("large mover", "large movers"),
    EventKind.HOLDER_MILESTONE: ("holder milestone", "holder milestones"),
    EventKind.THRESHOLD: ("crossing of the wall’s trigger", "crossings of the wall’s trigger"),
}
"""The events that a chart marks, in this order. Attestations are unrelated to the token."""
_TITLES_OF_A_MARK = 3
_BEYOND_FEED = f"the feed has the newest {SHOWN} events, all of them later"


@dataclass(frozen=True, slots=True)
class _Events:
    """The events over the points of a chart: their panel, a text for each point, and the meaning of each sign."""

    panel: Panel
    texts: Sequence[str]
    legend: Sequence[tuple[str, str]]


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
        "lorenz": None if document is None else lorenz(document, source),
        "equation": None if proof is None or document is None else _equation(proof, document.token),
        "snapshots": document.snapshots if document else [],
        "backfill": document.backfill if document else None,
        "discrepancy": document.discrepancy if document else [],
    }


def price_figures(documents: Documents) -> dict[str, Any]:
    """Returns price, capitalisation, liquidity, trades and every source's answer."""
    document = documents.read(PRICE)
    data = document.data if document else None
    source = documents.source(PRICE, block=data.block if data else None)

    buys, sells = (data.buys_24h, data.sells_24h) if data else (None, None)
    total = (buys or 0) + (sells or 0)
    return {
        "price": source.figure(data.price if data else None, dollars),
        "market_cap": source.figure(data.mcap if data else None, dollars),
        "liquidity": source.figure(data.liquidity_usd if data else None, dollars),
        "volume": source.figure(
            data.volume_24h if data else None, dollars, state=STATES[data.trades_quality] if data else None
        ),
        "trades_note": data and _trades_note(data),
        "change_24h": source.figure(data.change_24h if data else None, signed_percent),
        "change_1h": source.figure(data.change_1h if data else None, signed_percent),
        "trades": None if buys is None or sells is None or not total else (buys, sells, round(100 * buys / total, 2)),
        "price_sources": data.sources if data else [],
        "change_check": data.change_check if data else None,
    }


def _trades_note(data: TokenPriceData) -> str | None:
    """Returns the reason for the quality of volume and trades in words, with the block up to which they are counted."""
    reason = reason_in_words(data.trades_reason)
    return reason if reason is None or data.trades_block is None else f"{reason}, up to block {data.trades_block}"


def token_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the page of the token."""
    return {
        **holder_figures(documents),
        **price_figures(documents),
        **sparklines(documents),
        "charts": _charts(token_chart(documents, DAYS, _DAYS_SHOWN), token_chart(documents, HOURS, _HOURS_SHOWN)),
        "events": _event_rows(documents),
        "feed_path": FEED.path,
        "feed_most": SHOWN,
        "change_charts": _charts(holders_chart(documents), concentration_chart(documents)),
    }


def since_yesterday(documents: Documents) -> dict[str, Any] | None:
    """Returns the changes since the last day that ended, or None if no day has ended yet."""
    points = _points(documents, DAYS, _DAYS_SHOWN)
    if len(points) < 2:
        return None
    before, now = points[-2:]
    source = _source(documents, DAYS)
    prices = [point.price_usd.close if point.price_usd else None for point in (before, now)]
    return {
        "day": before.start,
        "holders": (whole(before.holders), source.figure(now.holders, whole)),
        "came": source.figure(now.new + now.returned, whole),
        "new": whole(now.new),
        "returned": whole(now.returned),
        "left": source.figure(now.left, whole),
        "transfers": source.figure(now.transfers, whole),
        "top10": (
            None
            if before.top10_share is None or now.top10_share is None
            else (percent(before.top10_share, 2), percent(now.top10_share, 2))
        ),
        "price": None if prices[0] is None or prices[1] is None else (dollars(prices[0]), dollars(prices[1])),
    }


def sparklines(documents: Documents) -> dict[str, str | None]:
    """Returns small lines of holders and price over the last days."""
    points = _points(documents, DAYS, _DAYS_SHOWN)
    return {
        "holders_spark": sparkline([point.holders for point in points]),
        "price_spark": sparkline([point.price_usd.close if point.price_usd else None for point in points]),
    }


def token_chart(documents: Documents, shown: Shown[TokenSeries], most: int) -> Chart | None:
    """Returns price, holders and volume over the last points of a series, or None before its first point."""
    points = _points(documents, shown, most)
    if not points:
        return None
    series = documents.read(shown)
    decimals = series.token.decimals if series and series.token else None
    source = _source(documents, shown)
    volumes = [int(point.volume_raw) / 10 ** (decimals or 0) for point in points]
    closes = [point.price_usd.close if point.price_usd else None for point in points]
    ranges = [(point.price_usd.low, point.price_usd.high) if point.price_usd else None for point in points]
    reasons = [reason_in_words(point.price_reason) for point in points]
    known = [close for close in closes if close is not None]
    by, last = ("day", "days") if shown is DAYS else ("hour", "hours")
    price = f"price from {dollars(known[0])} to {dollars(known[-1])}, " if known else ""
    events = _events(documents, [point.start for point in points])
    return chart(
        shown.id,
        f"The last {len(points)} {last}" if len(points) > 1 else f"The first {by}",
        f"By {by}: {price}holders from {points[0].holders:,} to {points[-1].holders:,}",
        [point.start for point in points],
        [
            line_panel("Price, USD", closes, _dollars, height=130, band=ranges, reasons=reasons),
            *([events.panel] if events else []),
            line_panel("Holders", [point.holders for point in points], short, height=110, whole=True),
            bar_panel("Transferred, tokens", volumes, short, height=80),
        ],
        ("Price", "Holders", "Transferred", "Transfers", *(["Events"] if events else [])),
        [
            (
                dollars(point.price_usd.close) if point.price_usd else f"– ({reason})" if reason else NO_VALUE,
                whole(point.holders),
                short(volume),
                whole(point.transfers),
                *([events.texts[at]] if events else []),
            )
            for at, (point, volume, reason) in enumerate(zip(points, volumes, reasons, strict=True))
        ],
        source,
        events.legend if events else (),
    )


def _events(documents: Documents, starts: Sequence[datetime]) -> _Events | None:
    """Returns the feed's events by the spans that begin at `starts`, the last of them open, or None without events."""
    feed = documents.read(FEED)
    items = feed.items if feed else []
    titles: dict[EventKind, list[list[str]]] = {kind: [[] for _ in starts] for kind in _MARKED}
    for item in items:
        span = bisect_right(starts, item.date_published) - 1
        if span >= 0 and item.svc.kind in titles:
            titles[item.svc.kind][span].append(item.title)
    titles = {kind: spans for kind, spans in titles.items() if any(spans)}
    if not titles:
        return None
    # A full feed may have dropped events of spans that ended before its oldest event.
    first = bisect_right(starts, items[-1].date_published) - 1 if len(items) >= SHOWN else 0
    reasons = [_BEYOND_FEED if at < first else None for at in range(len(starts))]
    panel = mark_panel("Events", {kind: [_titles(found) for found in spans] for kind, spans in titles.items()}, reasons)
    texts = [
        ", ".join(_counted(kind, len(spans[at])) for kind, spans in titles.items() if spans[at])
        or ("none" if reason is None else f"{NO_VALUE} ({reason})")
        for at, reason in enumerate(reasons)
    ]
    return _Events(panel, texts, [(kind, _MARKED[kind][0]) for kind in titles])


def _event_rows(documents: Documents) -> list[FeedItem] | None:
    """Returns every event of the feed that a chart may mark, newest first, or None without a feed.

    The chart's marks have room for few titles, and only a pointer device reaches them.
    """
    feed = documents.read(FEED)
    if feed is None:
        return None
    rows = [item for item in feed.items if item.svc.kind in _MARKED]
    if rows:
        documents.source(FEED, block=feed.items[0].svc.block)
    return rows


def _titles(found: Sequence[str]) -> str:
    more = len(found) - _TITLES_OF_A_MARK
    return "; ".join([*found[:_TITLES_OF_A_MARK], *([f"{more} more"] if more > 0 else [])])


def _counted(kind: EventKind, count: int) -> str:
    one, several = _MARKED[kind]
    return one if count == 1 else f"{count} {several}"


def holders_chart(documents: Documents) -> Chart | None:
    """Returns the holders who came and left each day, or None before the first day."""
    points = _points(documents, DAYS, _DAYS_SHOWN)
    if not points:
        return None
    source = _source(documents, DAYS)
    came = [point.new + point.returned for point in points]
    left = [point.left for point in points]
    before = points[0].holders - came[0] + left[0]
    return chart(
        "came-and-left",
        "Holders by day",
        f"Holders from {before:,} before the first day to {points[-1].holders:,}; "
        f"{sum(came):,} came, {sum(left):,} left",
        [point.start for point in points],
        [
            line_panel(
                "Holders at the end of each day, and so far today",
                [point.holders for point in points],
                short,
                whole=True,
            ),
            bar_panel("Came and left", came, short, down=left, height=110, whole=True),
        ],
        ("Holders", "New", "Returned", "Left"),
        [tuple(whole(number) for number in (point.holders, point.new, point.returned, point.left)) for point in points],
        source,
    )


def concentration_chart(documents: Documents) -> Chart | None:
    """Returns the share of the ten largest and the Gini coefficient by day, or None before the first day."""
    points = _points(documents, DAYS, _DAYS_SHOWN)
    if not points:
        return None
    source = _source(documents, DAYS)
    shares, ginis = [point.top10_share for point in points], [point.gini for point in points]
    known = [share for share in shares if share is not None]
    change = f"The ten largest hold {percent(known[0])} at first, {percent(known[-1])} at last" if known else "No value"
    return chart(
        "concentration-by-day",
        "Concentration by day",
        change,
        [point.start for point in points],
        [
            line_panel("The ten largest hold", shares, _percent, height=130),
            line_panel("Gini coefficient", ginis, short, height=130),
        ],
        ("Ten largest", "Gini", "HHI"),
        [
            (
                NO_VALUE if point.top10_share is None else percent(point.top10_share, 2),
                NO_VALUE if point.gini is None else f"{point.gini:.4f}",
                NO_VALUE if point.hhi is None else f"{point.hhi:.4f}",
            )
            for point in points
        ],
        source,
    )


def lorenz(document: TokenHolders, source: Source) -> Lorenz | None:
    """Returns the curve of the newest list, or None with fewer than two holders, who can't hold unequally."""
    steps = [(step.holders, step.share) for step in document.largest]
    if len(steps) < 2 or document.concentration is None:
        return None
    return lorenz_curve(steps, document.concentration.gini, source)


def _source(documents: Documents, shown: Shown[TokenSeries]) -> Source:
    document = documents.read(shown)
    return documents.source(shown, block=document.basis.block if document and document.basis else None)


def _points(documents: Documents, shown: Shown[TokenSeries], most: int) -> list[SeriesPoint]:
    document = documents.read(shown)
    return [] if document is None else document.points[-most:]


def _charts(*found: Chart | None) -> list[Chart]:
    return [drawn for drawn in found if drawn is not None]


def _dollars(value: float, digits: int) -> str:
    return f"${short(value, digits)}"


def _percent(fraction: float, digits: int) -> str:
    return f"{short(100 * fraction, digits)}{THIN}%"


def holders_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the page of holders: map, list and distribution."""
    document = documents.read(HOLDER_LIST)
    source = documents.source(HOLDER_LIST, block=document.block if document else None)
    holders = document.holders if document else []
    largest = holders[:_BUBBLES]
    others = 1 - sum(holder.share for holder in largest)
    packed = charts.bubbles(tuple(holder.share for holder in largest))
    figures = holder_figures(documents)
    return {
        **figures,
        "charts": _charts(holders_chart(documents), concentration_chart(documents)),
        "list_source": source,
        "data_prefix": DATA_PREFIX,
        "cohort_shares": [(name, least and _percent(least, 1)) for name, least in SIZE_COHORTS],
        "size_cohorts": " ".join(f"{name}:{least:f}" for name, least in SIZE_COHORTS),
        "past": [(one, csv_path(one.block)) for one in figures["snapshots"]],
        "rows": [_row(holder) for holder in holders],
        "total": document.total if document else None,
        "edges": _edges(documents, holders),
        "bubbles": [(bubble, _row(holder)) for bubble, holder in zip(packed, largest, strict=True)],
        "others": None
        if document is None or document.total is None or document.total <= len(largest)
        else (document.total - len(largest), percent(max(others, 0))),
        "next": document.links.next if document else None,
        "cohorts": _by_cohort(largest),
    }


def _edges(documents: Documents, listed: Sequence[Holder]) -> dict[str, Any] | None:
    """Returns the transfers among the largest holders, the most frequent first, or None without any."""
    document = documents.read(EDGES)
    if document is None or not document.edges:
        return None
    rows = {holder.address for holder in listed}
    decimals = document.token.decimals if document.token else None

    def side(found: str, rank: int) -> tuple[int, Address, bool]:
        return rank, address(found), found in rows

    return {
        "source": documents.source(EDGES, block=document.block),
        "block": document.block,
        "among": document.among,
        "days": document.days,
        "total": len(document.edges),
        "rows": [
            (
                side(edge.from_, edge.from_rank),
                side(edge.to, edge.to_rank),
                edge.transfers,
                whole(edge.amount_raw) if decimals is None else tokens(edge.amount_raw, decimals),
                edge.amount or edge.amount_raw,
            )
            for edge in document.edges[:_LINKS]
        ],
    }


def largest_holders(documents: Documents) -> dict[str, Any]:
    """Returns a small map of the largest holders, and the very largest."""
    document = documents.read(HOLDER_LIST)
    documents.source(HOLDER_LIST, block=document.block if document else None)
    largest = document.holders[:_SMALL_MAP] if document else []
    packed = charts.bubbles(tuple(holder.share for holder in largest), size=_SMALL_MAP_SIZE, gap=1)
    return {
        "small_map": [(bubble, holder.cohort) for bubble, holder in zip(packed, largest, strict=True)],
        "largest": None if not largest else (address(largest[0].address), percent(largest[0].share)),
    }


def comparison_page(documents: Documents) -> Mapping[str, Any]:
    """Returns the facts of the comparison of two holder lists, and of today with the previous days."""
    by_day = {"yesterday": since_yesterday(documents), "charts": _charts(holders_chart(documents))}
    return {**by_day, **_comparison(documents)}


def _comparison(documents: Documents) -> Mapping[str, Any]:
    document = documents.read(COMPARISON)
    source = documents.source(COMPARISON, block=document.to.block if document and document.to else None)
    if document is None or document.churn is None or document.from_ is None or document.to is None:
        return {**holder_figures(documents), "compared": None, "sides": _TWO_SNAPSHOTS, "comparison": source}
    snapshots = {snapshot.id for snapshot in document.snapshots}
    churn, decimals = document.churn, document.token.decimals if document.token else None
    movers = [*(document.movers.up if document.movers else ()), *(document.movers.down if document.movers else ())]
    lengths = charts.lengths([float(mover.change_raw) for mover in movers])
    moved = [(_mover(mover, decimals), length) for mover, length in zip(movers, lengths, strict=True)]
    return {
        **holder_figures(documents),
        "comparison": source,
        "compared": document,
        "data_prefix": DATA_PREFIX,
        "sides": _TWO_SNAPSHOTS if {document.from_.id, document.to.id} <= snapshots else _FIRST_AND_NEWEST,
        "between": f"block {document.from_.block} to {document.to.block}",
        "largest_change": max(moved, key=lambda row: row[1], default=(None, 0))[0],
        "entered": source.figure(churn.entered, whole),
        "left": source.figure(churn.left, whole),
        "retained": source.figure(churn.retained, whole),
        "rate": source.figure(churn.rate, partial(percent, digits=2)),
        "before": _concentration(source, document.from_.concentration, None),
        "after": _concentration(source, document.to.concentration, None),
        "up": [row for row in moved if not row[0]["is_loss"]],
        "down": [row for row in moved if row[0]["is_loss"]],
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
    """Returns minted, burned, the sum of balances and total supply: name, short form, and exact in smallest units."""
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
        "short_share": percent(holder.share),
        "length": round(100 * holder.share, 3),
        "first_seen": holder.first_seen_at,
        "last_active": holder.last_active_at,
        "kind": holder.kind,
        "cohort": holder.cohort,
    }


def _by_cohort(holders: list[Holder]) -> list[tuple[str, int]]:
    counts = Counter[str](holder.cohort for holder in holders)
    return [(name, counts[name]) for name, _ in SIZE_COHORTS]


def _mover(mover: Mover, decimals: int | None) -> dict[str, Any]:
    amount = Decimal(mover.change_raw) if decimals is None else exact_tokens(mover.change_raw, decimals)
    text = short(abs(amount), 5)
    return {
        "address": address(mover.address),
        "change": f"{'−' if amount < 0 else '+'}{text}",
        "is_loss": amount < 0,
        "exact": mover.change_raw,
        "rank_before": mover.rank_before,
        "rank_after": mover.rank_after,
    }


def _cohort_bars(deltas: list[CohortDelta]) -> list[tuple[CohortDelta, float, float]]:
    longest = max((max(delta.before, delta.after) for delta in deltas), default=0) or 1
    return [(delta, round(100 * delta.before / longest, 2), round(100 * delta.after / longest, 2)) for delta in deltas]
