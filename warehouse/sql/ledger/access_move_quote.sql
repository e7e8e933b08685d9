-- Moves one open quote on.
update access_quotes set state = :state where quote_id = :quote_id and state = 'open'
