"""A number next to a currency is an amount only if it certainly is one, and not a year, day, number of things or
rate."""

import time

import pytest

from contracts.world.extraction.figures import amounts_in
from contracts.world.extraction.findings import Part


def amounts(text: str) -> list[str]:
    return list(amounts_in(text, Part(0, len(text))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Loan to Ben: due back on 1 June 2026\nEUR 50 owed to Julia.", ["EUR 50"]),
        ("On 12.03.2026 EUR 75 was paid.", ["EUR 75"]),
        ("In 2026 $400 was spent.", ["$400"]),
        ("On 1 May 2026, USD 48,000 were paid.", ["USD 48,000"]),
        ("Since 1 March 2026 CHF 900 rent", ["CHF 900"]),
        ("On 2026-03-01 $60", ["$60"]),
        ("2026-03-01 500 EUR", ["500 EUR"]),
        ("Am 5. Mai 2026 EUR 20", ["EUR 20"]),
        ("Le 1er juillet 2026 € 30", ["€ 30"]),
        ("El 3 de marzo de 2026 EUR 30", ["EUR 30"]),
        ("Il 3 maggio 2026 € 30", ["€ 30"]),
        ("Em 3 de maio de 2026 R$ 30", ["R$ 30"]),
        ("Op 3 maart 2026 EUR 30", ["EUR 30"]),
        ("Juni 2026 EUR 20, June 2026 $30", ["EUR 20", "$30"]),
        ("Since 2024 EUR rose", []),
        ("Seit 2024 EUR 7", ["EUR 7"]),
        ("in 2020 dollars", []),
        ("EUR 2026-03-01", []),
    ],
)
def test_a_day_or_year_before_a_currency_is_no_amount(text, expected):
    assert amounts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Invoice 4711 EUR 120", ["EUR 120"]),
        ("Invoice 4711 EUR 120 may be paid", ["EUR 120"]),
        ("Room 12, €85 per night", ["€85"]),
        ("#12 EUR 50", ["EUR 50"]),
        ("In 2026 USD 400 EUR 300", ["USD 400", "EUR 300"]),
        ("1. EUR 50\n2. EUR 60", ["EUR 50", "EUR 60"]),
        ("500\nEUR\n300", []),
    ],
)
def test_the_number_after_a_currency_is_the_amount_if_there_is_one_on_either_side(text, expected):
    assert amounts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rent 500 EUR 2026-03-01", ["500 EUR"]),
        ("Rent 500 EUR 12.03.2026", ["500 EUR"]),
        ("Rent 500 EUR 1 March", ["500 EUR"]),
        ("Paid 20 EUR 10:30", ["20 EUR"]),
        ("500 EUR 300 USD", ["500 EUR", "300 USD"]),
        ("100 EUR 200 USD 300 GBP", ["100 EUR", "200 USD", "300 GBP"]),
        ("50€ 12", ["50€"]),
        ("I paid 50 EUR 12 days ago", ["50 EUR"]),
        ("20 EUR 3 Mal", ["20 EUR"]),
        ("20 EUR 3 fois", ["20 EUR"]),
        ("20 EUR 3 veces", ["20 EUR"]),
        ("20 EUR 3 volte", ["20 EUR"]),
        ("20 EUR 3 vezes", ["20 EUR"]),
        ("20 EUR 3 keer", ["20 EUR"]),
        ("3000 JPY 2 回", ["3000 JPY"]),
        ("100 EUR 19 % MwSt", ["100 EUR"]),
    ],
)
def test_the_number_before_a_currency_is_the_amount_if_the_one_after_it_is_certainly_something_else(text, expected):
    assert amounts(text) == expected


@pytest.mark.parametrize("text", ["EUR/USD 1.0850", "EUR / USD 1.0850", "1.0850 EUR/USD", "EUR/USD: 1.0850"])
def test_a_pair_of_currencies_has_no_amount(text):
    assert amounts(text) == []


def test_an_amount_may_be_followed_by_what_it_is_for():
    assert amounts("$50/night, EUR 20/h, USD 5/EUR 4, CHF 900.– and EUR 5 per month") == [
        *("$50", "EUR 20", "USD 5", "EUR 4", "CHF 900", "EUR 5")
    ]


@pytest.mark.parametrize(
    "piece", ["1 EUR ", "1 EUR 2 ", "1 000 ", "1,", "1'", "12 ", "5 m ", "€ ", "EUR/", "1 May ", "in 2026 ", "1. 1. "]
)
def test_amounts_are_found_in_time_that_grows_with_the_text(piece):
    began = time.process_time()
    amounts(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 4
