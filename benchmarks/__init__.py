"""Benchmarks that compare the service with the alternatives a user could choose. In the checkout, not in the wheel."""
