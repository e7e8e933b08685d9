"""Measures how unequally balances are spread, with Polars. Only runs and worker processes import this module."""

import polars as pl


def concentration_of(balances: pl.Series) -> dict[str, float]:
    """Returns the share of the ten largest balances, the Gini and the Herfindahl-Hirschman index. Only balances above
    zero count.

    The formulas are those of `contracts.token.holder_documents.Concentration`.
    """
    held = balances.filter(balances > 0).sort()
    total = float(held.sum())
    count = len(held)
    if not count:
        return {"top10_share": 0.0, "gini": 0.0, "hhi": 0.0}
    weights = pl.int_range(2, 2 * count + 1, 2, eager=True).cast(pl.Float64) - (count + 1)
    return {
        "top10_share": min(1.0, float(held.tail(10).sum()) / total),
        "gini": min(1.0, max(0.0, float((weights * held).sum()) / (count * total))),
        "hhi": min(1.0, float(((held / total) ** 2).sum())),
    }
