-- At most one row: chain id, genesis hash, token, first block that this warehouse is of.
select chain_id, genesis_hash, token_address, start_block
from raw_chain__identity
