"""Implements `svc verify`: proves published lists from their files and an RPC, or offline from a block hash.

The pure checks are in `contracts.token.verification`.
"""

import asyncio
import gzip
import hashlib
import io
import random
import re
import tempfile
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol, Self, TypeVar

import httpx
import msgspec
import typer
from pydantic import BaseModel, TypeAdapter, ValidationError

from cli.environment import effective_settings, given_address
from cli.output import operator_problems, print_json, say
from cli.verify_mirror import mirror_checks, published_body
from contracts.base import AddressText
from contracts.errors import ChainMismatch, OperatorProblem, RpcUnavailable, SettingsInvalid
from contracts.open_data.manifest import ManifestFile, PublicManifest
from contracts.open_data.names import MANIFEST_PATH, TOKENS_INDEX_PATH
from contracts.token.further_tokens import IndexedToken, PublishedToken, TokenIndex, document_path, indexed_token
from contracts.token.holder_documents import TokenHolders, TokenHoldersMap
from contracts.token.holders import csv_file_name
from contracts.token.proof import HolderListFile, Missing, Verdict, pick_sample
from contracts.token.storage_proof import StorageProofInvalid, header_hash, unpack
from contracts.token.verification import (
    MAX_FILE_BYTES,
    MAX_LINE_BYTES,
    Check,
    ClaimedList,
    PublishedList,
    chain_checks,
    check,
    claim_checks,
    claimed_list,
    claimed_list_of,
    explained_verdict,
    further_token_checks,
    list_checks,
    map_check,
    read_list,
    storage_checks,
    supply_check,
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


@dataclass(frozen=True)
class _Named:
    """A file as the manifest lists it."""

    path: str
    sha256: str
    bytes: int

    @classmethod
    def of(cls, path: str, files: Mapping[str, ManifestFile]) -> Self:
        return cls(path, files[path].sha256, files[path].bytes)


class NamedFile(Protocol):
    """The length and digest that a document states for a file published with it."""

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
    token: str | None = None,
) -> None:
    """Proves published holder lists from scratch, or checks the files of a mirror against the signed manifest.

    With an RPC, checks file, sums, supply and sampled balances, and every balance if there is a storage proof, of every
    token or of `token`. With `offline`, checks every balance of one list using only the files and `block_hash`. Exits
    with 0 only if everything is proven.
    """
    with operator_problems(as_json):
        if mirror is not None:
            with blocking_client(_TIMEOUT_S, proxied=True) as client:
                _report(mirror_checks(client, mirror, url, keys, seen, datetime.now(UTC)), as_json)
            return
        if url is None:
            raise SettingsInvalid(
                "There is no URL.", cure="Pass a service's address as URL, or a mirror's with --mirror."
            )
        if block_hash is not None and not _HASH.fullmatch(block_hash):
            raise SettingsInvalid(
                f"--block-hash {block_hash!r} is not a block hash.",
                cure="Pass 0x and 64 hex digits, from a source that you trust.",
            )
        if block_hash is not None and not offline:
            raise SettingsInvalid("--block-hash is for --offline.", cure="Add --offline, or leave out --block-hash.")
        chosen = None if token is None else _address(token)
        trusted = None if block_hash is None else block_hash.lower()
        if "://" not in url and (offline or Path(url).exists()):
            checks = list(run_folder_checks(_folder(Path(url), offline), trusted))
        else:
            given_address("URL", url)
            checks = _checks_of_url(url.rstrip("/"), rpc, offline, trusted, chosen)
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
        say(f"verdict: {explained_verdict(checks)}")
    if verdict is not Verdict.PROVEN:
        raise typer.Exit(1)


def _folder(path: Path, offline: bool) -> Path:
    if not path.is_dir():
        what = f"{path} is a file, not a folder" if path.exists() else f"There is no folder {path}"
        raise SettingsInvalid(
            f"{what}.", cure="Pass the folder of the list and its proof, or an address such as http://127.0.0.1:8000."
        )
    if not offline:
        raise SettingsInvalid(f"{path} is a folder, not a service.", cure="Add --offline.")
    return path


def _address(text: str) -> str:
    try:
        return TypeAdapter(AddressText).validate_python(text.lower())
    except ValidationError:
        raise SettingsInvalid(f"--token {text!r} is not an address.", cure="Pass 0x and 40 hex digits.") from None


def _checks_of_url(url: str, rpc: str | None, offline: bool, block_hash: str | None, token: str | None) -> list[Check]:
    if offline:
        with blocking_client(_TIMEOUT_S, proxied=True) as client:
            return list(run_offline_checks(client, url, block_hash, token))
    if rpc:
        given_address("--rpc", rpc)
    urls = (rpc,) if rpc else effective_settings().rpc_urls
    if not urls:
        raise RpcUnavailable("There is no RPC to query.", cure="Pass --rpc URL, or set SVC_RPC_URLS.")
    with blocking_client(_TIMEOUT_S, proxied=True) as client:
        return list(run_checks(client, url, urls, token))


def run_checks(
    client: httpx.Client, base_url: str, rpc_urls: Sequence[str], token: str | None = None
) -> Iterator[Check]:
    """Runs every check of the generation at `base_url`, for the service token and all further ones, or for `token`.

    Raises `NothingToVerify` if there is no list with a proof.
    """
    further = [row for row in _further_tokens(client, base_url) if token in (None, row.address)]
    if token is None or not further:
        document, page = _same_block(client, base_url)
        claim, named = _claimed(base_url, claimed_list(document), document.reason, token)
        yield from [*claim_checks(claim), supply_check(document, claim)]
        published = yield from _published_checks(client, base_url, claim, named)
        yield map_check(page.block, page.holders, published)
        yield from _evidence_checks(client, base_url, rpc_urls, claim, published)
    for row in further:
        for found in _further_token_checks(client, base_url, rpc_urls, row):
            yield replace(found, name=f"{row.address} {found.name}")


def _further_token_checks(
    client: httpx.Client, base_url: str, rpc_urls: Sequence[str], row: IndexedToken
) -> Iterator[Check]:
    token, row = _same_token(client, base_url, row)
    yield from further_token_checks(token, row)
    claim = claimed_list_of(token)
    if claim is None or claim.proof.holder_list is None:
        return
    yield from claim_checks(claim)
    published = yield from _published_checks(client, base_url, claim, claim.proof.holder_list)
    yield from _evidence_checks(client, base_url, rpc_urls, claim, published)


def run_offline_checks(
    client: httpx.Client, base_url: str, block_hash: str | None, token: str | None = None
) -> Iterator[Check]:
    """Checks the files at `base_url` down to every balance, against a block hash and without RPC, for the service token
    or for `token`.

    Raises `NothingToVerify` if there is no storage proof, or no list of that block.
    """
    row = next((row for row in _further_tokens(client, base_url) if row.address == token), None) if token else None
    if row is not None:
        further, row = _same_token(client, base_url, row)
        claim, named = _claimed(base_url, claimed_list_of(further), further.reason, token)
        documented = further_token_checks(further, row)
    else:
        document = _document(client, f"{base_url}/api/token/holders", TokenHolders)
        claim, named = _claimed(base_url, claimed_list(document), document.reason, token)
        documented = [supply_check(document, claim)]
    if block_hash not in (None, claim.block_hash):
        yield from _earlier_list_checks(client, base_url, block_hash, claim)
        return
    storage = claim.proof.storage
    if storage is None or storage.file is None:
        why = "older than storage proofs" if storage is None or storage.reason is None else storage.reason.value
        raise NothingToVerify(
            f"The list at {base_url} has no storage proof ({why}).", cure="Leave out --offline, and pass --rpc URL."
        )
    yield from [*claim_checks(claim), *documented]
    published = yield from _published_checks(client, base_url, claim, named)
    yield from _storage_checks(client, base_url, storage.file, published, block_hash)


def _earlier_list_checks(client: httpx.Client, base_url: str, block_hash: str, newest: ClaimedList) -> Iterator[Check]:
    """Checks the list of an earlier block, whose files the manifest lists in the same folder as those of `newest`.

    Raises `NothingToVerify` if none of them is of that block.
    """
    files = _manifest_files(client, base_url)
    folder = newest.path.removesuffix(csv_file_name(newest.block))
    for block, storage_path in _storage_files(path.removeprefix(folder) for path in files if path.startswith(folder)):
        list_path = folder + csv_file_name(block)
        if list_path not in files:
            continue
        proof = io.BytesIO()
        same_proof = _download(client, base_url, "storage file", _Named.of(folder + storage_path, files), proof)
        if _hash_of(proof.getvalue()) != block_hash:
            continue
        with tempfile.TemporaryFile() as listed:
            yield _download(client, base_url, "list file", _Named.of(list_path, files), listed)
            listed.seek(0)
            published = _unpacked(listed, _ANY_ROWS)
        yield from [_rows_check(published), same_proof, *storage_checks(proof.getvalue(), published, block_hash)]
        return
    raise NothingToVerify(
        f"{base_url} publishes no list with a storage proof for block {block_hash}.",
        cure=f"The newest list is of block {newest.block}, {newest.block_hash}; pass the hash of a block with a list.",
    )


def run_folder_checks(folder: Path, block_hash: str | None) -> Iterator[Check]:
    """Checks a list and its storage proof in `folder` or its subfolder `data`: the pair of the block hash, or without
    one the newest pair.

    Raises `NothingToVerify` if the folder has no such pair.
    """
    for place in (folder, folder / "data"):
        pairs = _storage_files(path.name for path in place.iterdir()) if place.is_dir() else []
        for block, name in pairs:
            listed = place / csv_file_name(block)
            if not listed.is_file():
                continue
            file = (place / name).read_bytes()
            if block_hash is not None and len(pairs) > 1 and _hash_of(file) != block_hash:
                continue
            with listed.open("rb") as handle:
                published = _unpacked(handle, _ANY_ROWS)
            yield _rows_check(published)
            yield from storage_checks(file, published, block_hash)
            return
    wanted = "" if block_hash is None else f" of block {block_hash}"
    raise NothingToVerify(
        f"{folder} has no list with its storage proof{wanted}.",
        cure="Download /data/holders-BLOCK.csv.gz and /data/holders-BLOCK.storage.json.gz into it.",
    )


def _storage_files(names: Iterable[str]) -> list[tuple[int, str]]:
    """Returns block and name of each storage proof among the names, newest first."""
    return sorted(((int(match[1]), name) for name in names if (match := _STORAGE_FILE.fullmatch(name))), reverse=True)


def _rows_check(published: PublishedList) -> Check:
    return check("list rows", published.fault is None, published.fault or f"{len(published.rows)} rows in order")


def _manifest_files(client: httpx.Client, base_url: str) -> Mapping[str, ManifestFile]:
    """Returns every published file by path; empty if there is no manifest."""
    try:
        return msgspec.json.decode(published_body(client, base_url + MANIFEST_PATH) or b"", type=PublicManifest).files
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _claimed(
    base_url: str, claim: ClaimedList | None, reason: str | None, token: str | None
) -> tuple[ClaimedList, HolderListFile]:
    if claim is None or claim.proof.holder_list is None:
        raise NothingToVerify(
            f"{base_url} has no holder list yet ({reason}).", cure="Try again once its backfill is done."
        )
    if token not in (None, claim.token):
        raise NothingToVerify(
            f"{base_url} publishes no list of {token}.",
            cure=f"Its list is of {claim.token}; {TOKENS_INDEX_PATH} lists further tokens, if any.",
        )
    return claim, claim.proof.holder_list


def _further_tokens(client: httpx.Client, base_url: str) -> list[IndexedToken]:
    """Returns the rows of the index of further tokens; empty if there is no index."""
    index = _document_if_any(client, f"{base_url}{TOKENS_INDEX_PATH}", TokenIndex)
    return [] if index is None else index.tokens


def _same_token(client: httpx.Client, base_url: str, row: IndexedToken) -> tuple[PublishedToken, IndexedToken]:
    """Returns a further token's document and its row of the index, even if new ones are published in between."""
    for _ in range(_TRIES):
        token = _document(client, f"{base_url}{document_path(row.address)}", PublishedToken)
        if indexed_token(token) == row:
            break
        row = next((line for line in _further_tokens(client, base_url) if line.address == row.address), row)
    return token, row


def _published_checks(
    client: httpx.Client, base_url: str, claim: ClaimedList, named: HolderListFile
) -> Generator[Check, None, PublishedList]:
    with tempfile.TemporaryFile() as handle:
        yield _download(client, base_url, "list file", named, handle)
        handle.seek(0)
        published = _unpacked(handle, named.rows)
    yield from list_checks(claim, published)
    return published


def _evidence_checks(
    client: httpx.Client, base_url: str, rpc_urls: Sequence[str], claim: ClaimedList, published: PublishedList
) -> Iterator[Check]:
    yield from asyncio.run(_ask_chain(rpc_urls, claim, published))
    storage = claim.proof.storage
    if storage is not None and storage.file is not None:
        yield from _storage_checks(client, base_url, storage.file, published, claim.block_hash)


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
    """Returns both documents for the same list, even if a new one is published in between."""
    for _ in range(_TRIES):
        document = _document(client, f"{base_url}/api/token/holders", TokenHolders)
        page = _document(client, f"{base_url}/api/token/holders-map", TokenHoldersMap)
        if document.consistency is None or page.block == document.consistency.block:
            break
    return document, page


def _document(client: httpx.Client, url: str, model: type[Model]) -> Model:
    document = _document_if_any(client, url, model)
    if document is None:
        raise NothingToVerify(f"{url} answers 404.", cure="Check the address.")
    return document


def _document_if_any(client: httpx.Client, url: str, model: type[Model]) -> Model | None:
    try:
        with client.stream("GET", url) as response:
            if response.status_code == 404:
                return None
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
    """Downloads a published file, up to the length that the proof states, and compares its hash."""
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


async def _ask_chain(rpc_urls: Sequence[str], claim: ClaimedList, published: PublishedList) -> list[Check]:
    balances = dict(published.rows)
    drawn = random.SystemRandom().sample(published.rows, min(_RANDOM_BALANCES, len(published.rows)))
    addresses = dict.fromkeys(
        [*pick_sample([address for address, _ in published.rows], claim.block_hash), *dict(drawn)]
    )
    async with RpcPool(rpc_urls, chain_id=claim.chain_id, patience_s=10.0) as pool:
        try:
            survey = await survey_nodes(
                pool,
                ListQuestions(
                    token=claim.token,
                    block=claim.block,
                    block_hash=claim.block_hash,
                    sample={address: balances[address] for address in addresses},
                ),
            )
            asked = len(pool.live)
        except ChainMismatch as mismatch:
            return [check("chain", False, mismatch.what)]
    answers = survey.answers
    lines = [] if answers.block_hash is Missing.RPC_UNAVAILABLE else [check("chain", True, f"id {claim.chain_id}")]
    if asked > 1:
        agreed = sum(node.agreed for node in survey.standings)
        differing = "".join(f"; they differ on {found.fact} {found.subject or ''}" for found in survey.disagreements)
        lines.append(
            check("own nodes", not survey.disagreements, f"{agreed} of {asked} agree with the list{differing}")
        )
    return [*lines, *chain_checks(claim, published, answers)]
