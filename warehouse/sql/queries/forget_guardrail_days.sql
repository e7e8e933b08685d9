-- Forgets the sums of all days from that of the check after $seq on.
delete from out_guardrail__daily
where day >= (select min(checked_at)::date from raw_guardrail__checks where seq > $seq)
