"""Contains the rules of paid access: plans, quotes, proofs, payment matching, receipts. No network, store or clock."""
