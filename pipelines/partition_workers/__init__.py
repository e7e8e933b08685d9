"""Ingestion over workers: a code location of its own, whose runs read partitions wherever Dagster starts them."""
