-- A synthetic history of $transfers events over $blocks blocks: first $holders mints of 10^18 units, then payments of 1.
insert into raw_chain__transfers
select
    1 + (i * ($blocks - 1)) // $transfers as block_number,
    i % 1000 as log_index,
    unhex(lpad(printf('%x', i), 64, '0')) as tx_hash,
    unhex(lpad(printf('%x', case when i < $holders then 0 else 1 + hash(i) % $holders end), 40, '0')) as from_address,
    unhex(lpad(printf('%x', 1 + (case when i < $holders then i else hash(-i) % $holders end)), 40, '0')) as to_address,
    {
        limb3: 0, limb2: 0, limb1: 0, limb0: case when i < $holders then 1000000000000000000 else 1 end
    }::u256 as value_raw,
    $from_time::timestamp + to_seconds($block_time_s * (1 + (i * ($blocks - 1)) // $transfers)) as block_time,
    'exact' as block_time_quality
from range($transfers) as history(i);

insert into raw_chain__ranges
select
    1000 * i as from_block,
    case when i = $blocks // 1000 - 1 then $blocks else 1000 * i + 999 end as to_block,
    case when i = $blocks // 1000 - 1 then $held_hash else '0x' || lpad(printf('%x', i), 64, '0') end as to_block_hash,
    $from_time::timestamp + to_seconds($block_time_s * (1000 * i + 999)) as to_block_time,
    0 as log_count,
    '' as payload_sha256,
    'bench' as rpc_host,
    false as reasked,
    now()::timestamp as recorded_at
from range($blocks // 1000) as ranges(i);
