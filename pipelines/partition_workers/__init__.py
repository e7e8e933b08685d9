"""Ingestion over workers: a separate code location, whose runs read partitions wherever Dagster starts them."""
