-- At most one row: chain, token as its contract names itself, and how far the chain is read.
select chain_id, token_address, name, symbol, decimals, block, finalized_block, backfill_percent
from out_holders__status
