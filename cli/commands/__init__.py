"""Declares every `svc` command with its options and help text, one module per panel of `svc --help`. Does no work."""
