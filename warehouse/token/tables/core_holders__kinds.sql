-- One row per address that was looked up: has it code of its own (an EIP-7702 delegation is none)?
create table if not exists core_holders__kinds (
    address varchar not null,  -- Holder, lower-case hex
    kind varchar not null,  -- contract or wallet
    block bigint not null  -- Block at which its code was read
);
