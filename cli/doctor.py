"""Implements `svc doctor`: checks machine, settings, chain and stores, and prints a cure for each failing line."""

import asyncio
import hashlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
import typer

from api.access.rpc import Providers
from cli.demo.anvil import find_binary
from cli.environment import effective_settings, make_data_dir
from cli.output import operator_problem, print_json, say
from cli.ports import require_free_port, require_two_ports
from cli.same_origin import LOOPBACK_ADDRESS
from contracts.access.coin import agreed_decimals, coin_fault, decimals_call
from contracts.access.provider_views import Call, read_chain_id
from contracts.access.rail import rail_of
from contracts.access.settling import GAS_LIMIT, agreed, head_calls, read_head
from contracts.connect.handoff import may_be_asked
from contracts.discovery.checks_document import CHECKS_PATH
from contracts.errors import OperatorProblem, RunBusy, SettingsInvalid, StoreUnusable
from contracts.evm.codec import RpcError, read_answer, request_body
from contracts.secrets import require_secrets
from contracts.settings import PREFIX, Settings, authority
from contracts.site.figures import REASONS
from contracts.token.nodes import Dispute
from contracts.token.proof import Verdict
from pipelines.instance import DIARY_CURE
from pipelines.market.sources import PRICE_SOURCES
from pipelines.partner.source import PARTNER_SOURCES
from pipelines.token.blockscout import BLOCKSCOUT
from warehouse.access.relayer_key import load_relayer
from warehouse.access.signing_keys import SIGNING_KEY_FILE, SigningKeys
from warehouse.clients.http import blocking_client
from warehouse.discovery.checks import failed_tables
from warehouse.discovery.run_status import job_facts
from warehouse.duck.connection import ChainIdentity, Warehouse
from warehouse.duck.fetch_log import SourceHealth, source_health
from warehouse.file_modes import Correction, correct_modes, is_shared
from warehouse.full_disk import free_space, is_full
from warehouse.guardrail.log import open_guardrail_log
from warehouse.ledger.counters import open_counters
from warehouse.ledger.drivers import check_file
from warehouse.ledger.ledger import LedgerIdentity, open_ledger
from warehouse.ledger.master_secret import MASTER_SECRET_FILE, load_secrets
from warehouse.publish.generations import Generation, current_generation
from warehouse.publish.stored_generations import newest_pointer, origin_of
from warehouse.token.disputes import all_open_disputes, decided_by_receipts
from warehouse.token.holder_lists import HolderList, recorded_list
from warehouse.token.holders import read_state

ROOT = Path(__file__).resolve().parents[1]
FREE_DISK_BYTES = 2_000_000_000
CLOCK_SKEW_S = 30
FEW_SETTLEMENTS = 20
"""With gas for fewer signed payments than this, the relayer should be refilled."""
RPC_TIMEOUT_S = 3.0
SOURCES = (BLOCKSCOUT, *PRICE_SOURCES, *PARTNER_SOURCES)
CONTRACTS = tuple(name for name in Settings.model_fields if name.endswith("_address") and name != "treasury_address")
"""The settings that name a contract. The treasury may be a contract but need not be."""

_DECIMALS = "decimals of the coin"
MOST_DECIDED = 3
"""How many of the disputes that receipts decided are shown."""

DEFAULT_CHECK_CURE = "Compare SVC_RPC_URLS and SVC_TOKEN_START_BLOCK with the token's history."
CHECK_CURES = {
    "out_chain__disputes": "The lines `nodes` and `holder list` below name hosts, blocks and answers.",
    "core_trust__checks": (
        "`svc pipeline run` reads the attestations again from every node in SVC_RPC_URLS: remove a node that omits "
        "some. SVC_TOKEN_START_BLOCK must be before the registry's first attestation."
    ),
}
MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's output. `cure` says what to do if `status` is not `ok`."""

    check: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    cure: str = ""


Check = Callable[[Settings], Iterator[Finding]]


def python_version(settings: Settings) -> Iterator[Finding]:
    yield Finding("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def environment_is_the_locks(settings: Settings) -> Iterator[Finding]:
    stamp = ROOT / ".venv" / ".ok"
    inputs = (ROOT / "requirements.lock", ROOT / "pyproject.toml")
    if not stamp.exists():
        yield Finding("packages", "warn", "not installed by bootstrap.py", "Run `python3 bootstrap.py`.")
    elif any(path.stat().st_mtime > stamp.stat().st_mtime for path in inputs):
        yield Finding("packages", "warn", "older than requirements.lock", "Run `python3 bootstrap.py`.")
    else:
        digest = hashlib.sha256(inputs[0].read_bytes()).hexdigest()
        yield Finding("packages", "ok", f"as locked ({digest[:12]})")


def local_chain(settings: Settings) -> Iterator[Finding]:
    anvil = find_binary()
    if anvil:
        yield Finding("local chain", "ok", str(anvil))
    else:
        yield Finding(
            "local chain",
            "warn",
            "anvil is not installed: the demo runs from recorded history, without the paid flow",
            "Install Node.js with npm and run `python3 bootstrap.py`.",
        )


def disk_space(settings: Settings) -> Iterator[Finding]:
    place = next(path for path in (settings.data_dir, *settings.data_dir.absolute().parents) if path.exists())
    free = shutil.disk_usage(place).free
    status: Literal["ok", "fail"] = "ok" if free >= FREE_DISK_BYTES else "fail"
    yield Finding("disk", status, f"{free / 1e9:.1f} GB free at {place}", "" if status == "ok" else "Free some space.")


def data_directory(settings: Settings) -> Iterator[Finding]:
    try:
        make_data_dir(settings.data_dir)
    except OperatorProblem as problem:
        yield Finding("data directory", "fail", problem.what, problem.cure)
    else:
        yield Finding("data directory", "ok", str(settings.data_dir))


def file_modes(settings: Settings) -> Iterator[Finding]:
    """Corrects modes that let other users of this machine read files; one line per part of the data directory."""
    data_dir = settings.installation_dir
    if is_shared(data_dir):
        detail = f"{data_dir} is shared with other users of this machine"
        yield Finding("file modes", "fail", detail, "Set SVC_DATA_DIR to a directory that nothing else uses.")
        return
    corrections = correct_modes(data_dir)
    parts: dict[tuple[str, bool], list[Correction]] = {}
    for correction in corrections:
        part = next(iter(correction.path.relative_to(data_dir).parts), ".")
        parts.setdefault((part, correction.done), []).append(correction)
    for (part, done), wrong in sorted(parts.items()):
        first = wrong[0]
        detail = (
            f"{part}: {len(wrong)} with modes such as {first.before:04o}, {'now' if done else 'not'} {first.after:04o}"
        )
        if done:
            yield Finding("file modes", "ok", detail)
        else:
            cure = f"Run `svc doctor` as the user who owns {first.path}."
            yield Finding("file modes", "fail", detail, cure)
    if not corrections:
        yield Finding("file modes", "ok", "other users can read only what is published")


def ports(settings: Settings) -> Iterator[Finding]:
    try:
        require_two_ports(settings, LOOPBACK_ADDRESS)
    except SettingsInvalid as problem:
        yield Finding("ports", "fail", problem.what, problem.cure)
    for name, host, port, variable in (
        ("api port", settings.host, settings.port, "SVC_PORT"),
        ("dagster port", LOOPBACK_ADDRESS, settings.dagster_port, "SVC_DAGSTER_PORT"),
    ):
        try:
            require_free_port(host, port, variable)
        except SettingsInvalid as problem:
            yield Finding(name, "fail", problem.what, problem.cure)
        except OperatorProblem:
            cure = f"Fine if `svc run` is running; otherwise stop what listens there, or set {variable}."
            yield Finding(name, "warn", f"{authority(host, port)} is taken", cure)
        else:
            yield Finding(name, "ok", f"{authority(host, port)} is free")


def chain(settings: Settings) -> Iterator[Finding]:
    if not settings.rpc_urls:
        yield Finding("rpc", "ok", "none set: `svc run` starts the demo chain")
        return
    if not settings.token_address:
        yield Finding("token", "warn", "no token is set: holders are unavailable", "Set SVC_TOKEN_ADDRESS.")
    for url in settings.rpc_urls:
        yield _rpc(url, settings.chain_id)


def _rpc(url: str, chain_id: int) -> Finding:
    host = urlsplit(url).hostname or "?"
    name = f"rpc {host}"
    body = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
    try:
        with blocking_client(RPC_TIMEOUT_S) as client:
            answer = client.post(url, json=body)
    except httpx.HTTPError as error:
        return Finding(name, "fail", f"no answer ({type(error).__name__})", "Check the address in SVC_RPC_URLS.")
    try:
        seen = int(answer.json()["result"], 16)
    except (ValueError, KeyError, TypeError):
        return Finding(
            name, "fail", f"no chain id, but {_described(answer)}", "Set the address of a node in SVC_RPC_URLS."
        )
    if seen != chain_id:
        return Finding(
            name, "fail", f"answers for chain {seen}, not {chain_id}", "Correct SVC_RPC_URLS or SVC_CHAIN_ID."
        )
    skew_s = _skew_s(answer.headers.get("date"))
    if skew_s is not None and skew_s > CLOCK_SKEW_S:
        return Finding(name, "warn", f"the clocks differ by {skew_s:.0f} s", "Synchronise this machine's clock.")
    return Finding(name, "ok", f"chain {seen}")


def _described(answer: httpx.Response) -> str:
    """Describes an answer that is not a node's result, without quoting it, because it may repeat the address."""
    try:
        return f"the JSON-RPC error {int(answer.json()['error']['code'])}"
    except (ValueError, KeyError, TypeError):
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        return f"HTTP {answer.status_code} with {media_type or 'a body of unknown type'}"


def _skew_s(date: str | None) -> float | None:
    """Returns the seconds between our clock and a `Date` header field, or None if there is no readable one."""
    try:
        return None if date is None else abs(time.time() - parsedate_to_datetime(date).timestamp())
    except (ValueError, OverflowError):
        return None


def contracts_on_chain(settings: Settings) -> Iterator[Finding]:
    """Checks on the chain that there is code at each address that must be a contract's, and reads the coin's decimals.

    Skips the demo, which sets the addresses of contracts that it deployed, and whose recording has no code.
    """
    if settings.demo or not settings.rpc_urls:
        return
    addresses = {name: address for name in CONTRACTS if (address := getattr(settings, name)) is not None}
    calls: dict[str, Call] = {name: ("eth_getCode", [address, "latest"]) for name, address in addresses.items()}
    if settings.usdc_address is not None:
        calls[_DECIMALS] = decimals_call(settings.usdc_address)
    nodes = [_ask_node(url, settings.chain_id, calls) for url in dict.fromkeys(settings.rpc_urls)]
    answers = {name: [node[name] for node in nodes if name in node] for name in calls}
    unknown = []
    for name in addresses:
        finding = _contract(settings, name, answers)
        if finding is None:
            unknown.append(PREFIX + name.upper())
        else:
            yield finding
    if unknown:
        detail = f"unknown whether they exist ({', '.join(unknown)}): too few nodes answer, or they disagree"
        yield Finding("contracts", "warn", detail, "Check SVC_RPC_URLS.")


def _ask_node(url: str, chain_id: int, calls: Mapping[str, Call]) -> dict[str, Any]:
    """Returns a node's answer to each call: a result or an `RpcError`. Returns no answers for a node that is silent or
    of another chain, which `chain` reports.
    """
    answers: dict[str, Any] = {}
    with blocking_client(RPC_TIMEOUT_S) as client:

        def ask(method: str, params: Sequence[Any]) -> Any:
            body = request_body(method, params)
            reply = client.post(url, content=body, headers={"Content-Type": "application/json"})
            return read_answer(reply.content, method=method)

        try:
            if read_chain_id(ask("eth_chainId", [])) != chain_id:
                return {}
            for name, (method, params) in calls.items():
                try:
                    answers[name] = ask(method, params)
                except RpcError as error:
                    answers[name] = error
        except (httpx.HTTPError, RpcError, ValueError):
            pass
    return answers


def _contract(settings: Settings, name: str, answers: Mapping[str, list[Any]]) -> Finding | None:
    """Reports what is at the address of one setting, or returns None if too few nodes agree."""
    quorum = rail_of(settings).quorum
    check, setting, address = (
        f"contract {name.removesuffix('_address')}",
        PREFIX + name.upper(),
        getattr(settings, name),
    )
    has_code = agreed([[code] for code in answers[name]], 0, quorum, _has_code)
    if has_code is None:
        return None
    if not has_code:
        detail = f"no contract is at {address} on chain {settings.chain_id}"
        return Finding(check, "fail", detail, f"Correct {setting}, or SVC_CHAIN_ID if the chain is another one.")
    if name != "usdc_address":
        return Finding(check, "ok", address)
    decimals = agreed_decimals(answers[_DECIMALS], quorum)
    if decimals is None:
        return None
    fault = coin_fault(decimals)
    if fault is None:
        return Finding(check, "ok", f"{address}, {decimals} decimals")
    detail = f"{address} {fault}: every price would be wrong, so nothing is sold"
    return Finding(check, "fail", detail, f"Set {setting} to USDC's contract on chain {settings.chain_id}.")


def _has_code(code: Any) -> bool:
    """Parses the result of `eth_getCode`. Raises `ValueError`."""
    if not isinstance(code, str) or not code.startswith("0x"):
        raise ValueError("code that is not hex")
    return len(code) > len("0x")


def relayer(settings: Settings) -> Iterator[Finding]:
    """Checks whether signed payments (x402) can be sent, and for how many of them the relayer's gas suffices now."""
    rail = rail_of(settings)
    if not rail.relays:
        yield Finding("relayer", "ok", "off: SVC_RELAYER_KEY_FILE is unset, so signed payments are not accepted")
        return
    address = load_relayer(settings).address.lower()
    if rail.missing:
        unset = ", ".join(rail.missing)
        yield Finding("relayer", "warn", f"{address}; off, because nothing can be sold", f"Set {unset}.")
        return
    head = read_head(rail, asyncio.run(Providers(settings.rpc_urls).ask(head_calls(address))))
    if head is None:
        detail = f"{address}; its balance is unknown: too few nodes answer for chain {rail.chain_id}"
        yield Finding("relayer", "warn", detail, "Check SVC_RPC_URLS.")
        return
    settlements = head.balance_wei // (GAS_LIMIT * head.fees.fee)
    detail = f"{address} has {head.balance_wei / 10**18:.6f} ETH, gas for {settlements:,} settlements at today's fees"
    if settlements >= FEW_SETTLEMENTS:
        yield Finding("relayer", "ok", detail)
    else:
        yield Finding("relayer", "warn" if settlements else "fail", detail, f"Send ETH to {address}.")


def secrets(settings: Settings) -> Iterator[Finding]:
    """Checks whether the master secret and the signing keys can be used. The first start creates those that are not
    set."""
    require_secrets(settings)
    if settings.master_secret is not None or (settings.data_dir / MASTER_SECRET_FILE).exists():
        load_secrets(settings)
    if settings.signing_key_file is None and not (settings.data_dir / SIGNING_KEY_FILE).exists():
        yield Finding("secrets", "ok", "the first start creates those that are not set")
    else:
        count = len(SigningKeys(settings).current().keys)
        yield Finding("secrets", "ok", f"{count} signing key{'s' if count > 1 else ''}")


def jobs(settings: Settings) -> Iterator[Finding]:
    """Reports each failing job of the pipeline, as recorded by the last runs."""
    for job in job_facts(settings.data_dir):
        if job.failing_since is not None:
            since = f"{job.failing_since:%Y-%m-%d %H:%M:%S} UTC"
            detail = f"has failed since {since}, {job.consecutive_failures} runs in a row"
            meaning = "" if job.reason is None else f": {REASONS.get(job.reason, job.reason)}"
            yield Finding(
                f"job {job.name}", "fail", f"{detail}{meaning}", "Run `svc pipeline run` to see what it needs."
            )


def checks(settings: Settings) -> Iterator[Finding]:
    """Reports each table whose checks did not pass, according to the served generation."""
    for table in failed_tables(current_generation(settings.data_dir)):
        cure = f"{CHECKS_PATH} lists them. {CHECK_CURES.get(table, DEFAULT_CHECK_CURE)}"
        yield Finding(f"checks {table}", "fail", "did not pass; its numbers are published and marked as such", cure)


def warehouse_opens(settings: Settings) -> Iterator[Finding]:
    warehouse = Warehouse(settings.data_dir)
    if not warehouse.path.exists():
        yield Finding("warehouse", "ok", "none yet")
        return
    try:
        identity = warehouse.identity()
    except RunBusy:
        yield Finding("warehouse", "ok", "a run is writing to it")
        return
    except OperatorProblem as problem:
        yield Finding("warehouse", "fail", problem.what, problem.cure)
        return
    if identity is None:
        yield Finding("warehouse", "ok", "empty")
    else:
        yield _same_token("warehouse", settings, identity)


def sources(settings: Settings) -> Iterator[Finding]:
    """Reports how each configured source has answered lately, as recorded by the last runs."""
    configured = [source for source in SOURCES if source.is_configured(settings)]
    try:
        with Warehouse(settings.data_dir).read_only() as connection:
            if connection is None:
                return
            lately = {health.source: health for health in source_health(connection)}
    except RunBusy:
        if configured:
            yield Finding("sources", "ok", "a run is querying them")
        return
    except StoreUnusable:
        return  # the warehouse's own line reports it
    for source in configured:
        if source.name in lately:
            yield _source(lately[source.name], source.setting)
        else:
            yield Finding(f"source {source.name}", "warn", "not queried yet", "Run `svc pipeline run`, or `svc run`.")


def _source(health: SourceHealth, setting: str) -> Finding:
    last = "never" if health.succeeded_at is None else f"{health.succeeded_at:%Y-%m-%d %H:%M:%S} UTC"
    detail = f"last success {last}, {health.latency_ms} ms, {health.failures} of {health.attempts} failed in a week"
    if health.reason is None:
        return Finding(f"source {health.source}", "ok", f"{detail}, quality {health.quality or 'not stated'}")
    cure = f"Check {setting}." if health.succeeded_at is None else "It is retried; its last answer is served."
    meaning = REASONS.get(health.reason)
    now = health.reason if meaning is None else f"{health.reason}: {meaning}"
    return Finding(f"source {health.source}", "warn", f"{detail}; now {now}", cure)


def nodes_agree(settings: Settings) -> Iterator[Finding]:
    """Reports, with the answers, each open dispute and those that receipts decided lately; a newest list that the chain
    contradicts; and how many nodes agree with the newest list."""
    try:
        with Warehouse(settings.data_dir).read_only() as connection:
            if connection is None:
                return
            state, disputes = read_state(connection), all_open_disputes(connection)
            newest = None if state is None else recorded_list(connection, state.block)
            decided = decided_by_receipts(connection, datetime.now(UTC) - timedelta(days=1))
    except (RunBusy, StoreUnusable):
        return  # the warehouse's own line reports it
    for dispute in disputes:
        cure = f"Query another node, and remove the wrong one from SVC_RPC_URLS. {_READ_AGAIN}"
        yield Finding("nodes", "fail", f"they disagree on {_told(dispute)}", cure)
    for dispute in decided[:MOST_DECIDED]:
        more = f"; {len(decided) - MOST_DECIDED} more" if len(decided) > MOST_DECIDED else ""
        cure = "The facts that receipts proved are stored. Remove the node that contradicted them from SVC_RPC_URLS."
        yield Finding("nodes", "warn", f"receipts decided in the last day on {_told(dispute)}{more}", cure)
    agreement = None if newest is None else newest.proof.nodes
    if newest is not None and newest.proof.verdict is Verdict.FAILED:
        yield _contradicted_list(newest)
    if newest is None or agreement is None or disputes or len(settings.rpc_urls) < 2:
        return
    detail = (
        f"{agreement.agreed} of {agreement.asked} agree on block {newest.block}, "
        f"{agreement.balances.compared} of {agreement.balances.holders} balances compared"
    )
    absent = [f"{node.host} ({node.reason})" for node in agreement.nodes if not node.answered]
    if absent:
        cure = "A single answering node can't be contradicted: correct or replace the others in SVC_RPC_URLS."
        yield Finding("nodes", "warn", f"{detail}; no answer from {', '.join(absent)}", cure)
    elif newest.proof.verdict is not Verdict.FAILED:
        yield Finding("nodes", "ok", detail)


_READ_AGAIN = "`svc pipeline run` then corrects what was read wrongly."


def _told(dispute: Dispute) -> str:
    """Describes a dispute, with the host of each answer."""
    answers = "; ".join(f"{answer.host}: {answer.answer}" for answer in dispute.answers)
    subject = "" if dispute.subject is None else f" {dispute.subject}"
    return f"{dispute.fact.value}{subject} at block {dispute.block} ({answers})"


def _contradicted_list(newest: HolderList) -> Finding:
    """Reports a list that all nodes contradict in the same way, so that its rows are wrong and not an answer."""
    agreement = newest.proof.nodes
    standings = () if agreement is None else agreement.nodes
    delivered = ", ".join(node.host for node in standings if node.delivered) or "nodes that are no longer set"
    asked = ", ".join(node.host for node in standings if node.answered) or "no node"
    detail = (
        f"the chain contradicts the list of block {newest.block} ({newest.proof.reason}): its transfers came from "
        f"{delivered}, and {asked} answered the contract calls"
    )
    cure = (
        f"Remove the node whose transfers are wrong from SVC_RPC_URLS. {_READ_AGAIN} If all are right, compare "
        "SVC_TOKEN_START_BLOCK with the token's first block."
    )
    return Finding("holder list", "fail", detail, cure)


def ledger_opens(settings: Settings) -> Iterator[Finding]:
    try:
        ledger = open_ledger(settings, settings.data_dir)
        with closing(ledger):
            identity, head = ledger.identity(), ledger.head()
    except OperatorProblem as problem:
        yield Finding("ledger", "fail", problem.what, problem.cure)
        return
    if identity is None:
        yield Finding("ledger", "ok", f"not bound to a chain yet, at change {head}")
    else:
        yield _same_token("ledger", settings, identity)


def other_stores(settings: Settings) -> Iterator[Finding]:
    """Opens the counters, the guardrail's log and Dagster's records, where they exist."""
    for name, opened in (("counters", open_counters), ("guardrail log", open_guardrail_log)):
        try:
            opened(settings, settings.data_dir).close()
        except OperatorProblem as problem:
            yield Finding(name, "fail", problem.what, problem.cure)
        else:
            yield Finding(name, "ok", "opens")
    home = settings.data_dir / "dagster"
    databases = sorted(home.glob("**/*.db"))
    try:
        for database in databases:
            check_file(database)
    except OperatorProblem as problem:
        full = problem.__cause__ is not None and is_full(home, problem.__cause__)
        yield Finding(
            "dagster's records", "fail", problem.what, free_space(home) if full else f"Move it away: {DIARY_CURE}"
        )
    else:
        yield Finding("dagster's records", "ok", f"{len(databases)} databases" if databases else "none yet")


def _same_token(store: str, settings: Settings, stored: ChainIdentity | LedgerIdentity) -> Finding:
    detail = f"chain {stored.chain_id}, token {stored.token_address}"
    expected = (settings.chain_id, settings.token_address)
    if settings.token_address and (stored.chain_id, stored.token_address.lower()) != expected:
        cure = "Set SVC_DATA_DIR to another directory, or change the settings back."
        return Finding(
            store, "fail", f"belongs to {detail}; the settings name chain {expected[0]}, token {expected[1]}", cure
        )
    return Finding(store, "ok", detail)


def companion(settings: Settings) -> Iterator[Finding]:
    """Checks whether pairing codes of the companion application can be trusted, if there is one."""
    if settings.app_url is None:
        yield Finding("pairing", "ok", "no companion application: `svc pair` prints codes")
    elif may_be_asked(settings.app_url, signed=settings.handoff_secret is not None):
        yield Finding("pairing", "ok", f"{settings.app_url} issues the codes")
    else:
        detail = f"{settings.app_url} is not on this machine and signs nothing: no code is accepted"
        yield Finding("pairing", "fail", detail, "Set SVC_HANDOFF_SECRET to the same secret here and there.")


def generation_is_whole(settings: Settings) -> Iterator[Finding]:
    generation = current_generation(settings.data_dir)
    if generation is None:
        yield Finding("generation", "warn", "nothing published yet", "Run `svc pipeline run`, or `svc run`.")
        return
    damaged = damaged_files(generation)
    if damaged:
        detail = f"{generation.id}: {len(damaged)} files differ from the manifest, first {damaged[0]}"
        yield Finding("generation", "fail", detail, f"Delete {settings.data_dir}/current and run `svc publish`.")
    elif generation.manifest.base_url != settings.public_base_url:
        detail = f"{generation.id} was built for {generation.manifest.base_url}"
        yield Finding("generation", "fail", detail, "Run `svc publish`, or change SVC_BASE_URL back.")
    else:
        yield Finding("generation", "ok", generation.id)


def object_store(settings: Settings) -> Iterator[Finding]:
    if settings.publish_url is None:
        yield Finding("object store", "ok", "none set: what is published stays on this host")
        return
    pointer = newest_pointer(origin_of(settings))
    here = current_generation(settings.data_dir)
    if pointer is None:
        cure = "`svc run` stores generations, as does `svc generations push`."
        yield Finding("object store", "warn", f"{settings.publish_url} points to no generation of this service", cure)
    elif here is not None and here.id != pointer.generation:
        cure = (
            "Fine for a few seconds; after that, check that `svc generations push` or `svc generations follow` runs, "
            "and read its log."
        )
        yield Finding("object store", "warn", f"points to {pointer.generation}, but {here.id} is served here", cure)
    else:
        yield Finding("object store", "ok", f"points to {pointer.generation}, pointer {pointer.number}")


def collector(settings: Settings) -> Iterator[Finding]:
    if settings.otlp_url is None:
        yield Finding("collector", "ok", "none set: no traces are sent")
        return
    host = urlsplit(settings.otlp_url).hostname
    try:
        with blocking_client(RPC_TIMEOUT_S) as client:
            # An empty request of the protocol is an empty body.
            answer = client.post(f"{settings.otlp_url}/v1/traces", headers={"Content-Type": "application/x-protobuf"})
            answer.raise_for_status()
    except httpx.HTTPError as error:
        cure = "Set SVC_OTLP_URL to a collector's port for OTLP over HTTP, usually 4318, or unset it."
        yield Finding("collector", "warn", f"{host} accepts no traces ({type(error).__name__})", cure)
    else:
        yield Finding("collector", "ok", f"{host} accepts traces")


def damaged_files(generation: Generation) -> list[str]:
    """Returns the names of components whose bytes differ from the manifest."""

    def digest(path: Path) -> str | None:
        if not path.is_file():
            return None
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()

    components = generation.manifest.components.items()
    return [name for name, component in components if digest(generation.path / name) != component.sha256]


CHECKS: tuple[Check, ...] = (
    python_version,
    environment_is_the_locks,
    local_chain,
    disk_space,
    file_modes,  # before `data_directory`, which corrects some modes as a side effect
    data_directory,
    ports,
    chain,
    contracts_on_chain,
    secrets,
    relayer,
    jobs,
    checks,
    warehouse_opens,
    nodes_agree,
    sources,
    ledger_opens,
    other_stores,
    companion,
    generation_is_whole,
    object_store,
    collector,
)


def _check_findings(check: Check, settings: Settings) -> Iterator[Finding]:
    """Yields the findings of one check. If a store stops it, the last finding reports that, and other checks go on."""
    try:
        yield from check(settings)
    except (OperatorProblem, OSError) as error:
        problem = operator_problem(error)
        yield Finding(check.__name__.replace("_", " "), "fail", problem.what, problem.cure)


def doctor(as_json: bool) -> None:
    failure = OperatorProblem.exit_code
    try:
        settings = effective_settings()
    except OperatorProblem as problem:
        findings, failure = [Finding("settings", "fail", problem.what, problem.cure)], problem.exit_code
    else:
        findings = [finding for check in CHECKS for finding in _check_findings(check, settings)]
    fit = all(finding.status != "fail" for finding in findings)
    if as_json:
        print_json({"ok": fit, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            say(f"{MARKS[finding.status]}  {finding.check:<16} {finding.detail}")
            if finding.cure:
                say(f"      {'':<16} -> {finding.cure}")
    if not fit:
        raise typer.Exit(failure)
