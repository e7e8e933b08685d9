-- name: block_facts
-- One row per $length blocks of $table from $first to $last: the number of rows, the last block with one, and a digest of
-- the rows.
select
    $column // $length as bucket,
    count(*)::bigint as rows,
    max($column)::bigint as last_block,
    bit_xor(hash($digested))::hugeint as digest
from $table
where $column between $first and $last
group by bucket
order by bucket

-- name: day_facts
-- One row per UTC day of $table from $since on: the number of rows of the day, and a digest of them.
select $column::date::varchar as day, count(*)::bigint as rows, bit_xor(hash($digested))::hugeint as digest
from $table
where $column >= '$since'::date
group by day
order by day

-- name: highest_block
-- One row: the highest block in $table, -1 if it has no rows.
select coalesce(max($column), -1)::bigint
from $table

-- name: service_token
-- At most one row: the service token (lower-case hex) and its decimals.
select token_address, decimals
from out_holders__status

-- name: recorded_usdc
-- At most one row: the configured USDC contract (lower-case hex).
select usdc_address
from out_bidwall__status
where usdc_address is not null
