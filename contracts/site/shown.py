"""The documents that several pages show."""

from contracts.bidwall import BidwallSnapshot
from contracts.discovery.registry import CapabilityRegistry
from contracts.discovery.service import CAPABILITIES_PATH, OPENAPI_PATH
from contracts.market import TokenPrice
from contracts.publish.overview import SiteMetrics
from contracts.site.api_description import ApiDescription
from contracts.site.page import Shown
from contracts.token.holder_documents import TokenHolders, TokenHoldersMap, TokenHoldersTemporal
from contracts.trust import TrustProtocol, TrustRegistry

HOLDERS = Shown("holders", "Holders and supply", "/api/token/holders", TokenHolders)
HOLDER_LIST = Shown("list", "The largest holders", "/api/token/holders-map", TokenHoldersMap)
COMPARISON = Shown("comparison", "Two lists compared", "/api/token/holders-map-temporal", TokenHoldersTemporal)
PRICE = Shown("price", "Price", "/api/token/price", TokenPrice)
BALANCE = Shown("balance", "Contract balance", "/api/bidwall/snapshot", BidwallSnapshot)
TRUST = Shown("trust", "Trust registry", "/api/v2/trust/registry", TrustRegistry)
TRUST_RULES = Shown("rules", "Trust rules", "/api/v2/trust/protocol", TrustProtocol)
METRICS = Shown("metrics", "All live metrics", "/api/site-metrics", SiteMetrics)
CAPABILITIES = Shown("capabilities", "Capabilities", CAPABILITIES_PATH, CapabilityRegistry)
DESCRIPTION = Shown("description", "Description of the API", OPENAPI_PATH, ApiDescription)
