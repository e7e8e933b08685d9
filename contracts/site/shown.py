"""The documents that several pages show."""

from contracts.bidwall import BidwallSnapshot
from contracts.discovery.checks_document import CHECKS_PATH, PublishedChecks
from contracts.discovery.registry import CapabilityRegistry
from contracts.discovery.service import CAPABILITIES_PATH
from contracts.market import TokenPrice
from contracts.open_data.datasets import DataIndex
from contracts.open_data.names import INDEX_PATH
from contracts.publish.overview import SiteMetrics
from contracts.site.page import Shown
from contracts.token.holder_documents import TokenHolders, TokenHoldersMap, TokenHoldersTemporal
from contracts.trust import TrustProtocol, TrustRegistry
from contracts.world.public_projection import WorldProjection, WorldRender

HOLDERS = Shown("holders", "Holders and supply", "/api/token/holders", TokenHolders)
HOLDER_LIST = Shown("list", "The largest holders", "/api/token/holders-map", TokenHoldersMap)
COMPARISON = Shown("comparison", "Two lists compared", "/api/token/holders-map-temporal", TokenHoldersTemporal)
PRICE = Shown("price", "Price", "/api/token/price", TokenPrice)
BALANCE = Shown("balance", "Contract balance", "/api/bidwall/snapshot", BidwallSnapshot)
TRUST = Shown("trust", "Trust registry", "/api/v2/trust/registry", TrustRegistry)
TRUST_RULES = Shown("rules", "Trust rules", "/api/v2/trust/protocol", TrustProtocol)
METRICS = Shown("metrics", "All live metrics", "/api/site-metrics", SiteMetrics)
CAPABILITIES = Shown("capabilities", "Capabilities", CAPABILITIES_PATH, CapabilityRegistry)
CHECKS = Shown("checks", "Results of the data checks", CHECKS_PATH, PublishedChecks)
DATA_INDEX = Shown("index", "The index of open data", INDEX_PATH, DataIndex)
WORLD_LIVE = Shown("graph", "The public graph", "/api/worldmodel/live", WorldProjection)
WORLD_RENDER = Shown("places", "Where its nodes are drawn", "/api/worldmodel/render", WorldRender)
