-- Writes the table again without what was deleted, under an exclusive lock.
vacuum (full, analyze) guardrail_checks
