-- One row per address, except the zero address, that transfers in ($after, $upto] touch: its net change in smallest
-- units, as 64-bit limbs m0 (lowest) to m2 and a signed rest m3. A limb's sum is exact in HUGEINT for 2^62 rows; its part
-- beyond 64 bits is then carried upwards (`&` and `>>` act on two's complement, also of negative numbers).
with moves as (
    select
        to_address as address,
        value_raw.limb3::hugeint as l3,
        value_raw.limb2::hugeint as l2,
        value_raw.limb1::hugeint as l1,
        value_raw.limb0::hugeint as l0,
        block_time,
        block_number
    from raw_chain__transfers
    where block_number > $after and block_number <= $upto
    union all
    select
        from_address,
        -(value_raw.limb3::hugeint),
        -(value_raw.limb2::hugeint),
        -(value_raw.limb1::hugeint),
        -(value_raw.limb0::hugeint),
        block_time,
        block_number
    from raw_chain__transfers
    where block_number > $after and block_number <= $upto
),
sums as (
    select
        address,
        sum(l3) as s3,
        sum(l2) as s2,
        sum(l1) as s1,
        sum(l0) as s0,
        min(block_time) as first_seen_at,
        max(block_time) as last_active_at,
        min(block_number) as first_block,
        max(block_number) as last_block
    from moves
    where address <> $zero
    group by address
),
carried as (
    select
        * exclude (s3, s2, s1, s0),
        (s0 & 18446744073709551615)::ubigint as m0,
        s1 + (s0 >> 64) as n1,
        (n1 & 18446744073709551615)::ubigint as m1,
        s2 + (n1 >> 64) as n2,
        (n2 & 18446744073709551615)::ubigint as m2,
        s3 + (n2 >> 64) as m3
    from sums
)
select * exclude (n1, n2) from carried
