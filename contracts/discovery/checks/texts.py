"""Checks text documents by their standards: llms.txt, agents.txt, robots.txt, security.txt, sitemaps, skills, pages."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from html.parser import HTMLParser
from urllib.parse import urlsplit

import yaml

from contracts.discovery.checks.evidence import Defect, Evidence, path_below

_LIST_LINK = re.compile(r"[-*] \[[^\]]+\]\((\S+)\)(: .+)?")
_FIELD = re.compile(r"([A-Za-z][A-Za-z-]*):[ \t]*(.*)")
_RATE = re.compile(r"\d+/(second|minute|hour|day)")
_PROTOCOLS = ("REST", "MCP", "A2A", "GraphQL", "WebSocket")
_AUTHS = ("none", "api-key", "bearer-token", "oauth2", "hmac")
_SKILL_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SKILL_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
_ROBOTS_FIELDS = {"user-agent", "allow", "disallow", "sitemap", "content-signal", "content-usage", "crawl-delay"}
_ROBOTS_BYTES = 500 * 1024
_YEAR = timedelta(days=398)


def llms_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks llmstxt.org: one title, a summary in a blockquote, sections that contain only links."""
    text = evidence.text(path)
    lines = text.splitlines()
    if not lines or not lines[0].startswith("# ") or sum(line.startswith("# ") for line in lines) != 1:
        yield Defect(path, "does not begin with its only title", "Put one `# Title` on the first line.")
    if not any(line.startswith("> ") for line in lines[1:4]):
        yield Defect(path, "has no summary", "Put a `> summary` below the title.")
    sections = re.split(r"^## +", text, flags=re.MULTILINE)[1:]
    if not sections:
        yield Defect(path, "has no section", "Add `## Section` with a list of links.")
    for section in sections:
        name, _, body = section.partition("\n")
        entries = [line for line in body.splitlines() if line.strip()]
        odd = [line for line in entries if not _LIST_LINK.fullmatch(line)]
        if odd or not entries:
            yield Defect(
                path,
                f"section {name.strip()!r} is not a list of links ({odd[0] if odd else 'it is empty'!r})",
                "Put prose above the first section; a section holds only `- [name](url): note` lines.",
            )
        for line in entries:
            match = _LIST_LINK.fullmatch(line)
            if match and not urlsplit(match[1]).scheme:
                yield Defect(path, f"names {match[1]} without an address", "Write absolute addresses.")
    for wanted, why in ((evidence.base_url + "/mcp", "the MCP endpoint"), ("X-Api-Key", "how a key is sent")):
        if wanted not in text:
            yield Defect(path, f"does not mention {why}", f"Name {wanted}.")


def agents_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks draft-car-agents-txt: three fields of the site, then capabilities with endpoint and protocol."""
    site: dict[str, str] = {}
    capabilities: list[dict[str, str]] = []
    current = site
    for number, line in enumerate(evidence.text(path).splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _FIELD.fullmatch(line.strip())
        if not match:
            yield Defect(path, f"line {number} is not `Field: value`", "Write one field per line.")
            continue
        name, value = match[1].lower(), match[2].strip()
        if name == "capability":
            current = {}
            capabilities.append(current)
        elif name == "agent":
            current = {}
        current.setdefault(name, value)
    for name in ("spec-version", "site-name", "site-url"):
        if not site.get(name):
            yield Defect(path, f"lacks {name}", f"State {name} before the first capability.")
    if not capabilities:
        yield Defect(path, "names no capability", "Add a Capability block for each way in.")
    for capability in capabilities:
        where = f"capability {capability['capability']!r}"
        if not capability.get("endpoint") or capability.get("protocol") not in _PROTOCOLS:
            yield Defect(path, f"{where} lacks endpoint or protocol", f"Protocol is one of {', '.join(_PROTOCOLS)}.")
        if capability.get("auth", "none") not in _AUTHS:
            yield Defect(path, f"{where} has an unknown Auth", f"Auth is one of {', '.join(_AUTHS)}.")
        if capability.get("auth") == "bearer-token" and not capability.get("auth-endpoint"):
            yield Defect(path, f"{where} has no Auth-Endpoint", "bearer-token needs one; an API key is `api-key`.")
        if "rate-limit" in capability and not _RATE.fullmatch(capability["rate-limit"]):
            yield Defect(path, f"{where} has an odd Rate-Limit", "Write it as 20/minute.")


def robots_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks RFC 9309, an order for first-match readers, and that no path from llms.txt is disallowed."""
    answer = evidence.documents[path]
    if len(answer.body) > _ROBOTS_BYTES:
        yield Defect(path, "is longer than robots read", "Keep it below 500 KiB.")
    seen_agent = allowed = False
    disallowed: list[str] = []
    for number, line in enumerate(answer.text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon or name not in _ROBOTS_FIELDS:
            yield Defect(path, f"line {number} is not a field of robots.txt", "Remove it.")
        elif name == "user-agent":
            seen_agent, allowed = True, False
        elif name in ("allow", "disallow") and not seen_agent:
            yield Defect(path, f"line {number} stands before any User-agent", "Put `User-agent: *` first.")
        elif name == "allow":
            allowed = True
        elif name == "disallow" and value:
            disallowed.append(value)
            if allowed:
                yield Defect(
                    path,
                    f"line {number} comes after an Allow",
                    "Put Disallow lines first: readers that take the first match would allow everything.",
                )
        elif name == "sitemap" and path_below(evidence.base_url, value) is None:
            yield Defect(path, f"names the sitemap {value}", "Name the absolute address of our own.")
    if not seen_agent:
        yield Defect(path, "has no User-agent", "Begin with `User-agent: *`.")
    if "content-signal:" not in answer.text.lower():
        yield Defect(path, "does not state what the content may be used for", "Add a Content-Signal line.")
    for url in re.findall(r"\]\((\S+?)\)", evidence.text("/llms.txt")):
        below = path_below(evidence.base_url, url)
        hit = below and next((rule for rule in disallowed if below.startswith(rule.rstrip("*$"))), None)
        if hit:
            yield Defect(path, f"disallows {below}, which /llms.txt recommends", f"Narrow `Disallow: {hit}`.")


def security_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks RFC 9116: a contact, and an expiry in the future, at most a year or so ahead."""
    fields: dict[str, list[str]] = {}
    for line in evidence.text(path).splitlines():
        match = _FIELD.fullmatch(line.strip())
        if match:
            fields.setdefault(match[1].lower(), []).append(match[2].strip())
    if not all(urlsplit(contact).scheme for contact in fields.get("contact", [""])):
        yield Defect(path, "has no contact that is an address", "Add `Contact: mailto:...` or `Contact: https://...`.")
    expires = fields.get("expires", [])
    try:
        ends = datetime.fromisoformat(expires[0]) if len(expires) == 1 else None
    except ValueError:
        ends = None
    if ends is None or ends.utcoffset() is None:
        yield Defect(path, "has no single Expires", "Add one `Expires:` with an RFC 3339 time.")
    elif not evidence.now < ends <= evidence.now + _YEAR:
        yield Defect(path, f"expires {expires[0]}", "Let it expire within the coming year.")
    canonical = fields.get("canonical", [])
    if canonical and evidence.base_url + path not in canonical:
        yield Defect(path, f"calls itself {canonical[0]}", f"Name {evidence.base_url}{path} as Canonical.")


def sitemap_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks sitemaps.org: a urlset of addresses of this service."""
    text = evidence.text(path)
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        yield Defect(path, "declares a document type", "A sitemap has none.")
        return
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - no entities: those need the declarations refused above
    except ElementTree.ParseError as error:
        yield Defect(path, f"is not XML ({error})", "Write well-formed XML.")
        return
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    locations = [(location.text or "").strip() for location in root.iter(f"{space}loc")]
    if root.tag != f"{space}urlset" or not locations:
        yield Defect(path, "is not a urlset with addresses", "Use the sitemap 0.9 namespace.")
    for url in locations:
        if path_below(evidence.base_url, url) is None:
            yield Defect(path, f"lists {url}", "List only addresses of this service.")


def skill_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks agentskills.io: YAML front matter with a name and a description, then the skill."""
    text = evidence.text(path)
    parts = text.split("---\n", 2)
    try:
        matter = yaml.load(parts[1], yaml.CSafeLoader) if len(parts) == 3 and not parts[0] else None
    except yaml.YAMLError:
        matter = None
    if not isinstance(matter, dict):
        yield Defect(path, "has no front matter", "Begin with YAML between two `---` lines.")
        return
    name, description = matter.get("name"), matter.get("description")
    if not isinstance(name, str) or not _SKILL_NAME.fullmatch(name) or len(name) > 64:
        yield Defect(path, f"has the name {name!r}", "A name is 1 to 64 of a-z, 0-9 and single hyphens.")
    if not isinstance(description, str) or not 1 <= len(description) <= 1024:
        yield Defect(path, "has no description of 1 to 1024 characters", "Say what the skill does and when to use it.")
    for odd in sorted(set(matter) - _SKILL_FIELDS):
        yield Defect(path, f"has the unknown field {odd!r}", "Move it below `metadata`.")
    if not parts[2].strip():
        yield Defect(path, "has no instructions", "Write them below the front matter.")


def markdown_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks that a Markdown twin begins with its title, and is not an HTML page."""
    text = evidence.text(path)
    if not text.lstrip().startswith("# ") or "<html" in text.lower():
        yield Defect(path, "is not Markdown with a title", "Begin with `# Title`.")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.language: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if tag == "html":
            self.language = attributes.get("lang")
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag in ("a", "form", "area"):
            self.links += [attributes[name] for name in ("href", "action") if name in attributes]
        elif tag == "link":
            loads = {"stylesheet", "icon", "preload", "modulepreload", "manifest"} & set(
                attributes.get("rel", "").split()
            )
            (self.loads if loads else self.links).append(attributes.get("href", ""))
        elif "src" in attributes:
            self.loads.append(attributes["src"])


@lru_cache(maxsize=128)
def read_page(text: str) -> _Page:
    """Parses the links, loaded addresses and ids of a page, once, because two checks use them."""
    page = _Page()
    page.feed(text)
    return page


def page_defects(path: str, evidence: Evidence) -> Iterator[Defect]:
    """Checks for language, title, one heading and unique ids, and that the page loads nothing from elsewhere."""
    text = evidence.text(path)
    page = read_page(text)
    if not text.lower().startswith("<!doctype html>"):
        yield Defect(path, "is not an HTML document", "Begin with <!doctype html>.")
    if not page.language or page.tags.count("title") < 1 or page.tags.count("h1") != 1:
        yield Defect(path, "lacks language, title or its one h1", "Name the language, a title and one h1.")
    for id_ in sorted({id_ for id_ in page.ids if page.ids.count(id_) > 1}):
        yield Defect(path, f"has the id {id_!r} twice", "An id is unique on its page.")
    for target in page.links:
        if target.startswith("#") and target[1:] and target[1:] not in page.ids:
            yield Defect(path, f"links to {target}, which does not exist", "Fix the link or the id.")
    for url in page.loads:
        parts = urlsplit(url)
        if (parts.scheme in ("http", "https") and path_below(evidence.base_url, url) is None) or url.startswith("//"):
            yield Defect(path, f"loads {url}", "Serve everything that the page needs from here.")
