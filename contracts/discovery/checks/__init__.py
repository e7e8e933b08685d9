"""Judges what a service publishes about itself, from its answers only: for `svc docs check`. Pure.

What a document has to be follows from its standard; how it is served follows from the service's own description, and
not from this code's list of documents: a check that read that list could not miss one.
"""
