"""Paid access on a clock: syncs its ledger tables into the warehouse, and watches issued claims until final."""
