"""Extracts graphs from documents without a model: structure gives typed nodes, each with its text span."""
