"""Describes one kind of event of one contract to the engine: its requests, decoding and tables. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contracts.evm.codec import TRANSFER_TOPIC, bloom_may_hold, transfer_filter
from pipelines.token.decode import TransferColumns, decode_logs, decode_pending_logs, decode_receipts
from warehouse.token.transfers import TRANSFERS, EventTables

Params = list[dict[str, Any]]
"""Parameters of one `eth_getLogs`."""


class Columns(Protocol):
    """Events of one range, ordered by (block_number, log_index). `block_timestamp` as in `TransferColumns`."""

    @property
    def block_number(self) -> NDArray[np.int64]: ...

    @property
    def block_timestamp(self) -> NDArray[np.int64] | None: ...

    def __len__(self) -> int: ...

    def sha256(self) -> str:
        """Returns the digest of the rows, which is equal for two nodes with the same events."""

    def to_arrow(self, block_time_s: NDArray[np.int64], *, exact: bool) -> pa.Table:
        """Returns the rows in the form of their table."""


class FinalEvents(Protocol):
    """One kind of event, as read below finality. `what` and `cure` are for an operator whose nodes give unusable rows.

    Decoding raises `RpcError` for an error answer or a garbled one, `LogsInvalid` for rows that were not requested.
    """

    @property
    def what(self) -> str: ...

    @property
    def cure(self) -> str: ...

    @property
    def always_confirmed(self) -> bool:
        """Returns True if a second node confirms every range, not only a share of them. That is needed for events that
        no list of balances proves: nothing else would find their errors."""

    def requests(self, first: int, last: int) -> Sequence[Params]:
        """Returns filters for the events in [first, last]; the union of their answers is read."""

    def decode(self, bodies: Sequence[bytes], first: int, last: int) -> Columns:
        """Decodes the answers to `requests`."""

    def decode_receipts(self, receipts: Iterable[Any], block: int) -> Columns:
        """Decodes the events among the receipts of one block."""

    def admitted(self, logs_bloom: bytes) -> bool:
        """Returns True if a block with this bloom may contain such events; False is certain."""


class Events(FinalEvents, Protocol):
    """One kind of event for which the warehouse has tables. If these include a tip, it is also read above finality."""

    @property
    def tables(self) -> EventTables: ...

    def decode_pending(self, bodies: Sequence[bytes], block_hashes: Mapping[int, str]) -> Columns:
        """Decodes the answers to `requests`. Each row must belong to the block with the hash in `block_hashes`."""


@dataclass(frozen=True)
class TokenTransfers:
    """Transfer events of the service token. Their history is long, so they are decoded directly into columns."""

    token_address: str
    tables: EventTables = TRANSFERS
    what: str = "Transfer rows"
    cure: str = "Check that SVC_TOKEN_ADDRESS is an ERC-20 token on this chain."
    always_confirmed: ClassVar[bool] = False

    def requests(self, first: int, last: int) -> Sequence[Params]:
        return [transfer_filter(self.token_address, first, last)]

    def decode(self, bodies: Sequence[bytes], first: int, last: int) -> TransferColumns:
        return decode_logs(bodies[0], token_address=self.token_address, from_block=first, to_block=last)

    def decode_pending(self, bodies: Sequence[bytes], block_hashes: Mapping[int, str]) -> TransferColumns:
        return decode_pending_logs(bodies[0], token_address=self.token_address, block_hashes=block_hashes)

    def decode_receipts(self, receipts: Iterable[Any], block: int) -> TransferColumns:
        return decode_receipts(receipts, token_address=self.token_address, block=block)

    def admitted(self, logs_bloom: bytes) -> bool:
        return bloom_may_hold(logs_bloom, self.token_address, TRANSFER_TOPIC)
