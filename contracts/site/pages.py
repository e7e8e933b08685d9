"""The pages for people, in the order of the navigation: one row each, with its template of the same name."""

from contracts.discovery.service import CONNECT_PAGE_PATH
from contracts.site.docs_pages import (
    DOCS_PATH,
    ERRORS_PATH,
    PRICING_PATH,
    docs_page,
    errors_page,
    operation_pages,
    pricing_page,
)
from contracts.site.page import Page
from contracts.site.room_pages import bidwall_page, connect_page, home_page, status_page, trust_page
from contracts.site.shown import (
    BALANCE,
    CAPABILITIES,
    COMPARISON,
    DESCRIPTION,
    HOLDER_LIST,
    HOLDERS,
    METRICS,
    PRICE,
    TRUST,
    TRUST_RULES,
)
from contracts.site.token_pages import comparison_page, holders_page, token_page

PAGES: tuple[Page, ...] = (
    Page(
        name="home",
        path="/",
        title="Numbers that carry their proof",
        description="An infrastructure runtime for personal AI agents: token telemetry with its proof, a governed "
        "knowledge graph, guardrail checks that explain themselves, and paid access for agents.",
        view=home_page,
        shows=(HOLDERS, PRICE, BALANCE, TRUST),
    ),
    Page(
        name="token",
        path="/token/",
        title="The token",
        description="Price, supply and holders of the service token, each number with its source, its age and its "
        "proof.",
        view=token_page,
        shows=(HOLDERS, PRICE),
        navigation="Token",
    ),
    Page(
        name="holders",
        path="/holders/",
        title="Holders",
        description="Who holds the token: a map of the largest holders, the list with ranks and shares, and how the "
        "list is proven.",
        view=holders_page,
        shows=(HOLDERS, HOLDER_LIST),
        navigation="Holders",
    ),
    Page(
        name="compare",
        path="/holders/compare/",
        title="Two holder lists compared",
        description="Who came, who left, who gained and who lost between two holder lists.",
        view=comparison_page,
        shows=(HOLDERS, COMPARISON),
    ),
    Page(
        name="bidwall",
        path="/bidwall/",
        title="The wall",
        description="The native balance of the watched contract, how near its trigger is, and its newest transfers.",
        view=bidwall_page,
        shows=(BALANCE,),
        navigation="Wall",
    ),
    Page(
        name="trust",
        path="/trust/",
        title="Trust",
        description="Agents by their scores, who attested them, and the rule by which scores follow.",
        view=trust_page,
        shows=(TRUST, TRUST_RULES),
        navigation="Trust",
    ),
    Page(
        name="docs",
        path=DOCS_PATH,
        title="Documentation",
        description="Every operation of the API by group, each on a page of its own with examples and errors.",
        view=docs_page,
        shows=(DESCRIPTION,),
        navigation="Docs",
    ),
    Page(
        name="pricing",
        path=PRICING_PATH,
        title="Pricing",
        description="What is free, what plans and single calls cost, the limits, and how an agent pays.",
        view=pricing_page,
        shows=(DESCRIPTION,),
    ),
    Page(
        name="errors",
        path=ERRORS_PATH,
        title="Errors",
        description="Every error code of the API, its meaning, and what to do about it.",
        view=errors_page,
        shows=(DESCRIPTION,),
    ),
    Page(
        name="status",
        path="/status/",
        title="Status",
        description="What is live here, how fresh each number is, and what is switched off.",
        view=status_page,
        shows=(HOLDERS, PRICE, BALANCE, TRUST, METRICS, CAPABILITIES),
        navigation="Status",
    ),
    Page(
        name="connect",
        path=CONNECT_PAGE_PATH,
        title="Connect",
        description="What this is, how to pair, plans, and a paid claim step by step.",
        view=connect_page,
        shows=(CAPABILITIES,),
        navigation="Connect",
        scripts=("connect.js",),
    ),
)

OPERATION_PAGES: tuple[Page, ...] = operation_pages()
"""One page an operation of the API, all drawn by one template."""
