"""Declares the documents that several pages show."""

from contracts.bidwall import BidwallEvents, BidwallSnapshot, ContractBalanceSeries
from contracts.discovery.checks_document import CHECKS_PATH, PublishedChecks
from contracts.discovery.registry import CapabilityRegistry
from contracts.discovery.service import CAPABILITIES_PATH, OPENAPI_PATH
from contracts.feed import JsonFeed
from contracts.market import TokenPrice
from contracts.open_data.datasets import DataIndex
from contracts.open_data.first_rows import FIRST_ROWS_PATH, PublishedFirstRows
from contracts.open_data.names import INDEX_PATH, TOKENS_INDEX_PATH
from contracts.site.api_description import ApiDescription
from contracts.site.page import Shown
from contracts.token.further_tokens import TokenIndex
from contracts.token.history_documents import TokenHolderEdges, TokenSeries
from contracts.token.holder_documents import TokenHolders, TokenHoldersMap, TokenHoldersTemporal
from contracts.trust import TrustProtocol, TrustRegistry
from contracts.world.public_projection import WorldProjection, WorldRender

_LIST_TABLES = ("raw_chain__transfers", "core_holders__balances", "out_holders__lists")
_TRUST_TABLES = ("raw_chain__attestations", "core_trust__scores")
_VERIFY = "svc verify"

HOLDERS = Shown("holders", "Holders and supply", "/api/token/holders", TokenHolders, _LIST_TABLES, _VERIFY)
HOLDER_LIST = Shown("list", "The largest holders", "/api/token/holders-map", TokenHoldersMap, _LIST_TABLES, _VERIFY)
COMPARISON = Shown(
    "comparison", "Two lists compared", "/api/token/holders-map-temporal", TokenHoldersTemporal, _LIST_TABLES
)
DAYS = Shown(
    "days", "The token by day", "/api/token/series/daily", TokenSeries, ("raw_chain__transfers", "out_holders__daily")
)
HOURS = Shown(
    "hours",
    "The token by hour",
    "/api/token/series/hourly",
    TokenSeries,
    ("raw_chain__transfers", "out_holders__hourly"),
)
FEED = Shown("feed", "Events", "/hodlers-care/feed.json", JsonFeed, ("core_feed__events",))
PRICE = Shown("price", "Price", "/api/token/price", TokenPrice, ("out_market__token_price",))
BALANCE = Shown(
    "balance",
    "Contract balance",
    "/api/bidwall/snapshot",
    BidwallSnapshot,
    ("raw_chain__contract_transfers", "out_bidwall__status", "out_market__eth_price"),
)
_BALANCE_TABLES = ("out_bidwall__status",)
BALANCE_DAYS = Shown(
    "balance-days", "The balance by day", "/api/bidwall/series/daily", ContractBalanceSeries, _BALANCE_TABLES
)
BALANCE_HOURS = Shown(
    "balance-hours", "The balance by hour", "/api/bidwall/series/hourly", ContractBalanceSeries, _BALANCE_TABLES
)
TRUST = Shown("trust", "Trust registry", "/api/v2/trust/registry", TrustRegistry, _TRUST_TABLES)
TRUST_RULES = Shown("rules", "Trust rules", "/api/v2/trust/protocol", TrustProtocol, _TRUST_TABLES)
EDGES = Shown(
    "edges",
    "Transfers among the largest holders",
    "/api/token/holders-map/edges",
    TokenHolderEdges,
    ("raw_chain__transfers",),
)
CONTRACT_TRANSFERS = Shown(
    "events", "Transfers of the contract", "/api/bidwall/events", BidwallEvents, ("raw_chain__contract_transfers",)
)
CAPABILITIES = Shown("capabilities", "Capabilities", CAPABILITIES_PATH, CapabilityRegistry)
DESCRIPTION = Shown("description", "Description of the API", OPENAPI_PATH, ApiDescription)
CHECKS = Shown("checks", "Results of the data checks", CHECKS_PATH, PublishedChecks)
DATA_INDEX = Shown("index", "The index of open data", INDEX_PATH, DataIndex)
FURTHER_TOKENS = Shown("further-tokens", "Further tokens", TOKENS_INDEX_PATH, TokenIndex, command=_VERIFY)
FIRST_ROWS = Shown("rows", "The newest rows of every table", FIRST_ROWS_PATH, PublishedFirstRows)
WORLD_LIVE = Shown("graph", "The public graph", "/api/worldmodel/live", WorldProjection)
WORLD_RENDER = Shown("places", "Where its nodes are drawn", "/api/worldmodel/render", WorldRender)
