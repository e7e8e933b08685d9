-- One row per transfer of a transaction that a claim used: its place among the receipt's logs.
select log_position from access_claims where chain_id = :chain_id and transaction_hash = :transaction_hash
