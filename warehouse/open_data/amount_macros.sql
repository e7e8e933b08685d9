-- Macros that convert amounts to their public forms, created per connection. No SQL type computes with 256 bits, so
-- u256_text adds the limbs' decimal digits in pieces of 13, each limb multiplied by the pieces of 2^64, 2^128 and 2^192,
-- with carries. Nearly all amounts are below 2^127 and take the short path. A piece's sum also stays below 2^127.
create or replace temp macro u256_piece0(v) as
    v.limb0::hugeint + v.limb1::hugeint * 4073709551616 + v.limb2::hugeint * 7431768211456
    + v.limb3::hugeint * 4464034512896;
create or replace temp macro u256_piece1(v) as
    v.limb1::hugeint * 1844674 + v.limb2::hugeint * 3846346337460 + v.limb3::hugeint * 6641610235544
    + u256_piece0(v) // 10000000000000;
create or replace temp macro u256_piece2(v) as
    v.limb2::hugeint * 3402823669209 + v.limb3::hugeint * 8357894232076 + u256_piece1(v) // 10000000000000;
create or replace temp macro u256_piece3(v) as
    v.limb3::hugeint * 1735386680763 + u256_piece2(v) // 10000000000000;
create or replace temp macro u256_piece4(v) as
    v.limb3::hugeint * 627710 + u256_piece3(v) // 10000000000000;
create or replace temp macro u256_piece5(v) as
    u256_piece4(v) // 10000000000000;
create or replace temp macro u256_text(v) as case
    when v.limb3 = 0 and v.limb2 = 0 and v.limb1 < 9223372036854775808
        then (v.limb1::hugeint * 18446744073709551616 + v.limb0::hugeint)::varchar
    else ltrim(
        u256_piece5(v)::varchar ||
        lpad((u256_piece4(v) % 10000000000000)::varchar, 13, '0') ||
        lpad((u256_piece3(v) % 10000000000000)::varchar, 13, '0') ||
        lpad((u256_piece2(v) % 10000000000000)::varchar, 13, '0') ||
        lpad((u256_piece1(v) % 10000000000000)::varchar, 13, '0') ||
        lpad((u256_piece0(v) % 10000000000000)::varchar, 13, '0'),
        '0'
    )
end;
-- The limbs of a decimal text: 26 digits each, limb 0 the lowest, each with the number's sign. Nearly all amounts have one.
create or replace temp macro amount_limb(text, place) as case
    when strlen(text) <= 26 * place then 0::decimal(26, 0)
    when strlen(text) <= 26 then text::decimal(26, 0)
    else (
        if(starts_with(text, '-'), '-', '') || substr(lpad(ltrim(text, '-'), 78, '0'), 53 - 26 * place, 26)
    )::decimal(26, 0)
end;
create or replace temp macro hex_text(bytes) as '0x' || lower(hex(bytes));
