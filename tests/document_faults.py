"""Faults to put into the published documents of a whole service, and what `svc docs check` must report for each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from cli.docs import gather
from contracts.discovery.checks.evidence import Defect
from contracts.discovery.checks.judge import defects_of


@dataclass(frozen=True)
class Kept:
    """One recorded answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)


@dataclass
class Site(httpx.BaseTransport):
    """A site in memory: recorded answers by method and path, served as a file server would."""

    base_url: str
    answers: dict[tuple[str, str], Kept]
    asked: list[tuple[str, str]] = field(default_factory=list)

    def path_of(self, request: httpx.Request) -> str:
        """Returns the path of a request below the base address."""
        return str(request.url).removeprefix(self.base_url)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = self.path_of(request)
        self.asked.append((request.method, path))
        method = "GET" if request.method == "HEAD" else request.method
        kept = self.answers.get((method, path))
        if kept is None:
            return httpx.Response(404, headers={"content-type": "application/problem+json"}, content=b"{}")
        etag = request.headers.get("if-none-match")
        if method == "GET" and etag is not None and etag == kept.headers.get("etag"):
            return httpx.Response(304, headers=kept.headers)
        return httpx.Response(kept.status, headers=kept.headers, content=b"" if request.method == "HEAD" else kept.body)

    def defects(self) -> list[Defect]:
        with httpx.Client(transport=self) as client:
            return defects_of(gather(client, self.base_url))


Fault = Callable[[Site], None]


def gone(path: str) -> Fault:
    def put(site: Site) -> None:
        del site.answers["GET", path]

    return put


def served(
    path: str, status: int = 200, body: bytes | None = None, method: str = "GET", **headers: str | None
) -> Fault:
    """Returns a fault that changes the answer's header fields (None removes one), body or status."""

    def put(site: Site) -> None:
        kept = site.answers.get((method, path), Kept(status, {}, b""))
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        changed = {name: value for name, value in {**kept.headers, **given}.items() if value is not None}
        site.answers[method, path] = Kept(status, changed, kept.body if body is None else body)

    return put


def text(path: str, old: str, new: str) -> Fault:
    """Returns a fault that replaces some text (a pattern)."""

    def put(site: Site) -> None:
        kept = site.answers["GET", path]
        changed, count = re.subn(old, new, kept.body.decode(), count=1, flags=re.MULTILINE)
        assert count == 1, f"{path} has no {old}"
        site.answers["GET", path] = replace(kept, body=changed.encode())

    return put


def value(path: str, change: Callable[[Any], Any], method: str = "GET") -> Fault:
    """Returns a fault that changes a JSON document in place."""

    def put(site: Site) -> None:
        kept = site.answers[method, path]
        document = kept.value
        change(document)
        site.answers[method, path] = replace(kept, body=json.dumps(document).encode())

    return put


WELL = "/.well-known/"
HTML = b"<!doctype html><html lang=en><title>Nothing</title><h1>Nothing</h1></html>"
BASE = r"http://127\.0\.0\.1:\d+/[^/]+"
"""The base address of a service below a path prefix, as a pattern."""

FAULTS: dict[str, tuple[Fault, str, str]] = {
    # how documents are served
    "document missing": (gone(WELL + "x402.json"), WELL + "x402.json", "answers 404"),
    "wrong content type": (served("/llms.txt", content_type="application/octet-stream"), "/llms.txt", "is served as"),
    "text without charset": (served("/robots.txt", content_type="text/plain"), "/robots.txt", "charset"),
    "missing CORS": (
        served(WELL + "agent-card.json", access_control_allow_origin=None),
        WELL + "agent-card.json",
        "other origins",
    ),
    "missing nosniff": (served("/skill.md", x_content_type_options=None), "/skill.md", "another type"),
    "missing ETag": (served(WELL + "jwks.json", etag=None), WELL + "jwks.json", "no strong ETag"),
    "weak ETag": (served(WELL + "mcp.json", etag='W/"1"'), WELL + "mcp.json", "no strong ETag"),
    "private caching": (served("/openapi.json", cache_control="private"), "/openapi.json", "Cache-Control"),
    "no preflight": (served("/openapi.json", 405, method="OPTIONS"), "/openapi.json", "preflight"),
    "no Link header": (served("/connect/", link=None), "/connect/", "no Link header for api-catalog"),
    "open policy of scripts": (
        served("/connect/", content_security_policy="default-src 'self' 'unsafe-inline'"),
        "/connect/",
        "Content-Security-Policy",
    ),
    "HTML where nothing is": (
        served(WELL + "no-such-document.json", 200, HTML, content_type="text/html"),
        WELL + "no-such-document.json",
        "answers 200 as text/html",
    ),
    "404 as HTML": (
        served("/no-such-document", 404, HTML, content_type="text/html"),
        "/no-such-document",
        "answers 404 as text/html",
    ),
    "actions for Solana": (served("/actions.json", x_blockchain_ids=None), "/actions.json", "x-blockchain-ids"),
    # each against its standard
    "broken JSON": (served(WELL + "ai-catalog.json", body=b"{"), WELL + "ai-catalog.json", "can't be parsed"),
    "card with tools": (
        value("/mcp/server-card", lambda card: card.update(tools=[])),
        "/mcp/server-card",
        "should not be valid",
    ),
    "card with a long description": (
        value("/mcp/server-card", lambda card: card.update(description="x" * 101)),
        "/mcp/server-card",
        "too long",
    ),
    "card of A2A 0.3": (
        value(WELL + "agent-card.json", lambda card: card.update(url="https://svc.example")),
        WELL + "agent-card.json",
        "'url' was unexpected",
    ),
    "transport that is not run": (
        value(WELL + "agent-card.json", lambda card: card["supportedInterfaces"][0].update(protocolBinding="JSONRPC")),
        WELL + "agent-card.json",
        "protocolBinding",
    ),
    "payable before it settles": (
        value(WELL + "x402.json", lambda manifest: manifest.update(items=manifest["planned"])),
        WELL + "x402.json",
        "items",
    ),
    "unknown status": (
        value(WELL + "svc-base-capabilities.json", lambda doc: doc["capabilities"][0].update(status="soon")),
        WELL + "svc-base-capabilities.json",
        "'soon' is not one of",
    ),
    "private key published": (
        value(WELL + "jwks.json", lambda keys: keys["keys"][0].update(d="AAAA")),
        WELL + "jwks.json",
        "should not be valid",
    ),
    "feed item without content": (
        value("/hodlers-care/feed.json", lambda feed: feed.update(items=[{"id": "1", "url": "https://svc.example/1"}])),
        "/hodlers-care/feed.json",
        "items/0",
    ),
    "action that makes a transaction": (
        value("/blink/guardrail", lambda action: action["links"]["actions"][0].update(type="transaction")),
        "/blink/guardrail",
        "transaction",
    ),
    "pattern after the rest": (
        value("/actions.json", lambda rules: rules["rules"][0].update(pathPattern="/**/x")),
        "/actions.json",
        "pathPattern",
    ),
    "OpenAPI 3.1": (
        value("/openapi.json", lambda description: description.update(openapi="3.1.0")),
        "/openapi.json",
        "3.0.3",
    ),
    "reference to nothing": (
        text("/openapi.json", r"#/components/schemas/Problem\"", '#/components/schemas/Gone"'),
        "/openapi.json",
        "leads nowhere",
    ),
    "operation named twice": (
        value(
            "/openapi.json",
            lambda d: d["paths"]["/health"]["get"].update(
                operationId=d["paths"]["/openapi.json"]["get"]["operationId"]
            ),
        ),
        "/openapi.json",
        "stands twice",
    ),
    "llms.txt with prose in a section": (
        text("/llms.txt", r"^## API$", "## API\n\nProse."),
        "/llms.txt",
        "list of links",
    ),
    "llms.txt with two titles": (text("/llms.txt", r"^## API$", "# API"), "/llms.txt", "only title"),
    "agents.txt without protocol": (
        text("/agents.txt", r"^  Protocol: MCP\n", ""),
        "/agents.txt",
        "lacks endpoint or protocol",
    ),
    "robots.txt with Allow first": (
        text("/robots.txt", r"^User-agent: \*$", "User-agent: *\nAllow: /"),
        "/robots.txt",
        "comes after an Allow",
    ),
    "robots.txt against llms.txt": (
        text("/robots.txt", r"^User-agent: \*$", "User-agent: *\nDisallow: /skill"),
        "/robots.txt",
        "which /llms.txt recommends",
    ),
    "security.txt that is over": (
        text(WELL + "security.txt", r"^Expires: .*$", "Expires: 2020-01-01T00:00:00Z"),
        WELL + "security.txt",
        "expires 2020",
    ),
    "skill without a description": (text("/skill.md", r"^description: .*\n", ""), "/skill.md", "no description"),
    "sitemap of another host": (
        text("/sitemap.xml", r"<loc>http://[^<]+", "<loc>https://other.example/"),
        "/sitemap.xml",
        "lists https://other.example/",
    ),
    "page that loads from elsewhere": (
        text("/connect/", r"</head>", '<script src="https://cdn.example/x.js"></script></head>'),
        "/connect/",
        "loads https://cdn.example/x.js",
    ),
    "page with a link into nowhere": (
        text("/connect/", r"</main>", '<a href="#no-such-place">x</a></main>'),
        "/connect/",
        "links to #no-such-place",
    ),
    # signatures and digests
    "tampered card": (
        value(WELL + "agent-card.json", lambda card: card.update(description="Another service.")),
        WELL + "agent-card.json",
        "does not hold",
    ),
    "card signed by nobody known": (
        value(WELL + "jwks.json", lambda keys: [key.update(kid="other") for key in keys["keys"]]),
        WELL + "agent-card.json",
        "which jwks.json does not hold",
    ),
    "unsigned card": (
        value(WELL + "agent-card.json", lambda card: card.pop("signatures")),
        WELL + "agent-card.json",
        "is not signed",
    ),
    "wrong digest": (
        text("/skill.md", r"^## Use it$", "## Use it well"),
        WELL + "agent-skills/index.json",
        "another digest",
    ),
    # links
    "dead link": (
        text("/llms.txt", r"/openapi-v2\.yaml", "/openapi-v3.yaml"),
        "/llms.txt",
        "leads to /openapi-v3.yaml, which answers 404",
    ),
    "dead document behind a link": (gone("/api/token/holders"), "/llms.txt", "leads to /api/token/holders"),
    "write route without Allow": (
        served("/api/agent-access/quote", 405, allow=None),
        "/api/agent-access/plans",
        "has no Allow",
    ),
    "failing route": (served("/api/context", 500, b"{}"), "/openapi.json", "fails with 500"),
    "address of another host": (
        text("/llms.txt", BASE + r"/skill\.md", "https://other.test/skill.md"),
        "/llms.txt",
        "which is not below",
    ),
    "address outside of the service": (
        text(WELL + "api-catalog", BASE + r"/llms\.txt", "http://localhost:8000/llms.txt"),
        WELL + "api-catalog",
        "which is not below",
    ),
    # facts
    "wrong price in a text": (text("/skill.md", r"(`api_basic_monthly`: )9\b", r"\g<1>8"), "/skill.md", "states 8 USD"),
    "wrong price on the page": (text("/connect/", r"\b49 USD", "48 USD"), "/connect/", "states 48 USD"),
    "wrong price in the manifest": (
        value(WELL + "x402.json", lambda m: m["planned"][-1]["accepts"][1].update(amount="8000000")),
        WELL + "x402.json",
        "states 8 USD for api_basic_monthly",
    ),
    "wrong price behind a link": (
        text("/artifacts/pricing", r'(?s)("api_pro_monthly".*?"amount":")49', r"\g<1>48"),
        "/artifacts/pricing",
        "states 48 USD for api_pro_monthly",
    ),
    "wrong daily limit": (
        text("/skill.md", r"1,000 API v2 requests", "2,000 API v2 requests"),
        "/skill.md",
        "states 2,000 requests a day",
    ),
    "wrong treasury": (
        value(WELL + "x402.json", lambda m: m["planned"][0]["accepts"][0].update(payTo="0x" + "66" * 20)),
        WELL + "x402.json",
        "as payTo",
    ),
    "wrong coin": (
        value(WELL + "x402-metadata.json", lambda m: m["assets"][0].update(asset="0x" + "66" * 20)),
        WELL + "x402-metadata.json",
        "as asset",
    ),
    "wrong network": (
        value(WELL + "x402.json", lambda m: m.update(network="eip155:1")),
        WELL + "x402.json",
        "names the network eip155:1",
    ),
    "unknown tool": (text("/llms.txt", "svc_connect_handshake", "svc_connect_hello"), "/llms.txt", "svc_connect_hello"),
    "tool that is not listed": (
        value(WELL + "svc-agent-registration.json", lambda doc: doc["mcp"]["tools"].pop()),
        WELL + "svc-agent-registration.json",
        "lists other tools",
    ),
    "wrong rate limit": (
        text("/agents.txt", r"^  Protocol: MCP$", "  Protocol: MCP\n  Rate-Limit: 21/minute"),
        "/agents.txt",
        "states 21 requests a minute",
    ),
    "another name": (
        text("/llms.txt", r"^# .+$", "# Another service"),
        "/llms.txt",
        "states the name 'Another service'",
    ),
    "another version": (
        value("/openapi.json", lambda description: description["info"].update(version="9.9.9")),
        WELL + "agent-card.json",
        "states the version",
    ),
    "another base address": (
        value("/openapi.json", lambda description: description["servers"][0].update(url="https://svc.test")),
        "/openapi.json",
        "names the base address https://svc.test",
    ),
    "six domains": (
        value(WELL + "svc-public-contract.json", lambda doc: doc["domains"][0].update(name="OTHER")),
        WELL + "svc-public-contract.json",
        "names the domains",
    ),
    "another MCP endpoint": (
        value("/mcp/server-card", lambda card: card["remotes"][0].update(url=card["remotes"][0]["url"] + "/v2")),
        "/.well-known/svc-agent-registration.json",
        "states the MCP endpoint",
    ),
    "another revision of MCP": (
        value("/mcp/server-card", lambda card: card["remotes"][0]["supportedProtocolVersions"].pop()),
        "/llms.txt",
        "states the revisions of MCP",
    ),
    "twins that differ": (served(WELL + "agent.json", body=b"{}"), WELL + "agent.json", "differs from"),
    "settlement called live": (
        value(WELL + "x402.json", lambda m: m["status"].update(paymentSignatureSettlement="live")),
        WELL + "x402.json",
        "calls payment_signature live, the registry off",
    ),
    "payments called planned": (
        value(WELL + "x402.json", lambda m: m["status"].update(receiptVerification="planned")),
        WELL + "x402.json",
        "calls paid_access planned",
    ),
    "x402 promised on the chain": (
        value(WELL + "agent-registration.json", lambda doc: doc.update(x402Support=True)),
        WELL + "agent-registration.json",
        "says that payment_signature is live",
    ),
    "operation that is not described": (
        value("/openapi.json", lambda description: description["paths"].pop("/api/v2/guardrail/check")),
        WELL + "svc-base-capabilities.json",
        "names POST /api/v2/guardrail/check",
    ),
    "state on a page against the registry": (
        value(
            WELL + "svc-base-capabilities.json",
            lambda doc: next(row for row in doc["capabilities"] if row["status"] == "live").update(status="off"),
        ),
        "/connect/",
        " live, the registry off",
    ),
    "stale without a stale part": (
        value("/api/context", lambda context: context.update(stale=True)),
        "/api/context",
        "is stale, though none of its parts is",
    ),
    "fresh with a stale part": (
        value("/api/context", lambda context: context["price"].update(stale=True)),
        "/api/context",
        "is not stale, though a part of it is",
    ),
    "errors repeated in full": (
        value(
            "/openapi.json",
            lambda d: [
                operation["responses"].update({"405": d["components"]["responses"]["method_not_allowed"]})
                for operation in (d["paths"]["/api/context"]["get"], d["paths"]["/api/site-metrics"]["get"])
            ],
        ),
        "/openapi.json",
        "repeats 2 errors in full",
    ),
    "operation without a page": (
        text("/docs/", r"/docs/operations/trust_score/", "/docs/operations/trust_protocol/"),
        "/docs/",
        "does not list the operation trust_score",
    ),
    "wrong price on the page of prices": (
        text("/docs/pricing/", r'(?s)<span class="amount">49</span>', '<span class="amount">48</span>'),
        "/docs/pricing/",
        "states 48 USD for api_pro_monthly",
    ),
    "link of the documentation into nowhere": (
        gone("/docs/operations/trust_score/"),
        "/docs/",
        "leads to /docs/operations/trust_score/, which answers 404",
    ),
}
"""By name: the fault, the document that a defect names, and the text of the defect."""
