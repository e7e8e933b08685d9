"""Paid access as rules: plans, quotes, proofs, matching of payments and receipts. No network, store or clock."""
