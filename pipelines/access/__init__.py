"""Paid access on a clock: its ledger tables in the warehouse, and issued claims watched until they are final."""
