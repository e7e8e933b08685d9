"""The `svc` command: the only package that knows both the pipelines and the API."""
