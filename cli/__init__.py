"""The `svc` command: the only place that knows pipelines and API together."""
