"""Lists the tools, prompts and resources of the MCP server by key, in order. `api/connect` runs them."""

from dataclasses import dataclass

from contracts.access.plans import PLANS_PATH
from contracts.connect.key_arguments import (
    BuildArguments,
    CorrectArguments,
    GuardrailArguments,
    HoldersArguments,
    MemoryDesignArguments,
    NoArguments,
    NodeArguments,
    RememberArguments,
    SearchArguments,
)
from contracts.connect.key_results import (
    HOLDER_URI,
    NODE_URI,
    BuildToolResult,
    GuardrailToolResult,
    HoldersResult,
    KeyResult,
    MemoryPlanResult,
    NodeResult,
    PlansResult,
    SearchResult,
    VerifyResult,
    WrittenResult,
)
from contracts.connect.tools import Tool

SIGNAL = "POST /api/v2/world-model/signal"
QUERY = "POST /api/v2/world-model/query"
NODE = "GET /api/v2/world-model/nodes/{nodeId}"
BUILD = "POST /api/v2/knowledge-graph/build"
DESIGN = "POST /api/v2/memory/design"
CHECK = "POST /api/v2/guardrail/check"
HOLDERS = "GET /api/token/holders"
PLANS = f"GET {PLANS_PATH}"


@dataclass(frozen=True)
class KeyTool(Tool):
    """One tool by key. `operation` is the method and path of the equivalent API operation, or None if there is none."""

    operation: str | None = None

    @property
    def description(self) -> str:
        """Returns the tool's purpose, and the route with the whole answer."""
        return self.what if self.operation is None else f"{self.what} A short form of {self.operation}."


KEY_TOOLS: tuple[KeyTool, ...] = (
    KeyTool(
        "svc_remember",
        "Remember one statement",
        "Stores one statement in your owner's graph: a fact, an observation, a decision, a goal, a task. It is private "
        "by default, and the next search finds it. A fact replaces an earlier one only if its class is as high; "
        "otherwise both are valid and disputed. `rejected` wrote nothing; `escalated` waits: see `waiting`.",
        RememberArguments,
        WrittenResult,
        read_only=False,
        operation=SIGNAL,
    ),
    KeyTool(
        "svc_search",
        "Search the graph",
        "Finds nodes by words, type, domain, neighbourhood or time, among your owner's and the public ones, the best "
        "first. Changes nothing. If nothing is found, `hints` has similar words.",
        SearchArguments,
        SearchResult,
        read_only=True,
        keeps_texts=False,
        operation=QUERY,
    ),
    KeyTool(
        "svc_node",
        "Read a node and its history",
        "Returns one node, now or at an earlier time, with its past states and their sources, and its corrections, "
        "retractions and confirmations. Changes nothing. Another owner's node answers `node_unknown`.",
        NodeArguments,
        NodeResult,
        read_only=True,
        keeps_texts=False,
        operation=NODE,
    ),
    KeyTool(
        "svc_correct",
        "Correct, retract or confirm a node",
        "Replaces a wrong statement by a right one, retracts one, or confirms a disputed one, with a "
        "reason. Nothing is lost: the history keeps earlier beliefs. Nodes above your key's class are refused.",
        CorrectArguments,
        WrittenResult,
        read_only=False,
        destructive=True,
        operation=SIGNAL,
    ),
    KeyTool(
        "svc_build",
        "Read documents into the graph",
        "Reads Markdown, plain text, JSON or CSV into passages, typed nodes and relationships by fixed rules; no model "
        "is involved and no URL is fetched. A preview writes nothing. Building again with the same graph_id and "
        "document id replaces the document's earlier content.",
        BuildArguments,
        BuildToolResult,
        read_only=False,
        operation=BUILD,
    ),
    KeyTool(
        "svc_memory_design",
        "Plan an agent's memory",
        "Works out which stores an agent needs, how long to keep them, how to query them, what a write must provide, "
        "and the risks. A preview writes nothing; `apply` writes the plan as nodes, to which records link by PART_OF.",
        MemoryDesignArguments,
        MemoryPlanResult,
        read_only=False,
        operation=DESIGN,
    ),
    KeyTool(
        "svc_guardrail_check",
        "Judge an action before taking it",
        "Analyses what a command, script, tool call or plan would do, and judges it: whether it may be taken, "
        "why not, and what would make it acceptable. Nothing is run. If `passed` is false, don't act.",
        GuardrailArguments,
        GuardrailToolResult,
        read_only=True,
        keeps_texts=False,
        operation=CHECK,
    ),
    KeyTool(
        "svc_holders",
        "Holders of the token",
        "Count, supply, concentration and the largest holders, or one address: balance, rank, share and history. By "
        "default at the newest list's block; earlier blocks and days can be requested. Changes nothing.",
        HoldersArguments,
        HoldersResult,
        read_only=True,
        keeps_texts=False,
        operation=HOLDERS,
    ),
    KeyTool(
        "svc_verify",
        "Proof of the holders",
        "The comparisons that prove the newest holder list against the chain, with the numbers, the files with their "
        "hashes, and the command that repeats the proof without trusting this service. Changes nothing.",
        NoArguments,
        VerifyResult,
        read_only=True,
        operation=HOLDERS,
    ),
    KeyTool(
        "svc_plans",
        "What can be bought",
        "The plans with their prices, and where a key is bought. Buys and changes nothing.",
        NoArguments,
        PlansResult,
        read_only=True,
        operation=PLANS,
    ),
    KeyTool(
        "svc_my_key",
        "What this key may do",
        "The key of this call: whose graph it writes, its tier, the calls left today, and when its paid time ends. "
        "Shows no secret and changes nothing.",
        NoArguments,
        KeyResult,
        read_only=True,
    ),
)


@dataclass(frozen=True)
class ResourceTemplate:
    """Resources that are identified by an id."""

    uri_template: str
    name: str
    title: str
    description: str
    media_type: str = "application/json"


KEY_TEMPLATES: tuple[ResourceTemplate, ...] = (
    ResourceTemplate(
        f"{NODE_URI}{{id}}",
        "node",
        "A node with its history",
        "Everything known about one node: all states, decisions, sources and acts. The id is percent-encoded.",
    ),
    ResourceTemplate(
        f"{HOLDER_URI}{{address}}",
        "holder",
        "One address",
        "Balance, rank, share and history of one address at the newest list's block.",
    ),
)


@dataclass(frozen=True)
class PromptArgument:
    """One argument of a prompt."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True)
class Prompt:
    """A text with which a person can start. `text` has the names of its arguments in braces."""

    name: str
    title: str
    description: str
    text: str
    arguments: tuple[PromptArgument, ...] = ()


KEY_PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "first_steps",
        "First steps with this memory",
        "Shows what the key may do and what is already known, and stores a first fact.",
        "Call svc_my_key and tell me in one line whose memory this is and how many calls are left today. Then call "
        "svc_search with scope own and order recent, and sum up in at most five lines what is remembered so far. Then "
        "ask me for one thing that you should always remember about my work, store it with svc_remember, find it again "
        "with svc_search, and show me its id.",
    ),
    Prompt(
        "remember_this",
        "Remember this",
        "Stores statements with their sources, one by one, and reports contradictions.",
        "Store the following with svc_remember, one call per statement, each with its source. Give a statement that "
        "can change, such as who owns something or what it costs, a subject, a value, and a predicate that has one "
        "value at a time. Before you write, search for what is known about it; if it contradicts, ask me whether to "
        "correct the old one with svc_correct. Tell me what was written, what waits for me, and what is disputed.\n\n"
        "{statements}",
        (PromptArgument("statements", "What to remember, in your own words", required=True),),
    ),
    Prompt(
        "read_documents",
        "Read a document into the memory",
        "Previews what the rules find in a text, and writes it after confirmation.",
        "Call svc_build in mode preview with the text below as a document with an id, and a graph_id. Show me how many "
        "nodes of which types it found and what was not understood. After my yes call it again with the same ids in "
        "mode apply.\n\n{text}",
        (PromptArgument("text", "The text, as Markdown or plain text", required=True),),
    ),
    Prompt(
        "before_acting",
        "Judge an action first",
        "Checks an action with the guardrail and explains the verdict.",
        "Call svc_guardrail_check with this action, and with what you know of its circumstances as context. If it did "
        "not pass, don't do it: tell me why, and what would make it acceptable. If something was not covered, say "
        "so.\n\n{action}",
        (PromptArgument("action", "The command, script, tool call or plan", required=True),),
    ),
)
