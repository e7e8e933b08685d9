"""Implements `svc verify`: proves a published generation again, from only its files and an RPC.

The judging is pure and elsewhere.
"""

import asyncio
import gzip
import hashlib
import random
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TypeVar

import httpx
import typer
from pydantic import BaseModel, ValidationError

from cli.environment import effective_settings, given_address
from cli.output import operator_problems, print_json, say
from cli.verify_mirror import mirror_checks
from contracts.errors import ChainMismatch, OperatorProblem, RpcUnavailable, SettingsInvalid
from contracts.token.holder_documents import Consistency, TokenHolders, TokenHoldersMap
from contracts.token.proof import HolderListFile, Missing, Verdict, pick_sample
from contracts.token.verification import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    Check,
    PublishedList,
    chain_checks,
    check,
    claim_checks,
    list_checks,
    map_check,
    read_list,
    verdict_of,
)
from pipelines.clients.rpc import RpcPool
from pipelines.token.proof import ask_contract
from warehouse.clients.http import blocking_client

_TIMEOUT_S = 30.0
_DOCUMENT_BYTES = 8 << 20
_RANDOM_BALANCES = 10
_TRIES = 3

Model = TypeVar("Model", bound=BaseModel)


class NothingToVerify(OperatorProblem):
    """The address does not serve a holder list with a proof."""

    code = "nothing_to_verify"


def verify(
    url: str | None,
    rpc: str | None,
    as_json: bool,
    mirror: str | None = None,
    keys: Path | None = None,
    seen: Path | None = None,
) -> None:
    """Proves the published holder list again: file, sums, supply and sampled balances; or checks a mirror.

    Exits with 0 only if it is proven.
    """
    with operator_problems(as_json):
        if mirror is not None:
            with blocking_client(_TIMEOUT_S, proxied=True) as client:
                _report(mirror_checks(client, mirror, url, keys, seen, datetime.now(UTC)), as_json)
            return
        if url is None:
            raise SettingsInvalid("No service is named.", cure="Pass its address as URL, or a mirror's with --mirror.")
        given_address("URL", url)
        if rpc:
            given_address("--rpc", rpc)
        urls = (rpc,) if rpc else effective_settings().rpc_urls
        if not urls:
            raise RpcUnavailable("No RPC is known to ask.", cure="Pass --rpc URL, or set SVC_RPC_URLS.")
        with blocking_client(_TIMEOUT_S, proxied=True) as client:
            checks = list(run_checks(client, url.rstrip("/"), urls))
    _report(checks, as_json)


def _report(checks: Sequence[Check], as_json: bool) -> None:
    """Prints the checks and their verdict. Exits with 1 unless everything is proven."""
    verdict = verdict_of(checks)
    if as_json:
        print_json(
            {"ok": verdict is Verdict.PROVEN, "verdict": verdict, "checks": [asdict(result) for result in checks]}
        )
    else:
        for result in checks:
            say(f"{result.outcome.value:8}{result.name}: {result.detail}")
        say(f"verdict: {verdict.value}")
    if verdict is not Verdict.PROVEN:
        raise typer.Exit(1)


def run_checks(client: httpx.Client, base_url: str, rpc_urls: Sequence[str]) -> Iterator[Check]:
    """Runs every check of the generation at `base_url`. Raises `NothingToVerify` where it has no list with a proof."""
    document, page = _same_block(client, base_url)
    consistency = document.consistency
    named = consistency.proof.holder_list if consistency else None
    if consistency is None or named is None or document.token is None or document.chain_id is None:
        raise NothingToVerify(
            f"{base_url} has no holder list yet ({document.reason}).", cure="Try again once its backfill is done."
        )
    yield from claim_checks(document, consistency)
    with tempfile.TemporaryFile() as handle:
        file_check = _download(client, base_url, named, handle)
        yield file_check
        handle.seek(0)
        published = _unpacked(handle, named)
    yield from list_checks(document, consistency, published)
    yield map_check(page.block, page.holders, published)
    yield from asyncio.run(_ask_chain(rpc_urls, document.chain_id, document.token.address, consistency, published))


def _same_block(client: httpx.Client, base_url: str) -> tuple[TokenHolders, TokenHoldersMap]:
    """Returns both documents from the same list, though a new one may be published in between."""
    for _ in range(_TRIES):
        document = _document(client, f"{base_url}/api/token/holders", TokenHolders)
        page = _document(client, f"{base_url}/api/token/holders-map", TokenHoldersMap)
        if document.consistency is None or page.block == document.consistency.block:
            break
    return document, page


def _document(client: httpx.Client, url: str, model: type[Model]) -> Model:
    try:
        with client.stream("GET", url) as response:
            if response.status_code != 200:
                wait = response.headers.get("Retry-After", "")
                cure = f"Try again in {wait} s." if wait.isdigit() else "Check the address."
                raise NothingToVerify(f"{url} answers {response.status_code}.", cure=cure)
            body = b""
            for part in response.iter_bytes():
                body += part
                if len(body) > _DOCUMENT_BYTES:
                    raise NothingToVerify(f"{url} is larger than a document may be.", cure="Check the address.")
        return model.model_validate_json(body)
    except httpx.HTTPError as error:
        raise NothingToVerify(f"{url} can't be read ({error}).", cure="Check that the service runs there.") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = "/".join(map(str, first["loc"])) or "all of it"
        raise NothingToVerify(
            f"{url} is not the document it should be ({place}: {first['msg']}).", cure="Check the address."
        ) from None


def _download(client: httpx.Client, base_url: str, named: HolderListFile, handle: IO[bytes]) -> Check:
    """Fetches the published list file, at most as long as the proof says, and compares its hash."""
    digest, size = hashlib.sha256(), 0
    limit = min(named.bytes, MAX_FILE_BYTES)
    try:
        with client.stream("GET", base_url + named.path, headers={"accept-encoding": "identity"}) as response:
            if response.status_code != 200:
                return check("list file", False, f"{named.path} answers {response.status_code}")
            for part in response.iter_raw():
                size += len(part)
                if size > limit:
                    return check(
                        "list file", False, f"{named.path} is longer than the {named.bytes} bytes of the proof"
                    )
                digest.update(part)
                handle.write(part)
    except httpx.HTTPError as error:
        return check("list file", False, f"{named.path} can't be read ({error})")
    same = size == named.bytes and digest.hexdigest() == named.sha256
    return check("list file", same, f"{size} bytes, SHA-256 {digest.hexdigest()}, proof {named.sha256}")


def _unpacked(handle: IO[bytes], named: HolderListFile) -> PublishedList:
    rows: list[tuple[str, int]] = []
    try:
        with gzip.GzipFile(fileobj=handle) as unpacked:
            lines = iter(lambda: unpacked.readline(MAX_LINE_BYTES + 1), b"")
            return read_list(lines, max_rows=named.rows)
    except (OSError, EOFError, zlib.error) as error:
        return PublishedList(rows, f"the file does not unpack ({error})")


async def _ask_chain(
    rpc_urls: Sequence[str], chain_id: int, token: str, consistency: Consistency, published: PublishedList
) -> list[Check]:
    balances = dict(published.rows)
    drawn = random.SystemRandom().sample(published.rows, min(_RANDOM_BALANCES, len(published.rows)))
    addresses = dict.fromkeys(
        [*pick_sample([address for address, _ in published.rows], consistency.block_hash), *dict(drawn)]
    )
    async with RpcPool(rpc_urls, chain_id=chain_id, patience_s=10.0) as pool:
        try:
            answers = await ask_contract(
                pool,
                token=token,
                block=consistency.block,
                balances={address: balances[address] for address in addresses},
            )
        except ChainMismatch as mismatch:
            return [check("chain", False, mismatch.what)]
    chain = [] if answers.block_hash is Missing.RPC_UNAVAILABLE else [check("chain", True, f"id {chain_id}")]
    return [*chain, *chain_checks(consistency, published, answers)]
