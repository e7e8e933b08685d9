-- One row: the number of the newest check that is held, 0 before the first.
select coalesce(max(seq), 0) from raw_guardrail__checks
