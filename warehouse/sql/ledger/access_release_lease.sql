-- Gives one quote's lease back.
delete from access_leases where quote_id = :quote_id and owner = :owner
