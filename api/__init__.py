"""In and out on requests: published documents from memory, live writes. Never imports the pipelines."""
