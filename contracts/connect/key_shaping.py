"""Builds the results of the tools by key from the answers of the HTTP routes, cut to fit a model's context. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from contracts.access.account import AccountData
from contracts.connect.key_results import (
    HOLDER_URI,
    NODE_URI,
    AddressResult,
    BalanceChange,
    BuildToolResult,
    BuiltNodeResult,
    GuardrailToolResult,
    HolderRow,
    HoldersResult,
    KeyResult,
    MemoryPlanResult,
    NodeResult,
    PlanRow,
    PlansResult,
    ProofCheck,
    RefusedResult,
    RiskResult,
    SearchHintsResult,
    SearchResult,
    ShownAct,
    ShownClaim,
    ShownDispute,
    ShownLink,
    ShownNode,
    ShownState,
    StoreResult,
    UnknownResult,
    VerifyResult,
    Waiting,
    WrittenResult,
)
from contracts.connect.key_server import RESULT_BYTES
from contracts.times import utc_text
from contracts.world.pending import pending_url
from contracts.world.signal import SignalRequest

LONGEST_TEXT = 400
"""Maximum length of a text in a list, in characters."""

LONGEST_WHOLE_TEXT = 4_000
"""Maximum length of a text of a single requested node, in characters."""

LARGEST_NODE_BYTES = 1_200
LARGEST_WHOLE_NODE_BYTES = 8_000
MOST_ITEMS = 20
MOST_STATES = 10

Row = TypeVar("Row", bound=BaseModel)
Fields = Mapping[str, Any]


def key_result(account: AccountData) -> KeyResult:
    """Returns the facts about a key and its day from the key's account."""
    plan, quota = account.plan, account.quota
    return KeyResult(
        key_id=account.key_id,
        owner=account.owner,
        tier=plan.tier,
        role=account.role,
        claims_up_to=account.max_class,
        requests_a_day=quota.requests_per_day,
        left_today=quota.remaining,
        resets_at=utc_text(quota.resets_at),
        paid_until=None if plan.expires_at is None else utc_text(plan.expires_at),
    )


def node_uri(node_id: str) -> str:
    """Returns the URI of a node's resource."""
    return NODE_URI + quote(node_id, safe="")


def waiting_for(by: Literal["owner", "operator"], decision: int, base_url: str) -> Waiting:
    """Returns who must approve a write, and where."""
    return Waiting(pending_id=decision, by=by, link=pending_url(base_url, decision))


def confirmation_question(signal: SignalRequest) -> str:
    """Returns the question whether a statement may be written, for the owner to read."""
    act = next(((kind, act) for kind in ("corrects", "retracts", "confirms") if (act := getattr(signal, kind))), None)
    about = "" if act is None else f" It {act[0]} {act[1].id}: {_cut(act[1].reason, 200)}."
    value = signal.payload.get("value")
    stated = "" if value is None else f" Value: {_cut(json.dumps(value, ensure_ascii=False), 200)}."
    return (
        f"Store this {signal.type} in your graph? {_cut(signal.title or '', LONGEST_TEXT)}{stated}{about} "
        f"Source: {_cut(signal.source, 200)}. A rule of your graph requires your confirmation."
    )


def written_result(signal: Fields, waiting: Waiting | None) -> WrittenResult:
    """Returns the result of a signal from the fields of `SignalResult`."""
    is_written = signal["verdict"] == "approved"
    return _made(
        WrittenResult,
        signal,
        id=signal["signalId"],
        reasons=reasons_of(signal["stages"]),
        waiting=waiting,
        disputes=shown_disputes(signal["disputes"]),
        resource=node_uri(signal["signalId"]) if is_written else None,
    )


def search_result(answer: Fields) -> SearchResult:
    """Returns the result of a search from the fields of `GraphQueryResult`."""
    disputes = shown_disputes(answer["disputes"])
    links = [_made(ShownLink, edge) for edge in (answer["edges"] or ())]
    shown_links = fitting(links, RESULT_BYTES // 4)
    nodes = [shown_node(node) for node in answer["nodes"]]
    fitted = fitting(nodes, RESULT_BYTES - 2_000 - size_of(disputes) - size_of(shown_links))
    hints = answer["hints"]
    return SearchResult(
        nodes=fitted,
        links=shown_links,
        disputes=disputes,
        matched=answer["matched_nodes"],
        left_out=len(nodes) - len(fitted),
        cursor=answer["cursor"],
        hints=hints
        and SearchHintsResult(
            near_words=hints["near_words"][:MOST_ITEMS],
            own_nodes=hints["own_nodes"],
            public_nodes=hints["public_nodes"],
        ),
        revision=answer["revision"],
    )


def node_result(node_id: str, found: Fields) -> NodeResult:
    """Returns the result of a node from the fields of `NodeHistoryData`."""
    states = [
        _made(
            ShownState,
            state["node"],
            title=_cut(state["node"]["title"], LONGEST_TEXT),
            source=_cut(state["node"]["source"], LONGEST_TEXT),
            retired_at=state["retiredAt"],
            decision=state["decision"],
        )
        for state in found["history"]
    ]
    acts = [_made(ShownAct, act, reason=_cut(act["reason"], LONGEST_TEXT)) for act in found["acts"][:MOST_ITEMS]]
    history = fitting(states[:MOST_STATES], 2_500)
    return NodeResult(
        node=found["node"] and shown_node(found["node"], LONGEST_WHOLE_TEXT, LARGEST_WHOLE_NODE_BYTES),
        history=history,
        acts=fitting(acts, 1_500),
        disputes=shown_disputes(found["disputes"]),
        left_out=len(states) - len(history),
        revision=found["revision"],
        resource=node_uri(node_id),
    )


def build_result(built: Fields) -> BuildToolResult:
    """Returns the result of a build from the fields of `BuildResult`."""
    ordered = sorted(built["nodes"], key=lambda node: bool(node["type"] == "Passage"))
    nodes = [_made(BuiltNodeResult, node, title=_cut(node["title"], 120)) for node in ordered[:200]]
    refused = [
        _made(RefusedResult, statement, reason=_cut(statement["reason"], LONGEST_TEXT))
        for statement in built["refused"][:MOST_ITEMS]
    ]
    return _made(
        BuildToolResult,
        built,
        reasons=reasons_of(built["stages"]),
        node_count=len(built["nodes"]),
        edge_count=len(built["edges"]),
        nodes=fitting(nodes, 4_000),
        links=fitting([_made(ShownLink, edge) for edge in built["edges"][:200]], 2_500),
        refused=fitting(refused, 2_000),
        duplicates=[pair["nodes"] for pair in built["duplicates"][:5]],
        replaced=len(built["replaced"]),
        withheld=len(built["withheld"]),
        not_understood=built["notUnderstood"]["passages"],
    )


def plan_result(plan: Fields) -> MemoryPlanResult:
    """Returns the result of a memory design from the fields of `DesignResult`."""
    rules = {rule["store"]: rule for rule in plan["writeRules"]}
    tokens = {share["store"]: share["tokens"] for share in plan["budget"]}
    return _made(
        MemoryPlanResult,
        plan,
        reasons=reasons_of(plan["stages"]),
        stores=[
            _made(
                StoreResult,
                store,
                budget_tokens=tokens[store["id"]],
                least_confidence=rules[store["id"]]["leastConfidence"],
                needs=rules[store["id"]]["needs"],
            )
            for store in plan["stores"]
        ],
        risks=fitting([_made(RiskResult, risk, title=_cut(risk["title"], 200)) for risk in plan["risks"]], 2_500),
        unknowns=fitting(
            [
                UnknownResult(question=_cut(unknown["question"], 200), assumed=_cut(unknown["assumed"], 200))
                for unknown in plan["unknowns"]
            ],
            2_500,
        ),
    )


def guardrail_result(verdict: Fields) -> GuardrailToolResult:
    """Returns the result of a check from the fields of `GuardrailResult`."""
    named = ("passed", "decision", "severity", "coverage", "check_id", "digest", "ruleset_version")
    return GuardrailToolResult(
        **{name: verdict[name] for name in named},
        reason=_cut(verdict["reason"], 1_000),
        remediation=[_cut(text, LONGEST_TEXT) for text in verdict["remediation"][:MOST_ITEMS]],
        matched_guardrails=verdict["matched_guardrails"][:MOST_ITEMS],
        uncovered=[_cut(part["reason"], 200) for part in verdict["uncovered"][:MOST_ITEMS]],
        ignored_context=[_cut(name, 100) for name in verdict["ignored_context"][:MOST_ITEMS]],
    )


def holders_result(
    holders: Fields, largest: Sequence[Fields], base_url: str, *, at: int | None = None
) -> HoldersResult:
    """Builds the figures of the whole list from the documents of the count and the map at the same block."""
    concentration, basis = holders["concentration"], holders["basis"]
    return _made(
        HoldersResult,
        holders,
        **_token(holders),
        block=None if basis is None else basis["block"],
        top10_share=None if concentration is None else concentration["top10Share"],
        largest=[_made(HolderRow, row) for row in largest[:10]],
        address=None,
        verdict=None if basis is None else basis["verdict"],
        resource=f"{base_url}/api/token/holders-map" + ("" if at is None else f"?block={at}"),
    )


def address_result(holder: Fields) -> HoldersResult:
    """Builds the result for one address from the fields of `TokenHolder`."""
    basis = holder["basis"]
    return _made(
        HoldersResult,
        holder,
        **_token(holder),
        holder_count=None,
        total_supply=None,
        top10_share=None,
        largest=[],
        address=_made(AddressResult, holder, history=[_made(BalanceChange, point) for point in holder["history"]]),
        verdict=None if basis is None else basis["verdict"],
        resource=HOLDER_URI + holder["address"],
    )


def verify_result(holders: Fields, base_url: str) -> VerifyResult:
    """Builds the proof of the newest list from the published document of the count."""
    consistency = holders["consistency"]
    proof = None if consistency is None else consistency["proof"]
    repeat = [f"svc verify {base_url}"]
    if proof is None:
        return VerifyResult(
            verdict=None,
            reason=holders["reason"],
            block=None,
            block_hash=None,
            checks=[],
            list_url=None,
            list_sha256=None,
            storage_url=None,
            repeat=repeat,
        )
    minted, burned = int(proof["minted"]), int(proof["burned"])
    held, supply, sampled = int(proof["sumOfBalances"]), proof["totalSupply"], proof["sampledBalanceOf"]
    checks = [
        ProofCheck(
            name="sum of balances = minted - burned",
            holds=held == minted - burned,
            detail=f"{held} = {minted} - {burned}",
        ),
        ProofCheck(
            name="sum of balances = totalSupply()",
            holds=None if supply is None else held == int(supply),
            detail="not answered" if supply is None else f"{held} = {supply}",
        ),
        ProofCheck(
            name="no negative balance",
            holds=proof["negativeBalances"] == 0,
            detail=f"{proof['negativeBalances']} negative",
        ),
        ProofCheck(
            name="balanceOf of a sample",
            holds=sampled["checked"] == sampled["equal"] if sampled["checked"] else None,
            detail=f"{sampled['equal']} of {sampled['checked']} equal",
        ),
    ]
    storage, file = proof["storage"], proof["holderList"]
    storage_file = None if storage is None else storage["file"]
    if storage is not None:
        checks.append(
            ProofCheck(
                name="every balance against the block's hash",
                holds={"proven": True, "failed": False}.get(storage["verdict"]),
                detail=storage["verdict"]
                if storage["reason"] is None
                else f"{storage['verdict']}: {storage['reason']}",
            )
        )
    return _made(
        VerifyResult,
        proof,
        checks=checks,
        list_url=None if file is None else base_url + file["path"],
        list_sha256=None if file is None else file["sha256"],
        storage_url=None if storage_file is None else base_url + storage_file["path"],
        repeat=repeat,
    )


def plans_result(catalog: Fields) -> PlansResult:
    """Returns the plans from the fields of `PlansAnswer`."""
    return _made(
        PlansResult,
        catalog,
        plans=[
            _made(
                PlanRow,
                plan,
                price_usd=plan["price"]["amount"],
                period_days=plan["price"]["periodDays"],
                requests_a_day=plan["requestsPerDay"],
                deliverable=_cut(plan["deliverable"], LONGEST_TEXT),
            )
            for plan in catalog["plans"][:MOST_ITEMS]
        ],
        live=catalog["payment"]["live"],
        catalog_url=catalog["quoteUrl"].rpartition("/")[0] + "/plans",
    )


def shown_node(node: Fields, longest_text: int = LONGEST_TEXT, largest_bytes: int = LARGEST_NODE_BYTES) -> ShownNode:
    """Returns a node from a route's answer, cut."""
    properties, cut = shortened(node["properties"], longest_text, largest_bytes)
    return _made(ShownNode, node, properties=properties, source=_cut(node["source"], LONGEST_TEXT), cut=cut)


def shown_disputes(disputes: Sequence[Fields]) -> list[ShownDispute]:
    """Returns the first disputes, cut."""
    return fitting(
        [
            ShownDispute(
                subject=_cut(dispute["subject"], 100),
                predicate=_cut(dispute["predicate"], 100),
                claims=[
                    _made(
                        ShownClaim,
                        claim,
                        value=_cut(json.dumps(claim["value"], ensure_ascii=False), 200),
                        source=_cut(claim["source"], 100),
                    )
                    for claim in dispute["claims"][:5]
                ],
            )
            for dispute in disputes[:MOST_ITEMS]
        ],
        3_000,
    )


def reasons_of(stages: Iterable[Fields]) -> list[str]:
    """Returns the stages' warnings and refusals."""
    return [_cut(f"{stage['stage']}: {stage['reason']}", 300) for stage in stages if stage["result"] != "pass"]


def shortened(properties: Fields, longest_text: int, largest_bytes: int) -> tuple[dict[str, Any], bool]:
    """Returns properties with long texts and lists cut, and whether any was cut.

    If they are still too large, the last members are omitted.
    """
    shown: dict[str, Any] = {}
    left, cut = largest_bytes, False
    for name, value in properties.items():
        short, was_cut = _shortened(value, longest_text)
        size = size_of({name: short})
        if size > left:
            return shown, True
        left -= size
        cut = cut or was_cut
        shown[name] = short
    return shown, cut


def fitting(rows: Sequence[Row], largest_bytes: int) -> list[Row]:
    """Returns the first rows that fit together into `largest_bytes` of JSON."""
    kept: list[Row] = []
    for row in rows:
        largest_bytes -= size_of(row) + 1
        if largest_bytes < 0:
            break
        kept.append(row)
    return kept


def size_of(value: Any) -> int:
    """Returns the size of a value as compact JSON, in bytes."""
    if isinstance(value, BaseModel):
        return len(value.model_dump_json().encode())
    if isinstance(value, list):
        return 2 + sum(size_of(item) + 1 for item in value)
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _shortened(value: Any, longest_text: int) -> tuple[Any, bool]:
    if isinstance(value, str):
        return _cut(value, longest_text), len(value) > longest_text
    if isinstance(value, list):
        items = [_shortened(item, longest_text) for item in value[:MOST_ITEMS]]
        return [item for item, _ in items], len(value) > MOST_ITEMS or any(was_cut for _, was_cut in items)
    if isinstance(value, dict):
        members = {name: _shortened(item, longest_text) for name, item in value.items()}
        return {name: item for name, (item, _) in members.items()}, any(was_cut for _, was_cut in members.values())
    return value, False


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _made(model: type[Row], answer: Fields, **others: Any) -> Row:
    """Builds a result from the members of a route's answer with the same name in camelCase, and from `others`."""
    return model(**{name: answer[camel] for name, camel in _names(model) if name not in others}, **others)


@cache
def _names(model: type[BaseModel]) -> tuple[tuple[str, str], ...]:
    return tuple((name, to_camel(name)) for name in model.model_fields)


def _token(document: Fields) -> dict[str, Any]:
    token = document["token"]
    return {
        "token": None if token is None else token["address"],
        "symbol": None if token is None else token["symbol"],
    }
