"""The guardrail: deterministic rules over an action and its context, shared by API, validator and CLI."""
