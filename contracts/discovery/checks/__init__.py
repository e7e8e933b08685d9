"""Judging what a service says of itself, from its answers alone: for `svc docs check`. Pure.

Nothing here knows what this installation publishes: a check that read the list of projections could not miss one.
"""
