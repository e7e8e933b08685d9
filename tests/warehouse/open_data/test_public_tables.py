"""The public form of tables: which tables may be published, and amounts that stay exact."""

import re
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contracts.open_data.datasets import exact_sum_sql
from warehouse.bidwall.contract_balance import record_bidwall_status
from warehouse.duck.connection import Warehouse
from warehouse.duck.inspection import derived_tables, tables_read
from warehouse.duck.tables import PUBLIC_ROOMS, read_table, tables
from warehouse.open_data.public_tables import Units, known_units, prepare, public_tables
from warehouse.statements import ROOMS

DECLARATION = """\
-- One row per sale.
-- public: sales by block of block_number without buyer
create table if not exists raw_shop__sales (
    block_number bigint not null,  -- Block
    buyer varchar not null,  -- Buyer
    price_raw bignum not null  -- Price, in the smallest unit
);
"""


def test_a_flag_says_how_a_table_is_public():
    table = read_table(DECLARATION, room="token")
    assert table.grain == "One row per sale."
    public = table.public
    assert (public.name, public.split, public.column, public.without) == ("sales", "block", "block_number", {"buyer"})
    assert (
        read_table(DECLARATION.replace(" by block of block_number without buyer", ""), room="token").public.split
        == "whole"
    )
    assert read_table(DECLARATION.replace("block of", "day of"), room="token").public.split == "day"
    unflagged = "".join(line for line in DECLARATION.splitlines(keepends=True) if "public" not in line)
    assert read_table(unflagged, room="shop").public is None


@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        ("sales by week of block_number", "unknown form"),
        ("Sales", "unknown form"),
        ("../sales", "unknown form"),
        ("sales by block of height", "does not have"),
        ("sales without seller", "does not have"),
        ("sales by block of buyer without buyer", "does not have"),
    ],
)
def test_a_flag_of_no_sense_is_refused(flag, problem):
    text = DECLARATION.replace("sales by block of block_number without buyer", flag)
    with pytest.raises(ValueError, match=problem):
        read_table(text, room="token")


@pytest.mark.parametrize("file", sorted(ROOMS.glob("*/tables/*.sql")), ids=lambda file: file.stem)
def test_a_table_of_people_can_t_be_public(file: Path):
    """Covers every declared table: the flag is refused unless the table's room reads only the chain and public
    feeds."""
    room = file.parts[-3]
    lines = [line for line in file.read_text().splitlines(keepends=True) if not line.startswith("-- public:")]
    place = next(number for number, line in enumerate(lines) if line.startswith("create table"))
    flagged = "".join([*lines[:place], "-- public: anything\n", *lines[place:]])
    if room in PUBLIC_ROOMS:
        assert read_table(flagged, room=room).public.name == "anything"
    else:
        with pytest.raises(ValueError, match="can't be public"):
            read_table(flagged, room=room)


def test_no_ledger_table_is_public_whatever_its_room():
    with pytest.raises(ValueError, match="can't be public"):
        read_table(DECLARATION.replace("raw_shop__sales", "raw_ledger__sales"), room="token")


def test_public_tables_follow_from_nothing_but_tables_of_public_rooms():
    rooms = {file.stem: file.parts[-3] for file in ROOMS.glob("*/tables/*.sql")}
    for public in public_tables().values():
        rows = derived_tables().get(public.source.name)
        read = set() if rows is None else tables_read(rows.query)
        assert {rooms[table] for table in read} <= PUBLIC_ROOMS, public.dataset.name


def test_every_public_column_says_what_it_means():
    assert {"transfers", "token_prices", "eth_prices", "contract_balances", "trust_scores", "holders"} <= set(
        public_tables()
    )
    for public in public_tables().values():
        names = [column.name for column in public.dataset.columns]
        assert len(names) == len(set(names)) == len(public.expressions)
        assert all(column.meaning for column in public.dataset.columns)
        for name in public.dataset.amounts:
            assert {f"{name}_raw", name, f"{name}_limb1", f"{name}_limb2"} <= set(names)
            meanings = {column.name: column.meaning for column in public.dataset.columns}
            assert "whole tokens" in meanings[name] or meanings[name].endswith("; rounded, in ETH")
            assert not re.search(r"smallest unit|\bwei\b|limb|text", meanings[name]), (public.dataset.name, name)
    assert not any(table.public and table.name.startswith("raw_ledger") for table in tables().values())


@pytest.mark.parametrize(
    ("dataset", "column", "meaning"),
    [
        ("transfers", "value_raw", "Amount; exact, as decimal text in smallest units"),
        ("transfers", "value", "Amount; rounded, in whole tokens, null where their decimals are not known"),
        ("transfers", "value_limb0", "Amount; lowest 26 digits in smallest units, for exact sums"),
        ("holder_lists", "zero_held_raw", "Balance of the zero address; exact, as decimal text in smallest units"),
        ("contract_balances", "balance_raw", "Native balance; exact, as decimal text in wei"),
        ("contract_balances", "balance", "Native balance; rounded, in ETH"),
        ("contract_balances", "balance_limb2", "Native balance; digits above those of limb 1 in wei, for exact sums"),
    ],
)
def test_the_meaning_of_an_amount_has_the_unit_of_its_public_form(dataset, column, meaning):
    assert {each.name: each.meaning for each in public_tables()[dataset].dataset.columns}[column] == meaning


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        prepare(opened)
        opened.execute("create type u256 as struct(limb3 ubigint, limb2 ubigint, limb1 ubigint, limb0 ubigint)")
        yield opened


def limbs_of(number: int) -> list[int]:
    return [number >> (64 * place) & (2**64 - 1) for place in (3, 2, 1, 0)]


edges = [0, 1, 2**63, 2**64, 2**127 - 1, 2**127, 2**128 - 1, 2**128, 2**255, 2**256 - 1, 10**26, 10**52, 10**77]


@given(st.lists(st.integers(0, 2**256 - 1) | st.integers(0, 10**30), min_size=1, max_size=20))
@example(edges)
def test_amounts_and_their_sums_are_exact_over_256_bits(connection, numbers):
    values = ", ".join(
        "({}::ubigint, {}::ubigint, {}::ubigint, {}::ubigint)".format(*limbs_of(number)) for number in numbers
    )
    connection.execute(
        f"create or replace temp table amounts as select u256_text(row(a, b, c, d)::u256) as amount_raw "
        f"from (values {values}) as t(a, b, c, d)"
    )
    rows = connection.execute("from amounts").fetchall()
    assert [int(text) for (text,) in rows] == numbers
    assert [text for (text,) in rows] == [str(number) for number in numbers]
    connection.execute(
        "create or replace temp table limbs as select amount_raw, "
        + ", ".join(f"amount_limb(amount_raw, {place}) as amount_limb{place}" for place in range(3))
        + " from amounts"
    )
    for low, middle, high in connection.execute("select columns('amount_limb.') from limbs").fetchall():
        assert 0 <= low < 10**26 and 0 <= middle < 10**26 and 0 <= high < 10**26
    ((total,),) = connection.execute(exact_sum_sql("amount", "limbs")).fetchall()
    assert total == str(sum(numbers))


@given(st.integers(-(2**255), 2**255))
def test_limbs_have_the_sign_of_their_amount(connection, number):
    ((low, middle, high),) = connection.execute(
        "select amount_limb($text, 0), amount_limb($text, 1), amount_limb($text, 2)", {"text": str(number)}
    ).fetchall()
    assert int(low) + int(middle) * 10**26 + int(high) * 10**52 == number


def test_exact_sums_of_several_tokens_are_a_row_per_token(connection):
    connection.execute(
        "create or replace temp table contract_transfers as from (values "
        "('0x22', 1::decimal(26, 0), 0::decimal(26, 0), 0::decimal(26, 0)), "
        "('0x11', 50000000000000000000000000, 0, 7), "
        "('0x11', 60000000000000000000000000, 0, 0)) as t(token_address, value_limb0, value_limb1, value_limb2)"
    )
    sums = public_tables()["contract_transfers"].dataset.exact_sums
    assert list(sums) == ["value"]
    assert connection.execute(sums["value"]).fetchall() == [
        ("0x11", str(7 * 10**52 + 11 * 10**25)),
        ("0x22", "1"),
    ]


def test_only_datasets_of_several_tokens_sum_by_token():
    sums = {name: table.dataset.exact_sums.values() for name, table in public_tables().items()}
    assert {name for name, texts in sums.items() if any("group by" in sql for sql in texts)} == {"contract_transfers"}


def test_the_units_of_usdc_are_known_where_it_is_configured(tmp_path):
    ours, coin = "0x" + "11" * 20, "0x" + "33" * 20
    with Warehouse(tmp_path).connect() as warehouse:
        assert known_units(warehouse) == Units(None, {})
        record_bidwall_status(
            warehouse, chain_id=8453, contract=None, service_token=ours, usdc=coin, trigger_wei=None,
            finalized_block=None, now=datetime.now(UTC),
        )  # fmt: skip
        assert known_units(warehouse) == Units(None, {coin: 6})
        row = "(8453, ?, 'T', 'T', 2, 1, 1, 100, now()::timestamp)"
        warehouse.execute(f"insert into out_holders__status values {row}", [ours])
        assert known_units(warehouse) == Units(ours, {ours: 2, coin: 6})


def test_whole_units_of_another_token_are_not_guessed(connection):
    ours, other, coin = ("0x" + digits * 20 for digits in ("11", "22", "33"))
    transfers = public_tables()["contract_transfers"]
    names = [column.name for column in transfers.dataset.columns]
    rows = ", ".join(
        f"(1, 1, ''::blob, unhex('{token[2:]}'), ''::blob, ''::blob, row(0, 0, 0, 250)::u256, now()::timestamp, '')"
        for token in (ours, other, coin)
    )
    connection.execute(
        f"create or replace temp table moved as from (values {rows}) as t({', '.join(transfers.source.meanings)})"
    )
    found = connection.execute(transfers.rows(Units(ours, {ours: 2, coin: 6}), "moved")).fetchall()
    values = [dict(zip(names, row, strict=True)) for row in found]
    assert [(value["value_raw"], value["value"]) for value in values] == [
        ("250", 2.5),
        ("250", None),
        ("250", 0.00025),
    ]
