"""Benches: measure the service beside the alternatives that a user could pick. In the checkout, not in the wheel."""
