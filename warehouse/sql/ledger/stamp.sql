-- One row: the chain and token that this ledger is of; stamped_at in UTC.
insert into ledger_identity (only_row, chain_id, genesis_hash, token_address, stamped_at)
values (1, :chain_id, :genesis_hash, :token_address, :stamped_at)
