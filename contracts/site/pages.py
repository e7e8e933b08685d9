"""The pages for people, in the order of the navigation: one row each, with its template of the same name."""

from contracts.discovery.service import CONNECT_PAGE_PATH
from contracts.open_data.names import INDEX_PATH
from contracts.publish.routes import NOT_FOUND_PATH
from contracts.site.data_pages import data_page, lineage_page, rows_page, tables_page
from contracts.site.docs_pages import (
    DOCS_PATH,
    ERRORS_PATH,
    PRICING_PATH,
    docs_page,
    errors_page,
    operation_pages,
    pricing_page,
)
from contracts.site.graph_page import graph_page
from contracts.site.guardrail_page import guardrail_page
from contracts.site.page import Page
from contracts.site.room_pages import bidwall_page, connect_page, holder_page, home_page, status_page, trust_page
from contracts.site.shown import (
    BALANCE,
    BALANCE_DAYS,
    BALANCE_HOURS,
    CAPABILITIES,
    CHECKS,
    COMPARISON,
    CONTRACT_TRANSFERS,
    DATA_INDEX,
    DAYS,
    DESCRIPTION,
    EDGES,
    FEED,
    FIRST_ROWS,
    FURTHER_TOKENS,
    HOLDER_LIST,
    HOLDERS,
    HOURS,
    PRICE,
    TRUST,
    TRUST_RULES,
    WORLD_LIVE,
    WORLD_RENDER,
)
from contracts.site.token_pages import comparison_page, holders_page, token_page

NOT_FOUND = Page(
    name="not_found",
    path=NOT_FOUND_PATH,
    title="Not found",
    description="There is no page at this address.",
    view=lambda documents: {},
    is_error=True,
)
"""Answers at every address without a page."""

PAGES: tuple[Page, ...] = (
    Page(
        name="home",
        path="/",
        title="Numbers that carry their proof",
        description="An infrastructure runtime for personal AI agents: token telemetry with its proof, a governed "
        "knowledge graph, guardrail checks that explain themselves, and paid access for agents.",
        view=home_page,
        shows=(HOLDERS, HOLDER_LIST, PRICE, BALANCE, TRUST, DAYS),
    ),
    Page(
        name="token",
        path="/token/",
        title="The token",
        description="Price, supply and holders of the service token, each number with its source, its age and its "
        "proof.",
        view=token_page,
        shows=(HOLDERS, PRICE, DAYS, HOURS, FEED),
        navigation="Token",
        scripts=("charts.js",),
    ),
    Page(
        name="holders",
        path="/holders/",
        title="Holders",
        description="Who holds the token: a map of the largest holders, the list with ranks and shares, and how the "
        "list is proven.",
        view=holders_page,
        shows=(HOLDERS, HOLDER_LIST, EDGES, DAYS),
        navigation="Holders",
        styles=("plane.css", "map.css"),
        scripts=("charts.js", "d3-hierarchy.js", "csv.js", "plane.js", "map.js"),
    ),
    Page(
        name="compare",
        path="/holders/compare/",
        title="Two holder lists compared",
        description="Who came, who left, who gained and who lost between two holder lists.",
        view=comparison_page,
        shows=(HOLDERS, COMPARISON, DAYS),
        scripts=("charts.js", "filling.js", "csv.js", "compare.js"),
    ),
    Page(
        name="holder",
        path="/holders/one/",
        title="One holder",
        description="Balance, rank, share, history, transfers and trust of one address, with the command that proves "
        "its balance.",
        view=holder_page,
        shows=(TRUST,),
        scripts=("charts.js", "filling.js", "holder.js"),
    ),
    Page(
        name="bidwall",
        path="/bidwall/",
        title="The wall",
        description="The native balance of the watched contract over time, its distance to the trigger, and its newest "
        "transfers.",
        view=bidwall_page,
        shows=(BALANCE, BALANCE_DAYS, BALANCE_HOURS, CONTRACT_TRANSFERS, HOLDERS),
        navigation="Wall",
        scripts=("charts.js", "filter.js"),
    ),
    Page(
        name="trust",
        path="/trust/",
        title="Trust",
        description="Agents by score, who attested them, and the rule from which scores are computed.",
        view=trust_page,
        shows=(TRUST, TRUST_RULES),
        navigation="Trust",
        scripts=("filter.js",),
    ),
    Page(
        name="graph",
        path="/graph/",
        title="The graph",
        description="The public world model as a picture and as lists: what is known, since when, from where, how it "
        "is connected, and which decisions changed it last.",
        view=graph_page,
        shows=(WORLD_LIVE, WORLD_RENDER),
        navigation="Graph",
        styles=("graph.css", "plane.css"),
        scripts=("plane.js", "graph.js"),
    ),
    Page(
        name="guardrail",
        path="/guardrail/",
        title="Guardrail",
        description="Why an action was blocked: try one, see ten judged examples, every rule with its reason, and how "
        "to put the guardrail in front of an assistant.",
        view=guardrail_page,
        navigation="Guardrail",
        styles=("guardrail.css",),
        scripts=("guardrail.js", "filter.js"),
    ),
    Page(
        name="data",
        path="/data/",
        title="Data",
        description="Every public table as a file with its size, digest and age, code to read it, and a check of "
        "the signed manifest in the browser.",
        view=data_page,
        shows=(DATA_INDEX, FURTHER_TOKENS),
        navigation="Data",
        styles=("data.css",),
        scripts=("canonical.js", "verify.js"),
        programs=INDEX_PATH,
    ),
    Page(
        name="rows",
        path="/data/rows/",
        title="Rows",
        description="The newest rows of every public table, to look at, sort, filter and page through.",
        view=rows_page,
        shows=(FIRST_ROWS,),
        styles=("data.css",),
        scripts=("csv.js", "rows.js"),
        drawn_as="rows",
    ),
    Page(
        name="lineage",
        path="/data/lineage/",
        title="Where each number comes from",
        description="The inputs of every published number, from its sources over tables to the document, and the "
        "checks that would find it wrong.",
        view=lineage_page,
        shows=(CHECKS,),
        styles=("data.css",),
        scripts=("filter.js",),
    ),
    Page(
        name="tables",
        path="/data/tables/",
        title="Every table",
        description="Every table of the warehouse with its grain, its columns, its inputs and its checks.",
        view=tables_page,
        shows=(CHECKS,),
        styles=("data.css",),
        scripts=("filter.js",),
    ),
    Page(
        name="docs",
        path=DOCS_PATH,
        title="Documentation",
        description="Every operation of the API by group, each on its own page with examples and errors.",
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
        scripts=("canonical.js", "connect.js", "pricing.js"),
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
        shows=(CAPABILITIES,),
        shows_ageing=True,
        navigation="Status",
        scripts=("charts.js",),
    ),
    Page(
        name="connect",
        path=CONNECT_PAGE_PATH,
        title="Connect",
        description="What this is, how to pair, plans, and a paid claim step by step.",
        view=connect_page,
        shows=(CAPABILITIES,),
        navigation="Connect",
        scripts=("canonical.js", "connect.js"),
    ),
)

OPERATION_PAGES: tuple[Page, ...] = operation_pages()
"""One page per operation of the API, all rendered by one template."""
