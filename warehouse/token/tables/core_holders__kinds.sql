-- One row per address whose code was looked up. An EIP-7702 delegation does not count as code.
create table if not exists core_holders__kinds (
    address varchar not null,  -- Holder, lower-case hex
    kind varchar not null,  -- contract or wallet
    block bigint not null  -- Block at which its code was read
);
