-- One row per address that transfers in ($after, $upto] touch, the zero address apart: its net change in smallest units.
-- A limb's sum is exact in HUGEINT for 2^62 rows. Narrow sums combine there; wide ones are carried, then written in
-- base 10^18 digit by digit, since BIGNUM has no exact multiplication.
create or replace temp table holder_deltas as
with moves as (
    select to_address as address, 1::hugeint as sign, value_raw, block_time, block_number
    from raw_chain__transfers
    where block_number > $after and block_number <= $upto
    union all
    select from_address, -1::hugeint, value_raw, block_time, block_number
    from raw_chain__transfers
    where block_number > $after and block_number <= $upto
),
sums as (
    select
        address,
        sum(sign * value_raw.limb3) as s3,
        sum(sign * value_raw.limb2) as s2,
        sum(sign * value_raw.limb1) as s1,
        sum(sign * value_raw.limb0) as s0,
        min(block_time) as first_seen_at,
        max(block_time) as last_active_at,
        min(block_number) as first_block,
        max(block_number) as last_block
    from moves
    where address <> $zero
    group by address
),
sized as (
    select *, s3 = 0 and s2 = 0 and s1 between -4611686018427387904 and 4611686018427387904 as narrow
    from sums
),
narrow as (
    select * exclude (s3, s2, s1, s0, narrow), (s1 * 18446744073709551616 + s0)::bignum as delta_raw
    from sized
    where narrow
),
carried as (
    select
        *,
        ((s0 % 18446744073709551616) + 18446744073709551616) % 18446744073709551616 as m0,
        s1 + (s0 - m0) // 18446744073709551616 as n1,
        ((n1 % 18446744073709551616) + 18446744073709551616) % 18446744073709551616 as m1,
        s2 + (n1 - m1) // 18446744073709551616 as n2,
        ((n2 % 18446744073709551616) + 18446744073709551616) % 18446744073709551616 as m2,
        s3 + (n2 - m2) // 18446744073709551616 as m3,
        m3 < 0 as negative
    from sized
    where not narrow
),
-- The magnitude of a negative number: complement of the low limbs plus one, carried upwards.
magnitude as (
    select
        * exclude (m0, m1, m2, m3),
        if(negative, 18446744073709551615 - m0 + 1, m0) as p0,
        p0 % 18446744073709551616 as a0,
        if(negative, 18446744073709551615 - m1 + p0 // 18446744073709551616, m1) as p1,
        p1 % 18446744073709551616 as a1,
        if(negative, 18446744073709551615 - m2 + p1 // 18446744073709551616, m2) as p2,
        p2 % 18446744073709551616 as a2,
        if(negative, -m3 - 1 + p2 // 18446744073709551616, m3) as a3
    from carried
),
digits as (
    select
        *,
        a3 % 1000000000000000000 as x0,
        a3 // 1000000000000000000 as x1,
        x0 * 18446744073709551616 + a2 as t0,
        x1 * 18446744073709551616 + t0 // 1000000000000000000 as t1,
        t1 // 1000000000000000000 as t2,
        (t0 % 1000000000000000000) * 18446744073709551616 + a1 as u0,
        (t1 % 1000000000000000000) * 18446744073709551616 + u0 // 1000000000000000000 as u1,
        t2 * 18446744073709551616 + u1 // 1000000000000000000 as u2,
        u2 // 1000000000000000000 as u3,
        (u0 % 1000000000000000000) * 18446744073709551616 + a0 as v0,
        (u1 % 1000000000000000000) * 18446744073709551616 + v0 // 1000000000000000000 as v1,
        (u2 % 1000000000000000000) * 18446744073709551616 + v1 // 1000000000000000000 as v2,
        u3 * 18446744073709551616 + v2 // 1000000000000000000 as v3,
        v3 // 1000000000000000000 as v4
    from magnitude
),
wide as (
    select
        address, first_seen_at, last_active_at, first_block, last_block,
        (
            if(negative, '-', '')
            || v4::varchar
            || lpad((v3 % 1000000000000000000)::varchar, 18, '0')
            || lpad((v2 % 1000000000000000000)::varchar, 18, '0')
            || lpad((v1 % 1000000000000000000)::varchar, 18, '0')
            || lpad((v0 % 1000000000000000000)::varchar, 18, '0')
        )::bignum as delta_raw
    from digits
)
select * from narrow
union all by name
select * from wide
