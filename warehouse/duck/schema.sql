-- Types of the warehouse's tables. The schema is applied again when it changes, so each statement is idempotent.
-- Amounts are u256: four 64-bit limbs, most significant first, so that structs sort as the numbers do.
create schema if not exists main;

create type if not exists u256 as struct(limb3 ubigint, limb2 ubigint, limb1 ubigint, limb0 ubigint);
create type if not exists time_quality as enum ('exact', 'estimated');
