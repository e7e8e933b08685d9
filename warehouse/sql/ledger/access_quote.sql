-- The quote with an id.
select * from access_quotes where quote_id = :quote_id
