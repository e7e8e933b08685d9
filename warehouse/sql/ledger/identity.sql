-- At most one row: the chain and token that this ledger is of.
select chain_id, genesis_hash, token_address from ledger_identity
