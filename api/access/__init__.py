"""Paid access over HTTP: plans, quotes, claims and receipts."""
