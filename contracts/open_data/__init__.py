"""Defines the open data under `/data/`: datasets and their files, metadata, the signed manifest. Pure."""
