"""From `eth_getLogs` to `raw_chain__` tables: the ingestion engine, which runs with or without Dagster."""
