"""Reads resources of Terraform and OpenTofu: which networks and data they open, which rights they give, which
protections they switch off, and the commands that they run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from guardrail.model import Effect, Reading, Span, Target, Uncovered
from guardrail.reading.ci import Found, moved_to, read_other
from guardrail.vocabulary import EffectKind, Language, ObjectKind, Place, Reversible, Scope

MAX_BLOCKS = 2_000
MAX_DEPTH = 24

_PIECE = re.compile(
    r"(?P<comment>#[^\n]*|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))"
    r"|(?P<here><<-?\s*\"?(?P<mark>\w+)\"?[^\n]*\n)"
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*+\"?)"  # closed or not, so that no part of it is searched for an end again
    r"|(?P<block>(?<![\w.\"])[A-Za-z_][\w-]{0,80}(?:[ \t]{1,40}(?:\"[^\"\n]{0,200}\"|[\w-]{1,80})){0,3}[ \t]{0,40}\{)"
    r"|(?P<name>(?<![\w.])[A-Za-z_][\w-]{0,80})[ \t]{0,80}=(?![=>])"
    r"|(?P<sign>[{}\[\]()\n])|(?P<other>[^\s{}\[\]()\"#/<]+|.)",
    re.DOTALL,
)


@dataclass(slots=True)
class _Block:
    """A block with its type, its labels, its attributes as they are written, and the blocks inside."""

    type: str
    labels: tuple[str, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)

    def all(self) -> Iterator[_Block]:
        """Yields the block and those inside it."""
        pending = [self]
        while pending:
            block = pending.pop()
            yield block
            pending += reversed(block.blocks)


def read(text: str, *, offset: int = 0) -> Reading:
    """Returns what the resources do once they are applied."""
    span = Span(offset, offset + len(text))
    found = Found(Language.HCL)
    root = _Block("", ())
    if not _parse(text, root):
        found.uncovered.append(Uncovered(span, "more blocks than are read from one file", stopped=True))
    for resource in root.blocks:
        if resource.type == "resource":
            found.effects += _effects(resource, span)
        for block in resource.all():
            _add_commands(block, resource, found, span)
    return found.reading()


def _parse(text: str, root: _Block) -> bool:
    """Parses blocks and attributes; returns False if there are too many."""
    stack, count = [root], 0
    name: str | None = None
    value: list[str] = []
    depth = 0
    at = 0
    while at < len(text) and (match := _PIECE.match(text, at)) is not None:
        at, kind, piece = match.end(), match.lastgroup, match[0]
        if kind == "comment":
            continue
        if match["here"] is not None:
            end = re.compile(rf"(?m)^[ \t]*{match['mark']}[ \t]*$").search(text, at)
            piece, at = text[at : end.start() if end else len(text)], end.end() if end else len(text)
        if name is not None:
            if piece == "\n" and depth == 0:
                stack[-1].attributes.setdefault(name, "".join(value).strip())
                name, value = None, []
                continue
            opened = piece.count("{") + piece.count("[") + piece.count("(") if kind in ("sign", "block") else 0
            closed = 1 if kind == "sign" and piece in "}])" else 0
            if depth + opened - closed >= 0:
                depth += opened - closed
                value.append(piece)
                continue
            stack[-1].attributes.setdefault(name, "".join(value).strip())
            name, value = None, []
        if kind == "name":
            name, depth = match["name"], 0
        elif kind == "block":
            count += 1
            if count > MAX_BLOCKS or len(stack) > MAX_DEPTH:
                return False
            type_, *labels = re.findall(r"\"([^\"]*)\"|([\w-]+)", piece)
            block = _Block(type_[1], tuple(label[0] or label[1] for label in labels))
            stack[-1].blocks.append(block)
            stack.append(block)
        elif piece == "}" and len(stack) > 1:
            stack.pop()
    if name is not None:
        stack[-1].attributes.setdefault(name, "".join(value).strip())
    return True


# --- effects ---------------------------------------------------------------------------------------------------------

_EVERYBODY = re.compile(r"\"(?:0\.0\.0\.0/0|::/0)\"")
_SOURCES = (
    "cidr_blocks",
    "ipv6_cidr_blocks",
    "cidr_ipv4",
    "cidr_ipv6",
    "source_ranges",
    "source_address_prefix",
    "cidr_block",
)
_WEB_PORTS = frozenset((80, 443))
_PUBLIC_MEMBERS = re.compile(r"\"(?:allUsers|allAuthenticatedUsers)\"")
_PUBLIC_ACL = re.compile(r"\"(?:public-read|public-read-write|publicRead|publicReadWrite|blob|container)\"")
_ADMINISTRATOR = re.compile(r"AdministratorAccess|roles/owner|roles/editor|\"(?:Owner|cluster-admin)\"")
_ANY_ACTION = re.compile(r"[\"']?[Aa]ctions?[\"']?\s*[=:]\s*\[?\s*[\"']\*(?::\*)?[\"']")
_ANY_RESOURCE = re.compile(r"[\"']?[Rr]esources?[\"']?\s*[=:]\s*\[?\s*[\"']\*[\"']")
_ANY_PRINCIPAL = re.compile(r"[\"']?[Pp]rincipals?[\"']?\s*[=:]\s*(?:\{[^}]{0,80}[=:]\s*)?\[?\s*[\"']\*[\"']")
_ALLOWS = re.compile(r"[\"']?[Ee]ffect[\"']?\s*[=:]\s*[\"']Allow[\"']")
_NAMES_EVERYBODY = {
    **dict.fromkeys(("acl", "container_access_type", "predefined_acl"), _PUBLIC_ACL),
    **dict.fromkeys(("member", "members", "entity"), _PUBLIC_MEMBERS),
}
_OPENS: Mapping[str, str] = {
    "publicly_accessible": "true",
    "public_network_access_enabled": "true",
    "allow_blob_public_access": "true",
    "allow_nested_items_to_be_public": "true",
    "block_public_acls": "false",
    "block_public_policy": "false",
    "ignore_public_acls": "false",
    "restrict_public_buckets": "false",
}
"""Attributes that open data to everybody, with the value by which they do."""

_DISABLES: Mapping[str, str] = {
    "backup_retention_period": "0",
    "enable_logging": "false",
    "is_logging": "false",
    "enable_log_file_validation": "false",
    "purge_protection_enabled": "false",
    "point_in_time_recovery_enabled": "false",
}
"""Attributes that switch off logs and backups, with the value by which they do. A missing protection against deletion
is not among them: it is the default, and useful if environments come and go."""


def _effects(resource: _Block, span: Span) -> Iterator[Effect]:
    kind = resource.labels[0] if resource.labels else ""
    name = ".".join(resource.labels)

    def effect(what: EffectKind, thing: ObjectKind, scope: Scope = Scope.ONE, target: str = name) -> Effect:
        return Effect(what, thing, span, f"terraform {kind}", (Target(target, Place.REMOTE),), scope, Reversible.YES)

    for block in resource.all():
        for attribute, value in block.attributes.items():
            if _OPENS.get(attribute) == value:
                thing = ObjectKind.DATABASE if attribute == "publicly_accessible" else ObjectKind.RESOURCE
                yield effect(EffectKind.EXPOSE, thing)
            elif _DISABLES.get(attribute) == value:
                yield effect(EffectKind.DISABLE, ObjectKind.SNAPSHOT_OR_BACKUP, target=f"{name}.{attribute}")
            elif (everybody := _NAMES_EVERYBODY.get(attribute)) is not None and everybody.search(value):
                yield effect(EffectKind.EXPOSE, ObjectKind.RESOURCE)
            elif attribute in ("role", "policy_arn", "managed_policy_arns", "role_definition_name"):
                if _ADMINISTRATOR.search(value):
                    yield effect(EffectKind.GRANT, ObjectKind.PERMISSION, Scope.ALL, value.strip('"'))
            elif attribute in ("policy", "inline_policy", "assume_role_policy") and _ALLOWS.search(value):
                if _ANY_ACTION.search(value) and _ANY_RESOURCE.search(value):
                    yield effect(EffectKind.GRANT, ObjectKind.PERMISSION, Scope.ALL)
                if _ANY_PRINCIPAL.search(value) and "ondition" not in value:
                    yield effect(EffectKind.EXPOSE, ObjectKind.RESOURCE)
        if _lets_everybody_in(block, resource):
            yield effect(EffectKind.EXPOSE, ObjectKind.NETWORK)


def _lets_everybody_in(block: _Block, resource: _Block) -> bool:
    """Decides whether a rule of a network lets every address reach more than a web server."""
    given = [block.attributes[source] for source in _SOURCES if source in block.attributes]
    if not any(_EVERYBODY.search(value) or value == '"*"' for value in given):
        return False
    settings = {**resource.attributes, **block.attributes}
    if block.type == "egress" or '"egress"' in settings.get("type", "") or "EGRESS" in settings.get("direction", ""):
        return False
    if '"outbound"' in settings.get("direction", "").lower() or '"deny"' in settings.get("access", "").lower():
        return False
    kind = resource.labels[0] if resource.labels else ""
    if not re.search(r"security_group|firewall|security_rule|network_acl", kind) or "egress" in kind:
        return False
    if any(inner.type == "deny" for inner in resource.blocks):
        return False
    return not _ports(block, resource) <= _WEB_PORTS


def _ports(block: _Block, resource: _Block) -> frozenset[int]:
    """Returns the first and last ports of a rule, -1 for all of them."""
    ports: set[int] = set()
    for inner in (block, *(other for other in resource.blocks if other.type == "allow")):
        for attribute in ("from_port", "to_port", "ports", "destination_port_range", "destination_port_ranges"):
            value = inner.attributes.get(attribute, "")
            ports |= {int(number) for number in re.findall(r"\d+", value)[:100]}
            if "*" in value:
                ports.add(-1)
    return frozenset(ports or (-1,))


def _add_commands(block: _Block, resource: _Block, found: Found, span: Span) -> None:
    """Adds the commands of provisioners, on this machine or on the one that is created, and its first script."""
    host = "ssh:" + ".".join(resource.labels)
    scripts: list[tuple[str, str | None]] = []
    if block.type == "provisioner":
        local = block.labels[:1] == ("local-exec",)
        lines = [block.attributes[name] for name in ("command", "inline") if name in block.attributes]
        scripts += [(_text(line), None if local else host) for line in lines]
    if block.type == "data" and block.labels[:1] == ("external",) and "program" in block.attributes:
        scripts.append((" ".join(re.findall(r"\"([^\"]*)\"", block.attributes["program"])), None))
    for name in ("user_data", "startup_script", "metadata_startup_script"):
        if "\n" in block.attributes.get(name, ""):
            scripts.append((_text(block.attributes[name]), host))
    for script, where in scripts:
        found.add(moved_to(span, read_other(Language.BASH, re.sub(r"\$\{", "${{", script))), host=where)


def _text(value: str) -> str:
    """Returns the script in a value: a text, a list of lines, or a here-document."""
    lines = re.findall(r"\"((?:[^\"\\]|\\.)*)\"", value) if value[:1] in ('"', "[") else [value]
    return "\n".join(line.replace('\\"', '"').replace("\\n", "\n") for line in lines)
