"""Builds wallet actions: the registry and answers of `/blink/*`, in the shapes of the Actions specification 2.4.

They never contain a transaction, because the specification defines none for EVM chains. Header fields are in
`publish.routes`.
"""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer
from pydantic.alias_generators import to_camel

from contracts.base import Document
from contracts.discovery.installation import Installation
from contracts.discovery.service import CONNECT_PAGE_PATH, ICON_PATH
from contracts.guardrail import GuardrailResult
from contracts.publish.routes import BLINK_PREFIX
from contracts.world.ontology import DOMAINS
from contracts.world.public_projection import public_title
from contracts.world.records import Node
from guardrail.vocabulary import Severity

GUARDRAIL_BLINK_PATH = f"{BLINK_PREFIX}guardrail"
WORLD_BLINK_PATH = f"{BLINK_PREFIX}worldmodel"
ACTIONS_PATH = "/actions.json"

SHOWN_NODES = 5
ANY_DOMAIN = "any"


class _Wire(BaseModel):
    """Base of the bodies for wallets, which expect that fields without a value are omitted."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)

    def body(self) -> bytes:
        """Returns the JSON body of the answer."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


class ActionRule(Document):
    """A pattern of addresses of this site, and the path of their action."""

    path_pattern: str = Field(description="`*` stands for one segment, `**` for the rest")
    api_path: str


class ActionsRegistry(Document):
    """The addresses of this site that have actions."""

    rules: list[ActionRule]


class ActionOption(_Wire):
    """One choice of a parameter."""

    label: str
    value: str
    selected: bool | None = None


class ActionParameter(_Wire):
    """One field to fill in."""

    name: str
    label: str
    type: Literal["text", "textarea", "select"]
    required: bool
    options: list[ActionOption] | None = None


class LinkedAction(_Wire):
    """One action: a POST to `href`, in which `{name}` is replaced by a parameter's value."""

    type: Literal["post", "external-link"]
    label: str
    href: str
    parameters: list[ActionParameter] | None = None


class ActionLinks(_Wire):
    """The actions that a wallet offers."""

    actions: list[LinkedAction]


class ActionError(_Wire):
    """The reason why an action is not available at the moment."""

    message: str


class Action(_Wire):
    """One action, or the result of one (`completed`)."""

    type: Literal["action", "completed"] = "action"
    icon: str
    title: str
    description: str
    label: str
    disabled: bool = False
    links: ActionLinks | None = None
    error: ActionError | None = None


class NextAction(_Wire):
    """The action that a wallet shows next."""

    type: Literal["inline"] = "inline"
    action: Action


class NextLinks(_Wire):
    """The links of an answer."""

    next: NextAction


class ActionAnswer(_Wire):
    """The answer to a POST: an address for continuing (`external-link`), or the result (`post`)."""

    type: Literal["post", "external-link"]
    external_link: str | None = Field(default=None, description="With `external-link`: the address to open")
    message: str
    links: NextLinks | None = Field(default=None, description="With `post`: the result, as a completed action")
    verdict: GuardrailResult | None = Field(default=None, description="For a guardrail check: the whole verdict")

    @field_serializer("verdict")
    def whole(self, verdict: GuardrailResult | None) -> Any:
        """Keeps the nulls in a verdict, although the wallet's own fields are omitted if null."""
        return None if verdict is None else verdict.model_dump(mode="json")


class ActionRequest(_Wire):
    """The body that a wallet posts. Its account is not used; parameters may be in it or in the address."""

    model_config = ConfigDict(extra="ignore")

    account: str = Field(max_length=200)
    type: str | None = Field(default=None, max_length=50)
    data: dict[str, str | list[str]] | None = None

    def value(self, name: str, in_address: str | None) -> str | None:
        """Returns a parameter's value, from the address first, or None if it is missing or empty.

        Wallets send empty fields that nobody filled in.
        """
        value = in_address if in_address is not None else (self.data or {}).get(name)
        text = value[0] if isinstance(value, list) and value else value
        return text if isinstance(text, str) and text else None


def actions_registry(installation: Installation) -> ActionsRegistry:
    """Builds the list of paths that wallets may show as actions.

    Patterns begin with the base URL's path, because they apply to the host.
    """
    lead = {
        CONNECT_PAGE_PATH: GUARDRAIL_BLINK_PATH,
        "/api/worldmodel/**": WORLD_BLINK_PATH,
        f"{BLINK_PREFIX}**": f"{BLINK_PREFIX}**",
    }
    rules = [
        ActionRule(path_pattern=installation.prefix + path, api_path=installation.prefix + to)
        for path, to in lead.items()
    ]
    return ActionsRegistry(rules=rules)


def guardrail_action(installation: Installation, off: str | None = None) -> Action:
    """Builds the guardrail check as an action; `off` is the reason why it is unavailable."""
    return _action(
        installation,
        "Check an action before it is taken",
        "Describe what an agent is about to do. Fixed rules judge it; the same action gets the same verdict.",
        GUARDRAIL_BLINK_PATH,
        "Judge it",
        [
            ActionParameter(name="action", label="A command, a tool call or a plan", type="textarea", required=True),
            ActionParameter(
                name="severity",
                label="How bad it can be",
                type="select",
                required=False,
                options=[
                    ActionOption(
                        label=severity.value, value=severity.value, selected=severity is Severity.MEDIUM or None
                    )
                    for severity in Severity
                ],
            ),
        ],
        off,
    )


def world_action(installation: Installation, off: str | None = None) -> Action:
    """Builds the query of the public graph as an action; `off` is the reason why it is unavailable."""
    return _action(
        installation,
        "Ask the world model",
        "Search the public part of the governed knowledge graph of seven domains.",
        WORLD_BLINK_PATH,
        "Search",
        [
            ActionParameter(name="search", label="Words to find", type="text", required=True),
            ActionParameter(
                name="domain",
                label="Domain",
                type="select",
                required=False,
                options=[
                    ActionOption(label=domain.capitalize(), value=domain, selected=domain == ANY_DOMAIN or None)
                    for domain in (ANY_DOMAIN, *DOMAINS)
                ],
            ),
        ],
        off,
    )


def way_on(installation: Installation) -> ActionAnswer:
    """Returns the address for continuing by hand: the companion application, else the connect page."""
    link = installation.app_url or installation.url(CONNECT_PAGE_PATH)
    return ActionAnswer(type="external-link", external_link=link, message="Go on there.")


def verdict_answer(installation: Installation, verdict: GuardrailResult) -> ActionAnswer:
    """Builds the answer with a check's verdict."""
    title = "Passed" if verdict.passed else "Blocked"
    lines = [f"{verdict.reason}.".replace("..", "."), *verdict.remediation]
    answer = _completed(installation, title, "\n".join(lines), f"{title}: {verdict.reason}")
    return answer.model_copy(update={"verdict": verdict})


def nodes_answer(installation: Installation, matched: int, nodes: Sequence[Node]) -> ActionAnswer:
    """Builds the answer with a search's publishable results."""
    lines = [f"{public_title(node.type, node.title)} ({node.type}, {node.domain})" for node in nodes]
    title = f"{matched:,} public nodes match" if matched != 1 else "One public node matches"
    return _completed(installation, title, "\n".join(lines) or "Try fewer or other words.", title)


def _action(
    installation: Installation,
    title: str,
    description: str,
    path: str,
    label: str,
    parameters: list[ActionParameter],
    off: str | None,
) -> Action:
    query = "&".join(f"{parameter.name}={{{parameter.name}}}" for parameter in parameters)
    elsewhere = "Open the application" if installation.app_url else "How to connect"
    return Action(
        icon=installation.url(ICON_PATH),
        title=title,
        description=description,
        label=label,
        disabled=off is not None,
        error=None if off is None else ActionError(message=off),
        links=ActionLinks(
            actions=[
                LinkedAction(type="post", label=label, href=installation.url(f"{path}?{query}"), parameters=parameters),
                LinkedAction(type="external-link", label=elsewhere, href=installation.url(path)),
            ]
        ),
    )


def _completed(installation: Installation, title: str, description: str, message: str) -> ActionAnswer:
    result = Action(
        type="completed", icon=installation.url(ICON_PATH), title=title, description=description, label="Done"
    )
    return ActionAnswer(type="post", message=message, links=NextLinks(next=NextAction(action=result)))
