"""Implements `svc verify`: proves a published list again, from its files and an RPC, or offline and a block hash.

The judging is pure and elsewhere.
"""

import asyncio
import gzip
import hashlib
import io
import random
import re
import tempfile
import zlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol, TypeVar

import httpx
import typer
from pydantic import BaseModel, ValidationError

from cli.environment import effective_settings, given_address
from cli.output import operator_problems, print_json, say
from cli.verify_mirror import mirror_checks
from contracts.errors import ChainMismatch, OperatorProblem, RpcUnavailable, SettingsInvalid
from contracts.token.holder_documents import Consistency, TokenHolders, TokenHoldersMap
from contracts.token.holders import csv_file_name
from contracts.token.proof import HolderListFile, Missing, Verdict, pick_sample
from contracts.token.storage_proof import StorageProofInvalid, header_hash, unpack
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
    storage_checks,
    verdict_of,
)
from pipelines.clients.rpc import RpcPool
from pipelines.token.nodes import ListQuestions, survey_nodes
from warehouse.clients.http import blocking_client

_TIMEOUT_S = 30.0
_DOCUMENT_BYTES = 8 << 20
_RANDOM_BALANCES = 10
_TRIES = 3
_ANY_ROWS = 1 << 26
_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_STORAGE_FILE = re.compile(r"holders-([0-9]{1,18})\.storage\.json\.gz")

Model = TypeVar("Model", bound=BaseModel)


class NothingToVerify(OperatorProblem):
    """The address does not serve a holder list with a proof."""

    code = "nothing_to_verify"


class NamedFile(Protocol):
    """The length and digest that a document gives for a file beside it."""

    @property
    def path(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def bytes(self) -> int: ...


def verify(
    url: str | None,
    rpc: str | None,
    as_json: bool,
    offline: bool = False,
    block_hash: str | None = None,
    mirror: str | None = None,
    keys: Path | None = None,
    seen: Path | None = None,
) -> None:
    """Proves the published holder list again, or checks the files of a mirror against the signed manifest.

    With an RPC: file, sums, supply and sampled balances, and every balance where there is a storage proof. `offline`:
    every balance from the files alone, and from `block_hash`. Exits with 0 only if it is proven.
    """
    with operator_problems(as_json):
        if mirror is not None:
            with blocking_client(_TIMEOUT_S, proxied=True) as client:
                _report(mirror_checks(client, mirror, url, keys, seen, datetime.now(UTC)), as_json)
            return
        if url is None:
            raise SettingsInvalid("No service is named.", cure="Pass its address as URL, or a mirror's with --mirror.")
        if block_hash is not None and not _HASH.fullmatch(block_hash):
            raise SettingsInvalid(
                f"--block-hash {block_hash!r} is no block hash.", cure="Pass 0x and 64 hex digits, from any source."
            )
        if block_hash is not None and not offline:
            raise SettingsInvalid("--block-hash is for --offline.", cure="Add --offline, or leave out --block-hash.")
        trusted = None if block_hash is None else block_hash.lower()
        if offline and Path(url).is_dir():
            checks = list(run_folder_checks(Path(url), trusted))
        else:
            given_address("URL", url)
            checks = _checks_of_url(url.rstrip("/"), rpc, offline, trusted)
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


def _checks_of_url(url: str, rpc: str | None, offline: bool, block_hash: str | None) -> list[Check]:
    if offline:
        with blocking_client(_TIMEOUT_S, proxied=True) as client:
            return list(run_offline_checks(client, url, block_hash))
    if rpc:
        given_address("--rpc", rpc)
    urls = (rpc,) if rpc else effective_settings().rpc_urls
    if not urls:
        raise RpcUnavailable("No RPC is known to ask.", cure="Pass --rpc URL, or set SVC_RPC_URLS.")
    with blocking_client(_TIMEOUT_S, proxied=True) as client:
        return list(run_checks(client, url, urls))


def run_checks(client: httpx.Client, base_url: str, rpc_urls: Sequence[str]) -> Iterator[Check]:
    """Runs every check of the generation at `base_url`. Raises `NothingToVerify` where it has no list with a proof."""
    document, page = _same_block(client, base_url)
    consistency, named = _proven_list(document, base_url)
    if document.token is None or document.chain_id is None:
        raise NothingToVerify(f"{base_url} names no token.", cure="Try again once its backfill is done.")
    yield from claim_checks(document, consistency)
    published = yield from _published_checks(client, base_url, document, consistency, named)
    yield map_check(page.block, page.holders, published)
    yield from asyncio.run(_ask_chain(rpc_urls, document.chain_id, document.token.address, consistency, published))
    storage = consistency.proof.storage
    if storage is not None and storage.file is not None:
        yield from _storage_checks(client, base_url, storage.file, published, consistency.block_hash)


def run_offline_checks(client: httpx.Client, base_url: str, block_hash: str | None) -> Iterator[Check]:
    """Checks the files at `base_url` down to every balance, by a block hash and no RPC.

    Raises `NothingToVerify` where there is no storage proof.
    """
    document = _document(client, f"{base_url}/api/token/holders", TokenHolders)
    consistency, named = _proven_list(document, base_url)
    storage = consistency.proof.storage
    if storage is None or storage.file is None:
        why = "older than storage proofs" if storage is None or storage.reason is None else storage.reason.value
        raise NothingToVerify(
            f"The list at {base_url} has no storage proof ({why}).", cure="Leave out --offline, and pass --rpc URL."
        )
    yield from claim_checks(document, consistency)
    published = yield from _published_checks(client, base_url, document, consistency, named)
    yield from _storage_checks(client, base_url, storage.file, published, block_hash)


def run_folder_checks(folder: Path, block_hash: str | None) -> Iterator[Check]:
    """Checks a list and its storage proof in `folder`: those of the block hash, or the newest pair without one.

    Raises `NothingToVerify` where the folder has no such pair.
    """
    pairs = [(int(match[1]), path) for path in folder.iterdir() if (match := _STORAGE_FILE.fullmatch(path.name))]
    for block, path in sorted(pairs, reverse=True):
        listed = folder / csv_file_name(block)
        if not listed.is_file():
            continue
        file = path.read_bytes()
        if block_hash is not None and len(pairs) > 1 and _hash_of(file) != block_hash:
            continue
        with listed.open("rb") as handle:
            published = _unpacked(handle, _ANY_ROWS)
        yield check("list rows", published.fault is None, published.fault or f"{len(published.rows)} rows in order")
        yield from storage_checks(file, published, block_hash)
        return
    wanted = "" if block_hash is None else f" of block {block_hash}"
    raise NothingToVerify(
        f"{folder} has no list with its storage proof{wanted}.",
        cure="Fetch /data/holders-BLOCK.csv.gz and /data/holders-BLOCK.storage.json.gz into it.",
    )


def _proven_list(document: TokenHolders, base_url: str) -> tuple[Consistency, HolderListFile]:
    consistency = document.consistency
    named = consistency.proof.holder_list if consistency else None
    if consistency is None or named is None:
        raise NothingToVerify(
            f"{base_url} has no holder list yet ({document.reason}).", cure="Try again once its backfill is done."
        )
    return consistency, named


def _published_checks(
    client: httpx.Client, base_url: str, document: TokenHolders, consistency: Consistency, named: HolderListFile
) -> Generator[Check, None, PublishedList]:
    with tempfile.TemporaryFile() as handle:
        yield _download(client, base_url, "list file", named, handle)
        handle.seek(0)
        published = _unpacked(handle, named.rows)
    yield from list_checks(document, consistency, published)
    return published


def _storage_checks(
    client: httpx.Client, base_url: str, named: NamedFile, published: PublishedList, block_hash: str | None
) -> Iterator[Check]:
    handle = io.BytesIO()
    yield _download(client, base_url, "storage file", named, handle)
    yield from storage_checks(handle.getvalue(), published, block_hash)


def _hash_of(file: bytes) -> str | None:
    try:
        return header_hash(unpack(file))
    except StorageProofInvalid:
        return None


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


def _download(client: httpx.Client, base_url: str, name: str, named: NamedFile, handle: IO[bytes]) -> Check:
    """Fetches a published file, at most as long as the proof says, and compares its hash."""
    digest, size = hashlib.sha256(), 0
    limit = min(named.bytes, MAX_FILE_BYTES)
    try:
        with client.stream("GET", base_url + named.path, headers={"accept-encoding": "identity"}) as response:
            if response.status_code != 200:
                return check(name, False, f"{named.path} answers {response.status_code}")
            for part in response.iter_raw():
                size += len(part)
                if size > limit:
                    return check(name, False, f"{named.path} is longer than the {named.bytes} bytes of the proof")
                digest.update(part)
                handle.write(part)
    except httpx.HTTPError as error:
        return check(name, False, f"{named.path} can't be read ({error})")
    same = size == named.bytes and digest.hexdigest() == named.sha256
    return check(name, same, f"{size} bytes, SHA-256 {digest.hexdigest()}, proof {named.sha256}")


def _unpacked(handle: IO[bytes], max_rows: int) -> PublishedList:
    rows: list[tuple[str, int]] = []
    try:
        with gzip.GzipFile(fileobj=handle) as unpacked:
            lines = iter(lambda: unpacked.readline(MAX_LINE_BYTES + 1), b"")
            return read_list(lines, max_rows=max_rows)
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
            survey = await survey_nodes(
                pool,
                ListQuestions(
                    token=token,
                    block=consistency.block,
                    block_hash=consistency.block_hash,
                    sample={address: balances[address] for address in addresses},
                ),
            )
            asked = len(pool.live)
        except ChainMismatch as mismatch:
            return [check("chain", False, mismatch.what)]
    answers = survey.answers
    lines = [] if answers.block_hash is Missing.RPC_UNAVAILABLE else [check("chain", True, f"id {chain_id}")]
    if asked > 1:
        agreed = sum(node.agreed for node in survey.standings)
        differing = "".join(f"; they differ on {found.fact} {found.subject or ''}" for found in survey.disagreements)
        lines.append(
            check("own nodes", not survey.disagreements, f"{agreed} of {asked} agree with the list{differing}")
        )
    return [*lines, *chain_checks(consistency, published, answers)]
