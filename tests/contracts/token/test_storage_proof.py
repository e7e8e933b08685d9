"""A storage proof is checked offline: an honest one holds at every step, and a change of any unit or bit fails."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from rounds import ROUNDS
from storage_node import BLOCK, TOKEN, StorageNode, hexed

from contracts.evm.blocks import header_rlp
from contracts.evm.multiproof import Search, by_hash, keccak
from contracts.token.storage_layout import BalanceLayout, MappingOrder, SupplyLayout, balance_slots, word_text
from contracts.token.storage_proof import (
    Multiproof,
    ProofStep,
    StorageProofInvalid,
    StoredSupply,
    header_hash,
    pack,
    prove,
    sibling_text,
    storage_item,
    unpack,
)
from contracts.token.verification import Outcome, PublishedList, storage_checks

Rows = list[tuple[str, int]]
LAYOUT = BalanceLayout(order=MappingOrder.SOLIDITY, base=word_text(3), offset=0, shift=0, bits=128)
SUPPLY_SLOT = 2


def made(count: int, foreign: int, seed: int = 5) -> tuple[Multiproof, Rows, str]:
    """Returns a proof of a list next to foreign words, where every third holder has a flag next to its balance."""
    dice = random.Random(seed)
    balances = {f"0x{dice.getrandbits(160):040x}": dice.randrange(1, 10**24) for _ in range(count)}
    rows = sorted(balances.items(), key=lambda row: (-row[1], row[0]))
    total = sum(balances.values())
    rests = [(place % 3 == 0) << 200 for place in range(count)]
    slots = balance_slots(LAYOUT, (address for address, _ in rows))
    words = {slot: balance | rest for slot, (_, balance), rest in zip(slots, rows, rests, strict=True)}
    words[SUPPLY_SLOT] = total
    items = sorted(storage_item(slot, word) for slot, word in words.items())
    node = StorageNode({**words, **{dice.getrandbits(256): 1 for _ in range(foreign)}})
    paths = [path for path, _ in items]
    nodes = by_hash(part for path in paths for part in node.storage.proof(bytes.fromhex(path)))
    siblings = Search(items, node.storage.root).missing(nodes).siblings
    proof = Multiproof(
        token=TOKEN,
        block=BLOCK,
        header="0x" + header_rlp(node.header).hex(),
        account_proof=hexed(node.state.proof(keccak()(bytes.fromhex(TOKEN[2:])))),
        balances=LAYOUT,
        supply=StoredSupply(layout=SupplyLayout(slot=word_text(SUPPLY_SLOT), shift=0, bits=256), word=word_text(total)),
        rests=[f"{rest:x}" if rest else "" for rest in rests],
        siblings=[sibling_text(path, reference) for path, reference in siblings],
    )
    return proof, rows, node.block_hash


PROOF, ROWS, BLOCK_HASH = made(60, 40)

Change = Callable[[random.Random, dict[str, Any], Rows], str | None]
"""Changes the file or the list by one unit. Returns another block hash if that is what it changes."""


def more(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    place = dice.randrange(len(rows))
    rows[place] = (rows[place][0], rows[place][1] + dice.choice([1, -1]))


def moved(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    """Moves one unit between holders, so that every sum stays."""
    giver, taker = dice.sample(range(len(rows)), 2)
    rows[giver] = (rows[giver][0], rows[giver][1] - 1)
    rows[taker] = (rows[taker][0], rows[taker][1] + 1)


def swapped(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    one, other = dice.sample(range(len(rows)), 2)
    rows[one], rows[other] = (rows[one][0], rows[other][1]), (rows[other][0], rows[one][1])


def another_address(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    place = dice.randrange(len(rows))
    rows[place] = (f"0x{int(rows[place][0], 16) ^ 1 << dice.randrange(160):040x}", rows[place][1])


def missing(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    place = dice.randrange(len(rows))
    del rows[place], file["rests"][place]


def extra(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    rows.append((f"0x{dice.getrandbits(160):040x}", 1))
    file["rests"].append("")


def hidden(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    """Leaves a holder out, whose word becomes a sibling: the root still fits, and the supply does not."""
    place = dice.randrange(len(rows))
    del rows[place], file["rests"][place]
    file |= json.loads(_with_sibling_for(rows, file["rests"]).model_dump_json(by_alias=True))


def trusted_hash(dice: random.Random, file: dict[str, Any], rows: Rows) -> str:
    return f"0x{int(BLOCK_HASH, 16) ^ 1 << dice.randrange(256):064x}"


def header_byte(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    file["header"] = _flipped(dice, file["header"])


def account_byte(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    place = dice.randrange(len(file["accountProof"]))
    file["accountProof"][place] = _flipped(dice, file["accountProof"][place])


def sibling_byte(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    place = dice.randrange(len(file["siblings"]))
    path, reference = file["siblings"][place].split()
    file["siblings"][place] = f"{path} {_flipped(dice, '0x' + reference)[2:]}"


def sibling_dropped(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    del file["siblings"][dice.randrange(len(file["siblings"]))]


def supply_unit(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    file["supply"]["word"] = word_text(int(file["supply"]["word"], 16) + dice.choice([1, -1]))


def flag(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    place = dice.randrange(len(rows))
    file["rests"][place] = "" if file["rests"][place] else f"{1 << 200:x}"


def layout(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    name, value = dice.choice([("base", word_text(4)), ("order", "vyper"), ("offset", 1), ("shift", 8)])
    file["balances"][name] = value


def another_token(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    file["token"] = f"0x{int(TOKEN, 16) ^ 1 << dice.randrange(160):040x}"


def another_block(dice: random.Random, file: dict[str, Any], rows: Rows) -> None:
    file["block"] += 1


CHANGES: list[Change] = [
    more, moved, swapped, another_address, missing, extra, hidden, trusted_hash, header_byte, account_byte,
    sibling_byte, sibling_dropped, supply_unit, flag, layout, another_token, another_block,
]  # fmt: skip


def _flipped(dice: random.Random, text: str) -> str:
    data = bytearray.fromhex(text[2:])
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return "0x" + data.hex()


def _with_sibling_for(rows: Rows, rests: list[str]) -> Multiproof:
    """Returns the best proof that a liar can make for fewer rows of the same storage."""
    slots = balance_slots(LAYOUT, (address for address, _ in ROWS))
    words = dict(zip(slots, (balance for _, balance in ROWS), strict=True))
    words = {
        slot: word | (int(rest, 16) if rest else 0)
        for (slot, word), rest in zip(words.items(), PROOF.rests, strict=True)
    }
    words[SUPPLY_SLOT] = sum(balance for _, balance in ROWS)
    whole = dict(storage_item(slot, word) for slot, word in words.items())
    covered = {storage_item(slot, 1)[0] for slot in balance_slots(LAYOUT, (address for address, _ in rows))}
    covered.add(storage_item(SUPPLY_SLOT, 1)[0])
    items = sorted((path, value) for path, value in whole.items() if path in covered)
    node = StorageNode({**words, **dict.fromkeys(_foreign(), 1)})
    nodes = by_hash(part for path in whole for part in node.storage.proof(bytes.fromhex(path)))
    siblings = Search(items, node.storage.root).missing(nodes).siblings
    return PROOF.model_copy(update={"rests": rests, "siblings": [sibling_text(*sibling) for sibling in siblings]})


def _foreign() -> list[int]:
    dice = random.Random(5)
    for _ in range(60):
        dice.getrandbits(160), dice.randrange(1, 10**24)
    return [dice.getrandbits(256) for _ in range(40)]


def test_an_honest_proof_holds_from_its_bytes() -> None:
    assert prove(unpack(pack(PROOF)), ROWS, BLOCK_HASH).holders == len(ROWS)
    assert pack(PROOF) == pack(unpack(pack(PROOF)))
    assert header_hash(PROOF) == BLOCK_HASH


CHANGED = 200 * ROUNDS
"""Number of changed proofs; a thousand in a soak."""


def test_all_changes_of_one_unit_are_found() -> None:
    dice = random.Random(18)
    steps: Counter[str] = Counter()
    for number in range(CHANGED):
        change = CHANGES[number % len(CHANGES)]
        file, rows = json.loads(PROOF.model_dump_json(by_alias=True)), list(ROWS)
        trusted = change(dice, file, rows) or BLOCK_HASH
        with pytest.raises(StorageProofInvalid) as caught:
            prove(unpack(gzip.compress(json.dumps(file).encode(), 1)), rows, trusted)
        steps[caught.value.step] += 1
    assert steps.total() == CHANGED and {*steps} >= {*ProofStep} - {ProofStep.FILE}


def test_a_holder_that_is_left_out_shows_only_in_the_supply() -> None:
    file, rows = json.loads(PROOF.model_dump_json(by_alias=True)), list(ROWS)
    hidden(random.Random(1), file, rows)
    with pytest.raises(StorageProofInvalid) as caught:
        prove(Multiproof.model_validate(file), rows, BLOCK_HASH)
    assert caught.value.step is ProofStep.SUPPLY


def test_a_value_packed_next_to_a_balance_cannot_overlap_it() -> None:
    rests = ["1", *PROOF.rests[1:]]
    with pytest.raises(StorageProofInvalid, match="overlaps it"):
        prove(PROOF.model_copy(update={"rests": rests}), ROWS, BLOCK_HASH)
    with pytest.raises(StorageProofInvalid, match="for 60 rows"):
        prove(PROOF.model_copy(update={"rests": PROOF.rests[1:]}), ROWS, BLOCK_HASH)


@pytest.mark.parametrize(
    ("file", "detail"),
    [
        (b"", "is cut"),
        (b"no gzip", "does not unpack"),
        (pack(PROOF)[:-1], "is cut"),
        (pack(PROOF) + b"x", "after its end"),
        (gzip.compress(b"{}", mtime=0), "not a multiproof"),
        (gzip.compress(b"[" * 10_000, mtime=0), "not a multiproof"),
        (
            gzip.compress(PROOF.model_dump_json(by_alias=True).replace("proof/1", "proof/2").encode(), mtime=0),
            "not a multiproof",
        ),
    ],
)
def test_a_file_that_is_no_storage_proof_is_reported_as_such(file: bytes, detail: str) -> None:
    first, *rest = storage_checks(file, PublishedList(ROWS, None), BLOCK_HASH)
    assert (first.name, first.outcome) == ("storage proof", Outcome.FAIL) and detail in first.detail
    assert {check.outcome for check in rest} == {Outcome.UNKNOWN}


def test_checks_name_the_step_that_fails_and_those_that_were_not_reached() -> None:
    file, listed = pack(PROOF), PublishedList(ROWS, None)
    assert {check.outcome for check in storage_checks(file, listed, BLOCK_HASH)} == {Outcome.OK}
    assert [check.name for check in storage_checks(file, listed, BLOCK_HASH)] == [*ProofStep]

    off = [(ROWS[0][0], ROWS[0][1] + 1), *ROWS[1:]]
    outcomes = [check.outcome for check in storage_checks(file, PublishedList(off, None), BLOCK_HASH)]
    assert outcomes == [Outcome.OK, Outcome.OK, Outcome.OK, Outcome.FAIL, Outcome.UNKNOWN]

    unknown = [check for check in storage_checks(file, listed, None) if check.outcome is not Outcome.OK]
    assert [check.name for check in unknown] == [ProofStep.HEADER] and BLOCK_HASH in unknown[0].detail


def test_a_proof_is_small_and_checked_fast() -> None:
    proof, rows, trusted = made(1500, 1500, seed=9)
    file = pack(proof)
    started = time.process_time()
    prove(unpack(file), rows, trusted)
    assert time.process_time() - started < 2e-3 * len(rows)
    assert len(file) < 120 * len(rows)
