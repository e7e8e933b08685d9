"""The worth of the watched contract's balance."""

from decimal import Decimal

import pytest

from contracts.bidwall import usd_of_wei

ETH = 10**18


@pytest.mark.parametrize(
    ("wei", "price", "usd"),
    [
        (0, "3000.5", "0.00"),
        (7 * ETH, "3000.5", "21003.50"),
        (1_234_567_890_123_456_789, "3123.45", "3856.11"),  # 3856.1110...
        (1_234_567_890_123_456_789, "3123.456", "3856.12"),  # 3856.1184...
        (ETH, "0.004999999999999999", "0.00"),
        (ETH, "0.005", "0.00"),
        (ETH, "0.015", "0.02"),
        (ETH, "0.005000000000000001", "0.01"),
        (ETH, "9.999", "10.00"),
        (1, "3000", "0.00"),
        (2**255, "4321.987654321", "250225990075858066680051798265567253334355667837283750428901334.00"),
    ],
)
def test_the_worth_of_a_balance_is_rounded_to_the_nearest_cent(wei: int, price: str, usd: str):
    assert usd_of_wei(wei, Decimal(price)) == usd
