"""Renders the text documents that agents and crawlers look for, each from one template in `templates/`.

Templates contain only wording: prices, limits, paths and states come from the rooms that own them. Content only for
browsers is in `site/`.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from contracts.access import consent, plans
from contracts.access.rail import ASSET_SYMBOL, usd_of
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.access.trial_offer import TRIAL_PATH, trial_offer
from contracts.connect import key_server, server
from contracts.discovery import service
from contracts.discovery.capabilities import Status, capability_states
from contracts.discovery.installation import Installation
from contracts.discovery.wallet_actions import GUARDRAIL_BLINK_PATH, WORLD_BLINK_PATH
from contracts.intake.answers import INTAKE_PATH
from contracts.publish.deprecations import COMPATIBILITY_PATH, DEPRECATED
from contracts.publish.routes import is_limited

TEMPLATES = Path(__file__).with_name("templates")

SKILL_NAME = "svc-connect"
SKILL_DESCRIPTION = (
    "Gets a trial key for a signature, buys API keys with USDC, checks actions with the guardrail, reads and writes "
    "the governed knowledge graph, reads proven token telemetry and pairs over MCP. Use it when an agent must "
    "discover, try, pay for or call this service."
)
"""At most 1,024 characters; agents select skills by it."""

AGENTS_TXT_PATH = "/.well-known/agents.txt"
AGENTS_TXT_FALLBACK_PATH = "/agents.txt"
ROBOTS_PATH = "/robots.txt"
SITEMAP_PATH = "/sitemap.xml"
SECURITY_PATH = "/.well-known/security.txt"

MARKDOWN = "text/markdown; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
SITEMAP_MEDIA_TYPE = "application/xml"

KEPT_FROM_CRAWLERS = (
    f"{INTAKE_PATH}/",
    *(path.partition("{")[0] for path in (plans.RECEIPT_PATH, plans.CASE_PATH, TRIAL_PATH)),
)
"""Answers that belong to one caller: a crawler that knows such an address must not index it."""


_SECURITY_MONTHS = 9
"""Months from the quarter's first day to a security.txt's expiry, so that it changes four times a year."""


def llms_txt(installation: Installation) -> bytes:
    """Renders llms.txt (llmstxt.org): the contents as links, with instructions for agents."""
    return render_text("llms.txt", installation)


def agents_txt(installation: Installation) -> bytes:
    """Renders the capabilities in the form of draft-car-agents-txt."""
    return render_text("agents.txt", installation, kept=KEPT_FROM_CRAWLERS)


def skill_md(installation: Installation) -> bytes:
    """Renders the Agent Skill: how to use this service, step by step."""
    return render_text("skill.md", installation, name=SKILL_NAME, description=SKILL_DESCRIPTION)


def compatibility_md(installation: Installation) -> bytes:
    """Renders the compatibility page: what may change without notice or after deprecation, and what is deprecated."""
    return render_text("compatibility.md", installation, deprecated=DEPRECATED)


def robots_txt(installation: Installation) -> bytes:
    """Renders robots.txt (RFC 9309). Disallowed paths come first, because some readers apply the first match."""
    return render_text("robots.txt", installation, disallowed=KEPT_FROM_CRAWLERS, sitemap=SITEMAP_PATH)


def security_txt(installation: Installation, today: date) -> bytes:
    """Renders security.txt (RFC 9116) with its contact: the operator's address, else the page that names one."""
    first = date(today.year, today.month - (today.month - 1) % 3, 1)
    month = first.month - 1 + _SECURITY_MONTHS
    expires = datetime(first.year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return render_text("security.txt", installation, expires=expires, path=SECURITY_PATH)


def sitemap_xml(installation: Installation, paths: Iterable[str]) -> bytes:
    """Renders the sitemap of these paths (sitemaps.org)."""
    return render_text("sitemap.xml", installation, paths=sorted(paths))


def render_text(template: str, installation: Installation, **facts: Any) -> bytes:
    """Renders one template of this package with the shared facts and its own `facts`."""
    return _templates().get_template(f"{template}.j2").render(**shared_facts(installation), **facts).encode()


def shared_facts(installation: Installation) -> dict[str, Any]:
    """Returns the facts for every page and text: the installation, plans, limits, the MCP servers, names and paths."""
    return {
        "installation": installation,
        "url": installation.url,
        "prefix": installation.prefix,
        "service": service,
        "server": server,
        "key_server": key_server,
        "mcp_paths": (server.MCP_PATH, key_server.KEY_MCP_PATH),
        "plans": plans,
        "consent": consent,
        "offers": plans.plans_answer(
            installation.rail, installation.base_url, REQUESTS_A_DAY, trials=installation.issues_trials
        ).plans,
        "calls": list(plans.load_calls().values()),
        "usd": usd_of,
        "guardrail_blink": GUARDRAIL_BLINK_PATH,
        "world_blink": WORLD_BLINK_PATH,
        "is_limited": is_limited,
        "trial": trial_offer(installation.base_url) if installation.issues_trials else None,
        "coin": ASSET_SYMBOL,
        "states": list(capability_states(installation).values()),
        "off": Status.OFF,
        "planned": Status.PLANNED,
        "compatibility": COMPATIBILITY_PATH,
        "intake": INTAKE_PATH,
    }


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(enabled_extensions=("xml.j2",), default=False),
    )
    environment.tests["parameterised"] = lambda route: "{" in route
    return environment
