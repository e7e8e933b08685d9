-- Forgets checks before :before (UTC).
delete from guardrail_checks where checked_at < :before
