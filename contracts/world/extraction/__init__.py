"""Graphs from documents, without a model: what is structure in a text becomes typed nodes, each with its text span."""
