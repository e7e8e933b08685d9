"""Judges a service's published documents from its answers only: for `svc docs check`. Pure.

Each document's requirements come from its standard, and the requirements on serving it from the service's own
description. They don't come from this code's list of documents: a check that reads that list could not find a missing
one.
"""
