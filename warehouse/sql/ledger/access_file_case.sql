-- Files one case that nobody has acted on under another quote of the sender.
update access_cases
set quote_id = :quote_id, proven = :proven, code = :code, changed_at = :changed_at
where case_id = :case_id and state = 'open'
