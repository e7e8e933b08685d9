from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from rounds import ROUNDS

from contracts.errors import NotReady
from warehouse.duck.connection import Warehouse
from warehouse.publish.generations import begin, build
from warehouse.publish.serving import FILE_NAME, ServedGenerations, serving_copy, table_digests

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def put_source(data_dir: Path, source: str, theirs: int) -> None:
    with Warehouse(data_dir).connect() as connection:
        connection.execute("delete from out_holders__sources")
        connection.execute("insert into out_holders__sources values (?, ?, null, ?)", [source, theirs, NOON])


def publish(data_dir: Path, now: datetime):
    with Warehouse(data_dir).connect() as connection:
        parts = {FILE_NAME: serving_copy(connection, table_digests(connection))}
        return build(data_dir, begin(data_dir, now), parts, {}, "https://svc.example")


def theirs(reading) -> int:
    return reading.context.connection.execute("select theirs from out_holders__sources").fetchone()[0]


def test_the_copy_holds_out_tables_and_nothing_raw(tmp_path):
    put_source(tmp_path, "other", 7)
    publish(tmp_path, NOON)
    served = ServedGenerations(tmp_path)
    with served.reading() as reading:
        assert theirs(reading) == 7
        names = reading.context.connection.execute("select table_name from duckdb_tables()").fetchall()
    assert names and all(name.startswith("out_") for (name,) in names)
    served.close()


def test_equal_rows_make_no_new_copy_and_other_rows_do(tmp_path):
    put_source(tmp_path, "other", 7)
    assert publish(tmp_path, NOON) is not None
    put_source(tmp_path, "other", 7)
    assert publish(tmp_path, NOON + timedelta(minutes=1)) is None
    put_source(tmp_path, "other", 8)
    assert publish(tmp_path, NOON + timedelta(minutes=2)) is not None


def test_before_the_first_generation_reading_is_refused(tmp_path):
    with pytest.raises(NotReady), ServedGenerations(tmp_path).reading():
        pass


def test_a_request_keeps_its_generation_while_the_next_one_arrives(tmp_path):
    put_source(tmp_path, "other", 1)
    publish(tmp_path, NOON)
    served = ServedGenerations(tmp_path)
    with served.reading() as old:
        put_source(tmp_path, "other", 2)
        publish(tmp_path, NOON + timedelta(minutes=1))
        with served.reading() as new:
            assert (theirs(old), theirs(new)) == (1, 2)
            assert old.generation.id < new.generation.id
        assert theirs(old) == 1
    served.close()


def test_readers_in_threads_see_one_generation_each_while_others_are_published(tmp_path):
    put_source(tmp_path, "other", 0)
    publish(tmp_path, NOON)
    served = ServedGenerations(tmp_path)
    torn: list[object] = []
    ended = False

    def read() -> None:
        while not ended:
            try:
                with served.reading() as reading:
                    first, second = theirs(reading), theirs(reading)
                    if first != second:
                        torn.append((first, second))
            except Exception as error:
                torn.append(error)

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 2 + 2 * ROUNDS):
        put_source(tmp_path, "other", number)
        publish(tmp_path, NOON + timedelta(minutes=number))
    ended = True
    for thread in threads:
        thread.join()
    assert torn == []
    served.close()
