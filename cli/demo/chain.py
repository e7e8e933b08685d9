"""Runs the demo chain from start to stop: chooses its history, dumps it, and provides the service's settings."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import httpx

from cli.demo.anvil import PRUNED, Anvil, install
from cli.demo.directory import DEMO_CONFIRMATIONS, UNREADABLE, DemoDescription, DemoDirectory, answers_as, end_orphan
from cli.demo.history import plan_history
from cli.demo.record import chain_of, load_recording
from cli.demo.recorded import RecordedNode
from cli.demo.rpc import Rpc, RpcError
from cli.demo.traffic import Traffic
from cli.demo.write import (
    BIDWALL_TRIGGER_WEI,
    DemoContracts,
    contracts_sha256,
    genesis_flags,
    write_contracts,
    write_history,
)
from contracts.access.eth_accounts import eth_account
from contracts.errors import AnvilUnavailable

Say = Callable[[str], None]
Stamp = tuple[int, str]
"""A block that a store relies on, as number and hash."""

HeldBlocks = Callable[[], Sequence[Stamp]]

CHAIN_ID: Final = 8453
RELAYER_WEI: Final = 10**18
"""Balance, at each start, of the address that sends signed payments: gas for thousands of them."""

DUMP_EVERY_S: Final = 120.0
DUMP_AFTER_S: Final = 30.0
"""The demo reads its chain at every second minute of the clock. A dump half a minute later contains what was read, and
costs a third of a CPU second."""

_DUMP_ATTEMPTS: Final = 5


class DemoChain:
    """A running demo chain, created by `start`. `stop` leaves a dump from which the next start continues."""

    def __init__(
        self,
        directory: DemoDirectory,
        description: DemoDescription,
        node: Anvil | RecordedNode,
        resources: ExitStack,
        say: Say,
    ) -> None:
        self._directory = directory
        self._description = description
        self._node = node
        self._resources = resources
        self._quiet = threading.Lock()
        self._traffic: Traffic | None = None
        self._dumper: _Dumper | None = None
        if isinstance(node, Anvil):
            self._dumper = _Dumper(directory, node, say, self._quiet).start()

    @classmethod
    def start(
        cls,
        data_dir: Path,
        say: Say = print,
        *,
        held_blocks: HeldBlocks = tuple,
        reset: bool = False,
    ) -> DemoChain:
        """Continues from the dump in `<data_dir>/demo/`, or starts over if no dump fits.

        A dump fits if it contains the blocks that `held_blocks` returns. If not, the whole directory is reset, and
        `say` gets a line about it. Without Node.js the committed recording is served instead. Raises `DemoBusy` if
        another process runs the demo there.
        """
        directory = DemoDirectory(data_dir)
        with ExitStack() as resources:
            resources.enter_context(directory.held())
            adopt_orphan(directory, say)
            if reset:
                directory.reset()
            node: Anvil | RecordedNode
            try:
                install(say=say)
            except AnvilUnavailable as missing:
                description, node = _serve_recording(directory, resources, say, held_blocks, missing)
            else:
                description, node = _run_anvil(directory, resources, say, held_blocks)
                relayer = eth_account().Account.from_key(directory.relayer_key()).address
                node.rpc.call("anvil_setBalance", relayer, hex(RELAYER_WEI))
            directory.describe(description)
            return cls(directory, description, node, resources.pop_all(), say)

    @property
    def rpc_url(self) -> str:
        return self._node.url

    @property
    def paid_flow(self) -> bool:
        """True if transactions can be sent; a recording accepts none."""
        return self._description.paid_flow

    @property
    def settings(self) -> dict[str, Any]:
        """Overrides of `Settings` fields that point the service at this chain."""
        demo = self._description
        return {
            "demo": True,
            "claim_confirmations": DEMO_CONFIRMATIONS,
            "relayer_key_file": self._directory.relayer_key_path if demo.paid_flow else None,
            "rpc_urls": (self.rpc_url,),
            "chain_id": demo.chain_id,
            "token_address": demo.token_address,
            "token_start_block": demo.token_start_block,
            "usdc_address": demo.usdc_address,
            "treasury_address": demo.treasury_address if demo.paid_flow else None,
            "bidwall_address": demo.bidwall_address,
            "bidwall_trigger_wei": demo.bidwall_trigger_wei,
            "pool_address": demo.pool_address,
            "chainlink_feed_address": demo.chainlink_feed_address,
            "sequencer_feed_address": demo.sequencer_feed_address,
            "trust_registry_address": demo.trust_registry_address,
            "escrow_address": demo.escrow_address,
            "data_dir": self._directory.root,
        }

    def running(self) -> bool:
        """Returns True while the node runs; it does not restart by itself."""
        return not isinstance(self._node, Anvil) or self._node.running()

    def start_traffic(self) -> None:
        """Starts transfers and heartbeat blocks. A recording has none."""
        if isinstance(self._node, Anvil) and self._traffic is None:
            self._traffic = Traffic(self.rpc_url, contracts_of(self._description), self._quiet).start()

    def stop(self) -> None:
        """Ends the traffic, dumps, ends the node and releases the directory."""
        with self._resources:
            if self._traffic is not None:
                self._traffic.stop()
            if self._dumper is not None:
                self._dumper.stop()
            self._directory.describe(_at_rest(self._description))


def until_dump_s(now_s: float) -> float:
    """Returns the seconds from a clock time until the next dump: more than 0 and at most `DUMP_EVERY_S`."""
    return DUMP_EVERY_S - (now_s - DUMP_AFTER_S) % DUMP_EVERY_S


class _Dumper:
    """Dumps the chain every two minutes, so that little is lost if the machine dies.

    It holds `quiet` while dumping, because on a slow machine a dump takes longer than the traffic pauses.
    """

    def __init__(self, directory: DemoDirectory, anvil: Anvil, say: Say, quiet: threading.Lock) -> None:
        self._quiet = quiet
        self._directory = directory
        self._anvil = anvil
        self._say = say
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="demo dump", daemon=True)

    def start(self) -> _Dumper:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Makes one last dump, unless the node is gone."""
        self._stopping.set()
        self._thread.join()
        if self._anvil.running():
            _dump(self._directory, self._anvil.rpc, self._say)

    def _run(self) -> None:
        while not self._stopping.wait(until_dump_s(time.time())):
            with self._quiet:
                _dump(self._directory, self._anvil.rpc, self._say)


def _dump(directory: DemoDirectory, rpc: Rpc, say: Say) -> None:
    """Stores the chain of a node. If that fails, the older dump remains and `say` gets a line."""
    try:
        directory.store_dump(consistent_state(rpc))
    except (httpx.HTTPError, RpcError, OSError) as error:
        say(f"Demo chain: could not be dumped, the older dump remains: {error}")


def consistent_state(rpc: Rpc) -> bytes:
    """Returns Anvil's state as gzip-compressed JSON, taken while no block was mined.

    Anvil reads blocks first and accounts afterwards, so a block mined in between would be missing from one of them.
    Raises `RpcError` if blocks keep arriving.
    """
    for _ in range(_DUMP_ATTEMPTS):
        before = rpc.call("eth_blockNumber")
        state = bytes.fromhex(rpc.call("anvil_dumpState")[2:])
        if rpc.call("eth_blockNumber") == before:
            return state
    raise RpcError(f"blocks came in during each of {_DUMP_ATTEMPTS} dumps")


def adopt_orphan(directory: DemoDirectory, say: Say) -> None:
    """Saves the newest state of a node that a killed service left running, then ends the node.

    Only a process whose command line names this directory is ours; another process that got the same id is left alone.
    """
    description = directory.description()
    if (
        description is not None
        and description.rpc_url is not None
        and description.paid_flow
        and answers_as(description.rpc_url, description.genesis_hash)
    ):
        with Rpc(description.rpc_url, timeout_s=20.0) as rpc:
            _dump(directory, rpc, say)
    pid = directory.noted_node()
    if pid is not None:
        end_orphan(pid, str(directory.node_cache))


def _run_anvil(
    directory: DemoDirectory, resources: ExitStack, say: Say, held_blocks: HeldBlocks
) -> tuple[DemoDescription, Anvil]:
    description = directory.description()
    if directory.empty():
        unfit = None
    elif description is None or not description.paid_flow or not directory.dump_path.exists():
        unfit = "there is no chain to continue"
    elif description.contracts_sha256 != contracts_sha256():
        unfit = "its chain has contracts of another version"
    else:
        anvil = _loaded(directory, description.genesis_time_s)
        if anvil is not None:
            resources.callback(anvil.stop)
        if anvil is None:
            unfit = "its chain can't be loaded"
        elif not _holds(anvil.rpc, [(0, description.genesis_hash), *held_blocks()]):
            anvil.stop()
            unfit = "the warehouse or the ledger has blocks that its chain lacks"
        else:
            # Anvil forgets the state of loaded blocks. After three more blocks, `finalized` is one whose state it has.
            anvil.rpc.call("anvil_mine", hex(3))
            say(f"Demo chain: continuing at block {int(anvil.rpc.call('eth_blockNumber'), 16)}, RPC at {anvil.url}")
            return _running(description, anvil.url, anvil.pid), anvil
    if unfit is not None:
        _say_reset(say, directory, unfit)
    directory.reset()
    return _written(directory, resources, say)


def _written(directory: DemoDirectory, resources: ExitStack, say: Say) -> tuple[DemoDescription, Anvil]:
    """Creates a fresh chain with the whole history, and dumps it once."""
    started = time.monotonic()
    now = int(time.time())
    anvil = Anvil(flags=[*genesis_flags(now), *_marker(directory)])
    resources.callback(anvil.stop)
    anvil.start()
    directory.note_node(anvil.pid)
    contracts = write_contracts(anvil.rpc, now)
    plan = plan_history(contracts.bidwall_address)
    write_history(anvil.rpc, contracts, plan, now)
    anvil.rpc.call("evm_setAutomine", True)
    _dump(directory, anvil.rpc, say)
    transfers = sum(len(block.movements) for block in plan)
    elapsed_s = time.monotonic() - started
    say(f"Demo chain: {transfers:,} transfers of 30 days written in {elapsed_s:.1f} s, RPC at {anvil.url}")
    genesis = anvil.rpc.call("eth_getBlockByNumber", "0x0", False)
    description = _describe(contracts, genesis, paid_flow=True)
    return _running(description, anvil.url, anvil.pid), anvil


def _loaded(directory: DemoDirectory, genesis_time_s: int) -> Anvil | None:
    # Anvil creates its own genesis before it loads one. With the same date, the two are the same block; otherwise the
    # next dump would contain both, and it would be a matter of chance which of them a later load uses.
    flags = ["--timestamp", str(genesis_time_s), *PRUNED, *_marker(directory)]
    try:
        with directory.unpacked_dump() as state:
            anvil = Anvil(flags=flags, load_state=state).start()
    except (*UNREADABLE, AnvilUnavailable):
        return None
    directory.note_node(anvil.pid)
    anvil.rpc.call("evm_setTime", int(time.time()))
    return anvil


def _serve_recording(
    directory: DemoDirectory,
    resources: ExitStack,
    say: Say,
    held_blocks: HeldBlocks,
    missing: AnvilUnavailable,
) -> tuple[DemoDescription, RecordedNode]:
    recording = load_recording()
    chain = chain_of(recording)
    genesis = chain.answer("eth_getBlockByNumber", ["0x0", False])
    description = _describe(DemoContracts(**recording.contracts), genesis, paid_flow=False)
    node = resources.enter_context(RecordedNode(chain))
    with Rpc(node.url) as rpc:
        known = directory.description()
        fits = known is not None and _at_rest(known) == description and _holds(rpc, held_blocks())
        if not directory.empty() and not fits:
            _say_reset(say, directory, "it contains another chain")
            directory.reset()
    say(f"Demo chain: {missing} Serving a recorded history instead; the paid flow is off. RPC at {node.url}")
    return _running(description, node.url, os.getpid()), node


def _holds(rpc: Rpc, blocks: Sequence[Stamp]) -> bool:
    answers = [(rpc.call("eth_getBlockByNumber", hex(number), False), block_hash) for number, block_hash in blocks]
    return all(block is not None and block["hash"] == block_hash for block, block_hash in answers)


def _marker(directory: DemoDirectory) -> list[str]:
    return ["--cache-path", str(directory.node_cache)]


def _say_reset(say: Say, directory: DemoDirectory, why: str) -> None:
    say(f"Demo chain: {directory.root} is reset, {why}.")


def _describe(contracts: DemoContracts, genesis: dict[str, Any], *, paid_flow: bool) -> DemoDescription:
    return DemoDescription(
        chain_id=CHAIN_ID,
        genesis_hash=genesis["hash"],
        genesis_time_s=int(genesis["timestamp"], 16),
        bidwall_trigger_wei=BIDWALL_TRIGGER_WEI,
        contracts_sha256=contracts_sha256(),
        paid_flow=paid_flow,
        **contracts.as_dict(),
    )


def contracts_of(description: DemoDescription) -> DemoContracts:
    """Returns the contracts that a demo directory describes."""
    return DemoContracts(**{field.name: getattr(description, field.name) for field in fields(DemoContracts)})


def _running(description: DemoDescription, rpc_url: str, pid: int) -> DemoDescription:
    return replace(description, rpc_url=rpc_url, pid=pid)


def _at_rest(description: DemoDescription) -> DemoDescription:
    return replace(description, rpc_url=None, pid=None)
