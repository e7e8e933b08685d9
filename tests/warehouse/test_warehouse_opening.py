"""Opening the warehouse: a signal ends a query as a signal does, not as a fault of the data."""

import os
import signal
import threading
from pathlib import Path

import pytest

from warehouse.duck import Warehouse


def test_a_signal_during_a_query_is_an_interruption(tmp_path: Path):
    class Stopped(BaseException):
        pass

    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGUSR1, stop)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with pytest.raises(KeyboardInterrupt), Warehouse(tmp_path).connect() as connection:
            timer.start()
            connection.execute(
                "select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"
            )
    finally:
        timer.cancel()
        signal.signal(signal.SIGUSR1, before)
