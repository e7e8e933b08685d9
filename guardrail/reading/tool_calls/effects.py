"""Determines the effects of a tool that is known by its name, and of its arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from guardrail.catalogue.http import effects_of_request
from guardrail.facts import Environment, environment_of
from guardrail.language.actions import Meaning, meaning_of_name, objects_in, tokens_of_name
from guardrail.language.lexicon import Token
from guardrail.model import Effect, Target
from guardrail.reading.tool_calls.arguments import Leaf
from guardrail.reading.tool_calls.tables import PATH_NAMES, URL_NAMES, device_words, memory_words, tool_names
from guardrail.reading.tool_calls.written import ToolCall
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity

_RECIPIENT = re.compile(
    r"(?i)^(?:to|cc|bcc|.*recipients?.*|.*receiver.*|participants?|attendees?|guests?|invitees?|members?|e?mails?"
    r"|.*_emails?|users?|username|user_?name|channels?|channel_name|phone.*|mobile.*|iban|.*account(?:_?(?:id|number|no))?"
    r"|(?:to|dest(?:ination)?|beneficiary|payee|creditor)_(?:iban|account\w*|user\w*|phone|wallet|name|number|tag)|.*iban|beneficiary|payee|.*wallet.*|.*_address|address|destination|target|spender|mentions|group|webhook.*)$"
)
_IDENTIFIER = re.compile(
    r"(?i)(?:^|_)(?:ids?|names?|title|key|slug|number|ref|query|filter|resource|table|database|branch|item)s?$|Ids?$"
)
_AMOUNT = re.compile(r"(?i)^(?:amount|total|price|sum|value|quantity_?usd|amount_.*|.*_amount|.*_price|budget.*)$")
_NO_LIMIT = ("unlimited", "infinite", "max")
_CURRENCY = re.compile(r"(?i)^(?:currency|currency_code|token|asset|symbol)$")
_NAMES_ALL = re.compile(r"(?i)\*|@?(?:all|everyone|everybody|everything)(?:[_-][\w-]{1,40}(?:@[\w.-]{1,80})?)?")
"""Values that stand for every recipient or thing: `all`, `all_contacts`, `all-customers@example.com`."""
_MASS_MAIL = frozenset(("campaign", "campaigns", "newsletter", "newsletters"))
_TRIALS = frozenset(("test", "preview", "draft", "proof", "sample"))
"""Words of a tool that sends a campaign only to its author."""
_CALLS_ALL = re.compile(r"<!(?:channel|everyone)>|(?<![\w@/.])@(?:channel|everyone)(?![\w/.-])")
"""Mentions in a message that notify all members of a channel."""
_PLURAL = re.compile(r"(?i)^(?:all|bulk|batch|every|everything|mass|many|recursive)$")
_IRREVERSIBLE = frozenset((EffectKind.DELETE, EffectKind.PAY, EffectKind.SEND))


def request_effects(call: ToolCall, tail: str, leaves: list[Leaf]) -> tuple[Effect, ...] | None:
    """Returns the effects of a tool that sends a request, or None for any other tool."""
    if tail not in tool_names()["fetcher"] and call.name:
        return None
    url = next((str(leaf.value) for leaf in leaves if leaf.name in URL_NAMES and isinstance(leaf.value, str)), None)
    if url is None:
        return None
    named = next((verb for verb in ("post", "put", "delete", "patch") if tail.startswith((verb, "http" + verb))), "get")
    method = str(call.arguments.get("method", named)).upper()
    headers = call.arguments.get("headers")
    body = next(
        (call.arguments[name] for name in ("body", "data", "json", "payload", "content") if name in call.arguments),
        None,
    )
    fields = {str(key): str(value) for key, value in headers.items()} if isinstance(headers, dict) else {}
    return effects_of_request(
        method, url, fields, body if isinstance(body, str) or body is None else json.dumps(body, default=str), call.span
    )


def effects_of_tool(
    call: ToolCall, meaning: Meaning, tokens: tuple[Token, ...], leaves: list[Leaf]
) -> tuple[Effect, ...]:
    """Returns what a tool does, judging by its name, and what its arguments add to that."""
    return (
        _tool_effect(call, meaning, tokens, leaves),
        *_role_given(call, meaning, leaves),
        *_checks_skipped(call, leaves),
        *_opened(call, meaning, leaves),
        *_forced_push(call, tokens, leaves),
        *_mail_rule(call, meaning, tokens, leaves),
        *_by_flags(call, leaves),
    )


def _tool_effect(call: ToolCall, meaning: Meaning, tokens: tuple[Token, ...], leaves: list[Leaf]) -> Effect:
    thing = meaning.object or _object_of_arguments(leaves) or ObjectKind.RESOURCE
    if meaning.kind is EffectKind.GRANT and any(leaf.name.lower() in ("spender", "operator") for leaf in leaves):
        thing = ObjectKind.PAYMENT
    if thing is ObjectKind.ACCOUNT and tokens and tokens[0].text in ("export", "upload", "dump", "leak", "exfiltrate"):
        thing = ObjectKind.PERSONAL_DATA
    kind = meaning.kind
    if meaning.verb == "disable":
        kind, thing = _switched_off(tokens, leaves) or (kind, thing)
    detail = _detail(leaves)
    if kind is EffectKind.SEND and "amount" in detail and ("currency" in detail or _WALLET.search(call.name)):
        kind, thing = EffectKind.PAY, ObjectKind.PAYMENT
    targets = _targets(thing, leaves)
    scope = _scope(tokens, leaves)
    if kind is EffectKind.SEND and (
        any(isinstance(leaf.value, str) and _CALLS_ALL.search(leaf.value) for leaf in leaves)
        or (any(token.text in _MASS_MAIL for token in tokens) and not any(token.text in _TRIALS for token in tokens))
    ):
        scope = Scope.ALL
    if meaning.object is None and any(token.text in memory_words()["made_again"] for token in tokens):
        targets = tuple(replace(target, place=Place.REBUILDABLE) for target in targets or (Target(""),))
    if _is_production(leaves):
        targets = tuple(
            replace(target, place=Place.PRODUCTION) if target.place is Place.REMOTE else target for target in targets
        ) or (Target("", Place.PRODUCTION),)
    return Effect(
        kind,
        thing,
        call.span,
        f"tool {call.name}",
        targets,
        scope,
        Reversible.NO if kind in _IRREVERSIBLE and not _is_of_notes(call, kind) else Reversible.YES,
        detail=detail | ({"does": "unlock"} if any(token.text == "unlock" for token in tokens) else {}),
    )


def signed_permit(call: ToolCall, leaves: list[Leaf]) -> tuple[Effect, ...]:
    """Returns the allowance that a signature under typed data gives: `sign_typed_data(primaryType="Permit", ...)`.
    The holder of the signature can spend with it, and no transaction of the account shows that."""
    if not any(token.text in ("sign", "signature") for token in tokens_of_name(call.name)):
        return ()
    if not any(
        leaf.name.lower().replace("_", "") == "primarytype" and _PERMIT.match(str(leaf.value)) for leaf in leaves
    ):
        return ()
    detail = _detail(leaves)
    unlimited = any(_ALL_OF_A_TOKEN.match(str(leaf.value)) for leaf in leaves if _SPENDS.fullmatch(leaf.name))
    return (
        Effect(
            EffectKind.GRANT,
            ObjectKind.PAYMENT,
            call.span,
            f"tool {call.name}",
            _targets(ObjectKind.PAYMENT, leaves),
            Scope.ALL if unlimited else Scope.ONE,
            detail=detail,
        ),
    )


_PERMIT = re.compile(r"(?i)permit|delegation")
_SPENDS = re.compile(r"(?i)value|amount|allowed")
_ALL_OF_A_TOKEN = re.compile(r"(?i)true$|max|unlimited|0x[f]{40,64}$|\d{49,}$")
"""Amounts beyond any supply: the largest number of 160 bits has 49 digits."""


def _is_of_notes(call: ToolCall, kind: EffectKind) -> bool:
    """Decides whether a tool deletes some of an agent's own notes, which the agent can write again."""
    return kind is EffectKind.DELETE and _NOTES.search(call.name) is not None


_NOTES = re.compile(
    r"(?i)(?:^|__|[./:])(?:agent[_-]?)?(?:memory|notes|scratchpad|todos?)(?:__|[./:])(?!.*(?:all|clear|reset|wipe))"
)
"""Servers that store an agent's notes, unless the tool removes all of them."""


def _switched_off(tokens: tuple[Token, ...], leaves: list[Leaf]) -> tuple[EffectKind, ObjectKind] | None:
    """Returns what switching off does to the device that the tool's name or an argument names, or None if neither names
    one: `turn_off(device="camera")`."""
    words = {token.text for token in tokens}
    for leaf in leaves:
        if leaf.name.lower() in _NAMES_DEVICE and isinstance(leaf.value, str):
            words.update(token.text for token in tokens_of_name(leaf.value[:_LONGEST_DEVICE]))
    if not words.isdisjoint(device_words()["kept_on"]):
        return EffectKind.DISABLE, ObjectKind.DEVICE
    return None if words.isdisjoint(device_words()["ordinary"]) else (EffectKind.ACTUATE, ObjectKind.DEVICE)


_NAMES_DEVICE = frozenset(("device", "device_name", "entity_id", "entity", "domain", "name", "area", "appliance"))
_LONGEST_DEVICE = 80


def _role_given(call: ToolCall, meaning: Meaning, leaves: list[Leaf]) -> Iterator[Effect]:
    """Adds a grant if a call that creates or changes something names an administrator's role."""
    if meaning.kind not in _GIVES:
        return
    role = next((leaf for leaf in leaves if _ROLE.search(leaf.name) and _RAISED.fullmatch(str(leaf.value))), None)
    named = next((token.text for token in tokens_of_name(call.name) if _RAISED.fullmatch(token.text)), None)
    given = str(role.value) if role is not None else named if meaning.kind is EffectKind.GRANT else None
    if given is not None:
        target = (Target(given, Place.REMOTE),)
        source = f"tool {call.name}"
        yield Effect(EffectKind.GRANT, ObjectKind.ACCOUNT, call.span, source, target, elevated=True)


def _checks_skipped(call: ToolCall, leaves: list[Leaf]) -> Iterator[Effect]:
    """Adds that a check is skipped if an argument with such a name is true: `merge(bypass_checks=true)`."""
    skipped = next((leaf for leaf in leaves if leaf.value is True and _SKIPS.search(leaf.name)), None)
    if skipped is None and any(token.text == "protection" for token in tokens_of_name(call.name)):
        skipped = next(
            (
                leaf
                for leaf in leaves
                if (leaf.value is True and leaf.name.startswith("allow_"))
                or (leaf.value in (None, False) and leaf.name.startswith(("enforce_", "require")))
            ),
            None,
        )
    if skipped is not None:
        source = f"tool {call.name}"
        yield Effect(EffectKind.DISABLE, ObjectKind.RESOURCE, call.span, source, (Target(skipped.name),))


def _opened(call: ToolCall, meaning: Meaning, leaves: list[Leaf]) -> Iterator[Effect]:
    """Adds an exposure to everybody if a network rule names all addresses."""
    if meaning.kind in _GIVES and not (meaning.kind is EffectKind.CREATE and meaning.object in _MADE_PUBLIC):
        policies = [
            Leaf(name, name, json.dumps(value, default=str))
            for name, value in call.arguments.items()
            if isinstance(value, dict) and _POLICY.search(name)
        ]
        public = next(filter(_makes_public, (*leaves, *policies)), None)
        if public is not None:
            thing = meaning.object if meaning.object not in (None, ObjectKind.PERMISSION) else ObjectKind.RESOURCE
            target = _targets(meaning.object or ObjectKind.RESOURCE, leaves)[:1] or (Target(public.name, Place.REMOTE),)
            yield Effect(EffectKind.EXPOSE, thing or ObjectKind.RESOURCE, call.span, f"tool {call.name}", target)
    everybody = next((leaf for leaf in leaves if leaf.value in ("0.0.0.0/0", "::/0")), None)
    if everybody is not None and meaning.kind in _GIVES:
        denies = any(str(leaf.value).lower() in ("deny", "drop", "reject", "block") for leaf in leaves)
        if not denies:
            source = f"tool {call.name}"
            target = (Target(str(everybody.value), Place.REMOTE),)
            yield Effect(EffectKind.EXPOSE, ObjectKind.NETWORK, call.span, source, target)


def _forced_push(call: ToolCall, tokens: tuple[Token, ...], leaves: list[Leaf]) -> Iterator[Effect]:
    """Adds that a branch's history is replaced if a tool that pushes, or moves a reference, is told to force it."""
    words = {token.text for token in tokens}
    if not ("push" in words or ({"ref", "reference"} & words and "update" in words)):
        return
    branch = next((leaf for leaf in leaves if leaf.name in _NAMES_BRANCH and isinstance(leaf.value, str)), None)
    forced = "force" in words or any(leaf.value is True and leaf.name in _FORCES for leaf in leaves)
    if forced and (branch is not None or words & _OF_VERSION_CONTROL):
        name = str(branch.value).removeprefix("refs/").removeprefix("heads/") if branch is not None else ""
        target = (Target(name, Place.REMOTE),)
        source = f"tool {call.name}"
        yield Effect(EffectKind.OVERWRITE, ObjectKind.BRANCH, call.span, source, target, Scope.ONE, Reversible.NO)


_NAMES_BRANCH = frozenset(("branch", "ref", "refspec", "branch_name", "branchName", "head", "target_branch"))
_FORCES = frozenset(("force", "forced", "force_push", "forcePush"))
_OF_VERSION_CONTROL = frozenset(
    ("git", "github", "gitlab", "gitea", "bitbucket", "branch", "commit", "commits", "repo")
)


def _mail_rule(call: ToolCall, meaning: Meaning, tokens: tuple[Token, ...], leaves: list[Leaf]) -> Iterator[Effect]:
    """Adds that messages are deleted on arrival if a mailbox rule says so: nobody ever sees them."""
    words = {token.text for token in tokens}
    if meaning.kind not in _GIVES or words.isdisjoint(_RULES) or words.isdisjoint(_MAILBOXES):
        return
    if any(
        _DELETES.fullmatch(leaf.name if leaf.value is True else str(leaf.value))
        for leaf in leaves
        if leaf.value is True or _DOES.search(leaf.name)
    ):
        target = (Target(call.name, Place.REMOTE),)
        source = f"tool {call.name}"
        yield Effect(EffectKind.DELETE, ObjectKind.MESSAGE, call.span, source, target, Scope.MANY, Reversible.NO)


_RULES = frozenset(("rule", "rules", "filter", "filters"))
_MAILBOXES = frozenset(
    ("mail", "email", "gmail", "outlook", "inbox", "mailbox", "message", "imap", "sieve", "exchange")
)
_DOES = re.compile(r"(?i)action|label|folder|operation|destination|then")
_DELETES = re.compile(
    r"(?i)(?:hard_?|soft_?|permanent(?:ly)?_?)?(?:delete|trash|discard)(?:_?messages?)?|deleted ?items"
)


def _makes_public(leaf: Leaf) -> bool:
    """Decides whether an argument opens something to everybody: `private=false`, `acl="public-read"`,
    `anyone_with_link=true`."""
    if isinstance(leaf.value, bool):
        return bool(_PRIVATE.fullmatch(leaf.name) if leaf.value is False else _PUBLIC.fullmatch(leaf.name))
    return isinstance(leaf.value, str) and (
        bool(_AUDIENCE.search(leaf.name) and _EVERYBODY.fullmatch(leaf.value))
        or (_POLICY.search(leaf.name) is not None and _ALLOWS_ALL.search(leaf.value) is not None)
    )


_PRIVATE = re.compile(r"(?i)(?:is_?)?private")
_PUBLIC = re.compile(
    r"(?i)(?:is_?)?public(?:ly_?accessible|_?access)?|anyone_?(?:with_?(?:the_?)?link|can_?\w+)|allow_?public_?access"
)
_AUDIENCE = re.compile(r"(?i)(?:^|_)(?:acl|visibility|audience|type|access|scope|shared?_?with|grantee|principal)$")
_EVERYBODY = re.compile(
    r"(?i)public(?:-read(?:-write)?)?|anyone(?:_?with_?(?:the_?)?link)?|anonymous|all_?users|world|everyone"
)
_POLICY = re.compile(r"(?i)policy(?:_?(?:document|json|text))?$")
_ALLOWS_ALL = re.compile(
    r"\"Effect\"\s*:\s*\"Allow\"(?:(?!\"Condition\")[^{}]){0,400}\"Principal\"\s*:\s*(?:\"\*\"|\{\s*\"AWS\"\s*:\s*\"\*\")"
    r"(?![^{}]{0,400}\"Condition\")"
)
"""A statement of a policy that lets everybody in without a condition."""
_MADE_PUBLIC = frozenset((ObjectKind.REPOSITORY, ObjectKind.MESSAGE, ObjectKind.EVENT, ObjectKind.ISSUE))
"""Things that are normally created for everybody."""


def _by_flags(call: ToolCall, leaves: list[Leaf]) -> Iterator[Effect]:
    """Adds what an argument requests in addition to the tool's own action: `apply(destroy=true)`, `scale(replicas=0)`,
    an address to which all mail is forwarded."""
    for leaf in leaves:
        source = f"tool {call.name}"
        if leaf.value is True and leaf.name.lower() in _DESTROYS:
            target = (Target(call.name, Place.REMOTE),)
            yield Effect(EffectKind.DELETE, ObjectKind.RESOURCE, call.span, source, target, Scope.MANY, Reversible.NO)
        elif isinstance(leaf.value, int) and leaf.value == 0 and _REPLICAS.fullmatch(leaf.name):
            place = Place.PRODUCTION if _is_production(leaves) else Place.REMOTE
            yield Effect(EffectKind.STOP, ObjectKind.SERVICE, call.span, source, (Target(call.name, place),))
        elif isinstance(leaf.value, str) and "@" in leaf.value and _FORWARDS.search(leaf.name):
            target = (Target(leaf.value, Place.REMOTE),)
            yield Effect(EffectKind.SEND, ObjectKind.MESSAGE, call.span, source, target, Scope.ALL)


_DESTROYS = frozenset(
    ("destroy", "delete", "purge", "wipe", "drop", "delete_all", "drop_all", "remove_all", "wipe_all")
)
_REPLICAS = re.compile(r"(?i)(?:min_?|max_?)?(?:replicas|desired_?(?:capacity|count|replicas)|instance_?count)")
_FORWARDS = re.compile(r"(?i)(?:^|_)(?:auto_?)?forward(?:ing)?(?:_?(?:to|address|email))?(?:_smtp_address)?$")
_SKIPS = re.compile(
    r"(?i)^(?:bypass|skip|ignore|disable|override)_?\w*(?:check|protection|approval|review|safety|security|verification"
    r"|validation|policy|policies|limit|auth|guard|ssl|tls)"
)
_WALLET = re.compile(r"(?i)wallet|pay|bank|coin|crypto")
_GIVES = frozenset(
    (EffectKind.ALTER, EffectKind.CREATE, EffectKind.GRANT, EffectKind.OVERWRITE, EffectKind.WRITE, EffectKind.SEND)
)
_ROLE = re.compile(r"(?i)(?:^|_)(?:roles?|polic(?:y|ies)|permissions?|access(?:_?level)?|privileges?|rights|group)s?$")
_RAISED = re.compile(
    r"(?i)(?:super|sys|org|site|global|tenant|cluster)?[ _-]?admin(?:istrator)?s?(?:[ _-]?access)?|owner|root|superuser"
    r"|full[ _-]?(?:access|control)"
)


def _is_production(leaves: list[Leaf]) -> bool:
    """Decides whether an argument names production as the environment: `environment="prod"`."""
    return any(
        isinstance(leaf.value, str)
        and leaf.name.lower() in _SAYS_WHERE
        and environment_of(leaf.value) is Environment.PRODUCTION
        for leaf in leaves
    )


_SAYS_WHERE = frozenset(
    (
        *("env", "environment", "stage", "deployment_environment", "target_env", "host", "hostname", "server"),
        *("cluster", "context", "namespace", "database", "db", "project", "instance"),
    )
)


def _object_of_arguments(leaves: list[Leaf]) -> ObjectKind | None:
    """Returns the kind of object that a tool acts on, from the names of its arguments: `remove(file_id=3)`."""
    for leaf in leaves:
        meaning = meaning_of_name((Token("get", 0, 0, 0, 0), *tokens_of_name(leaf.path)))
        if meaning is not None and meaning.object is not None:
            return meaning.object
    return None


def _targets(thing: ObjectKind, leaves: list[Leaf]) -> tuple[Target, ...]:
    sensitivity = Sensitivity.SECRET if thing in (ObjectKind.CREDENTIAL, ObjectKind.SECRET) else Sensitivity.NONE
    targets: dict[str, Target] = {}
    for leaf in leaves:
        if not isinstance(leaf.value, str | int) or isinstance(leaf.value, bool):
            continue
        value = str(leaf.value)
        if leaf.name in URL_NAMES or value.startswith(("http://", "https://")):
            targets.setdefault(value, Target(value, Place.REMOTE, sensitivity))
        elif leaf.name in PATH_NAMES and thing is ObjectKind.PATH:
            targets.setdefault(value, Target(value, Place.UNKNOWN, sensitivity))
        elif (
            _RECIPIENT.match(leaf.name)
            or _IDENTIFIER.search(leaf.name)
            or leaf.name.isdigit()
            or (thing is ObjectKind.PATH and _DOCUMENT.fullmatch(leaf.name))
            or (thing in _IN_SERVICES and any(hit.name == thing for hit in objects_in(tokens_of_name(leaf.name))))
        ):
            targets.setdefault(value, Target(value, Place.REMOTE, sensitivity))
    return tuple(targets.values())


_DOCUMENT = re.compile(r"(?i)(?:google_?)?(?:spreadsheet|workbook|presentation|slide_?deck|wiki_?page)(?:_?name)?")
"""Arguments that name a document of a service by its title; a path of this machine has another name."""
_IN_SERVICES = frozenset((ObjectKind.PROJECT, ObjectKind.RESOURCE, ObjectKind.SERVICE, ObjectKind.ACCOUNT))
"""Things of a service on the network, which an argument may name by its own name: `project="shop"`."""


def _detail(leaves: list[Leaf]) -> dict[str, str]:
    detail: dict[str, str] = {}
    for leaf in leaves:
        if isinstance(leaf.value, bool) or leaf.value is None:
            continue
        value = str(leaf.value)
        if _AMOUNT.match(leaf.name) and (re.search(r"\d", value) or value.lower() in _NO_LIMIT):
            detail.setdefault("amount", value)
        elif _CURRENCY.match(leaf.name) and len(value) <= 12:
            detail.setdefault("currency", value)
        elif leaf.name in URL_NAMES or value.startswith(("http://", "https://")):
            detail.setdefault("url", value)
        elif _RECIPIENT.match(leaf.name):
            detail.setdefault("recipient", value)
    return detail


def _scope(tokens: tuple[Token, ...], leaves: list[Leaf]) -> Scope:
    if any(_PLURAL.match(token.text) for token in tokens):
        return Scope.ALL
    if any(leaf.value is True and _PLURAL.match(leaf.name) for leaf in leaves) or any(
        isinstance(leaf.value, str) and _NAMES_ALL.fullmatch(leaf.value) for leaf in leaves
    ):
        return Scope.ALL
    paths = [
        leaf.path.rpartition(".")[0] for leaf in leaves if leaf.name != leaf.path and _IDENTIFIER.search(leaf.name)
    ]
    return Scope.MANY if len(paths) > len(set(paths)) else Scope.ONE
