"""Judges a service's published documents from its answers only: for `svc docs check`. Pure.

The requirements on a document follow from its standard, and those on serving it from the service's own description, not
from this code's list of documents: a check that read that list could not miss one.
"""
