"""Encodes and decodes messages of EVM nodes. Pure."""
