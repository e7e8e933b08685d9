"""Paid access on a schedule: syncs its ledger tables into the warehouse, and watches claims until they are final."""
