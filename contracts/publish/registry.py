"""One row per document published as a file. The rows drive assets, lineage, routes, OpenAPI entries and contract tests.

A row also names the source of its body: `make`, a function of the installation; `describe`, a function of other bodies
as well; `reader`, a function of a room of the warehouse; or else the SQL statement of its name.
`warehouse.publish.readers.read` reads from that source, and `contracts.publish.rendering` turns the content into bytes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial

from pydantic import BaseModel

from contracts import bidwall, trust
from contracts.access.plans import PLANS_PATH
from contracts.base import schema_of
from contracts.bidwall import (
    BidwallBalance,
    BidwallEvents,
    BidwallEventsParameters,
    BidwallSnapshot,
    BidwallSnapshotParameters,
    ContractBalanceSeries,
)
from contracts.discovery import service
from contracts.discovery.agent_card import API_V2_PATH
from contracts.discovery.checks_document import CHECKS_PATH, PublishedChecks
from contracts.discovery.installation import Installation
from contracts.discovery.manifests import agent_skills, ai_plugin, api_catalog, erc8004_registration
from contracts.discovery.mcp import ai_catalog, key_server_card, registry_entry, server_card
from contracts.discovery.openapi import OPENAPI_PATH, OPENAPI_V2_PATH, Bodies, openapi_json, openapi_v2_yaml
from contracts.discovery.public_contract import PublicContract, public_contract
from contracts.discovery.registration import (
    REQUEST_SCHEMA,
    RegistrationContract,
    intake_request_schema,
    registration_contract,
)
from contracts.discovery.registry import CapabilityRegistry
from contracts.discovery.schemas import SCHEMA_DIALECT, schema_path
from contracts.discovery.service import CONTEXT_PATH
from contracts.discovery.texts import (
    AGENTS_TXT_FALLBACK_PATH,
    AGENTS_TXT_PATH,
    MARKDOWN,
    PLAIN,
    ROBOTS_PATH,
    SECURITY_PATH,
    SITEMAP_MEDIA_TYPE,
    SITEMAP_PATH,
    agents_txt,
    compatibility_md,
    llms_txt,
    robots_txt,
    sitemap_xml,
    skill_md,
)
from contracts.discovery.wallet_actions import ACTIONS_PATH, ActionsRegistry, actions_registry
from contracts.errors import (
    BeforeToken,
    BlockNotProven,
    CursorInvalid,
    DateInFuture,
    SnapshotUnknown,
)
from contracts.feed import JsonFeed
from contracts.intake.artifacts import ARTIFACT_KINDS, artifact_texts
from contracts.intake.links import artifact_path
from contracts.market import MAX_AGE, EthPrice, TokenPrice
from contracts.open_data.first_rows import FIRST_ROWS_PATH, PublishedFirstRows
from contracts.open_data.names import INDEX_PATH
from contracts.partner import MARKETPLACE_MAX_AGE_S, PARTNER_MAX_AGE_S, MarketplaceRevenue, PartnerSnapshot
from contracts.publish.deprecations import COMPATIBILITY_PATH, DEPRECATED
from contracts.publish.overview import OVERVIEW_MAX_AGE_S, ContextSnapshot, OverviewMode, ServiceContext, SiteMetrics
from contracts.publish.projection import PAGE_GROUP, Alias, Fields, Projection, PublishedVariant, Redirect
from contracts.publish.routes import ACTION_HEADERS
from contracts.site.markdown import page_in_markdown
from contracts.site.page import Page, PageContent, Shown, markdown_content, page_content
from contracts.site.pages import NOT_FOUND, OPERATION_PAGES, PAGES
from contracts.token.history_documents import (
    AddressTransfers,
    AddressTransfersParameters,
    TokenHolder,
    TokenHolderEdges,
    TokenHolderParameters,
    TokenSeries,
)
from contracts.token.holder_documents import (
    HoldersMapParameters,
    HoldersTemporalParameters,
    MomentParameters,
    TokenHolders,
    TokenHoldersMap,
    TokenHoldersTemporal,
)
from contracts.trust import TrustProtocol, TrustRegistry, TrustScore
from contracts.world.own_ontology import OwnOntology
from contracts.world.public_projection import RenderParameters, RenderView, WorldProjection, WorldRender

WORLD_LIVE_PATH = "/api/worldmodel/live"

PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Pages may load nothing from elsewhere, and may not run code from their text."""


def _link(path: str, rel: str, media_type: str) -> str:
    return f'<{{prefix}}{path}>; rel="{rel}"; type="{media_type}"'


FRONT_LINKS = ", ".join(
    (
        _link(service.API_CATALOG_PATH, "api-catalog", service.API_CATALOG_MEDIA_TYPE),
        _link(service.OPENAPI_PATH, "service-desc", "application/json"),
        _link(service.SKILL_PATH, "service-doc", "text/markdown"),
        _link(service.LLMS_PATH, "describedby", "text/plain"),
        _link(PLANS_PATH, "payment", "application/json"),
    )
)
"""Links in the header fields of the front door (RFC 8288)."""

OPERATIONS = "docs/operations"
"""The collection of the pages of operations."""

MOMENT_REFUSALS = (BeforeToken, BlockNotProven, DateInFuture)
"""Errors for a block or day at which nothing is known."""

PRICE_GROUP = "market"
"""Documents of this group are published every minute, regardless of the chain's state."""


def _schema(name: str, model: type[BaseModel], *, sent: bool = False) -> Callable[[Installation], Fields]:
    """Returns a function that builds the schema of a document that we publish, or that is `sent` to us."""

    def make(installation: Installation) -> Fields:
        schema = schema_of(model, "validation" if sent else "serialization")
        return {"$schema": SCHEMA_DIALECT, "$id": installation.url(schema_path(name)), **schema}

    return make


def _sitemap(installation: Installation) -> bytes:
    pages = [page.path for page in (*PAGES, *OPERATION_PAGES)]
    return sitemap_xml(installation, [*pages, *(row.path for row in PROJECTIONS if row.cache == "discovery")])


def _described_paths() -> list[str]:
    return [path for row in PROJECTIONS if row.is_described for path in row.paths]


_balance = partial(Projection, group="contract_balance", max_age_s=bidwall.MAX_AGE_S)
_discovery = partial(Projection, group="discovery", cache="discovery")
_holders = partial(Projection, group="holders", max_age_s=900)
_overview = partial(Projection, group="overview", max_age_s=OVERVIEW_MAX_AGE_S)
_price = partial(Projection, group=PRICE_GROUP, max_age_s=int(MAX_AGE.total_seconds()))
_trust = partial(Projection, group="trust", max_age_s=trust.MAX_AGE_S)


def _markdown_of(page: Page, installation: Installation, bodies: Bodies) -> bytes | PageContent:
    content = markdown_content(page, PAGES, installation, bodies)
    return content or page_in_markdown(bodies[page.published_path], installation.url(page.path))


def _page_rows(page: Page, collection: str | None = None) -> tuple[Projection, Projection]:
    """Returns the rows of a page and of its Markdown twin, which is built from the page itself or from the same facts.

    Pages of a collection link to their twins only in their heads, so that all have the same header fields.
    """
    twin_link = "" if collection else f", {_link(page.markdown, 'alternate', 'text/markdown')}"
    row = Projection(
        name=f"page_{page.name}",
        path=page.published_path,
        group=PAGE_GROUP,
        shape=None if collection else "page",
        collection=collection,
        describe=partial(page_content, page, PAGES),
        shows=page.inputs,
        summary=page.title,
        description=page.description,
        media_type="text/html; charset=utf-8",
        headers={**PAGE_HEADERS, "Link": FRONT_LINKS + twin_link},
        markdown=page.markdown,
    )
    twin = Projection(
        name=f"page_{page.name}_markdown",
        path=page.markdown,
        group=PAGE_GROUP,
        shape=None if collection else "markdown",
        describe=partial(_markdown_of, page),
        shows=row.shows if page.drawn_as else (page.published_path,),
        collection=collection,
        summary=f"{page.title}, in Markdown",
        description=f"The page {page.path} for readers without a browser.",
        media_type=MARKDOWN,
    )
    return row, twin


def _with_ageing(page: Page, rows: Iterable[Projection]) -> Page:
    """Returns a page that `shows_ageing` with all of `rows` that age added, and any other page unchanged.

    Documents that other pages show come first, in the form in which those show them, then all others.
    """
    if not page.shows_ageing:
        return page
    ageing = {
        row.path: Shown(row.name, row.summary, row.path, row.model) for row in rows if row.model and row.freshness
    }
    named = {shown.path: shown for other in PAGES for shown in other.shows if shown.path in ageing}
    return replace(page, shows=(*(named | {**ageing, **named}).values(), *page.shows))


_DOCUMENTS: tuple[Projection, ...] = (
    _price(
        name="token_price",
        path="/api/token/price",
        model=TokenPrice,
        capability="token_price",
        summary="Token price",
        description="Price, capitalisation, volume, changes and trades of the service token from the first source with "
        "a sound price, with the answers of all other sources.",
    ),
    _price(
        name="eth_price",
        path=bidwall.ETH_PRICE_PATH,
        model=EthPrice,
        summary="ETH in USD",
        description="ETH/USD from Chainlink's feed on the chain, else a spot price, with every source's answer.",
    ),
    _holders(
        name="token_holders",
        path="/api/token/holders",
        model=TokenHolders,
        reader="token.holder_documents:read_token_holders",
        capability="token_holders",
        summary="Holder count with its proof",
        description="Holder count, supply and concentration of the service token at one final block, with the proof "
        "that the balances add up, how far the chain has been read, and other sources' counts. `block` or `date` "
        "request any earlier block, for which the numbers are computed from the transfers up to it.",
        parameters=MomentParameters,
        refusals=MOMENT_REFUSALS,
    ),
    _holders(
        name="token_holders_map",
        path="/api/token/holders-map",
        model=TokenHoldersMap,
        reader="token.holder_documents:read_holders_map",
        capability="token_holders",
        summary="Holders by rank",
        description="Holders of the service token by rank, one page at a time. A cursor keeps to the list of its first "
        "page, so a walk over all pages never mixes two states. `block` or `date` request any earlier block.",
        parameters=HoldersMapParameters,
        refusals=(CursorInvalid, *MOMENT_REFUSALS),
    ),
    Projection(
        name="token_holders_map_temporal",
        path="/api/token/holders-map-temporal",
        model=TokenHoldersTemporal,
        group="holders",
        reader="token.holder_documents:read_holders_temporal",
        capability="holder_comparison",
        max_age_s=7200,
        summary="Two holder lists compared",
        description="Churn, movers, cohort deltas and concentration between two holder lists: two snapshots, or any "
        "two blocks or days.",
        parameters=HoldersTemporalParameters,
        refusals=(SnapshotUnknown, *MOMENT_REFUSALS),
    ),
    _holders(
        name="token_holder_edges",
        path="/api/token/holders-map/edges",
        model=TokenHolderEdges,
        reader="token.history_documents:read_holder_edges",
        capability="token_holders",
        summary="Transfers among the largest holders",
        description="Transfers of the last 30 days among the 250 largest holders, with counts and amounts: "
        "the edges of the holder map.",
    ),
    _holders(
        name="token_series_daily",
        path="/api/token/series/daily",
        model=TokenSeries,
        reader="token.history_documents:read_token_series",
        reader_argument="day",
        capability="token_holders",
        summary="Holders, transfers and price by day",
        description="Every UTC day since the first transfer: holders, new, returning and leaving holders, "
        "transfers, volume, concentration and price. A day ends at 24:00 UTC.",
    ),
    _holders(
        name="token_series_hourly",
        path="/api/token/series/hourly",
        model=TokenSeries,
        reader="token.history_documents:read_token_series",
        reader_argument="hour",
        capability="token_holders",
        summary="Holders, transfers and price by hour",
        description="The hours of the last 90 days, with the columns of the daily series except concentration.",
    ),
    Projection(
        name="partner_base_snapshot",
        path="/api/integrations/partner/base-snapshot",
        model=PartnerSnapshot,
        group="partner",
        max_age_s=PARTNER_MAX_AGE_S,
        summary="Partner snapshot",
        description="The partner's latest snapshot in an envelope with its age. Our credential for the "
        "partner never leaves the server.",
    ),
    Projection(
        name="revenue_marketplace",
        path="/api/revenue/marketplace",
        model=MarketplaceRevenue,
        group="partner",
        max_age_s=MARKETPLACE_MAX_AGE_S,
        summary="Marketplace revenue",
        description="Earnings of the service's agent at the marketplace, separate from the gross amount that passed "
        "through its jobs, with the last 30 days.",
    ),
    _overview(
        name="site_metrics",
        path="/api/site-metrics",
        model=SiteMetrics,
        reader="publish.overview:read_site_metrics",
        summary="All live metrics",
        description="Every live number in one body, each with value, unit, source, quality and end of freshness, "
        "including the graph's node and edge counts.",
    ),
    _overview(
        name="context",
        path="/api/context",
        model=ContextSnapshot,
        reader="publish.overview:read_context",
        when_stale={"mode": OverviewMode.FALLBACK},
        summary="Context snapshot",
        description="The main facts for a new agent: token, holders, price, watched contract, trust and graph. "
        "`mode` tells whether everything is live or something is missing or old.",
    ),
    _discovery(
        name="service_context",
        path=CONTEXT_PATH,
        model=ServiceContext,
        shape="context",
        reader="publish.overview:read_service_context",
        summary="What the service is",
        description="What the service is and where to find everything, for an agent that does not know it yet.",
    ),
    Projection(
        name="checks",
        path=CHECKS_PATH,
        model=PublishedChecks,
        group="discovery",
        reader="discovery.checks:read_checks",
        summary="Results of the data checks",
        description="Every fact checked about the tables behind the published numbers, with its value and bounds, "
        "the checker and the time, and statistics of the tables' columns.",
    ),
    Projection(
        name="first_rows",
        path=FIRST_ROWS_PATH,
        model=PublishedFirstRows,
        group="discovery",
        reader="open_data.first_rows:read_first_rows",
        summary="The newest rows of every public table",
        description="Twenty rows of each table, newest first, as a preview of its files.",
    ),
    Projection(
        name="event_feed",
        path="/hodlers-care/feed.json",
        model=JsonFeed,
        group="discovery",
        shape="feed",
        reader="feed.events:read_feed",
        media_type="application/feed+json",
        summary="Event feed",
        description="New snapshots, large movers, holder milestones, crossed thresholds and attestations as a JSON "
        "Feed 1.1, newest first.",
    ),
    _balance(
        name="bidwall_balance",
        path="/api/bidwall/balance",
        model=BidwallBalance,
        reader="bidwall.contract_balance:read_bidwall_balance",
        summary="Native balance of the contract",
        description="Native balance of the watched contract in wei at a named block, and its distance to the trigger.",
    ),
    _balance(
        name="bidwall_snapshot",
        path="/api/bidwall/snapshot",
        model=BidwallSnapshot,
        reader="bidwall.contract_balance:read_bidwall_snapshot",
        summary="Balance, worth, trigger and newest transfers",
        description="The contract's balance at a named block, its value in USD, trigger progress and the newest ERC-20 "
        "transfers from or to it. Without a scope, it lists transfers of any token.",
        parameters=BidwallSnapshotParameters,
    ),
    _balance(
        name="bidwall_series_daily",
        path="/api/bidwall/series/daily",
        model=ContractBalanceSeries,
        reader="bidwall.contract_balance:read_balance_series",
        reader_argument="day",
        capability="contract_balance",
        summary="Balance of the contract by day",
        description="Every UTC day since the first reading: the last balance at a named block, the lowest and "
        "the highest. A day without a reading states why.",
    ),
    _balance(
        name="bidwall_series_hourly",
        path="/api/bidwall/series/hourly",
        model=ContractBalanceSeries,
        reader="bidwall.contract_balance:read_balance_series",
        reader_argument="hour",
        capability="contract_balance",
        summary="Balance of the contract by hour",
        description="The hours of the last 90 days, with the columns of the daily series.",
    ),
    _balance(
        name="bidwall_events",
        path="/api/bidwall/events",
        model=BidwallEvents,
        reader="bidwall.contract_balance:read_bidwall_events",
        summary="Newest transfers from or to the contract",
        description="ERC-20 transfers of any token that name the watched contract as sender or recipient, newest "
        "first. Those above finality are `pending`.",
        parameters=BidwallEventsParameters,
    ),
    _trust(
        name="trust_protocol",
        path="/api/v2/trust/protocol",
        model=TrustProtocol,
        reader="trust.attestations:read_trust_protocol",
        summary="What trust scores are",
        description="Registry and escrow contracts, thresholds, weighting and totals, with the block of the scores "
        "and a sample of them compared with the contract's own answers.",
    ),
    _trust(
        name="trust_registry",
        path="/api/v2/trust/registry",
        model=TrustRegistry,
        reader="trust.attestations:read_trust_registry",
        summary="Who attested whom",
        description="Agents by score, attesters by number of attestations, and the newest "
        "attestations, with their block.",
    ),
    Projection(
        name="world_live",
        path=WORLD_LIVE_PATH,
        model=WorldProjection,
        group="world",
        reader="world.public_projection:read_world_live",
        summary="The public graph",
        description="Public nodes and the edges among them at a named revision, without anything private or "
        "personal. For a very large graph, only the nodes with the most edges.",
        aliases=tuple(Alias(old.path, old.headers) for old in DEPRECATED if old.successor == WORLD_LIVE_PATH),
    ),
    Projection(
        name="world_render",
        path="/api/worldmodel/render",
        model=WorldRender,
        group="world",
        reader="world.public_projection:read_world_render",
        summary="The public graph, drawn",
        description="Public nodes with positions, the most connected first. `view` sets their number, `compact` omits "
        "titles and types. A node keeps its first position.",
        parameters=RenderParameters,
        published_variants=tuple(
            PublishedVariant(f"view={view}{compact}", f"/api/worldmodel/render/{view}{'-compact' if compact else ''}")
            for view in RenderView
            for compact in ("", "&compact=1")
        ),
    ),
    *(
        Projection(
            name=f"intake_{name.replace('-', '_')}",
            path=artifact_path(name),
            model=kind.model,
            group="intake",
            reader="intake.statistics:read_artifact",
            reader_argument=name,
            summary=artifact_texts()[name]["title"],
            description=artifact_texts()[name]["summary"],
            cache="discovery",
        )
        for name, kind in ARTIFACT_KINDS.items()
    ),
    _discovery(
        name="agent_card",
        path=service.AGENT_CARD_PATH,
        shape="agent_card",
        reader="discovery.probes:read_agent_card",
        summary="Agent card",
        description="The A2A 1.0 agent card, signed by a key of the key set. Its skills are the capabilities that are "
        "live according to the settings. There is no A2A transport.",
        aliases=(Alias(service.AGENT_PATH),),
    ),
    _discovery(
        name="capability_registry",
        path=service.CAPABILITIES_PATH,
        model=CapabilityRegistry,
        shape="capabilities",
        reader="discovery.probes:read_registry",
        summary="Capability registry",
        description="Every capability with its status `live`, `planned` or `off`, the reason, and the source and time "
        "of the check.",
    ),
    _discovery(
        name="mcp_discovery",
        path=service.MCP_JSON_PATH,
        shape="server_card",
        make=server_card,
        summary="MCP discovery",
        description="The server card of the MCP endpoint, at the path where older clients look for it.",
    ),
    _discovery(
        name="mcp_server_card",
        path=service.SERVER_CARD_PATH,
        shape="server_card",
        make=server_card,
        summary="MCP server card",
        description="The identity and address of the MCP server (SEP-2127). The server itself lists its tools.",
        media_type=service.SERVER_CARD_MEDIA_TYPE,
    ),
    _discovery(
        name="mcp_key_server_card",
        path=service.KEY_SERVER_CARD_PATH,
        capability="memory_over_mcp",
        shape="server_card",
        make=key_server_card,
        summary="MCP server card, by key",
        description="Identity of the MCP server by key, its header, and the names of its tools (SEP-2127).",
        media_type=service.SERVER_CARD_MEDIA_TYPE,
    ),
    _discovery(
        name="mcp_registry_entry",
        path=service.MCP_REGISTRY_PATH,
        shape="mcp_registry_entry",
        make=registry_entry,
        summary="MCP registry entry",
        description="`server.json` of the MCP server by key, with which the operator publishes it in the MCP registry.",
    ),
    _discovery(
        name="ai_catalog",
        path=service.AI_CATALOG_PATH,
        shape="ai_catalog",
        make=ai_catalog,
        summary="AI catalog",
        description="The server cards, the agent card, the skill and the API, each with its media type.",
        media_type=service.AI_CATALOG_MEDIA_TYPE,
    ),
    _discovery(
        name="x402_manifest",
        path=service.X402_PATH,
        shape="x402",
        reader="discovery.probes:read_x402_manifest",
        summary="Payment manifest",
        description="What can be paid and how: receipts on the chain are verified if that is set up, and signed "
        "payments are settled if this installation has a relayer and a probe confirms that it works.",
    ),
    _discovery(
        name="x402_metadata",
        path=service.X402_METADATA_PATH,
        shape="x402_metadata",
        reader="discovery.probes:read_x402_metadata",
        summary="Payment kinds",
        description="Kinds of payment as an x402 facilitator lists them, while they work.",
    ),
    _discovery(
        name="public_contract",
        path=service.PUBLIC_CONTRACT_PATH,
        model=PublicContract,
        shape="public_contract",
        make=public_contract,
        summary="Public contract",
        description="The stable terms of the service: seven domains, the validator, the addresses of live counts, "
        "and superseded terms.",
    ),
    _discovery(
        name="registration_contract",
        path=service.REGISTRATION_PATH,
        model=RegistrationContract,
        shape="registration",
        make=registration_contract,
        summary="Agent-assisted registration",
        description="Ways to register with their steps, endpoints and consent rules, and the request's JSON Schema.",
    ),
    _discovery(
        name="erc8004_registration",
        path=service.ERC8004_PATH,
        shape="erc8004",
        make=erc8004_registration,
        summary="ERC-8004 registration file",
        description="The service as ERC-8004 describes agents. It is in no identity registry.",
    ),
    _discovery(
        name="ai_plugin",
        path=service.AI_PLUGIN_PATH,
        shape="ai_plugin",
        make=ai_plugin,
        summary="Plugin manifest",
        description="The plugin manifest v1, for runtimes that still request it.",
    ),
    _discovery(
        name="api_catalog",
        path=service.API_CATALOG_PATH,
        shape="api_catalog",
        make=api_catalog,
        summary="API catalog",
        description="Where the APIs are described (RFC 9727), as a linkset.",
        media_type=service.API_CATALOG_MEDIA_TYPE,
    ),
    _discovery(
        name="agent_skills",
        path=service.AGENT_SKILLS_PATH,
        shape="agent_skills",
        make=agent_skills,
        summary="Agent skills",
        description="The skill with the digest of its bytes.",
    ),
    *(
        _discovery(
            name=f"schema_{name.replace('-', '_')}",
            path=schema_path(name),
            make=make,
            summary=f"JSON Schema: {summary}",
            description=f"The JSON Schema 2020-12 of {summary}.",
            media_type=service.SCHEMA_MEDIA_TYPE,
        )
        for name, summary, make in (
            ("svc-base-capabilities", "the capability registry", _schema("svc-base-capabilities", CapabilityRegistry)),
            ("svc-public-contract", "the public contract", _schema("svc-public-contract", PublicContract)),
            (
                "svc-agent-registration",
                "the registration contract",
                _schema("svc-agent-registration", RegistrationContract),
            ),
            (REQUEST_SCHEMA, "a registration request", intake_request_schema),
            ("svc-own-ontology", "an owner's ontology", _schema("svc-own-ontology", OwnOntology, sent=True)),
        )
    ),
    _discovery(
        name="llms_txt",
        path=service.LLMS_PATH,
        shape="llms",
        make=llms_txt,
        summary="What a language model reads first",
        description="llmstxt.org: what is here, how to begin, and what is planned but not live. It is a map, not "
        "a schema.",
        media_type=PLAIN,
    ),
    _discovery(
        name="agents_capabilities",
        path=AGENTS_TXT_PATH,
        shape="agents",
        make=agents_txt,
        summary="Capabilities for agents",
        description="Every live capability with endpoint, protocol and authentication (draft-car-agents-txt).",
        aliases=(Alias(AGENTS_TXT_FALLBACK_PATH),),
        media_type=PLAIN,
    ),
    _discovery(
        name="robots_txt",
        path=ROBOTS_PATH,
        shape="robots",
        make=robots_txt,
        summary="What crawlers may read",
        description="RFC 9309, with the permitted uses of the content.",
        media_type=PLAIN,
    ),
    _discovery(
        name="skill_md",
        path=service.SKILL_PATH,
        shape="skill",
        make=skill_md,
        summary="Agent Skill",
        description="How to buy a key, use it and pair over MCP, step by step, as an Agent Skill.",
        media_type=MARKDOWN,
    ),
    _discovery(
        name="compatibility",
        path=COMPATIBILITY_PATH,
        make=compatibility_md,
        summary="Compatibility policy",
        description="What may change without notice, what is announced first and how, and what is deprecated now.",
        media_type=MARKDOWN,
    ),
    _discovery(
        name="security_txt",
        path=SECURITY_PATH,
        shape="security",
        reader="discovery.probes:read_security_txt",
        summary="Where to report a vulnerability",
        description="RFC 9116. It expires some months ahead and changes once a quarter.",
        media_type=PLAIN,
    ),
    _discovery(
        name="sitemap",
        path=SITEMAP_PATH,
        shape="sitemap",
        make=_sitemap,
        summary="Sitemap",
        description="The pages and documents that a search engine may show.",
        media_type=SITEMAP_MEDIA_TYPE,
    ),
    _discovery(
        name="actions_registry",
        path=ACTIONS_PATH,
        model=ActionsRegistry,
        shape="action_rules",
        make=actions_registry,
        summary="Wallet actions",
        description="Addresses of this site that wallets may show as actions, and the paths of those actions.",
        headers=ACTION_HEADERS,
    ),
    _discovery(
        name="icon",
        path=service.ICON_PATH,
        make=lambda _: {},
        summary="Icon",
        description="The icon of pages, cards and wallet actions.",
        media_type="image/svg+xml",
        template="icon.svg",
        aliases=(Alias("/favicon.ico"),),
    ),
    Projection(
        name="openapi",
        path=OPENAPI_PATH,
        group="discovery",
        shape="openapi",
        describe=lambda installation, _: openapi_json(installation, _described_paths()),
        summary="OpenAPI description",
        description="The OpenAPI 3.0.3 description, with the address and the examples of this installation.",
    ),
    Projection(
        name="openapi_v2",
        path=OPENAPI_V2_PATH,
        group="discovery",
        shape="openapi",
        describe=lambda _, bodies: openapi_v2_yaml(bodies[OPENAPI_PATH]),
        shows=(OPENAPI_PATH,),
        summary="OpenAPI description of API v2",
        description="The part of the OpenAPI 3.0.3 description that is under `/api/v2`, in YAML.",
        media_type="application/yaml",
    ),
)
"""The rows of all documents except the pages."""

PROJECTIONS: tuple[Projection, ...] = (
    *_DOCUMENTS,
    *(row for page in PAGES for row in _page_rows(_with_ageing(page, _DOCUMENTS))),
    *(row for page in OPERATION_PAGES for row in _page_rows(page, OPERATIONS)),
    Projection(
        name=f"page_{NOT_FOUND.name}",
        path=NOT_FOUND.path,
        group=PAGE_GROUP,
        describe=partial(page_content, NOT_FOUND, PAGES),
        summary=NOT_FOUND.title,
        description=NOT_FOUND.description,
        media_type="text/html; charset=utf-8",
        headers=PAGE_HEADERS,
    ),
)


def rows_that_show(paths: Iterable[str]) -> list[Projection]:
    """Returns the rows that show documents at these paths, directly or through other documents, in order."""
    found: list[Projection] = []
    shown = set(paths)
    for row in PROJECTIONS:
        if not shown.isdisjoint(row.shows):
            found.append(row)
            shown.add(row.path)
    return found


@cache
def _rows_of_tables() -> frozenset[str]:
    """Returns the paths of the documents read from tables, and of those that show them or the list of files."""
    read = [row.path for row in PROJECTIONS if row.make is None and row.describe is None]
    return frozenset((*read, *(row.path for row in rows_that_show((*read, INDEX_PATH)))))


def lives_for_minutes(row: Projection) -> bool:
    """Returns whether a document shows data from tables, so that the next run may replace it."""
    return row.path in _rows_of_tables()


TRUST_SCORE = _trust(
    name="trust_score",
    path="/api/v2/trust/score/{address}",
    model=TrustScore,
    summary="Trust score of an agent",
    description="The score of one agent address from its attestations up to a named block. An agent without any is not "
    "registered.",
)
"""Not published as a file: one body per address, read from the published query copy."""

TOKEN_HOLDER = _holders(
    name="token_holder",
    path="/api/token/holders/{address}",
    model=TokenHolder,
    summary="One address at any block",
    description="Balance, rank and share of an address, when it was first seen and first held, and the changes "
    "of its balance, at the newest list's block or at any earlier `block` or `date`. An address without transfers "
    "holds nothing.",
    parameters=TokenHolderParameters,
    refusals=(CursorInvalid, *MOMENT_REFUSALS),
)
"""Not published as a file: one body per address, block and page, read from the published history."""

ADDRESS_TRANSFERS = _holders(
    name="token_holder_transfers",
    path="/api/token/holders/{address}/transfers",
    model=AddressTransfers,
    summary="Transfers of one address",
    description="Transfers from or to an address up to the newest list's block, or up to an earlier `block` or `date`, "
    "newest first, one page at a time.",
    parameters=AddressTransfersParameters,
    refusals=(CursorInvalid, *MOMENT_REFUSALS),
)
"""Not published as a file, like `TOKEN_HOLDER`."""

REDIRECTS: tuple[Redirect, ...] = (
    *(
        Redirect(path=page.path.rstrip("/"), to=page.path, name=f"to_{page.name}", summary=page.title)
        for page in (*PAGES, *OPERATION_PAGES)
        if page.path != "/"
    ),
    Redirect(
        path=API_V2_PATH,
        to=OPENAPI_V2_PATH,
        name="api_v2",
        summary="Description of API v2, at its base address",
    ),
    Redirect(
        path="/api/worldmodel/public-projection",
        to=WORLD_LIVE_PATH,
        name="world_public_projection",
        summary="The public graph, under another name",
    ),
)
